"""Direct collocation: a motion as polynomials between nodes, with forces by inverse dynamics.

Over a step accelerations are a quadratic polynomial in time, from values at both ends and at the
midpoint; velocities and coordinates are its integrals [Hermite-Simpson, of fourth order]. Forces
of actuated joints follow from the motion by inverse dynamics; those of all other coordinates must
vanish. Rotations of free bodies and ball joints follow from angular velocities by the first two
terms of the Magnus expansion, of fourth order too.

Nodes and midpoints, together the points of a motion, have the same unknowns. So equations of
motion, conditions and costs are one function, evaluated at all points; a second, small one links
the points of a step. Point 2 k is node k, point 2 k + 1 the midpoint after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mpcc import (
    Bound,
    ConstraintBlock,
    HorizonPlace,
    Solution,
    StructuredNlp,
    constraint_block,
)
from nsopt.sampled import PARTS, integrate_accelerations, quadratic
from nsopt.simulation import losses_of_forces
from nsopt.trajectory.guesses import Guess, Trajectory
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.returned import call_bounds, call_cost, call_costs, call_spans
from nsopt.trajectory.transcription.base import (
    Index,
    TranscribedMotion,
    Transcription,
    make_accepted_steps,
    with_inputs,
    zero,
)
from nsopt.trajectory.transcription.polynomials import (
    find_move_residual,
    find_turns,
    why_no_accelerations,
)
from nsopt.trajectory.verification.reintegration import Reintegration

DEFECT_ACCURACY = 0.1  # error of a defect over its limit, where it is only compared with the limit


@dataclass(frozen=True, eq=False)
class Collocation(Transcription):
    """Unknowns and constraint blocks of a motion of a mechanism without contacts.

    The unknowns are (q, v, a, inputs) of each node, followed by those of the midpoint of the step
    after it; the duration comes last.

    Raises
    ------
    ValueError
        If the mechanism has contacts, cut joints or internal states, an input is no Parameter, or
        the steps are not all of one size.
    """

    by_polynomials: ClassVar[bool] = True

    # Of each `JointFriction` the speed up to which dry friction is smoothed, see
    # `compute_grid_creep`; zero for the creep of the law.
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
        """Return the same motion with friction smoothed up to other speeds."""
        return self._copy_with("creep", creep)

    def limits(self) -> tuple[Array, Array]:
        low, high = (np.full(self.size, x) for x in (-np.inf, np.inf))
        low[-1], high[-1] = self.horizon.bounds
        return low, high

    def names(self) -> list[str]:
        d = self.dynamics
        state, accelerations = [*d.q_names, *d.v_names], [f"acceleration of {x}" for x in d.v_names]
        node = [*state, *accelerations, *self.inputs]
        middle = [*(f"{x} between nodes" for x in state), *accelerations, *self.inputs]
        return [*(node + middle) * self.horizon.steps, *node, "duration"]

    @property
    def node_size(self) -> int:
        """Number of unknowns of a node or midpoint."""
        return self._state_size + self.dynamics.nv + len(self.inputs)

    @property
    def undriven_velocities(self) -> list[int]:
        """Velocities that no actuator drives."""
        driven = self.dynamics.mechanism.driven_joints
        return [k for k, owner in enumerate(self.dynamics.v_owners) if owner not in driven]

    @property
    def _state_size(self) -> int:
        """Number of coordinates and velocities."""
        return self.dynamics.nq + self.dynamics.nv

    @property
    def size(self) -> int:
        return (2 * self.horizon.steps + 1) * self.node_size + 1

    def nlp(self) -> StructuredNlp:
        nodes = self._state_nodes()
        blocks = [self._state_links(), nodes, self._state_middles(nodes)]
        blocks += [self._state_start(), self._state_end(), self._state_coupling()]
        blocks += self._state_spans()
        return StructuredNlp(blocks, self.size, len(self.dynamics.parameters) + len(self.creep))

    def find_undetermined(self, counted: NDArray[np.bool_]) -> list[str]:
        d = self.dynamics
        points = counted[:-1].reshape(-1, self.node_size)
        q, v, a, _ = (np.any(points[:, part], axis=0) for part in self._slices())
        counted_owners = {owner for owner, x in zip(d.q_owners, q, strict=True) if x}
        # What has no actuator moves as the equations of motion determine.
        undetermined = set(d.mechanism.driven_joints) - counted_owners
        names = enumerate(d.v_names)
        return [x for k, x in names if d.v_owners[k] in undetermined and not (v[k] or a[k])]

    # Samples from unknowns

    def sample(self, t: ca.SX, x: ca.SX, p: ca.SX) -> NodeSample:
        """Return the sample of a point from its unknowns x, with parameters p of the program."""
        (q, v, a, u), n = (x[part] for part in self._slices()), len(self.dynamics.parameters)
        p, creep = ca.vertsplit(p, [0, n, n + len(self.creep)])
        return NodeSample(
            self.dynamics, t, q, v, a, with_inputs(self.dynamics, self.inputs, p, u), creep=creep
        )

    def _slices(self) -> tuple[slice, ...]:
        """Return the slices of coordinates, velocities, accelerations and inputs of a point."""
        nq, n, nv = self.dynamics.nq, self._state_size, self.dynamics.nv
        return slice(nq), slice(nq, n), slice(n, n + nv), slice(n + nv, self.node_size)

    # Constraints and costs

    def _list_bounds(self, m: NodeSample) -> list[Bound]:
        """Return the bounds at every point: conditions, and zero forces where nothing drives."""
        names = m.dynamics.v_names
        bounds = [
            zero(f"equation of motion of {names[k]}", m.drive[k]) for k in self.undriven_velocities
        ]
        return bounds + [b for c in self.conditions for b in call_bounds(c, "along", m)]

    def _state_links(self) -> ConstraintBlock:
        """Return the block that links the two nodes and the midpoint of each step."""
        n, d, steps = self.node_size, self.dynamics, self.horizon.steps
        size = d.nq + 2 * d.nv
        w, share, p = self._make_symbols(3 * size + 1)
        h = share * w[-1]  # share is data: that of a step in the duration, which is the last of w
        (q0, v0, a0), (qm, vm, am), (q1, v1, a1) = (
            ca.vertsplit(x, [0, d.nq, d.nq + d.nv, size]) for x in ca.vertsplit(w[:-1], size)
        )
        # Integrals of the parabola through a0, am, a1, to the end and to the middle.
        to_end = h * v0 + h**2 / 6 * (a0 + 2 * am)
        to_middle = h / 2 * v0 + h**2 / 96 * (7 * a0 + 6 * am - a1)
        q_end = find_move_residual(d, (q0, q1), to_end, (v0, v1), h)
        q_middle = find_move_residual(d, (q0, qm), to_middle, (v0, vm), h / 2)
        v_end = v1 - v0 - h / 6 * (a0 + 4 * am + a1)
        v_middle = vm - v0 - h / 24 * (5 * a0 + 8 * am - a1)
        bounds = [zero("link of nodes", ca.vertcat(q_end, v_end))]
        bounds += [zero("link of middles", ca.vertcat(q_middle, v_middle))]
        a = a0, am, a1
        bounds += [b for c in self.conditions for b in call_bounds(c, "over_step", d, a, h)]
        points = [np.arange(size) + i * n for i in range(3)]
        columns = np.arange(steps)[:, None] * 2 * n + np.concatenate([*points, [0]])
        columns[:, -1] = self.size - 1  # the duration
        terms = call_costs(self.costs, "over_step", a, h)
        block = constraint_block("link", (w, share, p), bounds, terms, columns, HorizonPlace.STEPS)
        return replace(block, data=np.full((steps, 1), 1 / steps))

    def _state_nodes(self) -> ConstraintBlock:
        """Return the block of all nodes; data: share of duration, Simpson's weight, friction."""
        n, k = self.horizon.steps, np.arange(self.horizon.steps + 1)
        w, _, p = self._make_symbols(self.node_size + 1)
        data = ca.SX.sym("data", 2 + self._read_friction(k).shape[1])
        m = self._sample_with(data[0] * w[-1], w[:-1], p, data[2:])
        terms = [cost.weight * data[1] * w[-1] * call_cost(cost, "rate", m) for cost in self.costs]
        symbols, columns = (w, data, p), self._locate(2 * k)
        block = constraint_block(
            "moment", symbols, self._list_bounds(m), ca.vertcat(*terms), columns, HorizonPlace.NODES
        )
        weights = np.where((k > 0) & (k < n), 2, 1) / (6 * n)
        return replace(block, data=np.column_stack([k / n, weights, self._read_friction(2 * k)]))

    def _state_middles(self, nodes: ConstraintBlock) -> ConstraintBlock:
        """Return the block of all midpoints, which has the function of ``nodes``."""
        n, k = self.horizon.steps, np.arange(self.horizon.steps)
        data = [(k + 0.5) / n, np.full(n, 4 / (6 * n)), self._read_friction(2 * k + 1)]
        return _move_between(nodes, self._locate(2 * k + 1), np.column_stack(data))

    def _read_friction(self, points: Index) -> Array:
        """Return what is known of friction at points, (n, k); k is zero but for joints that rest.

        See `RestingCollocation`.
        """
        return np.zeros((len(points), 0))

    def _sample_with(self, t: ca.SX, x: ca.SX, p: ca.SX, friction: ca.SX) -> NodeSample:
        """Return the sample of a point, ``friction`` (k,) its row of `_read_friction`."""
        del friction
        return self.sample(t, x, p)

    def _locate(self, points: Index) -> Index:
        """Return the indices of the unknowns of each point, then of the duration, a row each."""
        own = points[:, None] * self.node_size + np.arange(self.node_size)
        return np.hstack([own, np.full((len(points), 1), self.size - 1)])

    def _state_start(self) -> ConstraintBlock:
        """Return the block of the conditions at the start."""
        symbols = w, data, p = self._make_symbols(self.node_size + 1, 1)
        m = self._sample_with(ca.SX(0), w[:-1], p, data[1:])
        bounds = [b for c in self.conditions for b in call_bounds(c, "start", m)]
        return self._state_at("start", symbols, bounds, np.zeros(1, np.intp), HorizonPlace.START)

    def _state_end(self) -> ConstraintBlock:
        """Return the block of the conditions and costs at the end."""
        symbols = w, data, p = self._make_symbols(self.node_size + 1, 1)
        last = np.array([2 * self.horizon.steps], np.intp)
        m = self._sample_with(w[-1], w[:-1], p, data[1:])
        bounds = [b for c in self.conditions for b in call_bounds(c, "end", m)]
        terms = call_costs(self.costs, "final", m)
        return self._state_at("end", symbols, bounds, last, HorizonPlace.END, terms)

    def _state_spans(self) -> list[ConstraintBlock]:
        """Return the blocks of the conditions that hold at some nodes and the midpoints between."""
        symbols = w, data, p = self._make_symbols(self.node_size + 1, 1)
        m = self._sample_with(data[0] * w[-1] / self.horizon.steps, w[:-1], p, data[1:])
        spans = [span for condition in self.conditions for span in call_spans(condition, m)]
        blocks: list[ConstraintBlock] = []
        for i, span in enumerate(spans):
            first, last = span.find_nodes(self.horizon.steps)
            nodes = 2 * np.arange(first, last + 1, dtype=np.intp)
            middles = nodes[:-1] + 1
            block = self._state_at(
                f"during_{i}", symbols, span.bounds, nodes, HorizonPlace.NODES, span=i
            )
            known = self._make_data(middles)
            blocks += [block, _move_between(block, self._locate(middles), known)]
        return blocks

    def _state_at(
        self,
        name: str,
        symbols: tuple[ca.SX, ca.SX, ca.SX],
        bounds: Sequence[Bound],
        points: Index,
        place: HorizonPlace,
        terms: ca.SX | None = None,
        span: int | None = None,
    ) -> ConstraintBlock:
        """Return the block of bounds, and of cost terms if any, at some points."""
        terms = ca.SX.zeros(len(self.costs)) if terms is None else terms
        columns = self._locate(points)
        block = constraint_block(name, symbols, bounds, terms, columns, place, span)
        return replace(block, data=self._make_data(points))

    def _state_coupling(self) -> ConstraintBlock:
        """Return the block of the conditions that couple start and end."""
        n, ends = self.node_size, np.array([0, 2 * self.horizon.steps], np.intp)
        (w, data, p), friction = self._make_symbols(2 * n + 1, 2), self._read_friction(ends)
        own = friction.shape[1]
        first = self._sample_with(ca.SX(0), w[:n], p, data[1 : 1 + own])
        last = self._sample_with(w[-1], w[n : 2 * n], p, data[1 + own :])
        bounds = [b for c in self.conditions for b in call_bounds(c, "couple", first, last)]
        columns = np.r_[np.arange(n), np.arange(self.size - 1 - n, self.size)][None]
        no_costs = ca.SX.zeros(len(self.costs))
        block = constraint_block(
            "coupling", (w, data, p), bounds, no_costs, columns, HorizonPlace.ENDS
        )
        return replace(block, data=np.append(0.0, friction)[None])

    def constrain_points(
        self, name: str, points: Index, state: Callable[[NodeSample], Sequence[Bound]]
    ) -> ConstraintBlock:
        """Return the block of bounds at some points, given by their numbers."""
        w, step, p = self._make_symbols(self.node_size + 1)
        m = self.sample(step * w[-1] / self.horizon.steps, w[:-1], p)
        no_costs, columns = ca.SX.zeros(len(self.costs)), self._locate(points)
        block = constraint_block(name, (w, step, p), state(m), no_costs, columns)
        return replace(block, data=points[:, None] / 2)

    def _make_symbols(self, n: int, points: int = 0) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return symbols: n unknowns; data, of one number and `_read_friction` of ``points``; p."""
        p = ca.SX.sym("p", len(self.dynamics.parameters) + len(self.creep))
        friction = points * self._read_friction(np.zeros(1, np.intp)).shape[1]
        return ca.SX.sym("w", n), ca.SX.sym("data", 1 + friction), p

    def _make_data(self, points: Index) -> Array:
        """Return times in steps, whole at nodes, and `_read_friction` of points, (n, 1 + k)."""
        return np.column_stack([points / 2, self._read_friction(points)])

    # Numbers

    def start_from(self, guess: Guess) -> Array:
        share = np.linspace(0, 1, 2 * self.horizon.steps + 1)
        trajectory = guess.trajectory(share, self.horizon.bounds, self.inputs)
        points = np.hstack([trajectory.q, trajectory.v, trajectory.a, trajectory.inputs])
        return np.append(points, trajectory.duration)

    def nodes(self, x: Array) -> tuple[Array, Array, Array]:
        q, _, _, u, T = self.trajectory(x)[0]
        return np.linspace(0, T, len(q)), q, u

    @cached_property
    def _reintegration(self) -> Reintegration:
        return Reintegration(self.dynamics, self.horizon, tuple(self.inputs), self.creep)

    def trajectory(self, x: Array) -> tuple[Trajectory, Trajectory]:
        """Return the motion at nodes, and that at nodes and midpoints, of all unknowns x."""
        points, T = x[:-1].reshape(-1, self.node_size), float(x[-1])
        q, v, a, u = (points[:, part] for part in self._slices())
        return Trajectory(q[::2], v[::2], a[::2], u[::2], T), Trajectory(q, v, a, u, T)

    def interpolate(
        self, fine: Trajectory, k: Index, s: Array
    ) -> tuple[Array, Array, Array, Array, Array]:
        """Return times, q, v, a and inputs, (n, .) each, at shares s (n,) of steps k (n,)."""
        h = fine.duration / self.horizon.steps
        a, u = (np.stack([x[:-2:2], x[1::2], x[2::2]])[:, k] for x in (fine.a, fine.inputs))
        sizes, turns = np.full(len(k), h), find_turns(self.dynamics)
        begin = fine.q[2 * k], fine.v[2 * k]
        q, v = integrate_accelerations(*begin, a.transpose(1, 0, 2), sizes, s, turns)
        share = s[:, None]
        return h * (k + s), q, v, quadratic(a, share), quadratic(u, share)

    def is_resolved(self, x: Array, p: Array, share: float = 1.0) -> bool:
        fine = self.trajectory(x)[1]
        return self._reintegration.defects(fine, p, DEFECT_ACCURACY * share).within(share)

    def motion(self, solution: Solution, p: Array) -> TranscribedMotion:
        (nodes, fine), steps = self.trajectory(solution.x), self.horizon.steps
        drive, power = self._reintegration.driving_forces(fine, p)
        t: Array = np.linspace(0, nodes.duration, len(nodes.q))
        loss = losses_of_forces(self.dynamics, t, nodes.q, nodes.v, p)
        work = np.diff(t) / 6 * (power[:-2:2] + 4 * power[1::2] + power[2::2])
        none = (np.zeros((steps, 0)),) * 4  # impulses: there are neither contacts nor cut joints
        accepted = make_accepted_steps(solution, t, nodes.q, nodes.v, loss, work, none)
        at_points, h = np.hstack([drive, fine.inputs]), nodes.duration / steps
        k = np.repeat(np.arange(steps), len(PARTS))
        parts = self.interpolate(fine, k, np.tile(PARTS, steps))
        step_drives, step_friction = self._reintegration.over_steps(parts, p)

        def controls(now: float) -> Array:
            """Interpolate by the parabola through both ends and the midpoint of a step."""
            k = min(int(now / h), steps - 1)
            return quadratic(at_points[2 * k : 2 * k + 3], now / h - k)

        return TranscribedMotion(
            t=t,
            nodes=nodes,
            drive=drive[::2],
            normal_force=np.zeros((len(t), 0)),
            accepted=accepted,
            step_controls=np.stack([at_points[:-2:2], at_points[1::2], at_points[2::2]], axis=1),
            controls=controls,
            defects=self._reintegration.defects(fine, p),
            middle_accelerations=fine.a[1::2],
            step_drives=step_drives,
            step_friction=step_friction,
        )


def _move_between(nodes: ConstraintBlock, columns: Index, data: Array) -> ConstraintBlock:
    """Return a block of nodes in a row with the midpoints between these in their place."""
    lower, upper, place = nodes.lower[:-1], nodes.upper[:-1], HorizonPlace.MIDDLES
    return replace(nodes, columns=columns, data=data, lower=lower, upper=upper, place=place)
