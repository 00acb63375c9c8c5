"""A motion as polynomials between nodes: equations of motion solved for forces, never inverted.

Over a step accelerations are a quadratic of time, from values at both ends and in the middle, so
velocities and coordinates are its integrals [Hermite-Simpson, of fourth order]. Forces of actuated
joints are what the motion takes (inverse dynamics); where nothing drives they must be zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.stepping.taken import Taken, objects
from nsopt.trajectory.afresh import deviation, drives
from nsopt.trajectory.conditions import Bound
from nsopt.trajectory.guesses import Course, Guess
from nsopt.trajectory.homotopy import Stage
from nsopt.trajectory.moment import Moment
from nsopt.trajectory.parts import Array, Part, Stack, part_of
from nsopt.trajectory.transcription import Motion, Outcome, Transcription


@dataclass(frozen=True, eq=False)
class Collocation(Transcription):
    """Unknowns and parts of a motion of a mechanism without contacts.

    Node k holds (q, v, a, inputs), the middle of each step (a, inputs); the duration comes last.

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
        node = [*d.q_names, *d.v_names, *(f"acceleration of {x}" for x in d.v_names), *self.inputs]
        middle = node[d.nq + d.nv :]
        return [*(node + middle) * self.horizon.steps, *node, "duration"]

    @property
    def node(self) -> int:
        """Number of unknowns of a node."""
        return 3 * self.dynamics.nv + len(self.inputs)

    @property
    def stride(self) -> int:
        """Number of unknowns of a node and the middle after it."""
        return self.node + self.dynamics.nv + len(self.inputs)

    @property
    def size(self) -> int:
        return self.horizon.steps * self.stride + self.node + 1

    def stack(self) -> Stack:
        parts = [self._steps(), self._start(), self._end(), self._coupling(), *self._during()]
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

    def _middle(self, w: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the middle of a step as a node, and what must vanish at its end."""
        edges = [0, self.node, self.stride, self.stride + self.node]
        x0, m, x1 = ca.vertsplit(w[: edges[-1]], edges)
        (q0, v0, a0, _), (q1, v1, a1, _) = self._cut(x0), self._cut(x1)
        am, um = ca.vertsplit(m, [0, self.dynamics.nv, self.stride - self.node])
        q = q0 + h / 2 * v0 + h**2 / 96 * (7 * a0 + 6 * am - a1)
        v = v0 + h / 24 * (5 * a0 + 8 * am - a1)
        open_q = q1 - q0 - h * v0 - h**2 / 6 * (a0 + 2 * am)
        open_v = v1 - v0 - h / 6 * (a0 + 4 * am + a1)
        return ca.vertcat(q, v, am, um), ca.vertcat(open_q, open_v)

    # Rows

    def _along(self, m: Moment) -> list[Bound]:
        """Return what holds at every moment: nothing drives but actuators, and the conditions."""
        d = m.dynamics
        driven = {x.joint for x in d.mechanism.actuators}
        owners = [name.rsplit(".", 1)[0] for name in d.v_names]
        bare = [k for k, owner in enumerate(owners) if owner not in driven]
        found = [
            Bound(f"equation of motion of {d.v_names[k]}", m.drive[k], np.zeros(1), np.zeros(1))
            for k in bare
        ]
        return found + [b for condition in self.conditions for b in condition.along(m)]

    def _steps(self) -> Part:
        """Return the part of all steps: what holds at the first end, in the middle, and between."""
        n = self.horizon.steps
        w, k, p = self._symbols(self.stride + self.node + 1)
        h = w[-1] / n
        middle, open_ends = self._middle(w, h)
        ends = [w[: self.node], w[self.stride : self.stride + self.node]]
        first, last = (self.moment((k + j) * h, x, p) for j, x in enumerate(ends))
        between = self.moment((k + 0.5) * h, middle, p)
        zero = np.zeros(open_ends.numel())
        bounds = [Bound("link of nodes", open_ends, zero, zero)]
        bounds += [*self._along(first), *self._along(between)]
        rates = [[cost.rate(m) for m in (first, between, last)] for cost in self.costs]
        weights = [cost.weight * h / 6 for cost in self.costs]
        pairs = zip(weights, rates, strict=True)
        terms = ca.vertcat(*(weight * (x + 4 * y + z) for weight, (x, y, z) in pairs))
        offsets = np.append(np.arange(self.stride + self.node), 0)
        columns = np.arange(n)[:, None] * self.stride + offsets
        columns[:, -1] = self.size - 1
        return part_of("step", (w, k, p), bounds, terms, columns)

    def _start(self) -> Part:
        w, k, p = self._symbols(self.node + 1)
        m = self.moment(ca.SX(0), w[:-1], p)
        bounds = [b for condition in self.conditions for b in condition.start(m)]
        columns = np.append(np.arange(self.node), self.size - 1)[None]
        return part_of("start", (w, k, p), bounds, ca.SX.zeros(len(self.costs)), columns)

    def _end(self) -> Part:
        w, k, p = self._symbols(self.node + 1)
        m = self.moment(w[-1], w[:-1], p)
        bounds = self._along(m) + [b for condition in self.conditions for b in condition.end(m)]
        terms = ca.vertcat(*(cost.weight * cost.final(m) for cost in self.costs))
        columns = np.arange(self.size - 1 - self.node, self.size)[None]
        return part_of("end", (w, k, p), bounds, terms, columns)

    def _during(self) -> list[Part]:
        """Return the parts of what holds for some of the nodes."""
        w, k, p = self._symbols(self.node + 1)
        h = w[-1] / self.horizon.steps
        m = self.moment(k * h, w[:-1], p)
        spans = [span for condition in self.conditions for span in condition.during(m)]
        found = []
        for i, span in enumerate(span.of(self.horizon.steps) for span in spans):
            nodes = np.arange(span.first, span.last + 1)[:, None]
            own = nodes * self.stride + np.arange(self.node)
            columns = np.hstack([own, np.full((len(nodes), 1), self.size - 1)])
            nothing = ca.SX.zeros(len(self.costs))
            part = part_of(f"during_{i}", (w, k, p), span.bounds, nothing, columns)
            found.append(replace(part, data=nodes.astype(float)))
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
        course = self.fits(guess.course(share, self.horizon.bounds, self.inputs))
        nodes = np.hstack([course.q, course.v, course.a, course.inputs])[::2]
        middles = np.hstack([course.a, course.inputs])[1::2]
        body = np.hstack([nodes[:-1], middles]).ravel()
        return np.concatenate([body, nodes[-1], [course.duration]])

    def course(self, x: Array) -> tuple[Course, Course]:
        """Return the motion at the nodes, and at nodes and middles."""
        T = float(x[-1])
        body = x[: self.horizon.steps * self.stride].reshape(-1, self.stride)
        nodes = np.vstack([body[:, : self.node], x[-1 - self.node : -1]])
        w, h = ca.SX.sym("w", self.stride + self.node), ca.SX.sym("h")
        middle = ca.Function("middle", [w, h], [self._middle(w, h)[0]])
        found = [
            np.asarray(middle(np.concatenate([row, nodes[k + 1]]), T / self.horizon.steps)).ravel()
            for k, row in enumerate(body)
        ]
        whole = np.empty((2 * self.horizon.steps + 1, self.node))
        whole[::2], whole[1::2] = nodes, np.array(found)
        return self._course(nodes, T), self._course(whole, T)

    def _course(self, rows: Array, duration: float) -> Course:
        q, v, a, u = (rows[:, i] for i in self._slices())
        return Course(q, v, a, u, duration)

    def motion(self, outcome: Outcome, p: Array) -> Motion:
        nodes, fine = self.course(outcome.x)
        drive = drives(self, fine, p)
        t: Array = np.linspace(0, nodes.duration, len(nodes.q))
        power = np.sum(drive * fine.v, axis=1)
        taken = _taken(nodes, t, power, outcome)
        return Motion(t, nodes, drive[::2], taken, deviation(self, fine, drive, p))


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
    """Return the nodes as steps; ``power`` [W] of the drives is that of nodes and middles."""
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
