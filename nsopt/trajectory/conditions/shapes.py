"""Convex solids on frames: obstacles, and the links that keep clear of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
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
from nsopt.trajectory.conditions.distances import (
    BOX,
    Polytope,
    between_segments,
    depth,
    enclose,
    from_segment,
    length,
    mean_depth,
    outside,
    polytope_of,
    round_segment_distance,
    segment_distance,
)
from nsopt.trajectory.node_sample import NodeSample

ROUND = 2e-4
"""Width over which the distance of a box from segments is smoothed, over the cube root of its
volume. Distances are less by three times that at most."""

MOST = 128  # largest number of facets of a hull; each costs operations at every node


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
        """Return where it is in the world, (k,): points [m], and axes where it has some."""

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
        """Return the distance of one point, or of the segment between two, as `segment_distance`.

        Points are (3,) [m] in world axes.
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
class _OnFrame(Shape):
    """A solid that is placed by one frame."""

    frame: Frame

    def __post_init__(self) -> None:
        check_frame(f"frame of {type(self).__name__}", self.frame)

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)


@dataclass(frozen=True)
class Sphere(_OnFrame):
    """A sphere about the origin of a frame.

    Parameters
    ----------
    frame : Frame
    radius : float [m]
    """

    name: ClassVar[str] = "the sphere"

    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("radius of Sphere", self.radius)

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
class Box(_OnFrame):
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

    size: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        plain("size of Box", self.size)
        for axis, edge in zip("xyz", finite("size of Box", self.size, (3,)), strict=True):
            positive(f"size of Box along {axis}", edge)

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
class HalfSpace(_OnFrame):
    """All that lies below a plane, on the side of negative z of a frame in it.

    Parameters
    ----------
    frame : Frame
        Its z points out.
    """

    name: ClassVar[str] = "the half-space"

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


@dataclass(frozen=True)
class ConvexHull(_OnFrame):
    """The convex hull of points on a frame.

    A hull of more than ``facets`` facets is replaced by a polytope of that many which encloses it:
    what is clear of the polytope is clear of the hull. How far it reaches beyond is `excess`.

    Parameters
    ----------
    frame : Frame
    points : (n, 3) [m]
        In the axes of the frame, not in one plane; points inside do not matter. Of a file they are
        `nsopt.robots.mesh_vertices`, of a link `nsopt.robots.link_vertices`.
    facets : int
        The most facets, from 6 to 128.

    Raises
    ------
    TypeError, ValueError
        For a frame or points of another kind, points in one plane, or another number of facets.

    Notes
    -----
    Outside the distance is exact. Inside it is minus a mean of the depths below the n facets,
    smooth where the nearest facet changes, and between n**(-1/4) and 1 times the least of them.
    """

    name: ClassVar[str] = "the convex hull"

    points: ArrayLike
    facets: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        plain("points of ConvexHull", self.points)
        shape = np.shape(self.points)
        if len(shape) != 2 or shape[1] != 3:
            raise ValueError(f"points of ConvexHull must have shape (n, 3), got shape {shape}")
        points = finite("points of ConvexHull", self.points, shape)
        if not isinstance(self.facets, int) or not BOX <= self.facets <= MOST:
            raise ValueError(
                f"facets of ConvexHull must be a number from {BOX} to {MOST}, got "
                f"{self.facets!r}: fewer enclose the points less closely, more take longer"
            )
        try:
            _ = self._enclosing  # refuses points in one plane
        except ValueError as error:
            raise ValueError(
                f"the {len(points)} points of ConvexHull {error}: give it a thickness, or use Box "
                "or Capsule"
            ) from None

    @cached_property
    def _enclosing(self) -> tuple[Polytope, float]:
        """The polytope that stands for the hull, and its `excess` [m]."""
        return enclose(polytope_of(np.asarray(self.points, dtype=float)), self.facets)

    @property
    def solid(self) -> Polytope:
        """The polytope that stands for the hull."""
        return self._enclosing[0]

    @property
    def excess(self) -> float:
        """How far the polytope reaches beyond the hull [m]; zero if it is the hull itself."""
        return self._enclosing[1]

    def place(self, m: NodeSample) -> ca.SX:
        return place_of(m, self.frame)

    def corners(self, m: NodeSample) -> list[ca.SX]:
        """Return its vertices in world axes [m]."""
        motion = m.motion(self.frame)
        return [motion.r + motion.A @ ca.DM(x) for x in self.solid.vertices]

    def distance(self, place: ca.SX, point: ca.SX) -> ca.SX:
        x = in_axes(place, point)
        return outside(self.solid, x) - depth(self.solid, x)

    def segment_distance(self, place: ca.SX, a: ca.SX, b: ca.SX) -> ca.SX:
        return segment_distance(self.solid, *(in_axes(place, x) for x in (a, b)))

    def outline(self) -> list[Outline]:
        return [Outline(self.frame, edge) for edge in self.solid.edges]


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
