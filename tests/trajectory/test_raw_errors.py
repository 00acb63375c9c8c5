"""Errors of libraries, told as those of what the user states."""

import ctypes
from dataclasses import dataclass

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    AppliedForce,
    Body,
    Frame,
    Mechanism,
    Prismatic,
    Revolute,
    Solver,
    assemble,
)
from nsopt.mechanics import Force, Load
from nsopt.mpcc import Bound, Osqp, Sqp, printing_to_stderr
from nsopt.mpcc.backends.backend import _count_iterations
from nsopt.trajectory import (
    Condition,
    Cost,
    Effort,
    EndAt,
    Horizon,
    MotionPhase,
    Quintic,
    StartAt,
    Sum,
    Tracking,
    optimize,
    optimize_phases,
)

pytestmark = pytest.mark.unit


@dataclass(frozen=True, eq=False)
class Gate(Force):
    """Pushes one way on each side."""

    name: str
    frame: Frame

    @property
    def frames(self):
        return (self.frame,)

    def loads(self, s):
        m = s.motion(self.frame)
        return [Load(m.v, m.v if m.r[2] > 0 else -m.v)]


@dataclass(frozen=True, kw_only=True)
class Far(Cost):
    def rate(self, m):
        return max(m.q[0], 0)


@dataclass(frozen=True)
class Ahead(Condition):
    def along(self, m):
        ahead = m.v[0] if m.q[0] > 0.5 else m.v[0] + 1
        return [Bound("ahead", ahead, np.zeros(1), np.ones(1))]


def sled(force=None):
    body = Body("sled", 1.0, (0.1, 0.1, 0.1))
    rail = Prismatic("rail", Frame(GROUND), Frame(body))
    forces = [] if force is None else [force(Frame(body))]
    return assemble(Mechanism([body], [rail], "relative", [Actuator("rail")]), forces)


START, END, GUESS = StartAt([0.0], [0.0]), EndAt([1.0], [0.0]), Quintic([0.0], [1.0])


def solved(cost, *conditions):
    return optimize(sled(), Horizon(1.0, 4), [cost], [START, END, *conditions], GUESS)


def in_phases(cost):
    ends = [([Effort()], [START]), ([cost], [END])]
    return optimize_phases([MotionPhase(sled(), Horizon(1.0, 4), *x, GUESS) for x in ends])


@pytest.mark.parametrize(
    ("state", "named"),
    [
        (lambda: sled(lambda frame: Gate("gate", frame)), "^Gate 'gate' states in its loads"),
        (
            lambda: sled(lambda x: AppliedForce("push", x, lambda t: (0, 0, 1 if t > 1 else 0))),
            "^AppliedForce 'push' states",
        ),
        (lambda: solved(Far()), "^Far states in its rate"),
        (lambda: solved(Sum(costs=[Effort(), Far(weight=2.0)])), "^Far states in its rate"),
        (lambda: solved(Effort(), Ahead()), "^Ahead states in its along"),
        (lambda: solved(Tracking(trajectory=lambda t: [1 if t > 1 else 0])), "^Tracking states"),
        (lambda: in_phases(Far()), "^phase 1: Far states in its rate"),
    ],
)
def test_an_if_on_an_expression_names_what_states_it(state, named):
    with pytest.raises(ValueError, match=f"{named}.*ca.if_else"):
        state()


def test_what_native_code_prints_goes_to_standard_error(capfd):
    """The printer of C, past that of Python."""
    print("before")
    with printing_to_stderr():
        ctypes.CDLL(None).printf(b"within\n")
    print("after")
    out, err = capfd.readouterr()
    assert out == "before\nafter\n"
    assert err == "within\n"


def test_a_quadratic_program_that_is_not_convex_prints_nothing_on_standard_output(capfd):
    body = Body("rod", 1.5, (0.01, 0.03, 0.03), position=(0.25, 0, 0))
    hinge = Revolute("hinge", Frame(None), Frame.at(body, (0, 0, 0)))
    rod = Mechanism([body], [hinge], "relative", [Actuator("hinge")])
    ends = [StartAt([-1.5], [0]), EndAt([0.8], [0])]
    solver = Solver(backend=Sqp(qp=Osqp(), max_iter=3))
    d, horizon = assemble(rod, gravity=(0, -9.81, 0)), Horizon(1.0, 4)
    optimize(d, horizon, [Effort()], ends, Quintic([-1.5], [0.8]), solver=solver)
    out, err = capfd.readouterr()
    assert out == ""
    assert "ERROR in osqp" in err


@pytest.mark.parametrize(
    ("stats", "count"),
    [
        ({"iter_count": -1598689907, "iterations": {"inf_pr": []}}, 0),
        ({"iter_count": 1598689907, "iterations": {"inf_pr": []}}, 0),
        ({"iter_count": 7, "iterations": {"inf_pr": [0.0] * 8}}, 7),
        ({"iter_count": 12}, 12),
        ({}, 0),
    ],
)
def test_a_solver_that_has_not_begun_has_no_iterations(stats, count):
    assert _count_iterations(stats) == count
