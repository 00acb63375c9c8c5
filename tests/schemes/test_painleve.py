"""A rod that slides on its tip and jams [Painleve 1895]: no force holds it, an impulse stops it.

Where mu is large, friction presses the tip into the floor by more than the normal force lifts it.
Then there is no force in Coulomb's cone by which the tip stays on the floor; what there is is an
impulse, at once, after which the tip sticks [Moreau 1988; Genot, Brogliato 1999, Eur. J. Mech.
A/Solids 18].
"""

from dataclasses import dataclass, replace
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
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from tests.schemes.models import G

LENGTH, MASS, MU, SPEED = 0.5, 1.0, 2.0, 1.0  # half length [m], [kg], [1], [m/s]
INERTIA = MASS * LENGTH**2 / 3
UP = np.array([0.0, 0.0, 1.0])
SCHEMES = [Variational(), MoreauJean(), MoreauJean(project=True)]


@cache
def sliding_rod(heading, tilt, coordinates="absolute", height=0.0):
    """Return a rod that slides towards its tip in a direction of the floor, and the arm of the tip.

    ``tilt`` [rad] is its angle with the floor, ``heading`` [rad] that of its velocity with x,
    ``height`` [m] that of the tip.
    """
    ahead = np.array([np.cos(heading), np.sin(heading), 0.0])
    axis = np.sin(tilt) * UP - np.cos(tilt) * ahead
    side = np.cross(UP, ahead)
    body = Body(
        "rod",
        MASS,
        (1e-4, INERTIA, INERTIA),
        position=LENGTH * axis + height * UP,
        orientation=np.column_stack([axis, side, np.cross(axis, side)]),
        velocity=SPEED * ahead,
    )
    tip = Frame(body, (-LENGTH, 0, 0))
    floor = PlaneContact("floor", Frame(GROUND), tip, law=ContactLaw(friction=MU))
    return assemble(Mechanism([body], coordinates=coordinates), [floor], (0, 0, -G)), ahead, axis


def after_the_jam(ahead, axis, fall=0.0):
    """Return the velocity (3,) of the centre of mass once the tip has been stopped.

    ``fall`` [m/s] is how fast the rod came down.
    """
    arm = -LENGTH * axis

    def mobility(a, b):
        return a @ b / MASS + np.cross(arm, a) @ np.cross(arm, b) / INERTIA

    D = np.array([[mobility(a, b) for b in (UP, ahead)] for a in (UP, ahead)])
    assert D[0, 0] < MU * D[0, 1]  # friction presses more than the normal force lifts: no force
    normal, tangential = -np.linalg.solve(D, [-fall, SPEED])
    assert 0 < -tangential < MU * normal  # the impulse that stops the tip is in the cone
    return SPEED * ahead - fall * UP + (normal * UP + tangential * ahead) / MASS


@pytest.mark.parametrize(
    "scheme",
    [SCHEMES[0], *(pytest.param(x, marks=pytest.mark.slow) for x in SCHEMES[1:])],
    ids=repr,
)
def test_the_tip_of_a_jammed_rod_is_stopped_by_an_impulse(scheme):
    dynamics, ahead, axis = sliding_rod(0.7, 1.0)
    steps = StepBounds(1e-6, 1e-3)
    result = simulate(dynamics, duration=3e-6, steps=steps, scheme=scheme, solver=Compiled())
    assert result.completed
    assert result.data.attrs["steps_by_other_schemes"] == 0
    h = result["h"].values[1]
    velocity = result["v"].values[1, :3]
    assert velocity == pytest.approx(after_the_jam(ahead, axis), abs=2 * G * h)
    energy = result["total_energy"].values
    assert energy.max() <= energy[0] + 1e-12


@pytest.mark.slow
def test_where_h_is_fixed_it_stays():
    """To the first order: gravity acts for one step."""
    dynamics, ahead, axis = sliding_rod(0.7, 1.0)
    result = simulate(
        dynamics,
        duration=2e-5,
        steps=StepBounds(1e-5, 1e-5),
        scheme=Variational(),
        solver=Compiled(),
    )
    assert result["h"].values[1:] == pytest.approx(1e-5, rel=1e-9)
    velocity = result["v"].values[1, :3]
    assert velocity == pytest.approx(after_the_jam(ahead, axis), abs=2 * G * 1e-5)


@pytest.mark.parametrize("duration", [5e-7, pytest.param(2.5e-6, marks=pytest.mark.slow)])
def test_a_jam_in_the_last_step(duration):
    """Which is shorter than h_min, as it ends with the run; the next to last ones are not.

    By other schemes: the landings below.
    """
    scheme = Variational()
    dynamics, ahead, axis = sliding_rod(0.7, 1.0)
    steps = StepBounds(1e-6, 1e-3)
    result = simulate(dynamics, duration=duration, steps=steps, scheme=scheme, solver=Compiled())
    assert result.completed
    assert result["time"].values[-1] == duration
    assert result.data.attrs["steps_by_other_schemes"] == 0
    assert result["v"].values[-1, :3] == pytest.approx(after_the_jam(ahead, axis), abs=2 * G * 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "left"),
    # Contacts of `MoreauJean` close at the start of the step after.
    [(SCHEMES[0], 5e-7), *((scheme, 1.5e-4) for scheme in SCHEMES)],
)
def test_a_rod_that_lands_in_the_last_steps_and_jams(scheme, left):
    """Its fall ends that long before the run does [s]; the impulse stops the tip, fall and all."""
    duration = 1e-3
    fall = duration - left
    dynamics, ahead, axis = sliding_rod(0.7, 1.0, height=G * fall**2 / 2)
    steps = StepBounds(1e-6, 1e-4)
    result = simulate(dynamics, duration=duration, steps=steps, scheme=scheme, solver=Compiled())
    assert result.completed
    assert result["time"].values[-1] == duration
    falling = result["time"].values[1:] < fall
    assert np.all(result["impulse"].values[1:][falling] == 0)
    assert result["impulse"].values[1:][~falling].sum() > 0.1
    # Gravity adds to the fall what is less than a step's worth.
    expected = after_the_jam(ahead, axis, fall=G * fall)
    assert result["v"].values[-1, :3] == pytest.approx(expected, abs=2 * G * 1e-4)


