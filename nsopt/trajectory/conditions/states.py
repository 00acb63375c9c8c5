"""Conditions on coordinates, velocities and inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.mechanics import Dynamics
from nsopt.trajectory.conditions.base import Bound, Condition, check_limits
from nsopt.trajectory.costs import wanted, whole
from nsopt.trajectory.moment import Moment


@dataclass(frozen=True)
class _Posture(Condition):
    """Coordinates and velocities; those left out are free.

    Parameters
    ----------
    q, v : (nq,), (nv,) or None
        Not-a-number leaves a single one free. Internal states of friction, the last of q, may be
        left out: they start at zero and end at will.
    """

    internal: ClassVar[float]
    """What internal states are where they are left out."""

    q: ArrayLike | None = None
    v: ArrayLike | None = None

    def check(self, dynamics: Dynamics) -> None:
        q = whole(dynamics, self.q, self.internal)
        named = (("q", q, dynamics.q_names), ("v", self.v, dynamics.v_names))
        for (what, x, names), internal in zip(
            named, (len(dynamics.internal_names), 0), strict=True
        ):
            if x is not None:
                wanted(f"{what} of {type(self).__name__}", x, names, internal)

    def _bounds(self, m: Moment) -> list[Bound]:
        found = []
        q = whole(m.dynamics, self.q, self.internal)
        for name, x, given in (("q", m.q, q), ("v", m.v, self.v)):
            numbers = np.asarray([] if given is None else given, dtype=float)
            at = np.flatnonzero(np.isfinite(numbers))
            if at.size:
                found.append(Bound(name, x[at.tolist()], numbers[at], numbers[at]))
        return found


class StartAt(_Posture):
    """Where the motion starts: coordinates ``q`` and velocities ``v``."""

    internal: ClassVar[float] = 0.0

    def start(self, m: Moment) -> list[Bound]:
        return self._bounds(m)


class EndAt(_Posture):
    """Where the motion ends: coordinates ``q`` and velocities ``v``."""

    internal: ClassVar[float] = np.nan

    def end(self, m: Moment) -> list[Bound]:
        return self._bounds(m)


@dataclass(frozen=True)
class Within(Condition):
    """Limits of coordinates, velocities and inputs, by name.

    Parameters
    ----------
    name : str
        Of an entry of q or v, such as ``elbow.angle``, or of an input.
    lower, upper : float
    """

    name: str
    lower: float = -np.inf
    upper: float = np.inf

    def check(self, dynamics: Dynamics) -> None:
        known = [*dynamics.q_names, *dynamics.v_names, *(x.name for x in dynamics.parameters)]
        if self.name not in known:
            raise ValueError(
                f"Within names {self.name!r}, which is not there: one of {', '.join(known)}"
            )
        check_limits(f"of {self.name!r}", self.lower, self.upper)
        if np.isinf([self.lower, self.upper]).all():
            raise ValueError(f"Within limits nothing of {self.name!r}: give lower=, upper= or both")

    def along(self, m: Moment) -> list[Bound]:
        d = m.dynamics
        for names, x in ((d.q_names, m.q), (d.v_names, m.v)):
            if self.name in names:
                return [self._bound(x[names.index(self.name)])]
        return [self._bound(m.input(self.name))]

    def _bound(self, x: ca.SX) -> Bound:
        return Bound(self.name, x, np.array([self.lower]), np.array([self.upper]))


@dataclass(frozen=True)
class Periodic(Condition):
    """The motion ends as it starts, so that it can go on: the same coordinates and velocities.

    Parameters
    ----------
    advance : (nq,), optional [rad] or [m]
        By how much each coordinate is ahead at the end, such as a turn of a crank; not-a-number
        leaves one free. By default nothing; so do internal states of friction that are left out.
    """

    advance: ArrayLike | None = None

    def check(self, dynamics: Dynamics) -> None:
        if self.advance is not None:
            advance = whole(dynamics, self.advance, 0.0)
            wanted("advance of Periodic", advance, dynamics.q_names)

    def couple(self, first: Moment, last: Moment) -> list[Bound]:
        given = whole(first.dynamics, self.advance, 0.0)
        ahead = np.zeros(first.q.numel()) if given is None else np.asarray(given, dtype=float)
        at = np.flatnonzero(np.isfinite(ahead))
        k = at.tolist()
        still = np.zeros(first.v.numel())
        of_v = Bound("period of v", last.v - first.v, still, still)
        if not k:
            return [of_v]
        return [Bound("period of q", last.q[k] - first.q[k], ahead[at], ahead[at]), of_v]
