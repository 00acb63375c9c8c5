"""What projections cost: what they add to the energy is on record, what they take is told."""

from functools import cache

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Compiled,
    ContactLaw,
    Frame,
    Mechanism,
    MoreauJean,
    PlaneContact,
    SphericalClearance,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from tests.schemes.models import case_a_dynamics


@pytest.mark.parametrize("h", [1e-3, 2e-4])
def test_energy_of_projection_closes_the_balance(h):
    result = simulate(
        case_a_dynamics(),
        duration=1.0,
        steps=StepBounds(h, h),
        scheme=MoreauJean(project=True),
        solver=Compiled(),
        progress=False,
    )
    taken = np.nansum(result["contact_loss"].values, axis=1).cumsum()
    lost, added = (result[x].values for x in ("dissipated_energy", "projection_work"))
    assert added[-1] > 1e-3
    assert lost + added == pytest.approx(taken, abs=1e-12)


@cache
def top():
    """A top whose ball rolls in its socket."""
    tilt, arm, c = 0.3, 0.06, 1e-3
    body = Body(
        "top",
        0.5,
        (4e-4, 4e-4, 3e-4),
        position=(0, -arm * np.sin(tilt), arm * np.cos(tilt) - c),
        orientation=(np.cos(tilt / 2), np.sin(tilt / 2), 0, 0),
        angular_velocity=(0, 0, 200.0),
    )
    law = ContactLaw(friction=0.2)
    tip = Frame(body, (0, 0, -arm))
    socket = SphericalClearance("socket", tip, Frame(GROUND), clearance=c, radius=5e-3, law=law)
    return assemble(Mechanism([body]), [socket], gravity=(0, 0, -9.81))


@pytest.mark.slow
def test_energy_that_turning_directions_cost_is_told():
    """What lasts meets its wall anew in each step: in 0.1 s more than 0.2 J at 5e-5 s."""

    def lost(scheme, h):
        options = {"scheme": scheme, "solver": Compiled(), "progress": False}
        result = simulate(top(), duration=0.1, steps=StepBounds(h, h), **options)
        return float(result["dissipated_energy"].values[-1]), result

    exact, _ = lost(Variational(), 1e-5)
    for h in (5e-5, 1e-5):
        taken, result = lost(MoreauJean(project=True), h)
        assert taken > 1.4 * exact
        assert result.data.attrs["unplaced_energy"] == pytest.approx(taken - exact, rel=0.1)
        told = [x for x in result.warnings if "directions at the start of their steps" in x]
        assert "turning directions" in result.summary(full=True)
        assert bool(told) == (taken - exact > 3e-3 * result["kinetic_energy"].values.max())


@pytest.mark.slow
def test_an_impact_that_begins_at_its_wall_is_not_off():
    """A ball at a plane, at 1 m/s: it keeps a quarter of 1 J, and no direction turns."""
    ball = Body("ball", 2.0, (1.0, 1.0, 1.0), velocity=(0, 0, -1.0))
    plane = PlaneContact("plane", Frame(GROUND), Frame(ball), law=ContactLaw(restitution=0.5))
    options = {"scheme": MoreauJean(project=True), "solver": Compiled(), "progress": False}
    steps = StepBounds(1e-3, 1e-3)
    result = simulate(assemble(Mechanism([ball]), [plane]), duration=0.1, steps=steps, **options)
    assert result["dissipated_energy"].values[-1] == pytest.approx(0.75, abs=1e-12)
    assert result.data.attrs["unplaced_energy"] == pytest.approx(0, abs=1e-12)
    assert not result.warnings