@dataclass(frozen=True)
class Hopeless(Variational):
    """A scheme whose steps are never good, so that its fallbacks take them."""

    def add_step(self, *arguments):
        step = super().add_step(*arguments)
        return replace(step, motion_residual=step.motion_residual + 1e6)


@pytest.mark.slow
def test_what_a_fixed_h_leaves_to_fallbacks_is_on_record():
    """Steps of 10 and 100 h_min, which end jams where h is free, are neither tried nor told."""
    dynamics, ahead, axis = sliding_rod(0.7, 1.0)
    h = 1e-5
    result = simulate(
        dynamics, duration=h, steps=StepBounds(h, h), scheme=Hopeless(), solver=Compiled()
    )
    assert result["h"].values[1:] == pytest.approx(h, rel=1e-9)
    assert "by MoreauJean" in str(result["step_reason"].values[1])
    attrs = result.data.attrs
    assert attrs["steps_by_other_schemes"] == attrs["steps"] == 1
    assert attrs["time_by_other_schemes"] == pytest.approx(h, rel=1e-9)
    assert attrs["steps_below_h_min"] == 0
    assert result["v"].values[1, :3] == pytest.approx(after_the_jam(ahead, axis), abs=2 * G * h)
    tried = str(result["tried"].values[1]).split("; ")
    assert result["retries"].values[1] == len(tried)
    compiled = [text for text in tried if "h = " in text]
    assert {text.partition("h = ")[2].partition(" s")[0] for text in compiled} == {"1e-05"}
    # What keeps the scheme, in whatever way, comes first.
    assert str(result["step_reason"].values[1]).endswith("; by MoreauJean")
    assert tried[-1].startswith("h down to 0.001 h_min")
    assert any(text.startswith("h down to 0.001 h_min: ") for text in tried)


@dataclass(frozen=True)
class HopelessToo(MoreauJean):
    """As `Hopeless`."""

    def add_step(self, *arguments):
        step = super().add_step(*arguments)
        return replace(step, motion_residual=step.motion_residual + 1e6)


@dataclass(frozen=True)
class AllHopeless(Hopeless):
    """A scheme whose fallbacks are no better."""

    fallback = HopelessToo()


@pytest.mark.slow
@pytest.mark.parametrize("low", [1e-6, 1e-5])
def test_where_all_is_refused_each_attempt_is_told_once(low):
    dynamics, *_ = sliding_rod(0.7, 1.0)
    steps = StepBounds(low, 1e-5)
    result = simulate(dynamics, duration=2e-5, steps=steps, scheme=AllHopeless(), solver=Compiled())
    assert not result.completed
    assert result.data.attrs["steps"] == 0
    _, *lines = result.stop_reason.splitlines()
    attempts = [line for line in lines if "h = " in line and "h down to" not in line]
    sizes = [line.partition("h = ")[2].partition(" s")[0] for line in attempts]
    assert len({*attempts}) == len(attempts)
    if low == 1e-5:
        assert {*sizes} == {"1e-05"}
    else:
        assert "1e-05" in {
            size for size, line in zip(sizes, attempts, strict=True) if " by HopelessToo: " in line
        }


@pytest.mark.slow
def test_a_fallback_takes_the_impulse_and_is_told():
    """What the scheme itself was refused for is on record, attempt by attempt."""
    dynamics, ahead, axis = sliding_rod(0.7, 1.0)
    steps = StepBounds(1e-6, 1e-5)
    result = simulate(dynamics, duration=2e-5, steps=steps, scheme=Hopeless(), solver=Compiled())
    assert result.data.attrs["steps_by_other_schemes"] == result.data.attrs["steps"]
    assert "by MoreauJean" in str(result["step_reason"].values[1])
    tried = str(result["tried"].values[1])
    assert tried.count("h = 1e-06 s: equation of motion") == 1
    assert all(f"h = {h} s: equation of motion" in tried for h in ("3e-07", "1e-07"))
    velocity = result["v"].values[1, :3]
    assert velocity == pytest.approx(after_the_jam(ahead, axis), abs=2 * G * 1e-6)


@pytest.mark.slow
def test_after_a_jam_the_rod_goes_on():
    """Nothing drives it."""
    dynamics, *_ = sliding_rod(0.3, 1.0, "relative")
    steps = StepBounds(1e-6, 1e-3)
    result = simulate(dynamics, duration=0.2, steps=steps, scheme=Variational(), solver=Compiled())
    assert result.completed
    assert np.diff(result["total_energy"].values).max() < 1e-6
    assert np.nanmin(result["gap"].values) > -1e-8
