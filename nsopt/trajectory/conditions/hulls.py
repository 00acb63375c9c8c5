"""Convex hulls of points, such as the vertices of a mesh."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.checks import finite, plain
from nsopt.mechanics import Frame, Outline
from nsopt.trajectory.checks import check_frame
from nsopt.trajectory.conditions.shapes import Shape, in_axes, place_of
from nsopt.trajectory.distances.distance import depth, outside, segment_distance
from nsopt.trajectory.distances.polytope import Polytope, enclose, polytope_of
from nsopt.trajectory.node_sample import NodeSample

FEWEST, MOST = 6, 128
"""Bounds of the number of facets; each costs operations at every node."""


@dataclass(frozen=True)
class ConvexHull(Shape):
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

    frame: Frame
    points: ArrayLike
    facets: int = 32

    def __post_init__(self) -> None:
        check_frame("frame of ConvexHull", self.frame)
        plain("points of ConvexHull", self.points)
        shape = np.shape(self.points)
        if len(shape) != 2 or shape[1] != 3:
            raise ValueError(f"points of ConvexHull must have shape (n, 3), got shape {shape}")
        points = finite("points of ConvexHull", self.points, shape)
        if not isinstance(self.facets, int) or not FEWEST <= self.facets <= MOST:
            raise ValueError(
                f"facets of ConvexHull must be a number from {FEWEST} to {MOST}, got "
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

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

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
