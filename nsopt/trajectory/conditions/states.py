"""Conditions on coordinates, velocities and inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.algebra import body_rate_matrix
from nsopt.arrays import Array
from nsopt.checks import NOT_IN_MECHANISM, check_names
from nsopt.mechanics import Axis, Dynamics, entry_named
from nsopt.mpcc import Bound
from nsopt.parameter import number
from nsopt.trajectory.checks import (
    FREE,
    Targets,
    find_followers,
    order_targets,
    read_targets,
    with_internal_states,
)
from nsopt.trajectory.conditions.base import Condition, check_limits, limit
from nsopt.trajectory.node_sample import NodeSample

ROOM = 1e-3
"""How far an Euler parameter that follows from the other three may be from its target: so that it
is no fourth equation for them."""


@dataclass(frozen=True)
class _Posture(Condition):
    """Given coordinates, velocities and accelerations at one node; those left out are free.

    Each is a sequence or a mapping of name to float, as for `Start.named`, or None. `FREE` in place
    of a number leaves a single one free; so does NaN where it is stated, not where
    `PreparedOptimization.solve` is given another state, which may be a measured one. Internal
    states of friction, the last of q, may be left out: they are zero at the start and free at the
    end.
    """

    internal: ClassVar[float]
    """Value of internal states that are left out; NaN leaves them free."""

    q: Targets | None = None
    v: Targets | None = None
    accelerations: Targets | None = None

    def check(self, dynamics: Dynamics) -> None:
        names, internal = self._names(dynamics), {"q": len(dynamics.internal_names)}
        for what, x in self._order_targets(dynamics).items():
            if x is not None:
                whose = f"{what} of {type(self).__name__}"
                read_targets(whose, x, names[what], internal.get(what, 0))

    def _names(self, d: Dynamics) -> dict[str, Sequence[str]]:
        """Return the names of what may be given."""
        return {"q": d.q_names, "v": d.v_names, "accelerations": d.v_names}

    def _order_targets(self, d: Dynamics) -> dict[str, ArrayLike | None]:
        """Return what is given by the keys of `_names`, each in their order or None."""
        condition, targets = type(self).__name__, dict[str, ArrayLike | None]()
        external = d.q_names[: len(d.q_names) - len(d.internal_names)]
        for what, names in (self._names(d) | {"q": external}).items():
            targets[what] = order_targets(f"{what} of {condition}", getattr(self, what), names)
        return targets | {"q": with_internal_states(d, targets["q"], self.internal)}

    def _read_numbers(self, d: Dynamics) -> dict[str, Array]:
        """Return the numbers of `_order_targets` as arrays, NaN where they are free."""
        sizes = {what: len(names) for what, names in self._names(d).items()}
        return {
            what: np.full(sizes[what], np.nan) if x is None else np.asarray(x, dtype=float)
            for what, x in self._order_targets(d).items()
        }

    def free(self, dynamics: Dynamics) -> dict[str, frozenset[str]]:
        """Return the names of numbers left free, by "q", "v" and "accelerations"."""
        names, free = self._names(dynamics), {}
        for what, numbers in self._read_numbers(dynamics).items():
            pairs = zip(names[what], numbers, strict=False)
            free[what] = frozenset(name for name, x in pairs if np.isnan(x))
        return free

    def find_nan(self, dynamics: Dynamics) -> dict[str, frozenset[str]]:
        """Return the names of numbers stated as NaN, which `FREE` is not, by the keys of `free`."""
        names = self._names(dynamics)
        return {what: frozenset(_find_nan(getattr(self, what), names[what])) for what in names}

    def coordinates(self, dynamics: Dynamics) -> Array:
        """Return the coordinates that are given, (nq,), NaN where they are free."""
        return self._read_numbers(dynamics)["q"]

    def velocities(self, dynamics: Dynamics) -> Array:
        """Return the velocities that are given, (nv,), NaN where they are free."""
        return self._read_numbers(dynamics)["v"]

    def _make_bounds(self, m: NodeSample) -> list[Bound]:
        """Return bounds that make the stated numbers equal to their targets."""
        q, v, a = self._read_numbers(m.dynamics).values()
        bounds = []
        for name, x, given in (("q", m.q, q), ("v", m.v, v), ("acceleration", m.a, a)):
            stated = np.flatnonzero(np.isfinite(given))
            if stated.size:
                bounds.append(Bound(name, x[stated.tolist()], given[stated], given[stated]))
        return bounds


def _find_nan(value: Targets | None, names: Sequence[str]) -> Iterator[str]:
    """Yield the names of numbers that are NaN."""
    if isinstance(value, Mapping):
        pairs = [(entry_named(name, names), x) for name, x in value.items()]
    else:
        entries = np.atleast_1d(np.asarray([] if value is None else value, dtype=object)).ravel()
        pairs = list(enumerate(entries))
    yield from (names[k] for k, x in pairs if x is not FREE and np.isnan(float(number(x))))


class StartAt(_Posture):
    """Coordinates ``q``, velocities ``v`` and ``accelerations`` at the start of the motion."""

    internal: ClassVar[float] = 0.0

    def check(self, dynamics: Dynamics) -> None:
        super().check(dynamics)
        free, undefined = self.free(dynamics), self.find_nan(dynamics)
        sizes = (dynamics.nq, dynamics.nv, dynamics.nv)
        if any(undefined.values()) and tuple(map(len, free.values())) == sizes:
            raise ValueError(
                "StartAt has nan in place of every number: a state that is measured must be "
                "numbers; leave StartAt out, if the start is to be free"
            )

    def start(self, m: NodeSample) -> list[Bound]:
        return self._make_bounds(m)


class EndAt(_Posture):
    """Coordinates ``q``, velocities ``v`` and ``accelerations`` at the end of the motion."""

    internal: ClassVar[float] = np.nan

    def end(self, m: NodeSample) -> list[Bound]:
        return [self._loosen_rotations(m.dynamics, bound) for bound in self._make_bounds(m)]

    def at_rest(self, dynamics: Dynamics) -> bool:
        return self.v is not None and not np.any(self.velocities(dynamics))

    def _loosen_rotations(self, d: Dynamics, bound: Bound) -> Bound:
        """Return a bound on q with `ROOM` for the largest Euler parameter of each rotation.

        Steps keep their norm, so that three equations give all four: with a fourth one multipliers
        would not be unique.
        """
        if bound.label != "q":
            return bound
        q = self.coordinates(d)
        rotations = ca.DM(d.norms.jac_sparsity(0, 0)).full().astype(bool)  # (rotations, nq)
        whole = [rotation for rotation in rotations if np.isfinite(q[rotation]).all()]
        largest = [int(np.argmax(np.abs(q) * rotation)) for rotation in whole]
        room = ROOM * np.isin(np.flatnonzero(np.isfinite(q)), largest)
        return bound._replace(lower=bound.lower - room, upper=bound.upper + room)


@dataclass(frozen=True)
class Within(Condition):
    """Limits of coordinates, velocities, inputs and outputs of forces, by name.

    Parameters
    ----------
    name : str
        Of an entry of q or v, such as ``elbow.angle``, also of a joint that follows another
        (`Mimic`), of an input, or of an output, such as
        ``hip limit.excess`` of a `RangeOfMotion`: with ``upper=0`` its cone is never left.
    lower, upper : float
        In the unit of what is named; at least one of them.
    """

    name: str
    lower: float = -np.inf
    upper: float = np.inf

    def check(self, dynamics: Dynamics) -> None:
        d = dynamics
        followers = [x for names in _names_of_followers(d).values() for x in names]
        known = [*d.q_names, *d.v_names, *followers, *d.parameter_names, *d.output_names]
        check_names("Within names", [self.name], known, NOT_IN_MECHANISM)
        check_limits(repr(self.name), self.lower, self.upper)
        if np.isinf([self.lower, self.upper]).all():
            raise ValueError(f"Within limits nothing of {self.name!r}: give lower=, upper= or both")

    def along(self, m: NodeSample) -> list[Bound]:
        return [limit(self.name, self._find(m), self.lower, self.upper)]

    def _find(self, m: NodeSample) -> ca.SX:
        """Return what is named."""
        d = m.dynamics
        for names, x in ((d.q_names, m.q), (d.v_names, m.v)):
            if self.name in names:
                return x[names.index(self.name)]
        for joint, names in _names_of_followers(d).items():
            if self.name in names:
                return m.coordinate(joint)[names.index(self.name)]
        if self.name in d.output_names:
            return d.outputs(m.t, m.q, m.v, m.p)[d.output_names.index(self.name)]
        return m.input(self.name)


@dataclass(frozen=True)
class Periodic(Condition):
    """A periodic motion: coordinates and velocities at the end equal those at the start.

    Parameters
    ----------
    advance : (nq,), optional [rad] or [m]
        Increase of each coordinate over the period, such as 2 pi for a crank; `FREE` leaves one
        free.
        Zero by default, also for internal states of friction that are left out. Zero of all Euler
        parameters is the same orientation, also after a whole turn, where their signs differ.
    """

    advance: ArrayLike | None = None

    def check(self, dynamics: Dynamics) -> None:
        if self.advance is not None:
            advance = with_internal_states(dynamics, self.advance, 0.0)
            read_targets("advance of Periodic", advance, dynamics.q_names)

    def read_advance(self, dynamics: Dynamics) -> Array:
        """Return the increase of each coordinate, (nq,), NaN where it is free."""
        given = with_internal_states(dynamics, self.advance, 0.0)
        return np.zeros(dynamics.nq) if given is None else np.asarray(given, dtype=float)

    def couple(self, first: NodeSample, last: NodeSample) -> list[Bound]:
        advance, bounds = self.read_advance(first.dynamics), list[Bound]()
        stated = np.isfinite(advance)
        for turned in _list_ball_coordinates(first.dynamics):
            if (advance[turned] == 0).all():
                stated[turned] = False
                turn = body_rate_matrix(first.q[turned]) @ last.q[turned]
                bounds.append(Bound("period of a turn", turn, np.zeros(3), np.zeros(3)))
        if k := np.flatnonzero(stated).tolist():
            change = last.q[k] - first.q[k]
            bounds.insert(0, Bound("period of q", change, advance[k], advance[k]))
        still = np.zeros(first.v.numel())
        return [*bounds, Bound("period of v", last.v - first.v, still, still)]


def _list_ball_coordinates(d: Dynamics) -> list[slice]:
    """Return the Euler parameters of each body or joint that has them."""
    return [b.q for b in d.mechanism.generalized_coordinates.blocks if b.ball]


def _names_of_followers(d: Dynamics) -> dict[str, tuple[str, str]]:
    """Return the names of the coordinate and the velocity of each joint that follows another."""
    joints = {joint.name: joint for joint in d.mechanism.joints}
    freedoms = {name: joints[name].freedom() for name in find_followers(d)}
    axes = {name: axes[0] for name, axes in freedoms.items() if axes and isinstance(axes[0], Axis)}
    return {name: (f"{name}.{axis.name}", f"{name}.{axis.rate}") for name, axis in axes.items()}
