"""What steps do not know of contacts that close is told, and nothing where they know it."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    ContactAligned,
    Frame,
    Mechanism,
    MoreauJean,
    PaperStep,
    PlaneContact,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.caveats import find_unresolved_closing
from nsopt.problem import load_problem
from tests.schemes.models import G, ball

FALL = 0.1
KNOWN = 0.035
"""Beside what may be off without a word, the weight during the step of an impact."""

SCHEMES = [Variational(), MoreauJean(), PaperStep(), PaperStep(finds_h=False)]


def strike(scheme, h):
    """Return the run of a ball that falls for `FALL`, and by what part its impulse is off."""
    steps = StepBounds(h, h)
    model = ball(0.0, G * FALL**2 / 2)
    result = simulate(model, duration=1.5 * FALL, steps=steps, scheme=scheme, progress=False)
    impulse = float(np.nansum(result["impact_impulse"].values))
    return result, abs(impulse / (G * FALL) - 1)  # of 1 kg


def remedies(result):
    """Return the lines that a contact closes too soon, of warnings and of impacts."""
    lines = result.summary(full=True).splitlines()
    return [x for x in lines if "closes after a flight" in x]


@pytest.mark.parametrize("n", [1.4, 2.3, 4.6, 7.3, 10.9, 13.2, 20.4])
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_an_impulse_is_right_or_told_to_be_off(scheme, n):
    """By the speed of a fall of n steps; by the h that is told instead it is right."""
    result, off = strike(scheme, FALL / n)
    found = find_unresolved_closing(result.data)
    assert len(remedies(result)) == bool(found)
    assert bool(found and found.warns) == any("flight" in x for x in result.warnings)
    if found is None:
        assert off < KNOWN
        return
    if n > 4:
        assert off < 1.1 * found.error + 0.01
    result, off = strike(scheme, found.h)
    assert off < KNOWN


@pytest.mark.parametrize("n", [2.3, 7.3])
def test_steps_that_end_at_impacts_know_them_however_long(n):
    result, off = strike(ContactAligned(), FALL / n)
    assert off < 1e-3
    assert find_unresolved_closing(result.data) is None


@pytest.mark.parametrize("speed", [0.0, 2.0])
@pytest.mark.parametrize("scheme", SCHEMES[:2], ids=repr)
def test_a_ball_that_comes_at_a_steady_speed_has_a_known_impulse(scheme, speed):
    """In the second step already; not one that comes along the wall, and falls from rest."""
    h, steps = 0.01, StepBounds(0.01, 0.01)
    body = Body("ball", 1.0, point_mass=True, position=(0, 1.5 * h, 0), velocity=(speed, -1.0, 0))
    floor = PlaneContact("floor", Frame(GROUND, (0, 0, 0), (0.0, 1.0, 0.0)), Frame(body))
    d = assemble(Mechanism([body]), [floor])
    result = simulate(d, duration=0.1, steps=steps, scheme=scheme, progress=False)
    assert float(np.nansum(result["impact_impulse"].values)) == pytest.approx(1.0, rel=1e-12)
    assert find_unresolved_closing(result.data) is None
    body = Body("ball", 1.0, point_mass=True, position=(0, 1e-3, 0), velocity=(speed, 0, 0))
    floor = PlaneContact("floor", Frame(GROUND, (0, 0, 0), (0.0, 1.0, 0.0)), Frame(body))
    d = assemble(Mechanism([body]), [floor], (0, -G, 0))
    result = simulate(d, duration=0.1, steps=steps, scheme=scheme, progress=False)
    impulse = float(np.nansum(result["impact_impulse"].values))
    assert abs(impulse / np.sqrt(2 * G * 1e-3) - 1) > 0.03
    assert find_unresolved_closing(result.data) is not None


def test_what_rounding_leaves_open_is_no_flight():
    steps = StepBounds(1e-3, 1e-3)
    result = simulate(ball(0.0, 1e-15), duration=0.01, steps=steps, progress=False)
    assert find_unresolved_closing(result.data) is None


def slide(problem, scheme, h=None, duration=0.03):
    steps = StepBounds(h, h) if h else problem.steps
    result = simulate(
        *(problem.dynamics, problem.start, duration), steps=steps, scheme=scheme, progress=False
    )
    impulse = float(np.nanmax(result["impact_impulse"].values))
    return result, impulse, np.linalg.norm(result["lasting_force"].values.sum(axis=1), axis=1)


@pytest.mark.parametrize("name", ["cylindrical_slider", "prismatic_slider"])
def test_sliders_tell_of_the_impacts_that_their_long_steps_hide(name):
    """The slider tilts into its guide within a step: references agree on what happens there."""
    problem = load_problem(name)
    fine, impulse, force = slide(problem, Variational(), 5e-5)
    _, same, other = slide(problem, Variational(), 2.5e-5)
    assert impulse == pytest.approx(same, rel=0.01)
    assert np.nanmax(force) == pytest.approx(np.nanmax(other), rel=0.01)
    assert find_unresolved_closing(fine.data) is None
    for scheme in (Variational(), PaperStep()):
        result, hidden, _ = slide(problem, scheme)
        assert abs(hidden / impulse - 1) > 0.03
        found = find_unresolved_closing(result.data)
        told = float(remedies(result)[0].split("; h of ")[1].split()[0])
        digit = 10.0 ** np.floor(np.log10(told))
        assert told <= found.h < told + digit
        assert slide(problem, Variational(), found.h)[1] == pytest.approx(impulse, rel=0.03)


def test_the_largest_force_as_a_motion_starts_is_told_to_be_unresolved():
    """20 N where a slider carries 6.7 on one of its ends, told by the steps beside."""
    problem = load_problem("cylindrical_slider")
    _, _, force = slide(problem, Variational(), 5e-5)
    result, _, most = slide(problem, Variational(), duration=1.0)
    assert np.nanmax(most) > 2 * np.nanmax(force)
    (line,) = (x for x in result.summary().splitlines() if x.startswith("largest lasting force"))
    settled, start = line.split("(as the motion starts ")
    assert "above the steps beside it" in start
    assert "above the steps beside it" not in settled
    assert float(settled.split()[3]) == pytest.approx(force[-1], rel=0.01)


def test_what_a_joint_carries_as_a_motion_starts_is_told_to_be_that():
    """Also where one contact alone has more later on: 10 N of two beside 11 N of one."""
    problem = load_problem("cylindrical_slider")
    result = slide(problem, Variational(), 1e-3, 0.2)[0]
    force = result.data["lasting_force"]
    force.values[:] = 0.0
    force.values[:, 0, 1] = 3.0
    force.values[1, :, 1], force.values[100, 0, 1] = 10.0, 11.0
    (line,) = (x for x in result.summary().splitlines() if x.startswith("largest lasting force"))
    settled, start = line.split("(as the motion starts ")
    assert "11 N" in settled
    assert "20 N" not in settled
    assert start.startswith("20 N in all of joint")
