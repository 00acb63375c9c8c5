"""What conditions say of a motion, number by number: at its start, all along, at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics, Frame
from nsopt.trajectory.conditions import Apart, Bound, Condition, During, Span, Touching
from nsopt.trajectory.moment import Acting, Moment

Array = NDArray[np.float64]

START, ALONG, END = "at the start", "all along", "at the end"
PARTLY = "for a part of the motion"
OFF = 1e-6
"""By how much a bound may be missed: what solvers leave open."""


class Row(NamedTuple):
    """One number of a condition: lower <= value <= upper."""

    condition: Condition
    when: str
    label: str  # of the Bound
    name: str  # a coordinate, velocity or input where it is one, else by the label
    value: ca.SX
    lower: float
    upper: float

    @property
    def demand(self) -> Condition:
        """The condition, without the part of the motion for which it holds."""
        c = self.condition
        return c.condition if isinstance(c, During) else c

    @property
    def owner(self) -> str:
        """The condition, and the body or contact it is about."""
        c = self.demand
        named = "During " if isinstance(self.condition, During) else ""
        frame = getattr(c, "frame", getattr(c, "near", None))
        of = f" of {frame.place}" if isinstance(frame, Frame) else ""
        if isinstance(c, Touching | Apart):
            of = f" of contact {c.contact!r}"
        return f"{named}{type(c).__name__}{of}"

    @property
    def wanted(self) -> str:
        """The limits in words."""
        if self.lower == self.upper:
            return f"{self.lower:.6g}"
        limits = (("at least", self.lower), ("at most", self.upper))
        return " and ".join(f"{side} {x:.6g}" for side, x in limits if np.isfinite(x)) or "free"


class Stated(NamedTuple):
    """A row, and the first and the last node at which it holds."""

    row: Row
    first: int
    last: int

    @property
    def when(self) -> str:
        """The same in words."""
        if self.row.when != PARTLY:
            return self.row.when
        if self.first == self.last:
            return f"at step {self.first}"
        return f"from step {self.first} to {self.last}"

    def common(self, other: Stated) -> tuple[int, int]:
        """Return the first and the last node at which both hold; the last is less if none."""
        return max(self.first, other.first), min(self.last, other.last)


class Interval(NamedTuple):
    """What all rows of one number leave of it."""

    lower: float = -np.inf
    upper: float = np.inf

    @property
    def given(self) -> bool:
        """Whether one value is left."""
        return np.isfinite(self.lower) and abs(self.upper - self.lower) <= OFF


@dataclass(frozen=True, eq=False)
class Statement:
    """All conditions of a motion at a moment made of symbols.

    Parameters
    ----------
    dynamics : Dynamics
    conditions : sequence of Condition
    inputs : sequence of str
        Parameters that are chosen anew at every moment.
    p : (np,)
        Values of parameters.
    """

    dynamics: Dynamics
    conditions: Sequence[Condition]
    inputs: Sequence[str]
    p: Array

    @cached_property
    def moment(self) -> Moment:
        """Time, coordinates, velocities, inputs and all that acts are symbols."""
        d = self.dynamics
        t, q, v, a = self._free
        entries = [
            ca.SX.sym(x.name) if x.name in self.inputs else ca.SX(value)
            for x, value in zip(d.parameters, self.p, strict=True)
        ]
        p = ca.vertcat(ca.SX(0, 1), *entries)
        free = self._acting
        acting = None if free is None else replace(free, gap=d.gap(t, q, p))
        return Moment(d, t, q, v, a, p, acting)

    @cached_property
    def _free(self) -> tuple[ca.SX, ...]:
        """Time, coordinates, velocities, accelerations."""
        d = self.dynamics
        return tuple(ca.SX.sym(*x) for x in (("t", 1), ("q", d.nq), ("v", d.nv), ("a", d.nv)))

    @cached_property
    def _acting(self) -> Acting | None:
        """What a motion in steps has besides; nothing where drives follow from accelerations."""
        d = self.dynamics
        if not (d.contact_names or d.closure_names):
            return None
        ng, nc, ns = len(d.contact_names), len(d.closure_names), len(d.slip_contacts)
        sizes = {
            "h": 1,
            "change": d.nv,
            "drive": d.nv,
            "impulse": ng,
            "joint_impulse": nc,
            "slip_impulse": ns,
            "blow": ng,
            "loss": ng,
            "after": 1,
            "even": 1,
        }
        return Acting(**{name: ca.SX.sym(name, n) for name, n in sizes.items()})

    @cached_property
    def symbols(self) -> tuple[ca.SX, ...]:
        """Time, coordinates, velocities, all that acts, inputs."""
        m, x = self.moment, self._acting
        inputs = ca.vertcat(ca.SX(0, 1), *(m.input(name) for name in self.inputs))
        # Gaps follow from coordinates, all else that acts is free.
        parts = [] if x is None else [getattr(x, field.name) for field in fields(x)]
        return m.t, m.q, m.v, ca.vertcat(m.a, *parts), inputs

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every number of every condition, but for those of `spans`."""
        m, found = self.moment, []
        for c in self.conditions:
            for when, bounds in ((START, c.start(m)), (ALONG, c.along(m)), (END, c.end(m))):
                found += [row for b in bounds for row in self._rows(c, when, b)]
        return tuple(found)

    @cached_property
    def spans(self) -> tuple[tuple[Span, tuple[Row, ...]], ...]:
        """What holds for a part of the motion, with its rows, in the order of programs."""
        return tuple(
            (span, tuple(row for b in span.bounds for row in self._rows(c, PARTLY, b)))
            for c in self.conditions
            for span in c.during(self.moment)
        )

    def stated(self, steps: int) -> tuple[Stated, ...]:
        """Return all rows with the nodes at which they hold: those of `rows`, then of `spans`."""
        nodes = {START: (0, 0), ALONG: (0, steps), END: (steps, steps)}
        found = [Stated(row, *nodes[row.when]) for row in self.rows]
        for span, rows in self.spans:
            first, last, _ = span.of(steps)
            found += [Stated(row, int(first), int(last)) for row in rows]
        return tuple(found)

    def _rows(self, condition: Condition, when: str, b: Bound) -> list[Row]:
        n = b.value.numel()
        if n == 0:
            return []
        tails = [""] if n == 1 else [f", {x}" for x in ("xyz" if n == 3 else range(n))]
        names = [b.label + tail for tail in tails]
        lower, upper = (np.broadcast_to(np.ravel(x), n).tolist() for x in (b.lower, b.upper))
        return [
            Row(condition, when, b.label, self._known.get(x.element_hash(), name), x, low, high)
            for x, name, low, high in zip(ca.vertsplit(b.value), names, lower, upper, strict=True)
        ]

    @cached_property
    def _known(self) -> dict[int, str]:
        """Names of numbers that are symbols, by what CasADi knows them by."""
        d, (_, q, v, _, u) = self.dynamics, self.symbols
        named = ((q, d.q_names), (v, d.v_names), (u, self.inputs))
        return {
            x.element_hash(): name
            for xs, names in named
            for x, name in zip(ca.vertsplit(xs) if xs.numel() else [], names, strict=True)
        }

    @cached_property
    def same(self) -> tuple[int, ...]:
        """For each row of `stated` the first that is the same expression, told by their values."""
        # Two expressions that agree at several places taken by chance are one.
        chance = np.random.default_rng(6)
        samples = [
            np.asarray(self.function(*(chance.uniform(0.1, 0.9, x.numel()) for x in self.symbols)))
            for _ in range(4)
        ]
        table = np.hstack(samples)
        first: list[int] = []
        for k, values in enumerate(table):
            before = (j for j in dict.fromkeys(first) if np.allclose(table[j], values, 1e-11, 0))
            first.append(next(before, k))
        return tuple(first)

    @cached_property
    def function(self) -> ca.Function:
        """`symbols` -> `values`."""
        return ca.Function("rows", list(self.symbols), [ca.densify(self.values)], {"cse": True})

    @cached_property
    def values(self) -> ca.SX:
        """Of all rows, in the order of `stated`."""
        rows = [*self.rows, *(row for _, rows in self.spans for row in rows)]
        return ca.vertcat(ca.SX(0, 1), *(row.value for row in rows))

    def interval(self, name: str, *occasions: str) -> Interval:
        """Return what is left of a coordinate, velocity or input on some occasions."""
        mine = [row for row in self.rows if row.name == name and row.when in occasions]
        return Interval(
            max((row.lower for row in mine), default=-np.inf),
            min((row.upper for row in mine), default=np.inf),
        )

    def posture(self, when: str) -> tuple[Array, Array]:
        """Return q (nq,) and v (nv,) as given at start or end, not-a-number where they are not."""
        found = []
        for names in (self.dynamics.q_names, self.dynamics.v_names):
            left = [self.interval(name, when, ALONG) for name in names]
            found.append(np.array([x.lower if x.given else np.nan for x in left]))
        return found[0], found[1]
