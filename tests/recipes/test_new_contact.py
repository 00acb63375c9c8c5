"""A contact, as CONTRIBUTING says: one class, an export, a row with the distances by NumPy."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.checks import positive
from nsopt.elements.tangents import on_sphere
from nsopt.mechanics import ContactPair, Gap, State
from nsopt.parameter import Scalar
from tests.catalog import CONTACTS, RUBBING, Row, behind, rubbing
from tests.elements import test_contacts, test_friction
from tests.geometry import off_axis
from tests.recipes.generic import runs


@dataclass(frozen=True, eq=False)
class RingContact(ContactPair):
    """A point outside a ring (a torus) about z of frame a: 1 gap.

    Parameters
    ----------
    radius, thickness : float or Parameter [m]
        Of the ring, and of the wire that it is made of (its radius).
    """

    radius: Scalar
    thickness: Scalar

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("radius", "thickness"):
            positive(f"{name} of {type(self).__name__} {self.name!r}", getattr(self, name))

    def gaps(self, s: State) -> list[Gap]:
        a, point = s.motion(self.a), s.motion(self.b).r
        d, r = a.A.T @ (point - a.r), s.value(self.thickness)
        outward = ca.vertcat(d[:2], 0) / ca.norm_2(d[:2])
        from_wire = a.A @ (d - s.value(self.radius) * outward)
        length = ca.norm_2(from_wire)
        normal = from_wire / length
        gap = Gap(
            distance=length - r,
            function=(ca.sumsqr(from_wire) - r**2) / (2 * r),
            point=point,
            normal=normal,
            scale=ca.SX(1e-3),
            slope=length / r,
            tangents=on_sphere(normal, a.A),
        )
        return self.with_law(s, [gap])


def ring(d, _):
    x, y, z = np.add(d, [0.2, 0, 0.1])
    return [np.hypot(off_axis([x, y, z]) - 0.1, z) - 0.13]


ROW = Row(
    "ring", lambda a, b: RingContact("e", behind(a, 0.2, 0.1), b, 0.1, 0.13), 1, distances=ring
)


@runs(test_contacts, "row", CONTACTS[0])
def test_is_a_contact_like_any_other(check):
    check(ROW)


@runs(test_friction, "row", RUBBING[0])
def test_has_friction_like_any_other(check):
    check(rubbing(ROW))
