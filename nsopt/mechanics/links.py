"""A spanning tree as links of one freedom each, with numbers in place: what recursions run over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.mechanics.bodies import Body
from nsopt.mechanics.coordinates import Array, Value
from nsopt.mechanics.frame import Frame
from nsopt.mechanics.freedom import Axis, Ball
from nsopt.mechanics.spanning_tree import Branch

ROUND = 1e-14
"""Entries of products of rotations this near to a whole number are that number."""


@dataclass(frozen=True)
class Entry:
    """Where a freedom takes its coordinate: ratio * q[at] + offset."""

    q: slice
    v: slice
    ratio: float = 1.0
    offset: float = 0.0


NOTHING = Entry(slice(0, 0), slice(0, 0))


class Seat(NamedTuple):
    """Where something rigid sits in a link."""

    A: Array  # (3, 3) its axes in those of the link
    c: ca.SX  # (3,) [m] its origin

    def hold(self, frame: Frame, value: Value) -> Seat:
        """Return the seat of a frame on a body that sits here."""
        return Seat(_clean(self.A @ np.asarray(frame.axes)), self.c + self.A @ value(frame.origin))


@dataclass(frozen=True, eq=False)
class Link:
    """A link; its frame is where its freedom ends.

    Attributes
    ----------
    parent : int
        -1 is the ground.
    place : Seat
        Of its freedom's frame in the parent.
    step : Axis or Ball, or None where nothing moves
    entry : Entry
    turn, slide : (3, k), (3, k) [m/rad, or 1]
        Angular and linear velocity per rate, in its own axes.
    rotor : SX scalar [kg m^2] or [kg]
        Inertia of a motor, as the freedom feels it.
    seats : dict of body name to (Body, Seat)
    """

    parent: int
    place: Seat
    step: Axis | Ball | None
    entry: Entry
    turn: ca.SX
    slide: ca.SX
    rotor: ca.SX
    seats: dict[str, tuple[Body, Seat]] = field(default_factory=dict)

    def rates(self, v: ca.SX) -> ca.SX:
        """Return the rates of its freedom (k,) from those of the coordinates (nv,)."""
        return self.entry.ratio * v[self.entry.v] if self.step else ca.SX(0, 1)

    def inertia(self, value: Value) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return mass, first moment (3,) and inertia about the link's origin (3, 3)."""
        m, h, J = ca.SX(0), ca.SX.zeros(3), ca.SX.zeros(3, 3)
        for body, seat in self.seats.values():
            mass, own = value(body.mass), value(body.inertia)
            own = ca.diag(own) if own.is_column() else own
            S = ca.skew(seat.c)
            m, h = m + mass, h + mass * seat.c
            J += seat.A @ own @ seat.A.T - mass * S @ S
        return m, h, J


class Links:
    """All links of a tree, each after its parent.

    Parameters
    ----------
    branches : sequence of Branch
    entries : mapping of body name to sequence of Entry
        Of the freedoms of its branch.
    rotors : mapping of joint name to SX
    value : callable
    weld : bool
        Whether bodies on fixed joints become part of what holds them; else they are links of their
        own, without freedom, so that the reaction between them is known.

    Attributes
    ----------
    links : list of Link
    seats : mapping of body name to (int, Seat)
        The link each body belongs to, and where it sits in it; None is the ground, link -1.
    """

    def __init__(
        self,
        branches: Sequence[Branch],
        entries: Mapping[str, Sequence[Entry]],
        rotors: Mapping[str, ca.SX],
        value: Value,
        weld: bool = True,
    ) -> None:
        self.links: list[Link] = []
        self.seats: dict[str | None, tuple[int, Seat]] = {
            None: (-1, Seat(np.eye(3), ca.SX.zeros(3)))
        }
        self._entries, self._rotors, self._value, self._weld = entries, rotors, value, weld
        for branch in branches:
            self._grow(branch)

    def _grow(self, branch: Branch) -> None:
        """Add the links of a branch and seat its body."""
        parent, seat = self.seats[branch.on.body.name if branch.on.body else None]
        place = seat.hold(branch.on, self._value)
        steps: Sequence[Axis | Ball | None] = branch.freedom
        entries = self._entries[branch.body.name]
        if not steps and not (self._weld and parent >= 0):
            steps, entries = (None,), (NOTHING,)
        rotor = self._rotors.get(branch.joint.name if branch.joint else "", ca.SX(0))
        for step, entry in zip(steps, entries, strict=True):
            subspace = _subspace(step, self._value)
            self.links.append(Link(parent, place, step, entry, *subspace, rotor))
            parent, place = len(self.links) - 1, Seat(np.eye(3), ca.SX.zeros(3))
        turn = np.asarray(branch.to.axes).T
        own = Seat(
            _clean(place.A @ turn), place.c - ca.SX(place.A @ turn) @ self._value(branch.to.origin)
        )
        self.seats[branch.body.name] = (parent, own)
        self.links[parent].seats[branch.body.name] = (branch.body, own)


def _subspace(step: Axis | Ball | None, value: Value) -> tuple[ca.SX, ca.SX]:
    """Return angular and linear velocity per rate, (3, k) each."""
    if step is None:
        return ca.SX(3, 0), ca.SX(3, 0)
    if isinstance(step, Ball):
        return ca.SX.eye(3), ca.SX(3, 3)
    turn, slide = ca.SX(ca.DM(step.turn)), ca.SX(ca.DM(step.slide))
    return step.sign * turn, step.sign * (slide + turn * value(step.pitch) / (2 * np.pi))


def _clean(A: Array) -> Array:
    """Return a rotation matrix without the round-off of quarter turns."""
    near = np.round(A)
    return np.where(np.abs(A - near) < ROUND, near, A)
