"""A spanning tree as links of one freedom each, over which recursions run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.algebra import rotation_matrix, without_round_off
from nsopt.arrays import Array
from nsopt.mechanics.coordinates.base import Value
from nsopt.mechanics.coordinates.spanning_tree import Branch
from nsopt.mechanics.model.bodies import Body
from nsopt.mechanics.model.frame import Frame, Motion
from nsopt.mechanics.model.freedom import Axis, Ball


@dataclass(frozen=True)
class CoordinateMap:
    """Where a freedom has its coordinate, ratio * q[self.q] + offset, and rate, ratio * v[self.v].

    Ratio and offset are those of a `Mimic`; 1 and 0 for other joints.
    """

    q: slice
    v: slice
    ratio: float = 1.0
    offset: float = 0.0


Inertia = tuple[ca.SX, ca.SX, ca.SX]
"""Mass [kg], first moment (3,) [kg m] and inertia about the origin of a link (3, 3) [kg m^2]."""

CentralInertia = tuple[ca.SX, ca.SX, ca.SX]
"""Mass [kg], centre of mass (3,) [m] and inertia about that (3, 3) [kg m^2]."""

NO_COORDINATE = CoordinateMap(slice(0, 0), slice(0, 0))  # of a link that is fixed to its parent


class Placement(NamedTuple):
    """A pose fixed in a link: that of a body, or of the frame where the next freedom begins."""

    A: Array  # (3, 3) its axes in those of the link
    c: ca.SX  # (3,) [m] its origin

    def of_frame(self, frame: Frame, value: Value) -> Placement:
        """Return the placement of a frame on a body that has this one."""
        return Placement(
            without_round_off(self.A @ np.asarray(frame.axes)),
            self.c + self.A @ value(frame.origin),
        )

    def motion(self, link: Motion) -> Motion:
        """Return the motion of what has this placement in a link that moves."""
        r, A, v, w = link
        arm = A @ self.c
        return Motion(r + arm, A @ self.A, v + ca.cross(w, arm), w)


@dataclass(frozen=True, eq=False)
class TreeLink:
    """A link of one freedom; its frame is where the freedom ends."""

    parent: int  # index of the link that carries it; -1 is the ground
    placement: Placement  # where its freedom begins in the parent
    step: Axis | Ball | None  # its freedom, None where nothing moves
    coordinate: CoordinateMap
    turn: ca.SX  # (3, k) angular velocity per rate, in its own axes; k is 1, of a ball 3, else 0
    slide: ca.SX  # (3, k) [m/rad, or 1] linear velocity per rate
    rotor: ca.SX  # [kg m^2, or kg] of a motor, by the square of its gear ratio
    bodies: dict[str, tuple[Body, Placement]] = field(default_factory=dict)  # fixed in it

    def rates(self, v: ca.SX) -> ca.SX:
        """Return the rates of its freedom (k,) from those of the coordinates (nv,)."""
        return self.coordinate.ratio * v[self.coordinate.v] if self.step else ca.SX(0, 1)

    def move(self, q: ca.SX, displacement: ca.SX | None) -> tuple[ca.SX, ca.SX]:
        """Return rotation (3, 3) and slide (3,) [m] by its freedom, displaced to first order."""
        if self.step is None:
            return ca.SX.eye(3), ca.SX.zeros(3)
        rates = self.coordinate.v
        none = ca.SX.zeros(rates.stop - rates.start)
        shift = none if displacement is None else displacement[rates]
        if isinstance(self.step, Ball):
            R = rotation_matrix(q[self.coordinate.q])
            return R + R @ ca.skew(shift), ca.SX.zeros(3)
        u = self.coordinate.ratio * (q[self.coordinate.q] + shift) + self.coordinate.offset
        return self.step.rotation(u), self.slide * u

    def masses(self, value: Value) -> Iterator[CentralInertia]:
        """Yield the inertia of each body, in the axes of the link."""
        for body, placement in self.bodies.values():
            J = value(body.inertia)
            J = ca.diag(J) if J.is_column() else J
            yield value(body.mass), placement.c, ca.SX(placement.A) @ J @ placement.A.T


class LinkTree:
    """All links of a tree, each after its parent.

    ``entries`` are the coordinates of the freedoms of each body's branch, from the parent to the
    body. If ``weld``, bodies on fixed joints become part of the link that carries them; else they
    are links of their own, without freedom, so that the reaction between them is known.
    ``placements`` tells the link of each body, and where in it; None is the ground, link -1.
    """

    def __init__(
        self,
        branches: Sequence[Branch],
        entries: Mapping[str, Sequence[CoordinateMap]],
        rotors: Mapping[str, ca.SX],
        value: Value,
        weld: bool = True,
    ) -> None:
        self.links: list[TreeLink] = []
        self.placements: dict[str | None, tuple[int, Placement]] = {
            None: (-1, Placement(np.eye(3), ca.SX.zeros(3)))
        }
        self._entries, self._rotors, self.value, self._weld = entries, rotors, value, weld
        for branch in branches:
            self._grow(branch)

    @cached_property
    def masses(self) -> list[list[CentralInertia]]:
        """`TreeLink.masses` of each link."""
        return [[*link.masses(self.value)] for link in self.links]

    @cached_property
    def inertias(self) -> list[Inertia]:
        """The inertia of each link, all its bodies together."""
        return [_sum_inertia(masses) for masses in self.masses]

    def _grow(self, branch: Branch) -> None:
        """Add the links of a branch and place its body."""
        body = branch.parent_frame.body
        parent, placement = self.placements[body.name if body else None]
        placement = placement.of_frame(branch.parent_frame, self.value)
        steps: Sequence[Axis | Ball | None] = branch.freedom
        entries = self._entries[branch.body.name]
        if not steps and not (self._weld and parent >= 0):  # what is welded to the ground, too
            steps, entries = (None,), (NO_COORDINATE,)
        rotor = self._rotors.get(branch.joint.name if branch.joint else "", ca.SX(0))
        for step, entry in zip(steps, entries, strict=True):
            subspace = _find_subspace(step, self.value)
            self.links.append(TreeLink(parent, placement, step, entry, *subspace, rotor))
            parent, placement = len(self.links) - 1, Placement(np.eye(3), ca.SX.zeros(3))
        # The body from its child frame, which is where the last freedom ends.
        inverse = np.asarray(branch.child_frame.axes).T
        own = Placement(
            without_round_off(placement.A @ inverse),
            placement.c - ca.SX(placement.A @ inverse) @ self.value(branch.child_frame.origin),
        )
        self.placements[branch.body.name] = (parent, own)
        self.links[parent].bodies[branch.body.name] = (branch.body, own)


def _sum_inertia(masses: Iterable[CentralInertia]) -> Inertia:
    """Return the inertia of bodies together about the origin of their link."""
    m, h, J = ca.SX(0), ca.SX.zeros(3), ca.SX.zeros(3, 3)
    for mass, c, own in masses:
        S = ca.skew(c)
        m, h = m + mass, h + mass * c
        J += own - mass * S @ S
    return m, h, J


def _find_subspace(step: Axis | Ball | None, value: Value) -> tuple[ca.SX, ca.SX]:
    """Return angular and linear velocity per rate, (3, k) each."""
    if step is None:
        return ca.SX(3, 0), ca.SX(3, 0)
    if isinstance(step, Ball):
        return ca.SX.eye(3), ca.SX(3, 3)
    turn, slide = ca.SX(ca.DM(step.turn)), ca.SX(ca.DM(step.slide))
    return step.sign * turn, step.sign * (slide + turn * value(step.pitch) / (2 * np.pi))
