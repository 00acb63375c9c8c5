"""Bores as a user writes them, after CONTRIBUTING: with gap functions of their own."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.elements.tangents import on_cylinder, on_sphere
from nsopt.mechanics import Bore, ContactPair, Gap, State
from tests import geometry
from tests.catalog import Row
from tests.geometry import CLEARANCE

SLOT = 1e-3  # m


@dataclass(frozen=True, eq=False)
class QuarticSocket(ContactPair):
    """A socket around a ball as `SphericalClearance`, its gap a quartic of the eccentricity."""

    clearance: float

    def gaps(self, s: State) -> list[Gap]:
        ball, socket, c = s.motion(self.a), s.motion(self.b), s.value(self.clearance)
        d = socket.r - ball.r
        length = ca.sqrt(ca.sumsqr(d) + (1e-9 * c) ** 2)
        bore = Bore(ball.A.T @ d, ball.A, c, lambda d, c: c * (1 - ca.sumsqr(d / c) ** 2) / 4)
        gap = bore.gap(c - length, socket.r - c * d / length, -d / length)
        return self.with_law(s, [gap._replace(tangents=on_sphere(gap.normal, ball.A))])


@dataclass(frozen=True, eq=False)
class SlottedLink(ContactPair):
    """A pin at frame a in a slot of the body of frame b, along its x, with rounded ends."""

    clearance: float  # across the slot [m]
    length: float  # by which the pin can slide from the middle while it is centred across [m]

    def gaps(self, s: State) -> list[Gap]:
        pin, slot = s.motion(self.a), s.motion(self.b)
        c, most = s.value(self.clearance), s.value(self.length)
        reach = most + c  # how far the pin gets along the slot: scales eccentricities

        def across(d: ca.SX, reach: ca.SX) -> ca.SX:
            """Return the way from the pin to the nearest point of the centre line."""
            return d - ca.vertcat(ca.fmin(ca.fmax(d[0], -share * reach), share * reach), 0, 0)

        def function(d: ca.SX, reach: ca.SX) -> ca.SX:
            half = (1 - share) * reach
            return (half**2 - ca.sumsqr(across(d, reach))) / (2 * half)

        share = most / reach
        x, y, _ = ca.vertsplit(slot.A.T @ (slot.r - pin.r))  # along z it may slide
        offset = ca.vertcat(x, y, 0)
        e = across(offset, reach)
        length = ca.sqrt(ca.sumsqr(e) + (1e-9 * c) ** 2)
        normal = -slot.A @ e / length
        bore = Bore(offset, slot.A, reach, function)
        gap = bore.gap(c - length, pin.r, normal)
        tangents = on_cylinder(slot.A[:, 2], normal)
        return self.with_law(s, [gap._replace(scale=c, tangents=tangents)])


def slotted(d, R):
    """Distance: the pin is beside the centre line of the slot or beyond an end of it."""
    x, y, _ = -R.T @ d
    return [CLEARANCE - np.hypot(max(abs(x) - SLOT, 0), y)]


BORES = [
    Row(
        "quartic socket",
        lambda a, b: QuarticSocket("e", a, b, CLEARANCE),
        1,
        distances=geometry.spherical,
    ),
    Row(
        "slotted link",
        lambda a, b: SlottedLink("e", a, b, CLEARANCE, SLOT),
        1,
        distances=slotted,
    ),
]
