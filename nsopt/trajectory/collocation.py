"""A motion as polynomials between nodes: equations of motion solved for forces, never inverted.

Over a step accelerations are a quadratic of time, from values at both ends and in the middle, so
velocities and coordinates are its integrals [Hermite-Simpson, of fourth order]. Forces of actuated
joints are what the motion takes (inverse dynamics); where nothing drives they must be zero.

Nodes and middles have the same unknowns, so that equations of motion, conditions and costs are one
function of one moment; what links moments is a small one beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.stepping.taken import Taken, objects
from nsopt.trajectory.afresh import deviation, drives, quadratic
from nsopt.trajectory.conditions import Bound
from nsopt.trajectory.guesses import Course, Guess
from nsopt.trajectory.homotopy import Stage
from nsopt.trajectory.moment import Moment
from nsopt.trajectory.parts import Array, Index, Part, Stack, part_of
from nsopt.trajectory.transcription import Motion, Outcome, Transcription


@dataclass(frozen=True, eq=False)
class Collocation(Transcription):
    """Unknowns and parts of a motion of a mechanism without contacts.

    Each node, and the middle of each step after its first node, holds (q, v, a, inputs); the
    duration comes last.

    Raises
    ------
    ValueError
        If the mechanism has contacts, cut joints, ball joints or internal states, an input is no
        Parameter, or steps are to differ.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        fault = no_accelerations(self.dynamics)
        if fault:
            raise ValueError(f"{fault}: give optimize a scheme, Variational()")
        if self.horizon.h is not None or self.horizon.breaks:
            raise ValueError(
                "steps of a motion by polynomials are all alike: leave out h and breaks of "
                "Horizon, or give optimize a scheme, Variational()"
            )

    @property
    def told(self) -> tuple[str, str]:
        return "HermiteSimpson", "Hermite-Simpson, inverse dynamics"

    @property
    def unilateral(self) -> bool:
        return False

    def numbers(self, p: Array, stage: Stage) -> Array:
        del stage
        return p

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
        return 3 * self.dynamics.nv + len(self.inputs)

    @property
    def size(self) -> int:
        return (2 * self.horizon.steps + 1) * self.node + 1

    def stack(self) -> Stack:
        nodes = self._nodes()
        parts = [self._links(), nodes, self._middles(nodes), self._start(), self._end(nodes)]
        parts += [self._coupling(), *self._during()]
        return Stack(parts, self.size, len(self.dynamics.parameters))

    # Moments from unknowns

    def moment(self, t: ca.SX, x: ca.SX, p: ca.SX) -> Moment:
        """Return a moment from the unknowns of a node."""
        q, v, a, u = self._cut(x)
        return Moment(self.dynamics, t, q, v, a, self.given(p, u))

    def _cut(self, x: ca.SX) -> list[ca.SX]:
        """Return coordinates, velocities, accelerations and inputs of a node."""
        n = self.dynamics.nv
        found: list[ca.SX] = ca.vertsplit(x, [0, n, 2 * n, 3 * n, self.node])
        return found

    def _slices(self) -> tuple[slice, ...]:
        """Return where a node holds coordinates, velocities, accelerations and inputs."""
        n = self.dynamics.nv
        return slice(n), slice(n, 2 * n), slice(2 * n, 3 * n), slice(3 * n, self.node)

    # Rows

    def _along(self, m: Moment) -> list[Bound]:
        """Return what holds at every moment: nothing drives but actuators, and the conditions."""
        d = m.dynamics
        driven = {x.joint for x in d.mechanism.actuators}
        bare = [k for k, owner in enumerate(d.v_owners) if owner not in driven]
        found = [
            Bound(f"equation of motion of {d.v_names[k]}", m.drive[k], np.zeros(1), np.zeros(1))
            for k in bare
        ]
        return found + [b for condition in self.conditions for b in condition.along(m)]

    def _links(self) -> Part:
        """Return the part of what links the moments of each step."""
        n, nv, steps = self.node, self.dynamics.nv, self.horizon.steps
        w, share, p = self._symbols(9 * nv + 1)
        h = share * w[-1]
        q0, v0, a0, qm, vm, am, q1, v1, a1 = ca.vertsplit(w[:-1], nv)
        ends = (q1 - q0 - h * v0 - h**2 / 6 * (a0 + 2 * am), v1 - v0 - h / 6 * (a0 + 4 * am + a1))
        middles = (
            qm - q0 - h / 2 * v0 - h**2 / 96 * (7 * a0 + 6 * am - a1),
            vm - v0 - h / 24 * (5 * a0 + 8 * am - a1),
        )
        zero = np.zeros(2 * nv)
        bounds = [Bound("link of nodes", ca.vertcat(*ends), zero, zero)]
        bounds += [Bound("link of middles", ca.vertcat(*middles), zero, zero)]
        moments = [np.arange(3 * nv) + i * n for i in range(3)]
        columns = np.arange(steps)[:, None] * 2 * n + np.concatenate([*moments, [0]])
        columns[:, -1] = self.size - 1
        terms = ca.vertcat(*(cost.weight * cost.over((a0, am, a1), h) for cost in self.costs))
        part = part_of("link", (w, share, p), bounds, terms, columns)
        return replace(part, data=np.full((steps, 1), 1 / steps))

    def _nodes(self) -> Part:
        """Return the part of all nodes but the last; data are share of the time, and weight."""
        n, k = self.horizon.steps, np.arange(self.horizon.steps)
        w, _, p = self._symbols(self.node + 1)
        data = ca.SX.sym("data", 2)
        m = self.moment(data[0] * w[-1], w[:-1], p)
        terms = [cost.weight * data[1] * w[-1] * cost.rate(m) for cost in self.costs]
        symbols, columns = (w, data, p), self._columns(2 * k)
        part = part_of("moment", symbols, self._along(m), ca.vertcat(*terms), columns)
        return replace(part, data=np.column_stack([k / n, np.where(k > 0, 2, 1) / (6 * n)]))

    def _middles(self, nodes: Part) -> Part:
        """Return the part of all middles, whose weight is four times that of an end [Simpson]."""
        n, k = self.horizon.steps, np.arange(self.horizon.steps)
        data = np.column_stack([(k + 0.5) / n, np.full(n, 4 / (6 * n))])
        return replace(nodes, columns=self._columns(2 * k + 1), data=data)

    def _columns(self, moments: Index) -> Index:
        """Return the unknowns of nodes (even numbers) or middles, and the duration."""
        own = moments[:, None] * self.node + np.arange(self.node)
        return np.hstack([own, np.full((len(moments), 1), self.size - 1)])

    def _start(self) -> Part:
        w, k, p = self._symbols(self.node + 1)
        m = self.moment(ca.SX(0), w[:-1], p)
        bounds = [b for condition in self.conditions for b in condition.start(m)]
        nothing = ca.SX.zeros(len(self.costs))
        return part_of("start", (w, k, p), bounds, nothing, self._columns(np.arange(1)))

    def _end(self, nodes: Part) -> Part:
        """Return the part of the last node, a moment like the others with conditions of its own."""
        w, k, p = self._symbols(self.node + 1)
        m, n = self.moment(w[-1], w[:-1], p), self.horizon.steps
        rows, terms = nodes.function(w, [1.0, 1 / (6 * n)], p)
        along = [
            Bound(label, rows[i], nodes.lower[0, [i]], nodes.upper[0, [i]])
            for i, label in enumerate(nodes.labels)
        ]
        bounds = along + [b for condition in self.conditions for b in condition.end(m)]
        terms += ca.vertcat(*(cost.weight * cost.final(m) for cost in self.costs))
        columns = self._columns(np.array([2 * n], dtype=np.intp))
        part = part_of("end", (w, k, p), bounds, terms, columns)
        return replace(part, data=np.array([[float(n)]]))

    def _during(self) -> list[Part]:
        """Return the parts of what holds for some of the nodes."""
        w, k, p = self._symbols(self.node + 1)
        h = w[-1] / self.horizon.steps
        m = self.moment(k * h, w[:-1], p)
        spans = [span for condition in self.conditions for span in condition.during(m)]
        found = []
        for i, span in enumerate(span.of(self.horizon.steps) for span in spans):
            nodes = np.arange(span.first, span.last + 1, dtype=np.intp)
            nothing = ca.SX.zeros(len(self.costs))
            part = part_of(f"during_{i}", (w, k, p), span.bounds, nothing, self._columns(2 * nodes))
            found.append(replace(part, data=nodes[:, None].astype(float)))
        return found

    def _coupling(self) -> Part:
        """Return the part of what holds between start and end."""
        n = self.node
        w, k, p = self._symbols(2 * n + 1)
        first, last = self.moment(ca.SX(0), w[:n], p), self.moment(w[-1], w[n : 2 * n], p)
        bounds = [b for condition in self.conditions for b in condition.couple(first, last)]
        columns = np.r_[np.arange(n), np.arange(self.size - 1 - n, self.size)][None]
        return part_of("coupling", (w, k, p), bounds, ca.SX.zeros(len(self.costs)), columns)

    def _symbols(self, n: int) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return unknowns, the number of the place, and parameters."""
        return ca.SX.sym("w", n), ca.SX.sym("k"), ca.SX.sym("p", len(self.dynamics.parameters))

    # Numbers

    def start_from(self, guess: Guess) -> Array:
        share = np.linspace(0, 1, 2 * self.horizon.steps + 1)
        course = guess.course(share, self.horizon.bounds, self.inputs)
        moments = np.hstack([course.q, course.v, course.a, course.inputs])
        return np.append(moments, course.duration)

    def nodes(self, x: Array) -> tuple[Array, Array, Array]:
        course = self.course(x)[0]
        return np.linspace(0, course.duration, len(course.q)), course.q, course.inputs

    def course(self, x: Array) -> tuple[Course, Course]:
        """Return the motion at the nodes, and at nodes and middles."""
        moments = x[:-1].reshape(-1, self.node)
        return self._course(moments[::2], float(x[-1])), self._course(moments, float(x[-1]))

    def _course(self, rows: Array, duration: float) -> Course:
        q, v, a, u = (rows[:, i] for i in self._slices())
        return Course(q, v, a, u, duration)

    def motion(self, outcome: Outcome, p: Array) -> Motion:
        nodes, fine = self.course(outcome.x)
        drive, power = drives(self, fine, p)
        t: Array = np.linspace(0, nodes.duration, len(nodes.q))
        taken = _taken(nodes, t, power, outcome)
        table, h = np.hstack([drive, fine.inputs]), nodes.duration / self.horizon.steps

        def acting(now: float) -> Array:
            """Return the parabola through both ends and the middle of a step."""
            k = min(int(now / h), self.horizon.steps - 1)
            return quadratic(table[2 * k : 2 * k + 3], now / h - k)

        return Motion(
            t,
            nodes,
            drive[::2],
            np.zeros((len(t), 0)),
            taken,
            acting,
            deviation(self, fine, drive, p),
        )


def no_accelerations(d: Dynamics) -> str:
    """Return why a mechanism has no coordinates with accelerations; nothing where it has."""
    if d.contact_names:
        return f"contact {d.contact_names[0]!r} has no acceleration"
    if d.closure_names:
        return f"joint {d.closure_names[0]!r} is a constraint on the coordinates"
    if d.nq != d.nv or d.internal_names:
        return "free bodies that turn, ball joints and bristles have coordinates of another kind"
    return ""


def _taken(course: Course, t: Array, power: Array, outcome: Outcome) -> Taken:
    """Return the nodes as steps; ``power`` [W] from outside is that of nodes and middles."""
    n = len(t) - 1
    still = np.zeros((n, 0))
    return Taken(
        t=t[1:],
        h=np.diff(t),
        q=course.q[1:],
        v=course.v[1:],
        impulse=still,
        joint_impulse=still,
        slip_impulse=still,
        motion_residual=np.full(n, outcome.violation),
        loss=still,
        work=np.diff(t) / 6 * (power[:-2:2] + 4 * power[1::2] + power[2::2]),
        iterations=np.full(n, outcome.iterations / n),
        solve_time=np.full(n, outcome.seconds / n),
        retries=np.zeros(n),
        reason=objects(["optimum"] * n),
        tried=objects([()] * n),
        at_end=np.ones(n, dtype=bool),
    )
