"""Planar joints with clearance: other joints restrict motion out of the plane.

Where these leave one direction of turning, `assemble` refuses a z of frame a along another.
"""

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

from nsopt.checks import positive
from nsopt.elements.clearance.gaps import check_bore, gap_behind_plane, gap_in_bore
from nsopt.elements.outlines import circle
from nsopt.elements.tangents import around
from nsopt.mechanics import ContactPair, Gap, Outline, State
from nsopt.parameter import Scalar, number


@dataclass(frozen=True, eq=False)
class PlanarRevoluteClearance(ContactPair):
    """A bushing on a pin in the xy plane of the pin: 1 gap.

    Parameters
    ----------
    a, b : Frame
        Pin and bushing: origins at the centres; z of the pin is normal to the plane.
    clearance : float or Parameter [m]
        Radius of the bore minus radius of the pin.
    radius : float or Parameter [m]
        Of the pin: where the surfaces touch, and so the lever arm of friction; without friction
        it has no effect on the motion.

    Raises
    ------
    ValueError
        If the clearance is not positive.
    """

    in_plane: ClassVar[bool] = True
    clearance: Scalar
    radius: Scalar = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of {type(self).__name__} {self.name!r}"
        check_bore(of_element, self.clearance, self.radius, "Revolute")

    def gaps(self, s: State) -> list[Gap]:
        pin, bushing, c = s.motion(self.a), s.motion(self.b), s.value(self.clearance)
        D, axis = bushing.r - pin.r, pin.A[:, 2]
        d = D - axis * ca.dot(axis, D)
        gap = gap_in_bore(d, c, bushing.r, s.value(self.radius) + c, pin.A)
        return self.with_law(s, [gap._replace(tangents=around(axis, gap.normal))])

    def outline(self) -> list[Outline]:
        r, c = float(number(self.radius)), float(number(self.clearance))
        return [Outline(self.a, circle(r, 0.0)), Outline(self.b, circle(r + c, 0.0))]


@dataclass(frozen=True, eq=False)
class PlanarPrismaticClearance(ContactPair):
    """A rectangular block between two parallel guides along x: 4 gaps, one per corner.

    Upper corners meet the upper guide, lower corners the lower one.

    Parameters
    ----------
    a, b : Frame
        Guide (x along it, y across it, origin on its centre line) and block (origin at its centre).
    length, height : float or Parameter [m]
        Of the block, along x and y.
    clearance : float or Parameter [m]
        Between the centred block and each guide.

    Raises
    ------
    ValueError
        If a size or the clearance is not positive.
    """

    in_plane: ClassVar[bool] = True
    length: Scalar
    height: Scalar
    clearance: Scalar

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of {type(self).__name__} {self.name!r}"
        positive(f"length {of_element}", self.length)
        positive(f"height {of_element}", self.height)
        positive(
            f"clearance {of_element}", self.clearance, "for a joint without clearance use Prismatic"
        )

    def gaps(self, s: State) -> list[Gap]:
        guide, block, c = s.motion(self.a), s.motion(self.b), s.value(self.clearance)
        x, y = s.value(self.length) / 2, s.value(self.height) / 2
        across = guide.A[:, 1]
        gaps = []
        for side in (1, -1):
            wall = guide.r + side * (y + c) * across
            for end in (-1, 1):
                corner = block.r + block.A @ ca.vertcat(end * x, side * y, 0)
                gaps.append(gap_behind_plane(corner, wall, -side * across, c, guide.A[:, 0]))
        return self.with_law(s, gaps)

    def outline(self) -> list[Outline]:
        x, y = float(number(self.length)) / 2, float(number(self.height)) / 2
        c = float(number(self.clearance))
        block = np.array([[-x, -y, 0], [x, -y, 0], [x, y, 0], [-x, y, 0], [-x, -y, 0.0]])
        walls = [np.array([[-3 * x, e, 0], [3 * x, e, 0.0]]) for e in (y + c, -y - c)]
        return [Outline(self.b, block)] + [Outline(self.a, wall) for wall in walls]
