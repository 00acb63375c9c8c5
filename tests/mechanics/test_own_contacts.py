"""Contacts that a user wrote are refused, by name, where their gaps are not what `Gap` says."""

from dataclasses import dataclass

import casadi as ca
import pytest

from nsopt import GROUND, Body, ContactLaw, Frame, Mechanism, assemble
from nsopt.mechanics import ContactPair, Force, Gap, Pair

pytestmark = pytest.mark.unit


@dataclass(frozen=True, eq=False)
class Floor(ContactPair):
    """A point above the plane z = 0 of frame a, its gap as ``spoil`` leaves it."""

    def gaps(self, s):
        a, point = s.motion(self.a), s.motion(self.b).r
        height = ca.dot(a.A[:, 2], point - a.r)
        gap = Gap(
            distance=height, function=height, point=point, normal=a.A[:, 2], scale=ca.SX(1e-3)
        )
        return self.spoil(gap)


def on_floor(spoil):
    ball = Body("ball", 1.0, (0.01, 0.01, 0.01), position=(0, 0, 0.3))
    kind = type("Floor", (Floor,), {"spoil": staticmethod(spoil)})
    return assemble(Mechanism([ball]), [kind("floor", Frame(GROUND), Frame(ball))])


def test_one_that_is_as_gap_says_is_taken():
    assert on_floor(lambda gap: [gap]).contact_names == ("floor",)


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        (lambda _: None, TypeError, "must return a list of Gap, got None"),
        (lambda gap: gap, TypeError, "must return a list of Gap"),
        (lambda _: [], ValueError, "one or more"),
        (lambda x: [x._replace(distance=x.point)], ValueError, r"^distance .* shape \(3, 1\), not"),
        (
            lambda x: [x._replace(normal=x.normal[:2])],
            ValueError,
            r"^normal .* shape \(2, 1\), not",
        ),
        (lambda x: [x._replace(normal=2 * x.normal)], ValueError, "2 long at the start"),
        (lambda x: [x._replace(normal=-x.normal)], ValueError, "closes where its surfaces part"),
        (lambda x: [x._replace(function=x.distance**2)], ValueError, "change by slope times"),
        (lambda x: [x._replace(slope=ca.SX(2))], ValueError, "change by slope times"),
    ],
)
def test_others_are_refused(spoil, error, says):
    with pytest.raises(error, match=says) as refusal:
        on_floor(spoil)
    assert "Floor 'floor'" in str(refusal.value)


def test_one_with_the_slope_of_its_function_is_taken():
    assert on_floor(lambda x: [x._replace(function=x.distance**3, slope=3 * x.distance**2)])


def test_friction_needs_tangents():
    with pytest.raises(ValueError, match=r"Floor 'floor' has friction .* without tangents"):
        on_floor(lambda x: [x._replace(law=ContactLaw(friction=0.2))])


@dataclass(frozen=True, eq=False)
class Pull(Pair, Force):
    """A force of a user between two points, its energy as ``spoil`` leaves it."""

    def loads(self, s):
        return []

    def energy(self, s):
        return self.spoil(s.motion(self.b).r)


@pytest.mark.parametrize(
    ("spoil", "error"),
    [(lambda r: r.height, AttributeError), (lambda r: r, ValueError), (lambda _: None, ValueError)],
)
def test_an_error_of_a_force_says_whose_it_is(spoil, error):
    ball = Body("ball", 1.0, (0.01, 0.01, 0.01))
    kind = type("Pull", (Pull,), {"spoil": staticmethod(spoil)})
    with pytest.raises(error) as refusal:
        assemble(Mechanism([ball]), [kind("pull", Frame(GROUND), Frame(ball))])
    said = [str(refusal.value), *getattr(refusal.value, "__notes__", [])]
    assert "Pull 'pull'" in " ".join(said)
