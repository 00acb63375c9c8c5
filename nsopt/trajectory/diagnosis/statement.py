"""The conditions of an optimization as scalar rows, each lower <= value <= upper: `Statement`.

What diagnosis, searches and limits between nodes read of conditions: names and limits of rows, when
they hold, which coordinates they give. All are expressions of one `NodeSample` of symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Frame
from nsopt.mpcc import ConstraintBlock, HorizonPlace
from nsopt.trajectory.conditions import Apart, Bound, Condition, During, Span, Touching
from nsopt.trajectory.node_sample import SHARP, NodeSample, SteppedNode
from nsopt.trajectory.returned import call_bounds, call_spans


class Occasion(StrEnum):
    """When a row of a condition holds; its value is said in messages."""

    START = "at the start"
    ALONG = "all along"
    END = "at the end"
    PARTLY = "for a part of the motion"


START, ALONG, END, PARTLY = Occasion
TOLERATED = 1e-6  # violation of a bound up to which it counts as met, as for solvers

SHARED = ("_motion", "_stepped", "sample", "symbols", "_names_by_hash")
"""Cached properties of a `Statement` that do not depend on its conditions: `Statement.restate`
hands them on, so that the same rows are the same expressions."""

STEPS = 10**6  # a number of steps so large that different shares of a motion are different nodes


class Row(NamedTuple):
    """A scalar row of a condition: lower <= value <= upper."""

    condition: Condition
    when: Occasion
    label: str  # of the Bound
    name: str  # a coordinate, velocity or input where it is one, else by the label
    value: ca.SX
    lower: float
    upper: float

    @property
    def inner_condition(self) -> Condition:
        """The condition; of a `During` the one inside."""
        c = self.condition
        return c.condition if isinstance(c, During) else c

    @property
    def owner(self) -> str:
        """The condition with its body or contact, for messages."""
        c = self.inner_condition
        named = "During " if isinstance(self.condition, During) else ""
        frame = getattr(c, "frame", getattr(c, "near", None))
        of = f" of {frame.label}" if isinstance(frame, Frame) else ""
        if isinstance(c, Touching | Apart):
            of = f" of contact {c.contact!r}"
        return f"{named}{type(c).__name__}{of}"

    @property
    def wanted(self) -> str:
        """The limits, for messages."""
        if self.lower == self.upper:
            return f"{self.lower:.6g}"
        limits = (("at least", self.lower), ("at most", self.upper))
        return " and ".join(f"{side} {x:.6g}" for side, x in limits if np.isfinite(x)) or "free"


class Stated(NamedTuple):
    """A row with the first and the last node at which it holds."""

    row: Row
    first: int
    last: int

    @property
    def when(self) -> str:
        """The nodes at which the row holds, for messages."""
        if self.row.when != PARTLY:
            return self.row.when
        if self.first == self.last:
            return f"at step {self.first}"
        return f"from step {self.first} to {self.last}"

    def find_common_nodes(self, other: Stated) -> tuple[int, int]:
        """Return the first and last node at which both hold; last < first if there is none."""
        return max(self.first, other.first), min(self.last, other.last)


class VariableBounds(NamedTuple):
    """The interval that the rows of a coordinate, velocity or input leave for it together."""

    lower: float = -np.inf
    upper: float = np.inf

    @property
    def given(self) -> bool:
        """Whether a single value is left."""
        return np.isfinite(self.lower) and abs(self.upper - self.lower) <= TOLERATED


@dataclass(frozen=True, eq=False)
class Statement:
    """All conditions of a motion, evaluated on one `NodeSample` of symbols."""

    dynamics: Dynamics
    conditions: Sequence[Condition]
    inputs: Sequence[str]  # Parameters of which the optimum chooses a value at each node
    p: Array  # (np,) values of parameters

    @cached_property
    def sample(self) -> NodeSample:
        """The motion at one time, with symbols for state, inputs and impulses."""
        d = self.dynamics
        t, q, v, a = self._motion
        entries = [
            ca.SX.sym(x.name) if x.name in self.inputs else ca.SX(value)
            for x, value in zip(d.parameters, self.p, strict=True)
        ]
        p = ca.vertcat(ca.SX(0, 1), *entries)
        stepped = self._stepped
        if stepped is not None:
            stepped = replace(stepped, gap=d.gap(t, q, p))
        return NodeSample(d, t, q, v, a, p, stepped, self._creep)

    @property
    def _creep(self) -> ca.SX | None:
        """Speeds up to which friction is smoothed: none in joints with a drive, else as stated."""
        if self._stepped is not None:
            return None
        d = self.dynamics
        driven = set(d.mechanism.driven_joints).intersection(d.v_owners)
        owners = [d.joint_names[k] for k in d.friction_joints]
        return ca.SX(ca.DM([SHARP if x in driven else 0.0 for x in owners]))

    @cached_property
    def _motion(self) -> tuple[ca.SX, ...]:
        """Symbols of time, coordinates, velocities, accelerations."""
        d = self.dynamics
        return tuple(ca.SX.sym(*x) for x in (("t", 1), ("q", d.nq), ("v", d.nv), ("a", d.nv)))

    @cached_property
    def _stepped(self) -> SteppedNode | None:
        """Symbols of a time-stepped node; None without contacts and closed loops."""
        d = self.dynamics
        if not (d.contact_names or d.multiplier_names):
            return None
        # Contacts, reactions of joints, directions of slip.
        ng, nm, ns = len(d.contact_names), len(d.multiplier_names), len(d.slip_contacts)
        sizes = {"change": d.nv, "drive": d.nv, "joint_impulse": nm, "slip_impulse": ns}
        sizes |= dict.fromkeys(("h", "next_h", "mean_h"), 1)
        sizes |= dict.fromkeys(("impulse", "impact_impulse", "loss"), ng)
        return SteppedNode(**{name: ca.SX.sym(name, n) for name, n in sizes.items()})

    @cached_property
    def symbols(self) -> tuple[ca.SX, ...]:
        """Time, coordinates, velocities, accelerations with all quantities of the node, inputs."""
        m, x = self.sample, self._stepped
        inputs = ca.vertcat(ca.SX(0, 1), *(m.input(name) for name in self.inputs))
        # Gaps follow from coordinates, all other quantities of the node are free.
        parts = [] if x is None else [getattr(x, field.name) for field in fields(x)]
        return m.t, m.q, m.v, ca.vertcat(m.a, *parts), inputs

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of all conditions, but for those that hold for a part of the motion."""
        m, rows = self.sample, []
        for c in self.conditions:
            for when, method in ((START, "start"), (ALONG, "along"), (END, "end")):
                rows += [row for b in call_bounds(c, method, m) for row in self._split(c, when, b)]
        return tuple(rows)

    @cached_property
    def spans(self) -> tuple[tuple[Span, tuple[Row, ...]], ...]:
        """The spans of all conditions with their rows, in the order of the program."""
        return tuple(
            (span, tuple(row for b in span.bounds for row in self._split(c, PARTLY, b)))
            for c in self.conditions
            for span in call_spans(c, self.sample)
        )

    def state_rows(self, steps: int) -> tuple[Stated, ...]:
        """Return all rows with the nodes at which they hold: those of `rows`, then of `spans`."""
        nodes = {START: (0, 0), ALONG: (0, steps), END: (steps, steps)}
        stated = [Stated(row, *nodes[row.when]) for row in self.rows]
        for span, rows in self.spans:
            stated += [Stated(row, *span.find_nodes(steps)) for row in rows]
        return tuple(stated)

    def _split(self, condition: Condition, when: Occasion, b: Bound) -> list[Row]:
        """Return the scalar rows of a bound."""
        n = b.value.numel()
        if n == 0:
            return []
        tails = [""] if n == 1 else [f", {x}" for x in ("xyz" if n == 3 else range(n))]
        names = [b.label + tail for tail in tails]
        lower, upper = (np.broadcast_to(np.ravel(x), n).tolist() for x in (b.lower, b.upper))
        return [
            Row(condition, when, b.label, self._names_by_hash.get(x.element_hash(), name), x, *ends)
            for x, name, *ends in zip(ca.vertsplit(b.value), names, lower, upper, strict=True)
        ]

    @cached_property
    def _names_by_hash(self) -> dict[int, str]:
        """Names of coordinates, their rates and inputs by the hash of their symbol."""
        d, (_, q, v, _, u) = self.dynamics, self.symbols
        a = (self.sample.a, self._acceleration_names)
        named = ((q, d.q_names), (v, d.v_names), a, (u, self.inputs))
        return {
            x.element_hash(): name
            for xs, names in named
            for x, name in zip(ca.vertsplit(xs) if xs.numel() else [], names, strict=True)
        }

    @property
    def _acceleration_names(self) -> list[str]:
        return [f"acceleration of {name}" for name in self.dynamics.v_names]

    @cached_property
    def first_alike(self) -> tuple[int, ...]:
        """For each row of `state_rows` the index of the first row of the same expression."""
        # Expressions that agree at several random points are taken as the same.
        random = np.random.default_rng(6)
        samples = [
            np.asarray(self.function(*(random.uniform(0.1, 0.9, x.numel()) for x in self.symbols)))
            for _ in range(4)
        ]
        table = np.hstack(samples)
        first: list[int] = []
        for k, values in enumerate(table):
            alike = np.isclose(table[: k + 1], values, 1e-11, 0).all(axis=1)
            first.append(int(np.argmax(alike)) if alike.any() else k)
        return tuple(first)

    @cached_property
    def function(self) -> ca.Function:
        """The function `symbols` -> `values`."""
        return ca.Function("rows", list(self.symbols), [ca.densify(self.values)], {"cse": True})

    @cached_property
    def values(self) -> ca.SX:
        """The values of all rows, in the order of `state_rows`."""
        rows = [*self.rows, *(row for _, rows in self.spans for row in rows)]
        return ca.vertcat(ca.SX(0, 1), *(row.value for row in rows))

    def restate(self, conditions: Sequence[Condition]) -> Statement | None:
        """Return the statement of conditions that differ in limits alone; None if there is more.

        Rows are the same if they have the same label and expression, on the same sample.
        """
        other = replace(self, conditions=conditions)
        vars(other).update({name: vars(self)[name] for name in SHARED if name in vars(self)})
        rows, others = (
            [
                (x.row.when, x.row.label, x.row.value.element_hash(), *x[1:])
                for x in s.state_rows(STEPS)
            ]
            for s in (self, other)
        )
        if rows != others or self._links_nodes or other._links_nodes:
            return None
        known = ("values", "function", "first_alike")
        vars(other).update({name: getattr(self, name) for name in known})
        return other

    @property
    def _links_nodes(self) -> bool:
        """Whether conditions bound numbers of several nodes, which are no rows here."""
        a, h = self.sample.a, ca.SX.sym("h")
        return any(
            call_bounds(c, "couple", self.sample, self.sample)
            or call_bounds(c, "over_step", self.dynamics, (a, a, a), h)
            for c in self.conditions
        )

    def interval(self, name: str, *occasions: Occasion) -> VariableBounds:
        """Return what rows at some occasions leave for a coordinate, velocity or input."""
        mine = [row for row in self.rows if row.name == name and row.when in occasions]
        return VariableBounds(
            max((row.lower for row in mine), default=-np.inf),
            min((row.upper for row in mine), default=np.inf),
        )

    def posture(self, when: Occasion) -> tuple[Array, Array]:
        """Return q (nq,) and v (nv,) as given at start or end, NaN where they are free."""
        d = self.dynamics
        q, v = (self._find_values(names, when) for names in (d.q_names, d.v_names))
        return self._complete_rotations(q, when), v

    def acceleration(self, when: Occasion) -> Array:
        """Return accelerations (nv,) as given at start or end, NaN where they are free."""
        return self._find_values(self._acceleration_names, when)

    def _find_values(self, names: Sequence[str], when: Occasion) -> Array:
        left = [self.interval(name, when, ALONG) for name in names]
        return np.array([x.lower if x.given else np.nan for x in left])

    def _complete_rotations(self, q: Array, when: Occasion) -> Array:
        """Return q with the fourth Euler parameter where three and its sign are given."""
        d = self.dynamics
        for group in ca.DM(d.norms.jac_sparsity(0, 0)).full().astype(bool):
            rest = np.flatnonzero(group & np.isnan(q))
            left = self.interval(d.q_names[rest[0]], when, ALONG) if rest.size == 1 else None
            if left is not None and left.lower * left.upper > 0:
                size = np.sqrt(max(1.0 - np.nansum(q[group] ** 2), 0.0))
                q[rest] = np.copysign(size, left.lower)
        return q


def find_row(block: ConstraintBlock, row: int, statement: Statement, steps: int) -> Row | None:
    """Return the row of a condition that a row of a block is; None if it is an equation."""
    rows = [x for x in _rows_of(block, statement, steps) if x.label == block.labels[row]]
    return rows[count_alike_before(block, row) % len(rows)] if rows else None


def count_alike_before(block: ConstraintBlock, row: int) -> int:
    """Return the number of rows of the same label before one in its block."""
    return block.labels[:row].count(block.labels[row])


def _rows_of(block: ConstraintBlock, statement: Statement, steps: int) -> list[Row]:
    """Return the rows of conditions that a block contains, in their order."""
    if block.span is not None:
        return list(statement.spans[block.span][1])
    ends: dict[HorizonPlace | None, tuple[str, ...]] = {
        HorizonPlace.START: (START,),
        HorizonPlace.END: (ALONG, END),
    }
    occasions = ends.get(block.place, (ALONG,))
    rows = [row for when in occasions for row in statement.rows if row.when == when]
    if block.place is HorizonPlace.END:
        # At the last node of a time-stepped motion, spans that end there hold as well.
        rows += [
            row
            for span, held in statement.spans
            if span.find_nodes(steps)[1] == steps
            for row in held
        ]
    return rows
