"""Gaps in bores as functions of eccentricities, against the same gaps of the coordinates."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Corridor,
    CylindricalClearance,
    Frame,
    Mechanism,
    Parameter,
    PlanarRevoluteClearance,
    RevoluteClearance,
    SphericalClearance,
    assemble,
)
from nsopt.mechanics import Bore, ContactPair
from nsopt.trajectory.transcription.lifting import Lifting
from tests.catalog import CLEARANCES, CONTACTS, IN_PLANE
from tests.geometry import CLEARANCE
from tests.states import couple, near
from tests.user_bores import BORES, SLOT

pytestmark = pytest.mark.unit

contacts = pytest.mark.parametrize("row", [*CLEARANCES, *CONTACTS, *IN_PLANE, *BORES], ids=str)
anywhere = pytest.mark.parametrize("seed", range(3))
HOLES = (
    Corridor,
    CylindricalClearance,
    PlanarRevoluteClearance,
    RevoluteClearance,
    SphericalClearance,
)


class Lifted:
    """The gaps of a couple by the coordinates, and by the eccentricities that belong to them."""

    def __init__(self, row, seed, size=2e-3):
        self.c = couple(row)
        self.d = self.c.dynamics
        self.p = self.d.values()
        self.bores = list(self.d.bores)
        self.q = self.c.placed(near(seed, size, 0.03))
        self.offsets = self.c.columns("contact_offsets", self.q)[self.bores].T
        self.u = self.offsets / np.asarray(self.d.clearance(self.p)).ravel()[self.bores]
        self.lifting = Lifting(self.d)

    def at(self, name, u, *more):
        """A function of the lifting, as an array."""
        value = getattr(self.lifting, name)(0, ca.SX(self.q), ca.SX(self.p), ca.SX(u), *more)
        return np.asarray(ca.evalf(value))


@contacts
@anywhere
def test_gaps_of_eccentricities_are_those_of_coordinates(row, seed):
    x = Lifted(row, seed)
    u = x.u.ravel(order="F")
    assert x.at("gap", u, 1).ravel() == pytest.approx(x.c.at("gap", x.q), rel=0, abs=1e-14)
    assert x.at("rows", u, 1).ravel() == pytest.approx(np.zeros(x.lifting.size), abs=1e-14)
    W = x.c.at("gap_matrix", x.q).reshape(12, -1)
    assert x.at("directions", u) == pytest.approx(W, rel=0, abs=1e-14)


@contacts
@anywhere
def test_the_gradient_of_the_gap_in_a_bore(row, seed):
    """By central differences of the gap; at the wall it is the unit normal."""
    x = Lifted(row, seed)
    gap = [lambda u, k=k: np.asarray(x.d.bore_gap(u, x.p)[0])[k, 0] for k in range(len(x.bores))]
    gradient = np.asarray(x.d.bore_gap(x.u, x.p)[1])
    for k, f in enumerate(gap):
        for i in range(3):
            step = np.zeros_like(x.u)
            step[i, k] = 1e-6
            slope = (f(x.u + step) - f(x.u - step)) / 2e-6
            assert gradient[i, k] == pytest.approx(slope, abs=1e-8)
    for i, k in enumerate(x.bores):
        x.q = x.c.pushed(x.q, -x.c.at("distance", x.q)[k] * x.c.columns("contact_normals", x.q)[k])
        clearance = np.asarray(x.d.clearance(x.p)).ravel()[x.bores]
        u = x.c.columns("contact_offsets", x.q)[x.bores] / clearance[:, None]
        pressed = x.at("normals", u.ravel())[:, k]
        assert pressed == pytest.approx(x.c.columns("contact_normals", x.q)[k], abs=1e-12)
        assert i == x.bores.index(k)


@contacts
def test_what_is_in_a_bore_and_what_has_a_clearance(row):
    """Round holes are bores, walls of guides and collars are not; outer walls have no clearance."""
    c = couple(row)
    d, p = c.dynamics, c.dynamics.values()
    clearance, scale = (np.asarray(f(p)).ravel() for f in (d.clearance, d.gap_scale))
    if row in BORES:
        assert clearance == pytest.approx(CLEARANCE + (SLOT if "slot" in row.name else 0))
    elif row in CLEARANCES:
        names = ("clearance", "axial_clearance", "tolerance")
        stated = [getattr(c.element, name, np.nan) for name in names]
        assert set(clearance) <= set(stated)
    else:
        assert np.isnan(clearance).all()
    holes = 2 if "ylindrical" in row.name or row.name == "revolute clearance" else 1
    expected = holes if isinstance(c.element, HOLES) or row in BORES else 0
    assert d.bores == tuple(range(expected))
    assert np.all(scale > 0)


@pytest.mark.parametrize("wider", [1.0, 3.0, 10.0])
def test_widened_gaps_are_those_of_a_wider_bore(wider):
    """The gap to which stages widen a bore is that of the same joint with that clearance."""
    body = Body("body", 1.0, (0.02, 0.03, 0.04))
    hinge = PlanarRevoluteClearance("e", Frame(GROUND), Frame(body), Parameter("c", CLEARANCE))
    d = assemble(Mechanism([body]), [hinge])
    q = d.stated_start()[0] + np.array([1e-3, -3e-3, 0, 0, 0, 0, 0])
    wide = d.values({"c": wider * CLEARANCE})
    u = np.asarray(d.contact_offsets(0, q, wide))[:, 0] / (wider * CLEARANCE)
    known = (0, ca.SX(q), ca.SX(d.values()), ca.SX(u), wider)
    lifting = Lifting(d)
    assert float(lifting.gap(*known)) == pytest.approx(float(d.gap(0, q, wide)), rel=1e-12)
    assert np.asarray(ca.evalf(lifting.rows(*known))) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("row", BORES, ids=str)
def test_a_guess_outside_a_bore_is_moved_inside(row):
    d = couple(row).dynamics
    lifting, p = Lifting(d), d.values()
    for k, inside in ((1e-3, True), (0.1, False)):
        q = couple(row).placed(near(2, k, 0.03))
        u = np.asarray(d.contact_offsets(0, q, p))[:, 0] / float(d.clearance(p))
        guess = lifting.guess(0, q, p)
        assert guess == pytest.approx(u if inside else u / np.linalg.norm(u))


REFUSED = {
    "of time": (lambda s, d: s.t, "depends on the time or on coordinates beside the offset"),
    "of coordinates": (lambda s, d: d[0], "depends on the time or on coordinates"),
    "of a length": (lambda s, d: ca.SX(1e-3), "multiples of the clearance"),
}


@dataclass(frozen=True, eq=False)
class Hole(ContactPair):
    """A bore whose gap function has one more term."""

    term: str

    def gaps(self, s):
        d = s.motion(self.b).r - s.motion(self.a).r
        more = REFUSED[self.term][0](s, d)
        bore = Bore(d, ca.SX.eye(3), ca.SX(1e-3), lambda x, c: c - ca.sumsqr(x) / c + more)
        return self.with_law(s, [bore.gap(ca.SX(1e-3) - ca.norm_2(d), d, d)])


@pytest.mark.parametrize("term", REFUSED)
def test_a_gap_function_that_is_not_of_the_eccentricity_is_refused(term):
    body, message = Body("body", 1.0, (0.02, 0.03, 0.04)), REFUSED[term][1]
    with pytest.raises(ValueError, match=f"gap function of the bore 'hole' .*{message}"):
        assemble(Mechanism([body]), [Hole("hole", Frame(GROUND), Frame(body), term)])
