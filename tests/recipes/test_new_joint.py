"""A joint, as CONTRIBUTING says: one class, an export, a row; and what is special to it."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

from nsopt.mechanics import Axis, Constraint, Freedom, Pair, State, X, Z
from tests.catalog import JOINTS, RX, RZ, TX, Row
from tests.elements import test_joints
from tests.mechanics import test_relative
from tests.recipes.generic import runs
from tests.states import couple
from tests.trajectory import test_any_dynamics


@dataclass(frozen=True, eq=False)
class PinInSlot(Pair, Constraint):
    """A pin that turns about z and slides in a slot along x of frame a: 4 rows."""

    def freedom(self) -> Freedom:
        return (Axis("distance", "speed", slide=X), Axis("angle", "rate", turn=Z))

    def residual(self, s: State) -> ca.SX:
        a, b = s.motion(self.a), s.motion(self.b)
        offset, turn = a.A.T @ (b.r - a.r), a.A.T @ b.A
        return ca.vertcat(offset[1:], turn[:2, 2])

    def alignment(self, s: State) -> ca.SX:
        return (s.motion(self.a).A.T @ s.motion(self.b).A)[2, 2]


ROW = Row("pin in slot", lambda a, b: PinInSlot("e", a, b), 4, (TX, RZ))


@runs(test_joints, "row", JOINTS[0])
def test_is_a_joint_like_any_other(check):
    check(ROW)


@runs(test_relative, "row", JOINTS[1])
def test_is_the_same_in_joint_coordinates(check):
    check(ROW)


@pytest.mark.slow
@runs(test_any_dynamics, "row", JOINTS[0])
def test_is_the_same_over_a_horizon(check):
    check(ROW)


def test_the_generic_tests_find_a_wrong_row():
    wrong = Row("pin in slot", ROW.build, 4, (TX, RX))
    with pytest.raises(AssertionError):
        test_joints.test_stays_closed_along_its_freedoms(wrong, 0)


def test_the_slot_is_along_x_of_its_own_frame():
    c = couple(ROW)
    for twist, open_by in (([0.3, 0, 0, 0, 0, 0.7], 0.0), ([0, 0.3, 0, 0, 0, 0.7], 0.3)):
        residual = c.at("closure", c.placed(np.array(twist)))
        assert np.linalg.norm(residual) == pytest.approx(open_by, abs=1e-12)
