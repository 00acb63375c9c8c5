"""A robot arm with clearance in its elbow, under computed torque: `problems/elbow_clearance`."""

import importlib
import sys
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from nsopt import (
    Compiled,
    ContactAligned,
    Frame,
    LargestStep,
    StepBounds,
    Variational,
    simulate,
)
from nsopt.problem import problem_folder
from nsopt.robots import forward_kinematics, joint_reactions

CLEARANCE = 1e-4  # m
FINE = 3.125e-5  # s
AS_GIVEN = LargestStep(contacts=None)
"""Orders are of h, so contacts do not change it."""
SIZES = (1e-3, 5e-4, 2.5e-4, 1.25e-4)
WORN = {"clearance": 2e-4}  # starts half a clearance above the wall, so it drops
FAST = {"move_time": 0.25}  # motors reach their peak torque, the elbow lifts off its pin


@cache
def elbow():
    """The problem's file as a module."""
    sys.path.insert(0, str(problem_folder() / "elbow_clearance"))
    try:
        return importlib.import_module("elbow_clearance")
    finally:
        sys.path.pop(0)


class Run(NamedTuple):
    data: object
    tip: np.ndarray  # (n, 3) m, every millisecond
    balance: float  # J, |E - E0 - W + losses| at most


@cache
def run(h, scheme=Variational, duration=1.25, **parameters):
    result = simulate(
        elbow().dynamics,
        duration=duration,
        steps=StepBounds(h / 16, h),
        scheme=scheme(),
        solver=Compiled(),
        control=AS_GIVEN,
        parameters=parameters,
        progress=False,
    )
    assert result.completed, result.stop_reason
    data = result.data
    lost = data["contact_loss"].sum("contact").cumsum("time")
    gained = data["total_energy"] - data["total_energy"][0] - data["external_work"]
    every = np.arange(0, duration, 1e-3)
    tip = np.column_stack([np.interp(every, data["time"], data[f"tip.{x}"]) for x in "xyz"])
    return Run(data, tip, float(np.abs(gained + lost).max()))


def tip_errors(scheme=Variational, duration=1.25, **parameters):
    """Largest distance of the tip from that at `FINE` on the way, one for each size [m]."""
    fine = run(FINE, scheme, duration, **parameters).tip
    coarse = [run(h, scheme, duration, **parameters).tip for h in SIZES]
    return np.array([np.linalg.norm(tip - fine, axis=1).max() for tip in coarse])


def orders(errors):
    return np.log2(errors[:-1] / errors[1:])


def ideal(data):
    """Tip (n, 3) and force in the elbow (n, 3) of the ideal arm on its path."""
    arm = elbow().nominal()
    tip = Frame(arm.bodies[1], elbow().elements[2].frame.origin)
    kinematics, reactions = forward_kinematics(arm, [tip]), joint_reactions(arm, elbow().GRAVITY)
    ways = [elbow().path(t, 1.0) for t in data["time"].values]
    places = np.array([np.asarray(kinematics(*way)[0]).ravel() for way in ways])
    return places, np.array([np.asarray(reactions(*way))[:3, 1] for way in ways])


@pytest.mark.slow
def test_the_tip_converges_with_the_square_of_h():
    errors = tip_errors()
    assert errors[0] < 1e-6
    assert np.all(orders(errors) > 1.9)


@pytest.mark.slow
def test_energy_is_accounted_for():
    """The work of the motors, 17.8 J, is stored or taken by the contact, to second order."""
    balance = np.array([run(h).balance for h in SIZES])
    assert float(run(SIZES[0]).data["external_work"][-1]) == pytest.approx(17.78, rel=1e-3)
    assert balance[0] < 4e-4
    assert np.all(orders(balance) > 1.9)


def test_work_from_outside_is_that_of_the_motors():
    data = run(SIZES[1]).data
    power = sum(data[f"motors.torque[{k}]"] * data[f"motors.rate[{k}]"] for k in range(2))
    work = np.trapezoid(power, data["time"])
    assert float(data["external_work"][-1]) == pytest.approx(work, rel=1e-5)


@pytest.mark.slow
def test_the_arm_follows_its_path_but_for_the_clearance():
    """Joint angles to 4e-5 rad; the tip hangs lower by the clearance, and little more."""
    data = run(SIZES[1]).data
    goal = np.array([np.ravel(elbow().path(t, 1.0)[0]) for t in data["time"].values])
    angles = np.column_stack([data[f"motors.angle[{k}]"] for k in range(2)])
    assert np.abs(angles - goal).max() < 4e-5
    tip = np.column_stack([data[f"tip.{x}"] for x in "xyz"])
    off = np.linalg.norm(tip - ideal(data)[0], axis=1)
    assert off.max() < 1.05 * CLEARANCE
    assert off[-1] == pytest.approx(CLEARANCE, rel=1e-3)


def test_the_elbow_bears_what_an_ideal_one_would():
    """Contact lasts, with forces of 10.6 to 29.1 N, by 1 % those of recursive dynamics."""
    data = run(SIZES[1]).data
    force, expected = data["joint_reaction"].sel(joint="elbow").values, ideal(data)[1]
    assert np.linalg.norm(force[1:] - expected[1:], axis=1).max() < 0.2
    size = np.linalg.norm(expected, axis=1)
    assert [size.min(), size.max()] == pytest.approx([10.6, 29.1], abs=0.1)
    assert np.abs(data["gap"].values[:, :2]).max() < 1e-15


@pytest.mark.slow
def test_the_same_by_contact_aligned():
    """Where no contact opens or closes both schemes take the same steps."""
    tips = [run(SIZES[1], scheme, 0.2).tip for scheme in (Variational, ContactAligned)]
    assert np.abs(tips[0] - tips[1]).max() < 1e-12


@pytest.mark.slow
def test_a_drop_onto_the_pin_is_of_second_order_where_steps_end_at_impacts():
    """Of first order by `Variational`, which has the impact at the end of its step."""
    aligned = tip_errors(ContactAligned, 0.3, **WORN)
    assert np.all(orders(aligned) > 1.9)
    plain = tip_errors(Variational, 0.3, **WORN)
    assert np.all(plain > 10 * aligned)
    assert 0.8 < np.log2(plain[0] / plain[-1]) / 3 < 2.2
    taken = [run(FINE, s, 0.3, **WORN).data for s in (Variational, ContactAligned)]
    lost = [float(data["contact_loss"].sum()) for data in taken]
    assert lost[0] == pytest.approx(lost[1], rel=0.02)


@pytest.mark.slow
def test_a_fast_lift_loses_contact_and_is_accounted_for():
    runs = [run(h, Variational, 0.6, **FAST) for h in SIZES]
    assert np.all(orders(np.array([r.balance for r in runs])) > 1.7)
    data = runs[-1].data
    assert float(data["gap"][:, :2].min("contact").max()) > 0.01 * CLEARANCE
    assert float(data["contact_loss"].sum()) > 1e-4
    for k, peak in enumerate(elbow().PEAK):
        assert float(np.abs(data[f"motors.torque[{k}]"]).max()) == pytest.approx(peak)
