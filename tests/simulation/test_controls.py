"""What every control of the step size must show."""

from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    Acceptance,
    Body,
    Compiled,
    ErrorControl,
    FollowContacts,
    Frame,
    LargestStep,
    Mechanism,
    Revolute,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.mpcc import Newton
from nsopt.simulation import StepFigures, StepKernel, StepProgram
from tests.catalog_methods import CONTROLS
from tests.schemes.models import G, case_a_dynamics, turned

controls = pytest.mark.parametrize("control", CONTROLS, ids=repr)


@cache
def level_rod():
    """A rod of 1 m, level."""
    rod = Body("rod", 1.0, (1e-3, 1 / 12, 1 / 12), position=(0.5, 0, 0))
    hinge = Revolute("hinge", Frame(None), Frame.at(rod, (0, 0, 0)))
    return assemble(Mechanism([rod], [hinge], "absolute"), gravity=(0, -G, 0))


def pendulum(control, bounds=(1e-5, 5e-3)):
    """The rod let go, by steps of a control."""
    result = simulate(
        level_rod(),
        duration=0.5,
        steps=StepBounds(*bounds),
        scheme=Variational(),
        control=control,
        progress=False,
    )
    assert result.completed, result.stop_reason
    return result.data


@controls
def test_steps_stay_in_their_bounds_and_end_in_time(control):
    t = pendulum(control)["time"].values
    h = np.diff(t)
    assert t[-1] == 0.5
    assert np.all(h > 0)
    assert h.max() <= 5e-3 * (1 + 1e-12)
    assert h[:-2].min() >= 1e-5 * (1 - 1e-9)


@controls
def test_the_motion_is_that_of_the_differential_equation(control):
    """J theta'' = -m g l/2 cos(theta); of second order in h."""
    data = pendulum(control)
    exact = solve_ivp(
        lambda _, y: [y[1], -1.5 * G * np.cos(y[0])], (0, 0.5), [0, 0], rtol=1e-11, atol=1e-12
    ).y[0, -1]
    assert turned(data["q"].values[-1]) == pytest.approx(exact, abs=5e-4)


@pytest.mark.slow
def test_a_fixed_step_that_the_control_would_shorten_is_kept_up_to_the_end():
    """The last ones, longer by round-off, are those of h_min as well: none is tried for ever."""
    h = 5e-3  # contacts in the bore could not follow
    result = simulate(
        case_a_dynamics(),
        duration=100 * h * (1 + 1e-6),
        steps=StepBounds(h, h),
        scheme=Variational(),
        solver=Compiled(chunk=100),
        progress=False,
    )
    assert result.completed, result.stop_reason
    assert result.data.attrs["steps"] == 100


@controls
def test_the_control_is_on_record(control):
    assert pendulum(control).attrs["step_control"] == repr(control)


def test_local_errors_are_estimated_where_the_control_looks_at_them():
    program = StepProgram(level_rod(), Variational(), Acceptance())
    looks = [StepKernel(program, x, Newton()).looks_at_errors for x in CONTROLS]
    assert looks == [not isinstance(x, LargestStep) for x in CONTROLS]


def attempts_until(impact, h, seems_late):
    """The h tried, the last kept, where an impact seems to be a part of h before the end."""
    contacts, tried = FollowContacts(), [h]
    nothing = StepFigures(*(ca.SX(0) for _ in StepFigures._fields))
    while len(tried) < 50:
        h = tried[-1]
        beyond = max(h - impact, 0)
        step = nothing._replace(
            h=ca.SX(h),
            usual=ca.SX(h),
            kinetic_energy=ca.SX(1),
            late=ca.SX(seems_late * h * (beyond > 0)),
            overdue=ca.SX(beyond),
            unplaced=ca.SX(beyond / h),
        )
        if float(ca.evalf(contacts.keeps(step))):
            break
        tried.append(h * float(ca.evalf(contacts.factor(step))))
    return tried


@pytest.mark.parametrize("seems_late", [1e-4, 0.027])
@pytest.mark.parametrize("impact", [1.7e-5, 9e-5, 1.99e-4])
def test_an_impact_that_seems_ever_close_to_the_end_is_found_soon(impact, seems_late):
    tried = attempts_until(impact, 2e-4, seems_late)
    assert tried[-1] == pytest.approx(impact, rel=seems_late + 3e-4)  # that of energy is allowed
    assert len(tried) < 10  # halves down to the impact, then the distance falls to 3 % each


@dataclass(frozen=True)
class ByHand(ErrorControl):
    """Steps by their error, under words that are those of other things elsewhere."""

    description = "by hand; by MoreauJean with care"


def test_the_words_of_a_control_say_nothing_of_who_took_a_step():
    data = pendulum(ByHand(1e-6))
    assert ByHand.description in data["step_reason"].values
    assert data.attrs["steps_by_other_schemes"] == data.attrs["steps_below_h_min"] == 0
