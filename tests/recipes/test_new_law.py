"""Laws, as CONTRIBUTING says: of a range of motion, of friction, of a contact; one class each."""

from dataclasses import dataclass

import casadi as ca
import pytest

from nsopt import ContactLaw, CubicLaw, FrictionLaw, Hysteresis, Law, Parameter
from nsopt.checks import positive
from nsopt.mechanics import State
from nsopt.parameter import Scalar
from tests.catalog import COMPLIANT_LAWS, CONTACT_LAWS, FRICTION_LAWS
from tests.catalog_ranges import RANGE_LAWS
from tests.elements import test_compliant_laws, test_friction_laws
from tests.elements.range_of_motion import test_moment
from tests.mechanics import test_law
from tests.recipes.generic import runs


@dataclass(frozen=True)
class QuadraticLaw(Law):
    """A moment that grows with the square of the excess."""

    factor: Scalar

    def check(self, of_element: str) -> None:
        positive(f"factor {of_element}", self.factor)

    def moment(self, s: State, excess: ca.SX) -> ca.SX:
        return s.value(self.factor) * excess**2

    def potential(self, s: State, excess: ca.SX) -> ca.SX:
        return s.value(self.factor) * excess**3 / 3


@dataclass(frozen=True)
class TanhLaw(FrictionLaw):
    """Coulomb's law with the sign smoothed by a hyperbolic tangent."""

    coefficient: Scalar
    creep: Scalar = 1e-3

    def check(self, of_element: str) -> None:
        positive(f"coefficient {of_element}", self.coefficient)
        positive(f"creep {of_element}", self.creep)

    def resist(self, s: State, u: ca.SX, normal: ca.SX, h: ca.SX, z: ca.SX) -> ca.SX:
        del h, z
        return s.value(self.coefficient) * normal * ca.tanh(u / s.value(self.creep))


@dataclass(frozen=True)
class QuarterLaw(Hysteresis):
    """A factor of its own."""

    def factor(self, e: ca.SX) -> ca.SX:
        return (1 - e) / 4


@dataclass(frozen=True)
class OiledSteel(ContactLaw):
    """Steel on steel: numbers of its own in place of those that are left out."""

    restitution: Scalar = 0.56
    friction: Scalar = 0.11
    viscous: Scalar = 4.0


@runs(test_moment, "law", RANGE_LAWS[0])
def test_is_a_law_of_a_range_like_any_other(check):
    check(QuadraticLaw(200.0))


@runs(test_friction_laws, "law", FRICTION_LAWS[0])
def test_is_a_law_of_friction_like_any_other(check):
    check(TanhLaw(0.2))


@runs(test_compliant_laws, "law", COMPLIANT_LAWS[0])
def test_is_a_law_of_compliant_contact_like_any_other(check):
    check(QuarterLaw(1e6))


@runs(test_law, "law", CONTACT_LAWS[0])
def test_is_a_law_of_contact_like_any_other(check):
    check(OiledSteel())


def test_a_moment_that_is_not_the_slope_of_its_potential_is_found():
    @dataclass(frozen=True)
    class Wrong(QuadraticLaw):
        def potential(self, s: State, excess: ca.SX) -> ca.SX:
            return s.value(self.factor) * excess**3

    with pytest.raises(AssertionError):
        test_moment.test_moment_is_the_derivative_of_the_potential(Wrong(200.0))
    with pytest.raises(ValueError, match="law of it has moment"):
        Wrong(200.0).check_potential("of it")
    CubicLaw(Parameter("peak", 3.0), 0.1).check_potential("of it")
