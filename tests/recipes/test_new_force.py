"""A force, as CONTRIBUTING says: one class with an energy, an export, a row."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

from nsopt.checks import positive
from nsopt.mechanics import Force, Pair, State
from nsopt.parameter import Scalar
from tests.catalog import SPRINGS, Row, behind
from tests.elements import test_forces
from tests.recipes.generic import runs
from tests.states import couple, wrenches


@dataclass(frozen=True, eq=False)
class Attraction(Pair, Force):
    """An attraction of two points by the inverse of the square of their distance.

    Parameters
    ----------
    strength : float or Parameter [N m^2]
    """

    strength: Scalar

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(f"strength of {type(self).__name__} {self.name!r}", self.strength)

    def energy(self, s: State) -> ca.SX:
        return -s.value(self.strength) / ca.norm_2(s.motion(self.b).r - s.motion(self.a).r)


ROW = Row("attraction", lambda a, b: Attraction("e", behind(a, 0.6, 0.5), b, 40.0))


@runs(test_forces, "row", SPRINGS[0])
def test_is_a_force_like_any_other(check):
    check(ROW)


def test_is_the_law_of_the_inverse_square():
    c = couple(ROW)
    q = c.placed(np.zeros(6))
    on_b = wrenches(c.with_velocity("applied", q, np.zeros(12)), q)[1]
    assert np.linalg.norm(on_b[:3]) == pytest.approx(40 / (0.6**2 + 0.5**2), rel=1e-12)
