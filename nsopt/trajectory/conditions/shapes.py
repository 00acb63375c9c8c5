"""Convex solids on frames: obstacles, and the links that keep clear of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.checks import finite, not_negative, plain, positive
from nsopt.elements import box_outline, capsule_outline
from nsopt.mechanics import Frame, Mechanism, Outline
from nsopt.parameter import number
from nsopt.trajectory.checks import check_frame
from nsopt.trajectory.distances.distance import (
    between_segments,
    from_segment,
    length,
    mean_depth,
    round_segment_distance,
)
from nsopt.trajectory.distances.polytope import Polytope, polytope_of
from nsopt.trajectory.node_sample import NodeSample

ROUND = 2e-4
"""Width over which the distance of a box from segments is smoothed, over the cube root of its
volume."""


class Shape(ABC):
    """A convex solid, fixed to a body or to the ground."""

    name: ClassVar[str]
    """What it is, in messages."""

    @property
    @abstractmethod
    def frames(self) -> tuple[Frame, ...]:
        """The frames that it is placed by, on one body."""

    @abstractmethod
    def place(self, m: NodeSample) -> ca.SX:
        """Return the numbers that say where it is in the world, (k,)."""

    @abstractmethod
    def distance(self, place: ca.SX, point: ca.SX) -> ca.SX:
        """Return the distance of a point from the surface [m], negative inside; convex.

        Parameters
        ----------
        place : SX (k,)
            From `place`.
        point : SX (3,) [m]
            World axes.
        """

    @abstractmethod
    def outline(self) -> list[Outline]:
        """Return lines to draw."""

    @abstractmethod
    def segment_distance(self, place: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
        """Return the distance of the segment from a to b as `distance` does, (k,) [m].

        The least of the k numbers is the distance; limits bound each of them. Second derivatives
        see how the nearest point moves along it.
        """

    def distances(self, m: NodeSample, points: Sequence[ca.SX]) -> ca.SX:
        """Return the distance of one point, or of the segment between two, (k,) [m].

        The least of the k numbers is the distance; limits bound each of them.
        """
        distance = self.distance if len(points) == 1 else self.segment_distance
        return distance(self.place(m), *points)


def place_of(m: NodeSample, frame: Frame) -> ca.SX:
    """Return origin [m] and axes of a frame, column by column, (12,)."""
    motion = m.motion(frame)
    return ca.vertcat(motion.r, ca.vec(motion.A))


def in_axes(place: ca.SX, point: ca.SX) -> ca.SX:
    """Return a point of the world in the axes of a frame, whose place is from `place_of`."""
    return ca.reshape(place[3:], 3, 3).T @ (point - place[:3])


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere about the origin of a frame.

    Parameters
    ----------
    frame : Frame
    radius : float [m]
    """

    name: ClassVar[str] = "the sphere"

    frame: Frame
    radius: float

    def __post_init__(self) -> None:
        check_frame("frame of Sphere", self.frame)
        positive("radius of Sphere", self.radius)

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    def place(self, m: NodeSample) -> ca.SX:
        return m.motion(self.frame).r

    def distance(self, place: ca.SX, point: ca.SX) -> ca.SX:
        return length(point - place) - self.radius

    def segment_distance(self, place: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
        return from_segment(place, a, b) - self.radius

    def outline(self) -> list[Outline]:
        middle = (0.0, 0.0, 0.0)
        return [Outline(self.frame, x) for x in capsule_outline(middle, middle, self.radius)]


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder with hemispherical ends, about the segment between the origins of two frames.

    Parameters
    ----------
    near, far : Frame
        On one body, or both on the ground.
    radius : float [m]
        Zero for the segment itself.
    """

    name: ClassVar[str] = "the capsule"

    near: Frame
    far: Frame
    radius: float = 0.0

    def __post_init__(self) -> None:
        check_frame("near of Capsule", self.near)
        check_frame("far of Capsule", self.far)
        not_negative("radius of Capsule", self.radius)
        if self.near.body is not self.far.body:
            raise ValueError(
                f"both frames of Capsule must be on one body, got {self.near.label} and "
                f"{self.far.label}: give one for each link"
            )
        if np.array_equal(np.asarray(self.near.origin), np.asarray(self.far.origin)):
            raise ValueError("both ends of Capsule are one point: use Sphere")

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.near, self.far

    def place(self, m: NodeSample) -> ca.SX:
        return ca.vertcat(m.motion(self.near).r, m.motion(self.far).r)

    def distance(self, place: ca.SX, point: ca.SX) -> ca.SX:
        return from_segment(point, place[:3], place[3:]) - self.radius

    def segment_distance(self, place: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
        return between_segments(a, b, place[:3], place[3:]) - self.radius

    def outline(self) -> list[Outline]:
        of_body = Frame(self.near.body)
        ends = number(self.near.origin), number(self.far.origin)
        return [Outline(of_body, x) for x in capsule_outline(*ends, self.radius)]


@dataclass(frozen=True)
class Box(Shape):
    """A box about the origin of a frame, its edges along the axes.

    Parameters
    ----------
    frame : Frame
    size : (3,) [m]
        Lengths of its edges along x, y and z of the frame.

    Notes
    -----
    Outside the distance of points is exact, that of segments less by 6e-4 of the cube root of the
    volume at most, and smooth where another edge becomes nearest. Inside it is minus a
    mean of the depths below the faces, smooth where the nearest face changes, and between 0.6 and 1
    times the least of them.
    """

    name: ClassVar[str] = "the box"

    frame: Frame
    size: ArrayLike

    def __post_init__(self) -> None:
        check_frame("frame of Box", self.frame)
        plain("size of Box", self.size)
        for axis, edge in zip("xyz", finite("size of Box", self.size, (3,)), strict=True):
            positive(f"size of Box along {axis}", edge)

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    def place(self, m: NodeSample) -> ca.SX:
        return place_of(m, self.frame)

    def distance(self, place: ca.SX, point: ca.SX) -> ca.SX:
        half = ca.DM(np.asarray(self.size, dtype=float) / 2)
        r = in_axes(place, point)
        depths = ca.vertcat(half - r, half + r)
        return length(ca.fmax(ca.fabs(r) - half, 0)) - mean_depth(depths)

    def segment_distance(self, place: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
        width = ROUND * float(np.prod(np.asarray(self.size, dtype=float)) ** (1 / 3))
        near, far = in_axes(place, a), in_axes(place, b)
        return round_segment_distance(self._polytope, near, far, width)

    @property
    def _polytope(self) -> Polytope:
        half = np.asarray(self.size, dtype=float) / 2
        return polytope_of(np.array(list(product(*zip(-half, half, strict=True)))))

    def outline(self) -> list[Outline]:
        x, y, z = np.asarray(self.size, dtype=float)
        return [Outline(self.frame, line) for line in box_outline(x, y, z)]


@dataclass(frozen=True)
class HalfSpace(Shape):
    """All that lies below a plane, on the side of negative z of a frame in it.

    Parameters
    ----------
    frame : Frame
        Its z points out.
    """

    name: ClassVar[str] = "the half-space"

    frame: Frame

    def __post_init__(self) -> None:
        check_frame("frame of HalfSpace", self.frame)

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    def place(self, m: NodeSample) -> ca.SX:
        motion = m.motion(self.frame)
        return ca.vertcat(motion.r, motion.A[:, 2])

    def distance(self, place: ca.SX, point: ca.SX) -> ca.SX:
        return ca.dot(place[3:], point - place[:3])

    def segment_distance(self, place: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
        return ca.vertcat(self.distance(place, a), self.distance(place, b))

    def distances(self, m: NodeSample, points: Sequence[ca.SX]) -> ca.SX:
        # Of any number of points, as of hulls: the nearest point of a hull is one of its corners.
        return ca.vertcat(*(self.distance(self.place(m), x) for x in points))

    def outline(self) -> list[Outline]:
        return []  # it has no end


def link_capsule(mechanism: Mechanism, link: str, radius: float) -> Capsule:
    """Return a capsule about a link, from the joint that carries it to the farthest one it carries.

    Parameters
    ----------
    mechanism : Mechanism
    link : str
        Name of its body.
    radius : float [m]

    Raises
    ------
    ValueError
        If there is no such link, or the joints at it leave it no length: give its Capsule then.
    """
    near = mechanism.frame(link)
    ends = [x.parent_frame for x in mechanism.tree.branches if x.parent_frame.body is near.body]
    start = np.asarray(near.origin, dtype=float)
    lengths = [float(np.linalg.norm(np.asarray(x.origin, dtype=float) - start)) for x in ends]
    if max(lengths, default=0.0) == 0:
        raise ValueError(
            f"the joints at link {link!r} leave it no length: give Capsule(near, far, radius) with "
            "frames on it"
        )
    return Capsule(near, ends[int(np.argmax(lengths))], radius)
