"""A motion as polynomials between nodes: equations of motion solved for forces, never inverted.

Over a step accelerations are a quadratic of time, from values at both ends and in the middle, so
velocities and coordinates are its integrals [Hermite-Simpson, of fourth order]. Forces of actuated
joints are what the motion takes (inverse dynamics); where nothing drives they must be zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.trajectory.conditions import Bound, Condition
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.guesses import Course, Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.moment import Moment
from nsopt.trajectory.parts import Array, Part, Stack, part_of


@dataclass(frozen=True, eq=False)
class Collocation:
    """Unknowns and parts of a motion of a mechanism without contacts.

    Node k holds (q, v, a, inputs), the middle of each step (a, inputs); the duration comes last.

    Raises
    ------
    ValueError
        If the mechanism has contacts, cut joints, ball joints or internal states, or an input is
        no Parameter.
    """

    dynamics: Dynamics
    horizon: Horizon
    costs: Sequence[Cost]
    conditions: Sequence[Condition]
    inputs: Sequence[str]

    def __post_init__(self) -> None:
        d = self.dynamics
        remedy = "it needs the step equations of a scheme, which optimize does not stack yet"
        if d.contact_names:
            raise ValueError(f"contact {d.contact_names[0]!r} has no acceleration: {remedy}")
        if d.closure_names:
            raise ValueError(
                f"joint {d.closure_names[0]!r} is a constraint: state the mechanism in "
                'coordinates="relative", without loops'
            )
        if d.nq != d.nv or d.internal_names:
            raise ValueError(
                "every coordinate must be an angle or a length of its own: no free bodies that "
                "turn, no ball joints, no friction with internal states"
            )
        names = [parameter.name for parameter in d.parameters]
        for name in self.inputs:
            if name not in names:
                raise ValueError(
                    f"input {name!r} is no Parameter of the mechanism: one of "
                    f"{', '.join(names) or 'none'}"
                )

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
        """Number of unknowns."""
        return self.horizon.steps * self.stride + self.node + 1

    def stack(self) -> Stack:
        """Return the program."""
        return Stack(
            [self._steps(), self._start(), self._end()], self.size, len(self.dynamics.parameters)
        )

    # Moments from unknowns

    def moment(self, t: ca.SX, x: ca.SX, p: ca.SX) -> Moment:
        """Return a moment from the unknowns of a node."""
        q, v, a, u = self._cut(x)
        return Moment(self.dynamics, t, q, v, a, self._p(p, u))

    def _cut(self, x: ca.SX) -> list[ca.SX]:
        """Return coordinates, velocities, accelerations and inputs of a node."""
        n = self.dynamics.nv
        found: list[ca.SX] = ca.vertsplit(x, [0, n, 2 * n, 3 * n, self.node])
        return found

    def _slices(self) -> tuple[slice, ...]:
        """Return where a node holds coordinates, velocities, accelerations and inputs."""
        n = self.dynamics.nv
        return slice(n), slice(n, 2 * n), slice(2 * n, 3 * n), slice(3 * n, self.node)

    def _p(self, p: ca.SX, u: ca.SX) -> ca.SX:
        """Return parameters with inputs in their places."""
        names = [parameter.name for parameter in self.dynamics.parameters]
        places = {names.index(name): k for k, name in enumerate(self.inputs)}
        entries = [u[places[i]] if i in places else p[i] for i in range(len(names))]
        return ca.vertcat(ca.SX(0, 1), *entries)

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

    def _symbols(self, n: int) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return unknowns, the number of the place, and parameters."""
        return ca.SX.sym("w", n), ca.SX.sym("k"), ca.SX.sym("p", len(self.dynamics.parameters))

    # Numbers

    def start_from(self, guess: Guess) -> Array:
        """Return unknowns (size,) of a motion to start from.

        Raises
        ------
        ValueError
            If it is not that of this mechanism.
        """
        share = np.linspace(0, 1, 2 * self.horizon.steps + 1)
        course = guess.course(share, self.horizon.bounds, self.inputs)
        if course.q.shape[1] != self.dynamics.nq:
            raise ValueError(
                f"the guess has {course.q.shape[1]} coordinates, the mechanism has "
                f"{self.dynamics.nq}: {', '.join(self.dynamics.q_names)}"
            )
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
