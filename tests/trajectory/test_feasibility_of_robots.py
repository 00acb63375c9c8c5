"""Tasks of a robot are refused before the solve where it cannot do them."""

import numpy as np
import pytest

from nsopt import Frame
from nsopt.problem import load_optimization
from nsopt.trajectory import ActuatorLimits, ClearOf, EndAt, Horizon, Reach, StartAt
from nsopt.trajectory.diagnosis import Statement, check_feasible
from tests.trajectory.mechanisms import ball_at


@pytest.fixture(scope="module")
def robot():
    """The 7-DOF arm: from its shoulder 0.333 m up, 0.4 + 0.39 + 0.08 m to the last link."""
    return load_optimization("arm_least_resistance")


def test_the_robot_as_stated_is_let_through(robot):
    p = robot.dynamics.values()
    check_feasible(Statement(robot.dynamics, robot.conditions, (), p), robot.horizon)


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        (
            lambda hand: [Reach(hand, (3.0, 0, 0))],
            r"the target of Reach for body 'link7' is out of reach: \(3, 0, 0\) m is 3.02 m from "
            r"\(0, 0, 0.333\) m, from where its links get at most 0.87 m away: move it by 2.15 m",
        ),
        (
            lambda hand: [EndAt((0, 2.2, 0, 0, 0, 0, 0))],
            "EndAt and ActuatorLimits exclude each other: joint2.angle must be 2.2 at the end and "
            "at least -2.0944 and at most 2.0944 all along, which are 0.106 apart",
        ),
        (
            # Stretched upward, the last link is 1.203 m up.
            lambda hand: [ClearOf(hand, ball_at((0, 0, 1.25), 0.1))],
            "the posture given at the start violates ClearOf of body 'link7': distance from "
            "the sphere is -0.053, must be at least 0 all along, off by 0.053",
        ),
    ],
    ids=["target", "bounds", "obstacle"],
)
def test_what_the_robot_cannot_do(robot, conditions, message):
    hand = Frame(robot.dynamics.mechanism.bodies[-1])
    stated = [StartAt(np.zeros(7), np.zeros(7)), *conditions(hand), ActuatorLimits()]
    with pytest.raises(ValueError, match=message):
        check_feasible(
            Statement(robot.dynamics, stated, (), robot.dynamics.values()), Horizon(2.0, 10)
        )
