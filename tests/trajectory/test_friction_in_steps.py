"""Dry friction of joints that stops a search in steps is named, with a remedy that holds."""

import pytest

from nsopt import GROUND, Actuator, Body, Frame, KnifeEdge, Mechanism, Prismatic, Revolute, assemble
from nsopt.robots import resistances
from nsopt.trajectory import (
    IN_STEPS,
    PLAN,
    Earlier,
    Effort,
    EndAt,
    Horizon,
    Quintic,
    StartAt,
    optimize,
)


def parked(friction, guess=None, plan=PLAN):
    """A blade moved sideways by drives along x, along y and about z: it must go to and fro."""
    a, b, c = (
        Body(name, m, (J,) * 3)
        for name, m, J in (("a", 0.1, 1e-3), ("b", 0.1, 1e-3), ("c", 5.0, 0.1))
    )
    joints = [
        Prismatic("x", Frame(GROUND, axes=(1, 0, 0)), Frame(a, axes=(1, 0, 0))),
        Prismatic("y", Frame(a, axes=(0, 1, 0)), Frame(b, axes=(0, 1, 0))),
        Revolute("t", Frame(b), Frame(c)),
    ]
    drives = [Actuator(name, effort=50.0, friction=friction) for name in "xyt"]
    mechanism = Mechanism([a, b, c], joints, "relative", drives)
    rubbing = resistances(mechanism) if friction else ()
    dynamics = assemble(mechanism, [*rubbing, KnifeEdge("edge", Frame(GROUND), Frame(c))])
    q0, q1, rest = (0.0, 0.0, 0.0), (1.0, 0.5, 0.0), (0.0, 0.0, 0.0)
    ends = [StartAt(q0, rest), EndAt(q1, rest)]
    guess = guess or Quintic(q0, q1)
    return optimize(dynamics, Horizon(3.0, 40), [Effort()], ends, guess, plan=plan)


@pytest.mark.slow
def test_what_stops_a_blade_is_named_and_the_remedy_holds():
    failed = parked(1.0)
    assert not failed.completed
    assert "dry friction of 'x_friction', 'y_friction', 't_friction'" in failed.stop_reason
    assert "Earlier" in failed.stop_reason
    assert parked(1.0, Earlier(parked(0.0, plan=IN_STEPS))).completed
