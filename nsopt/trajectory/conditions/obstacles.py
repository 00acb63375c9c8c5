"""Obstacles: spheres and capsules that points and links must not enter."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.checks import finite, not_negative, positive
from nsopt.mechanics import Dynamics, Frame
from nsopt.mpcc import Bound
from nsopt.trajectory.checks import check_frame
from nsopt.trajectory.conditions.base import Condition
from nsopt.trajectory.geometry import squared_distance
from nsopt.trajectory.node_sample import NodeSample


@dataclass(frozen=True)
class ClearOf(Condition):
    """A point stays outside a sphere.

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    centre : (3,) [m]
        World axes.
    radius : float [m]
    """

    frame: Frame
    centre: ArrayLike
    radius: float

    def __post_init__(self) -> None:
        finite("centre of ClearOf", self.centre, (3,))
        positive("radius of ClearOf", self.radius)

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of ClearOf", self.frame, dynamics)

    def along(self, m: NodeSample) -> list[Bound]:
        away = m.motion(self.frame).r - ca.SX(ca.DM(np.asarray(self.centre, dtype=float)))
        return [_outside("distance from the sphere", ca.sumsqr(away), self.radius)]


@dataclass(frozen=True)
class ClearOfCapsule(Condition):
    """A point stays outside a capsule, a cylinder with hemispherical ends.

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    near, far : (3,) [m]
        Centres of both ends, world axes.
    radius : float [m]
    """

    frame: Frame
    near: ArrayLike
    far: ArrayLike
    radius: float

    def __post_init__(self) -> None:
        a, b = (finite(f"{x} of ClearOfCapsule", getattr(self, x), (3,)) for x in ("near", "far"))
        if np.array_equal(a, b):
            raise ValueError("both ends of ClearOfCapsule are one point: use ClearOf, a sphere")
        positive("radius of ClearOfCapsule", self.radius)

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of ClearOfCapsule", self.frame, dynamics)

    def along(self, m: NodeSample) -> list[Bound]:
        a, b = (_point(x) for x in (self.near, self.far))
        squared = squared_distance(m.motion(self.frame).r, a, b)
        return [_outside("distance from the capsule", squared, self.radius)]


@dataclass(frozen=True)
class LinkClearOf(Condition):
    """A link, modelled as a capsule between two of its points, stays outside a sphere.

    Parameters
    ----------
    near, far : Frame
        On one body; the link reaches from origin to origin.
    centre : (3,) [m]
        Of the sphere, world axes.
    radius : float [m]
        Of the sphere.
    thickness : float [m]
        Half that of the link.
    """

    near: Frame
    far: Frame
    centre: ArrayLike
    radius: float
    thickness: float = 0.0

    def __post_init__(self) -> None:
        check_frame("near of LinkClearOf", self.near)
        check_frame("far of LinkClearOf", self.far)
        if self.near.body is not self.far.body:
            raise ValueError(
                f"both frames of LinkClearOf must be on one body, got {self.near.label} and "
                f"{self.far.label}: give one condition for each link"
            )
        if np.array_equal(np.asarray(self.near.origin), np.asarray(self.far.origin)):
            raise ValueError("both frames of LinkClearOf are at one point: use ClearOf")
        finite("centre of LinkClearOf", self.centre, (3,))
        positive("radius of LinkClearOf", self.radius)
        not_negative("thickness of LinkClearOf", self.thickness)

    def check(self, dynamics: Dynamics) -> None:
        check_frame("near of LinkClearOf", self.near, dynamics)

    def along(self, m: NodeSample) -> list[Bound]:
        a, b = (m.motion(x).r for x in (self.near, self.far))
        squared = squared_distance(_point(self.centre), a, b)
        return [_outside("distance of the link", squared, self.radius + self.thickness)]


def _outside(label: str, squared: ca.SX, radius: float) -> Bound:
    """Return the bound distance >= radius, stated by the squared distance.

    Smooth also where the distance is zero; to first order a depth in metres at the surface.
    """
    depth = (squared - radius**2) / (2 * radius)
    return Bound(label, depth, np.zeros(1), np.full(1, np.inf))


def _point(r: ArrayLike) -> ca.SX:
    return ca.SX(ca.DM(np.asarray(r, dtype=float)))
