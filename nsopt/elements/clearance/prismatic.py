"""Spatial prismatic joint with clearance, of any convex section."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.checks import finite, numbers, positive
from nsopt.elements.clearance.gaps import gap_behind_plane
from nsopt.elements.outlines import prism
from nsopt.mechanics import ContactPair, Gap, Outline, State
from nsopt.parameter import Numbers, Scalar, number


@dataclass(frozen=True, eq=False)
class PrismaticClearance(ContactPair):
    """A prism in a hollow prism: each vertex, front and back, behind its two adjacent planes.

    4 N gaps for N vertices [NLP-clearance 2024, eq. 39]. The planes are those of the slider moved
    outward by the clearance. In a result all front gaps (z > 0) come first, two a vertex.

    Parameters
    ----------
    a, b : Frame
        Guide and slider: z along them, origins of the slider at mid-length; coincident when the
        slider is centred.
    polygon : (N, 2) [m]
        Section of the slider in the xy plane of its frame, a convex polygon listed in order
        (either sense), regular or not.
    length : float or Parameter [m]
        Of the slider.
    clearance : float or Parameter [m]
        Between the centred slider and every plane.

    Raises
    ------
    ValueError
        If the polygon has fewer than three vertices or is not strictly convex, or a length or
        the clearance is not positive.
    """

    polygon: Numbers
    length: Scalar
    clearance: Scalar

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of {type(self).__name__} {self.name!r}"
        positive(f"length {of_element}", self.length)
        positive(
            f"clearance {of_element}", self.clearance, "for a joint without clearance use Prismatic"
        )
        vertices = numbers(f"polygon {of_element}", self.polygon)
        if vertices.ndim != 2 or len(vertices) < 3:
            raise ValueError(
                f"polygon {of_element} needs at least three vertices (x, y): {self.polygon!r}"
            )
        vertices = finite(f"polygon {of_element}", self.polygon, (len(vertices), 2))
        turns = _measure_turns(vertices)
        k = int(np.argmin(turns * np.sign(np.median(turns))))
        # Every corner turns one way, and all corners together turn once.
        if turns[k] * np.sign(np.median(turns)) <= 0 or abs(abs(np.sum(turns)) - 2 * np.pi) > 1e-6:
            raise ValueError(
                f"polygon {of_element} must be convex and listed in order; vertex {k} "
                f"{vertices[k].tolist()} lies inside or on a straight edge"
            )

    @property
    def _anticlockwise(self) -> Numbers:
        """The vertices in the order in which the inside is to the left."""
        forward = np.sum(_measure_turns(number(self.polygon))) > 0
        return list(self.polygon)[:: 1 if forward else -1]

    def gaps(self, s: State) -> list[Gap]:
        guide, slider = s.motion(self.a), s.motion(self.b)
        half, c = s.value(self.length) / 2, s.value(self.clearance)
        vertices = [s.value(vertex) for vertex in self._anticlockwise]
        gaps = []
        for z in (half, -half):
            for k, vertex in enumerate(vertices):
                point = slider.r + slider.A @ ca.vertcat(vertex, z)
                before, after = vertices[k - 1], vertices[(k + 1) % len(vertices)]
                for start, end in ((before, vertex), (vertex, after)):
                    edge = (end - start) / ca.norm_2(end - start)
                    inward = guide.A @ ca.vertcat(-edge[1], edge[0], 0)
                    tangents = ca.horzcat(guide.A[:, 2], guide.A @ ca.vertcat(edge, 0))
                    plane = guide.r + guide.A @ ca.vertcat(vertex, 0) - c * inward
                    gaps.append(gap_behind_plane(point, plane, inward, c, tangents))
        return self.with_law(s, gaps)

    def outline(self) -> list[Outline]:
        vertices, length = np.asarray(number(self.polygon)), float(number(self.length))
        return [Outline(self.b, line) for line in prism(vertices, length)] + [
            Outline(self.a, line) for line in prism(vertices, 3 * length)
        ]


def _measure_turns(vertices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the angle by which the boundary turns at each vertex, shape (N,) [rad]."""
    before = vertices - np.roll(vertices, 1, axis=0)
    after = np.roll(before, -1, axis=0)
    cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    turns: NDArray[np.float64] = np.arctan2(cross, np.sum(before * after, axis=1))
    return turns
