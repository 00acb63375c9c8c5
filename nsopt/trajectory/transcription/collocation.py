"""Direct collocation: a motion as polynomials between nodes, with forces by inverse dynamics.

Over a step accelerations are a quadratic polynomial in time, from values at both ends and at the
midpoint; velocities and coordinates are its integrals [Hermite-Simpson, of fourth order]. Forces
of actuated joints follow from the motion by inverse dynamics; those of all other coordinates must
vanish.

Rotations of free bodies and ball joints are those of the same angular velocities, by Euler
parameters that are turned by the first two terms of Magnus, of fourth order too.

Nodes and midpoints have the same unknowns, so equations of motion, conditions and costs are one
function, evaluated at each of these points; a second, small one links the points of a step.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import Bound, ConstraintBlock, Solution, StructuredNlp, constraint_block
from nsopt.sampled import PARTS, quadratic, states
from nsopt.simulation import losses_of_forces
from nsopt.trajectory.guesses import Guess, Trajectory
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.returned import bounds_of, call_cost, call_costs, spans_of
from nsopt.trajectory.transcription.accelerations import why_no_accelerations
from nsopt.trajectory.transcription.accepted_steps import make_accepted_steps
from nsopt.trajectory.transcription.base import Array, Index, TranscribedMotion, Transcription
from nsopt.trajectory.transcription.rotations import off, turns_of
from nsopt.trajectory.verification.reintegration import Reintegration

ENOUGH = 0.1
"""Accuracy of a distance, over its limit, by which it is compared with that."""

MOMENT = "moment"
"""Name of the blocks that have the rates of costs."""


@dataclass(frozen=True, eq=False)
class Collocation(Transcription):
    """Unknowns and constraint blocks of a motion of a mechanism without contacts.

    The unknowns are (q, v, a, inputs) of each node, followed by those of the midpoint of the step
    after it; the duration comes last.

    Parameters
    ----------
    creep : (number of `JointFriction` elements,), by keyword
        Speeds up to which dry friction is smoothed, `grid_creep`; zero leaves that of the law.

    Raises
    ------
    ValueError
        If the mechanism has contacts, cut joints or internal states, an input is no Parameter, or
        the steps are not all of one size.
    """

    by_polynomials: ClassVar[bool] = True

    creep: tuple[float, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.creep:
            object.__setattr__(self, "creep", (0.0,) * len(self.dynamics.friction_joints))
        fault = why_no_accelerations(self.dynamics)
        if fault:
            raise ValueError(f"{fault}: give optimize a scheme, Variational()")
        if self.horizon.h is not None or self.horizon.breaks:
            raise ValueError(
                "steps of a motion by polynomials are all alike: leave out h and breaks of "
                "Horizon, or give optimize a scheme, Variational()"
            )

    @property
    def description(self) -> tuple[str, str]:
        return "HermiteSimpson", "Hermite-Simpson, inverse dynamics"

    @property
    def last_stage(self) -> tuple[float, ...]:
        return self.creep

    def with_creep(self, creep: tuple[float, ...]) -> Collocation:
        """Return the same program, smoothed up to other speeds."""
        other = copy.copy(self)
        object.__setattr__(other, "creep", creep)
        return other

    def everywhere(self, speed: float) -> Array:
        """Return a speed in place of each one up to which friction is smoothed, by the grid."""
        return np.where(np.array(self.creep) > 0, speed, 0.0)

    def limits(self) -> tuple[Array, Array]:
        low, high = (np.full(self.size, x) for x in (-np.inf, np.inf))
        low[-1], high[-1] = self.horizon.bounds
        return low, high

    def names(self) -> list[str]:
        d = self.dynamics
        state, forced = [*d.q_names, *d.v_names], [f"acceleration of {x}" for x in d.v_names]
        node = [*state, *forced, *self.inputs]
        middle = [*(f"{x} between nodes" for x in state), *forced, *self.inputs]
        return [*(node + middle) * self.horizon.steps, *node, "duration"]

    @property
    def node(self) -> int:
        """Number of unknowns of a node."""
        return self._state + self.dynamics.nv + len(self.inputs)

    @property
    def _state(self) -> int:
        """Number of coordinates and velocities."""
        return self.dynamics.nq + self.dynamics.nv

    @property
    def size(self) -> int:
        return (2 * self.horizon.steps + 1) * self.node + 1

    def nlp(self) -> StructuredNlp:
        nodes = self._nodes()
        blocks = [self._links(), nodes, self._middles(nodes), self._start(), self._end()]
        blocks += [self._coupling(), *self._during()]
        return StructuredNlp(blocks, self.size, len(self.dynamics.parameters) + len(self.creep))

    def find_undetermined(self, counted: NDArray[np.bool_]) -> list[str]:
        d = self.dynamics
        points = counted[:-1].reshape(-1, self.node)
        q, v, a, _ = (np.any(points[:, part], axis=0) for part in self._slices())
        seen = {owner for owner, x in zip(d.q_owners, q, strict=True) if x}
        # Those without an actuator move as the others and the inputs make them.
        driven = {x.joint for x in d.mechanism.actuators} - seen
        names = enumerate(d.v_names)
        return [x for k, x in names if d.v_owners[k] in driven and not (v[k] or a[k])]

    # Samples from unknowns

    def sample(self, t: ca.SX, x: ca.SX, p: ca.SX) -> NodeSample:
        """Return the sample of a node or midpoint from its unknowns."""
        (q, v, a, u), n = self._split(x), len(self.dynamics.parameters)
        own, creep = ca.vertsplit(p, [0, n, n + len(self.creep)])
        return NodeSample(self.dynamics, t, q, v, a, self.with_inputs(own, u), creep=creep)

    def _split(self, x: ca.SX) -> list[ca.SX]:
        """Return coordinates, velocities, accelerations and inputs of a node."""
        return [x[part] for part in self._slices()]

    def _slices(self) -> tuple[slice, ...]:
        """Return the slices of coordinates, velocities, accelerations and inputs in a node."""
        nq, n, nv = self.dynamics.nq, self._state, self.dynamics.nv
        return slice(nq), slice(nq, n), slice(n, n + nv), slice(n + nv, self.node)

    # Constraints and costs

    def _along(self, m: NodeSample) -> list[Bound]:
        """Return the bounds at every point: conditions, and zero force without an actuator."""
        d = m.dynamics
        driven = {x.joint for x in d.mechanism.actuators}
        unactuated = [k for k, owner in enumerate(d.v_owners) if owner not in driven]
        bounds = [
            Bound(f"equation of motion of {d.v_names[k]}", m.drive[k], np.zeros(1), np.zeros(1))
            for k in unactuated
        ]
        return bounds + [b for c in self.conditions for b in bounds_of(c, "along", m)]

    def _links(self) -> ConstraintBlock:
        """Return the block that links the two nodes and the midpoint of each step."""
        n, d, steps = self.node, self.dynamics, self.horizon.steps
        size = d.nq + 2 * d.nv
        w, share, p = self._symbols(3 * size + 1)
        h = share * w[-1]
        (q0, v0, a0), (qm, vm, am), (q1, v1, a1) = (
            ca.vertsplit(x, [0, d.nq, d.nq + d.nv, size]) for x in ca.vertsplit(w[:-1], size)
        )
        moved, to_middle = (
            h * v0 + h**2 / 6 * (a0 + 2 * am),
            h / 2 * v0 + h**2 / 96 * (7 * a0 + 6 * am - a1),
        )
        ends = (off(d, (q0, q1), moved, (v0, v1), h), v1 - v0 - h / 6 * (a0 + 4 * am + a1))
        middles = (
            off(d, (q0, qm), to_middle, (v0, vm), h / 2),
            vm - v0 - h / 24 * (5 * a0 + 8 * am - a1),
        )
        zero = np.zeros(self._state)
        bounds = [Bound("link of nodes", ca.vertcat(*ends), zero, zero)]
        bounds += [Bound("link of middles", ca.vertcat(*middles), zero, zero)]
        a = a0, am, a1
        bounds += [b for c in self.conditions for b in bounds_of(c, "over_step", d, a, h)]
        points = [np.arange(size) + i * n for i in range(3)]
        columns = np.arange(steps)[:, None] * 2 * n + np.concatenate([*points, [0]])
        columns[:, -1] = self.size - 1
        terms = call_costs(self.costs, "over_step", a, h)
        block = constraint_block("link", (w, share, p), bounds, terms, columns)
        return replace(block, data=np.full((steps, 1), 1 / steps))

    def _nodes(self) -> ConstraintBlock:
        """Return the block of all nodes; data: time over the duration, weight."""
        n, k = self.horizon.steps, np.arange(self.horizon.steps + 1)
        w, _, p = self._symbols(self.node + 1)
        data = ca.SX.sym("data", 2 + self._marks(k).shape[1])
        m = self._mark(data[0] * w[-1], w[:-1], p, data[2:])
        terms = [cost.weight * data[1] * w[-1] * call_cost(cost, "rate", m) for cost in self.costs]
        symbols, columns = (w, data, p), self._columns(2 * k)
        block = constraint_block(MOMENT, symbols, self._along(m), ca.vertcat(*terms), columns)
        weights = np.where((k > 0) & (k < n), 2, 1) / (6 * n)
        return replace(block, data=np.column_stack([k / n, weights, self._marks(2 * k)]))

    def _middles(self, nodes: ConstraintBlock) -> ConstraintBlock:
        """Return the block of all midpoints, with four times the weight of a node [Simpson]."""
        n, k = self.horizon.steps, np.arange(self.horizon.steps)
        data = [(k + 0.5) / n, np.full(n, 4 / (6 * n)), self._marks(2 * k + 1)]
        columns, lower, upper = self._columns(2 * k + 1), nodes.lower[:n], nodes.upper[:n]
        return replace(nodes, columns=columns, data=np.column_stack(data), lower=lower, upper=upper)

    def _marks(self, points: Index) -> Array:
        """Return further numbers of nodes and midpoints, (n, k); none by default."""
        return np.zeros((len(points), 0))

    def _mark(self, t: ca.SX, x: ca.SX, p: ca.SX, marks: ca.SX) -> NodeSample:
        """Return the sample of a node or midpoint with these numbers, (k,)."""
        del marks
        return self.sample(t, x, p)

    def _columns(self, points: Index) -> Index:
        """Return the unknowns of nodes (even numbers) or midpoints (odd ones), and the duration."""
        own = points[:, None] * self.node + np.arange(self.node)
        return np.hstack([own, np.full((len(points), 1), self.size - 1)])

    def _start(self) -> ConstraintBlock:
        (w, k, p), first = self._symbols(self.node + 1, 1), np.zeros(1, np.intp)
        m = self._mark(ca.SX(0), w[:-1], p, k[1:])
        bounds = [b for c in self.conditions for b in bounds_of(c, "start", m)]
        nothing, columns = ca.SX.zeros(len(self.costs)), self._columns(first)
        block = constraint_block("start", (w, k, p), bounds, nothing, columns)
        return replace(block, data=self._number(first))

    def _end(self) -> ConstraintBlock:
        """Return the block of the conditions and costs at the end."""
        (w, k, p), last = (
            self._symbols(self.node + 1, 1),
            np.array([2 * self.horizon.steps], np.intp),
        )
        m = self._mark(w[-1], w[:-1], p, k[1:])
        bounds = [b for c in self.conditions for b in bounds_of(c, "end", m)]
        terms = call_costs(self.costs, "final", m)
        block = constraint_block("end", (w, k, p), bounds, terms, self._columns(last))
        return replace(block, data=self._number(last))

    def _during(self) -> list[ConstraintBlock]:
        """Return the blocks of the conditions that hold at some nodes and the midpoints between."""
        w, k, p = self._symbols(self.node + 1, 1)
        m = self._mark(k[0] * w[-1] / self.horizon.steps, w[:-1], p, k[1:])
        spans = [span for condition in self.conditions for span in spans_of(condition, m)]
        blocks: list[ConstraintBlock] = []
        for i, span in enumerate(span.at_nodes(self.horizon.steps) for span in spans):
            nodes = 2 * np.arange(span.first, span.last + 1, dtype=np.intp)
            middles = nodes[:-1] + 1
            nothing = ca.SX.zeros(len(self.costs))
            block = constraint_block(
                f"during_{i}", (w, k, p), span.bounds, nothing, self._columns(nodes)
            )
            blocks.append(replace(block, data=self._number(nodes)))
            blocks.append(
                replace(
                    block,
                    columns=self._columns(middles),
                    data=self._number(middles),
                    lower=block.lower[:-1],
                    upper=block.upper[:-1],
                )
            )
        return blocks

    def _coupling(self) -> ConstraintBlock:
        """Return the block of the conditions that couple start and end."""
        n, ends = self.node, np.array([0, 2 * self.horizon.steps], np.intp)
        (w, k, p), marks = self._symbols(2 * n + 1, 2), self._marks(ends)
        of_first, of_last = ca.vertsplit(k[1:], marks.shape[1]) if marks.size else (k[1:], k[1:])
        first = self._mark(ca.SX(0), w[:n], p, of_first)
        last = self._mark(w[-1], w[n : 2 * n], p, of_last)
        bounds = [b for c in self.conditions for b in bounds_of(c, "couple", first, last)]
        columns = np.r_[np.arange(n), np.arange(self.size - 1 - n, self.size)][None]
        nothing = ca.SX.zeros(len(self.costs))
        block = constraint_block("coupling", (w, k, p), bounds, nothing, columns)
        return replace(block, data=np.append(0.0, marks)[None])

    def at_point(
        self, name: str, point: int, stated: Callable[[NodeSample], Sequence[Bound]]
    ) -> ConstraintBlock:
        """Return the block of bounds at one point: 2 k is node k, 2 k + 1 the midpoint after it."""
        w, k, p = self._symbols(self.node + 1)
        m = self.sample(k * w[-1] / self.horizon.steps, w[:-1], p)
        nothing, columns = ca.SX.zeros(len(self.costs)), self._columns(np.array([point], np.intp))
        block = constraint_block(name, (w, k, p), stated(m), nothing, columns)
        return replace(block, data=np.array([[point / 2]]))

    def _symbols(self, n: int, points: int = 0) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return unknowns, the number of the instance and the marks of points, and parameters."""
        p = ca.SX.sym("p", len(self.dynamics.parameters) + len(self.creep))
        marks = points * self._marks(np.zeros(1, np.intp)).shape[1]
        return ca.SX.sym("w", n), ca.SX.sym("k", 1 + marks), p

    def _number(self, points: Index) -> Array:
        """Return the numbers of nodes, of midpoints halves between, and their marks, (n, 1 + k)."""
        return np.column_stack([points / 2, self._marks(points)])

    # Numbers

    def start_from(self, guess: Guess) -> Array:
        share = np.linspace(0, 1, 2 * self.horizon.steps + 1)
        trajectory = guess.trajectory(share, self.horizon.bounds, self.inputs)
        points = np.hstack([trajectory.q, trajectory.v, trajectory.a, trajectory.inputs])
        return np.append(points, trajectory.duration)

    def nodes(self, x: Array) -> tuple[Array, Array, Array]:
        trajectory = self.trajectory(x)[0]
        return (
            np.linspace(0, trajectory.duration, len(trajectory.q)),
            trajectory.q,
            trajectory.inputs,
        )

    @cached_property
    def _reintegration(self) -> Reintegration:
        return Reintegration(self)

    def trajectory(self, x: Array) -> tuple[Trajectory, Trajectory]:
        """Return the motion at the nodes, and at nodes and midpoints."""
        points, T = x[:-1].reshape(-1, self.node), float(x[-1])
        return self._sample(points[::2], T), self._sample(points, T)

    def within_steps(self, fine: Trajectory) -> tuple[Array, Array, Array, Array, Array]:
        """Return times, q, v, a and inputs at the `PARTS` of all steps, (n parts, .) each.

        Parameters
        ----------
        fine : Trajectory
            At nodes and midpoints.
        """
        steps = self.horizon.steps
        return self.at(fine, np.repeat(np.arange(steps), len(PARTS)), np.tile(PARTS, steps))

    def at(self, fine: Trajectory, k: Index, s: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return times, q, v, a and inputs within steps k (n,), of which s (n,) has passed."""
        h = fine.duration / self.horizon.steps
        a, u = (np.stack([x[:-2:2], x[1::2], x[2::2]])[:, k] for x in (fine.a, fine.inputs))
        length = np.full(len(k), h)
        begin, turns = (fine.q[2 * k], fine.v[2 * k]), turns_of(self.dynamics)
        q, v = states(*begin, a.transpose(1, 0, 2), length, s, turns)
        now = s[:, None]
        return h * (k + s), q, v, quadratic(a, now), quadratic(u, now)

    def _sample(self, rows: Array, duration: float) -> Trajectory:
        q, v, a, u = (rows[:, i] for i in self._slices())
        return Trajectory(q, v, a, u, duration)

    def is_resolved(self, x: Array, p: Array, part: float = 1.0) -> bool:
        fine = self.trajectory(x)[1]
        return self._reintegration.defects(fine, p, ENOUGH * part).within(part)

    def motion(self, solution: Solution, p: Array) -> TranscribedMotion:
        nodes, fine = self.trajectory(solution.x)
        drive, power = self._reintegration.driving_forces(fine, p)
        t: Array = np.linspace(0, nodes.duration, len(nodes.q))
        loss = losses_of_forces(self.dynamics, t, nodes.q, nodes.v, p)
        accepted = make_accepted_steps(nodes, t, power, loss, solution)
        table, h = np.hstack([drive, fine.inputs]), nodes.duration / self.horizon.steps

        def controls(now: float) -> Array:
            """Interpolate by the parabola through both ends and the midpoint of a step."""
            k = min(int(now / h), self.horizon.steps - 1)
            return quadratic(table[2 * k : 2 * k + 3], now / h - k)

        return TranscribedMotion(
            t,
            nodes,
            drive[::2],
            np.zeros((len(t), 0)),
            accepted,
            np.stack([table[:-2:2], table[1::2], table[2::2]], axis=1),
            controls,
            self._reintegration.defects(fine, p),
            fine.a[1::2],
            *self._reintegration.over_steps(fine, p),
        )
