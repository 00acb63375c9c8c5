"""A corridor around a path: to zero it is the programme, and its push is a contact's."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    ArcPath,
    Body,
    Compiled,
    Corridor,
    Frame,
    Mechanism,
    Revolute,
    Start,
    StepBounds,
    Variational,
    assemble,
    consistent,
    simulate,
)
from tests.elements.test_programmed import arm, near
from tests.states import run

G = 9.81
PATH = ArcPath((1.1, 0.5, 0.0), 0.25, duration=0.8)


def loose(tolerance):
    """The arm of `test_programmed` with play around its path."""
    bodies = [Body(f"link{k}", 1.0, (0.01, 0.09, 0.09), position=(k + 0.5, 0, 0)) for k in range(2)]
    ends = (Frame(GROUND), Frame.at(bodies[0], (1, 0, 0)))
    joints = [
        Revolute(f"hinge{k}", base, Frame.at(body, (k, 0, 0)))
        for k, (base, body) in enumerate(zip(ends, bodies, strict=True))
    ]
    tip = Corridor("tip", Frame(GROUND), Frame.at(bodies[-1], (2, 0, 0)), PATH, tolerance)
    return assemble(Mechanism(bodies, joints, "relative"), [tip], (0, -G, 0))


@pytest.mark.slow
def test_to_zero_it_tends_to_the_programme():
    told = arm(PATH)
    start = near(told, -0.3, 1.2)
    how = {"scheme": Variational(), "solver": Compiled()}
    exact = run(told, 0.3, 1e-4, start, **how)["q"].values
    off = []
    for tolerance in (4e-3, 4e-4):
        result = run(loose(tolerance), 0.3, 1e-4, start, **how)
        assert float(result["gap_violation"].max()) < 1e-10
        off.append(np.max(np.abs(result["q"].values - exact)))
    assert off[0] < 10 * 4e-3
    assert off[0] / off[1] == pytest.approx(10, rel=0.3)


@pytest.mark.slow
def test_it_pushes_where_its_tolerance_is_used_up():
    """A body that is drawn along: at rest within, then held at its edge against its weight."""
    body = Body("b", 2.0, point_mass=True)
    corridor = Corridor("tip", Frame(GROUND), Frame(body), lambda t: (0, 0.1 * t**3, 0), 1e-2)
    d = assemble(Mechanism([body]), [corridor], (0, 0, 0))
    steps = StepBounds(1e-6, 1e-3)
    result = simulate(d, None, 0.8, steps=steps, scheme=Variational(), progress=False)
    assert result.completed
    t, y = result["time"].values, result["q"].values[:, 1]
    begin = 0.1 ** (1 / 3) * 1.0  # 0.1 t^3 = 1e-2
    assert y[t < begin - 1e-3] == pytest.approx(0, abs=1e-9)
    late = t > begin + 5e-3
    assert y[late] == pytest.approx(0.1 * t[late] ** 3 - 1e-2, abs=1e-9)
    force = result["contact_force"].values[late, 0, 1]
    assert force == pytest.approx(2 * 0.6 * t[late], rel=1e-2)
    # Its work is what the body has gained, and what the catch took.
    kinetic, taken = result["kinetic_energy"].values[-1], np.nansum(result["contact_loss"])
    assert result["external_work"].values[-1] == pytest.approx(kinetic + taken, rel=2e-3)


def test_a_start_beyond_its_tolerance_is_refused():
    d = loose(1e-3)
    with pytest.raises(ValueError, match="violates joint 'tip': it starts inside the wall"):
        run(d, 0.1, 1e-2, Start(np.array([0.0, 0.4]), np.zeros(2)), scheme=Variational())
    assert consistent(d, Start(np.array([-0.3, 1.2]), np.zeros(2))).q.shape == (2,)


@pytest.mark.parametrize("bad", [0.0, -1e-3])
def test_a_tolerance_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match=r"tolerance of Corridor 'tip' must be positive.*Programm"):
        loose(bad)
