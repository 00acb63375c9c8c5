"""Obstacles that points and links keep clear of, and links that keep clear of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import casadi as ca
import numpy as np

from nsopt.checks import not_negative
from nsopt.mechanics import Dynamics, Frame, Outline
from nsopt.mpcc import Bound
from nsopt.trajectory.checks import check_frame
from nsopt.trajectory.conditions.base import Condition, limit
from nsopt.trajectory.conditions.shapes import Capsule, ConvexHull, HalfSpace, Shape, Sphere
from nsopt.trajectory.node_sample import NodeSample


@dataclass(frozen=True)
class ClearOf(Condition):
    """A point or a link stays outside an obstacle.

    Parameters
    ----------
    mover : Frame, Sphere, Capsule or ConvexHull
        The origin of a frame, or a link as a solid. A ConvexHull here keeps clear of a HalfSpace
        alone; of a Sphere or a Capsule it does as ``obstacle``, for either side may move.
    obstacle : Shape
        On the ground, or on another body.
    by : float [m]
        Least distance between both.

    Raises
    ------
    TypeError, ValueError
        If ``mover`` or ``obstacle`` is of another kind, both are on one body, or ``by`` is
        negative.
    """

    mover: Frame | Sphere | Capsule | ConvexHull
    obstacle: Shape
    by: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.mover, Frame | Sphere | Capsule | ConvexHull):
            raise TypeError(
                "mover of ClearOf must be a Frame, Sphere, Capsule or ConvexHull, got "
                f"{self.mover!r}"
            )
        if not isinstance(self.obstacle, Shape):
            raise TypeError(
                "obstacle of ClearOf must be a Sphere, Capsule, Box, ConvexHull or HalfSpace, got "
                f"{self.obstacle!r}"
            )
        if isinstance(self.mover, ConvexHull) and not isinstance(self.obstacle, HalfSpace):
            raise TypeError(
                "a ConvexHull that moves keeps clear of a HalfSpace alone, got "
                f"{self.obstacle.name}: give it as the obstacle of a Sphere or Capsule, on either "
                "body, or move capsules that cover it"
            )
        not_negative("by of ClearOf", self.by)
        if self.frame.body is self.obstacle.frames[0].body:
            raise ValueError(
                f"both sides of ClearOf are on {self.frame.label}, which do not move apart: give "
                "an obstacle on the ground or on another body"
            )

    @property
    def frame(self) -> Frame:
        """A frame of what keeps clear, for messages."""
        return self.mover if isinstance(self.mover, Frame) else self.mover.frames[0]

    def outline(self) -> list[Outline]:
        return self.obstacle.outline()

    def check(self, dynamics: Dynamics) -> None:
        check_frame("mover of ClearOf", self.frame, dynamics)
        check_frame("obstacle of ClearOf", self.obstacle.frames[0], dynamics)

    def along(self, m: NodeSample) -> list[Bound]:
        radius = self.mover.radius if isinstance(self.mover, Sphere | Capsule) else 0.0
        away = self.obstacle.distances(m, self._points(m)) - radius
        return [limit(f"distance from {self.obstacle.name}", away, self.by, np.inf)]

    def _points(self, m: NodeSample) -> list[ca.SX]:
        """Return points in world axes [m]: the mover is their hull, widened by its radius."""
        if isinstance(self.mover, ConvexHull):
            return self.mover.corners(m)
        frames = (self.mover,) if isinstance(self.mover, Frame) else self.mover.frames
        return [m.motion(frame).r for frame in frames]


@dataclass(frozen=True)
class LinksApart(Condition):
    """Links of a mechanism, each as a sphere or a capsule, do not touch each other.

    Parameters
    ----------
    links : sequence of Sphere or Capsule
        Two or more, such as by `link_capsule`. Links that a joint holds together are no pair.
    by : float [m]
        Least distance of a pair.

    Raises
    ------
    TypeError, ValueError
        If a link is of another kind, there are less than two, or ``by`` is negative; on `check` if
        no two of them can touch.
    """

    links: Sequence[Sphere | Capsule]
    by: float = 0.0

    def __post_init__(self) -> None:
        for link in self.links:
            if not isinstance(link, Sphere | Capsule):
                raise TypeError(f"links of LinksApart must be Sphere or Capsule, got {link!r}")
        if len(self.links) < 2:
            raise ValueError(f"links of LinksApart must be two or more, got {len(self.links)}")
        not_negative("by of LinksApart", self.by)

    def check(self, dynamics: Dynamics) -> None:
        for link in self.links:
            check_frame("link of LinksApart", link.frames[0], dynamics)
        if not self._list_pairs(dynamics):
            raise ValueError(
                "LinksApart has no pair of links that could touch: "
                f"{', '.join(x.frames[0].label for x in self.links)} are held together by joints"
            )

    def along(self, m: NodeSample) -> list[Bound]:
        bounds = []
        for a, b in self._list_pairs(m.dynamics):
            away = b.distances(m, [m.motion(frame).r for frame in a.frames]) - a.radius
            label = f"distance of {a.frames[0].label} from {b.frames[0].label}"
            bounds.append(limit(label, away, self.by, np.inf))
        return bounds

    def _list_pairs(self, dynamics: Dynamics) -> list[tuple[Sphere | Capsule, Sphere | Capsule]]:
        """Return the pairs of links on two bodies that no joint holds together."""
        joined = [{frame.body for frame in x.frames} for x in dynamics.mechanism.joints]
        found = []
        for a, b in combinations(self.links, 2):
            bodies = {a.frames[0].body, b.frames[0].body}
            if len(bodies) == 2 and bodies not in joined:
                found.append((a, b))
        return found
