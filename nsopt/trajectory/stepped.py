"""A motion as the steps of a scheme, all at once: contacts, clearances and loops included.

Node k holds time, coordinates, places inside bores and the velocity with which the step before
arrives; then what the scheme makes of it: impulses, the velocity that goes on, forces of drives
and inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import casadi as ca
import numpy as np

from nsopt.mpcc import Relaxation, Scholtes
from nsopt.stepping import Scales, Scheme, Start
from nsopt.stepping.taken import Taken, objects
from nsopt.stepping.terms import internal
from nsopt.trajectory.conditions import Bound, Span
from nsopt.trajectory.guesses import Course, Guess
from nsopt.trajectory.homotopy import Stage
from nsopt.trajectory.lifting import Lifting
from nsopt.trajectory.parts import Array, Index, Part, Stack, part_of
from nsopt.trajectory.place import EXTRA, Model, Place, zero
from nsopt.trajectory.transcription import Motion, Outcome, Transcription

LEAST = 1e-3
"""Of the mean step, the least of those whose size is free."""


@dataclass(frozen=True, eq=False)
class Stepped(Transcription):
    """Unknowns and parts of a motion in the steps of a scheme.

    Parameters of the program are those of the mechanism and those of a `Stage`.

    Parameters
    ----------
    scheme : Scheme
    p : (np,)
        Parameters of the mechanism.
    relaxation : Relaxation
        Of complementarity.
    """

    guesses_forces: ClassVar[bool] = False

    scheme: Scheme
    p: Array
    relaxation: Relaxation = field(default_factory=Scholtes)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.scheme.check_rubbing(self.dynamics)
        self.scheme.check_horizon(self.dynamics, self.p)

    @property
    def told(self) -> tuple[str, str]:
        return type(self.scheme).__name__, repr(self.scheme)

    @property
    def unilateral(self) -> bool:
        return bool(self.dynamics.contact_names)

    @cached_property
    def model(self) -> Model:
        """What all places have in common."""
        d, (low, high) = self.dynamics, self.horizon.bounds
        T = (low + high) / 2 if np.isfinite(high) else low
        # By the stated start, whatever the guess: multipliers are of these scales.
        values = {x.name: float(v) for x, v in zip(d.parameters, self.p, strict=True)}
        start = Start(*d.stated_start(values, refuse=False))
        mean = T / self.horizon.steps
        scales = Scales.of(d, start, self.p, mean, T)
        even = mean if low == high else np.nan
        joints = {x.joint for x in d.mechanism.actuators}
        driven = [k for k, owner in enumerate(d.v_owners) if owner in joints]
        return Model(d, self.scheme, scales, self.inputs, Lifting(d), driven, even)

    @cached_property
    def inner(self) -> Place:
        """The template of nodes that a step follows."""
        return Place.inner(self.model)

    @cached_property
    def last(self) -> Place:
        """The template of the last node."""
        return Place.last(self.model)

    @property
    def size(self) -> int:
        return self.horizon.steps * self.inner.own + self.last.own

    def _places(self) -> list[tuple[int, Place]]:
        """Return where each node begins, with its template."""
        n, stride = self.horizon.steps, self.inner.own
        return [(k * stride, self.inner if k < n else self.last) for k in range(n + 1)]

    def names(self) -> list[str]:
        d, found = self.dynamics, list[str]()
        bores = [f"place in {d.contact_names[k]}" for k in self.model.lifting.bores for _ in "xyz"]
        state = ["time", *d.q_names, *bores, *d.v_names]
        rest = [*(f"drive of {d.v_names[k]}" for k in self.model.driven), *self.inputs]
        for _, place in self._places():
            added = [v.name for v in place.mpcc.variables for _ in range(v.scaled.numel())]
            found += [*state, *added, *rest]
        return found

    # The program

    def stack(self) -> Stack:
        parts = [self._inner(), self._start(), *self._during(), self._last(), self._coupling()]
        return Stack(parts, self.size, len(self.dynamics.parameters) + EXTRA)

    def _columns(self) -> Index:
        """Return the unknowns of all nodes that a step follows."""
        n, stride, state = self.horizon.steps, self.inner.own, sum(self.model.state)
        first = np.arange(n)[:, None] * stride
        before = np.maximum(first - stride, 0) + self._of_before
        return np.hstack([first + np.arange(stride + state), before])

    @property
    def _of_before(self) -> Index:
        """Return which unknowns of the node before a place sees: time and internal states."""
        d = self.dynamics
        end = 1 + d.nq
        return np.append(0, np.arange(end - len(d.internal_names), end))

    def _data(self) -> Array:
        """Return the numbers of those places."""
        k = np.arange(self.horizon.steps)
        return np.column_stack([k, (k > 0).astype(float), self.horizon.alike()])

    @property
    def _last_data(self) -> Array:
        return np.array([[self.horizon.steps, 1.0, 0.0]])

    def _last_columns(self) -> Index:
        begin = self.horizon.steps * self.inner.own
        before = begin - self.inner.own + self._of_before
        return np.append(np.arange(begin, self.size), before)[None]

    def _inner(self) -> Part:
        x = self.inner
        bounds = [*x.stated(self.model, self.relaxation), *self._grid()]
        bounds += [b for c in self.conditions for b in c.along(x.moment)]
        symbols = (x.w, x.data, x.p)
        part = part_of("interval", symbols, bounds, self._terms(x), self._columns())
        return replace(part, data=self._data())

    def _last(self) -> Part:
        x = self.last
        bounds = x.stated(self.model, self.relaxation)
        bounds += [b for c in self.conditions for b in [*c.along(x.moment), *c.end(x.moment)]]
        bounds += [b for s in self._spans(x) if s.last == self.horizon.steps for b in s.bounds]
        terms = self._terms(x) + ca.vertcat(*(c.weight * c.final(x.moment) for c in self.costs))
        part = part_of("end", (x.w, x.data, x.p), bounds, terms, self._last_columns())
        return replace(part, data=self._last_data)

    def _start(self) -> Part:
        bounds = [b for c in self.conditions for b in c.start(self.inner.moment)]
        return self._at("start", [*bounds, *self._at_rest(bounds)], np.arange(1, dtype=np.intp))

    def _at_rest(self, started: Sequence[Bound]) -> list[Bound]:
        """Return that internal states which nothing says anything of start at zero.

        Free ones would be wound up beforehand, and drive.
        """
        d, x, y = self.dynamics, self.inner, self.last
        coupled = [b for c in self.conditions for b in c.couple(x.moment, y.moment)]
        told = ca.vertcat(ca.SX(0, 1), *(b.value for b in [*started, *coupled]))
        z = internal(d, x.node.q)
        names = d.q_names[d.nq - z.numel() :]
        alone = [not ca.depends_on(told, z[k]) for k in range(z.numel())]
        return [zero(f"start of {name}", z[k]) for k, name in enumerate(names) if alone[k]]

    def _during(self) -> list[Part]:
        """Return the parts of what holds for some of the nodes."""
        found = []
        for k, span in enumerate(self._spans(self.inner)):
            last = min(span.last, self.horizon.steps - 1)
            nodes = np.arange(span.first, last + 1, dtype=np.intp)
            found.append(self._at(f"during_{k}", span.bounds, nodes))
        return found

    def _at(self, name: str, bounds: Sequence[Bound], nodes: Index) -> Part:
        """Return the part of what holds at nodes that a step follows."""
        x, nothing = self.inner, ca.SX.zeros(len(self.costs))
        part = part_of(name, (x.w, x.data, x.p), bounds, nothing, self._columns()[nodes])
        return replace(part, data=self._data()[nodes])

    def _spans(self, x: Place) -> list[Span]:
        found = [span for c in self.conditions for span in c.during(x.moment)]
        return [s.of(self.horizon.steps) for s in found]

    def _coupling(self) -> Part:
        x, y = self.inner, self.last
        bounds = [b for c in self.conditions for b in c.couple(x.moment, y.moment)]
        nothing = ca.SX.zeros(len(self.costs))
        theirs, known = ca.vertcat(y.data, y.p), ca.vertcat(ca.DM(self._last_data.T), x.p)
        bounds = [b._replace(value=ca.substitute(b.value, theirs, known)) for b in bounds]
        columns = np.hstack([self._columns()[:1], self._last_columns()])
        symbols = (ca.vertcat(x.w, y.w), x.data, x.p)
        part = part_of("coupling", symbols, bounds, nothing, columns)
        return replace(part, data=self._data()[:1])

    def _terms(self, x: Place) -> ca.SX:
        m, share = x.moment, x.passage.share
        return ca.vertcat(*(c.weight * (share * c.rate(m) + c.blow(m)) for c in self.costs))

    def _grid(self) -> list[Bound]:
        """Return what steps must keep where they are unknown."""
        x, h = self.inner, self.horizon.h
        if self.horizon.given:
            return []
        found = [zero("steps alike", x.data[2] * (x.after - x.before))]
        least, most = (h.h_min, h.h_max) if h is not None else (self._shortest, np.inf)
        found.append(Bound("step size", x.after, np.array([least]), np.array([most])))
        return found

    @property
    def _shortest(self) -> float:
        """The least step where no bounds are given [s]."""
        return LEAST * self.horizon.bounds[0] / self.horizon.steps

    # Numbers

    @property
    def remedy(self) -> str:
        return self.scheme.remedy(bool(self.model.lifting.bores)) if self.unilateral else ""

    @property
    def idle(self) -> Index:
        # Nothing is held after the end.
        held = len(self.model.driven) + len(self.inputs) if self.scheme.holds_inputs else 0
        return np.arange(self.size - held, self.size, dtype=np.intp)

    def numbers(self, p: Array, stage: Stage) -> Array:
        return np.concatenate([p, stage])

    def limits(self) -> tuple[Array, Array]:
        low, high = np.full(self.size, -np.inf), np.full(self.size, np.inf)
        least, most = self.horizon.bounds
        edges = self.model.edges
        for at, place in self._places():
            if not self.scheme.sinks:
                # Without these the first steps of a solve leave the bores far behind.
                low[at + edges[2] : at + edges[3]], high[at + edges[2] : at + edges[3]] = -1.5, 1.5
            own = at + edges[-1]
            for v in place.mpcc.variables:
                size = v.scaled.numel()
                low[own : own + size] = np.asarray(ca.evalf(v.lower / ca.SX(v.scale))).ravel()
                high[own : own + size] = np.asarray(ca.evalf(v.upper / ca.SX(v.scale))).ravel()
                own += size
        times = np.array([at for at, _ in self._places()])
        low[times], high[times] = 0.0, most
        low[times[-1]], high[times[0]] = least, 0.0
        if self.horizon.given:
            low[times] = high[times] = np.linspace(0, least, len(times))
        return low, high

    def start_from(self, guess: Guess) -> Array:
        share = np.linspace(0, 1, self.horizon.steps + 1)
        course = guess.course(share, self.horizon.bounds, self.inputs).of(self.dynamics)
        numbers = self.numbers(self.p, Stage(1e-8))
        found = []
        for k, (_, place) in enumerate(self._places()):
            t, q, v = share[k] * course.duration, course.q[k], course.v[k]
            state = [np.array([t]), q, self.model.lifting.guess(t, q, self.p), v]
            guessed = np.asarray(place.guess(np.concatenate(state), numbers)).ravel()
            found += [*state, guessed, np.zeros(len(self.model.driven)), course.inputs[k]]
        return np.concatenate(found)

    def nodes(self, x: Array) -> tuple[Array, Array, Array]:
        nq, m = self.dynamics.nq, len(self.inputs)
        rows = [x[at : at + place.own] for at, place in self._places()]
        t, q = (np.array([row[i] for row in rows]) for i in (0, slice(1, 1 + nq)))
        return t, q, np.array([row[len(row) - m :] for row in rows])

    def motion(self, outcome: Outcome, p: Array) -> Motion:
        n = self.horizon.steps
        numbers = self.numbers(p, Stage(1e-8))
        inner = self._read(self.inner, outcome.x[self._columns()], self._data(), numbers)
        last = self._read(self.last, outcome.x[self._last_columns()], self._last_data, numbers)
        t, q, v, a, drive, u, force, over, lam, blow, mu, slip, loss, struck, work = (
            np.vstack(x) for x in zip(inner, last, strict=True)
        )
        h = np.diff(t, axis=0)
        # What acts at a node acts over half of the steps on both sides: as forces over its step.
        lam, mu, slip = (x[:-1] * h / over[:-1] for x in (lam, mu, slip))
        loss = np.vstack([loss[:-2], loss[-2:].sum(axis=0)])
        work = self._over_steps(work[:, 0], h[:, 0])
        taken = Taken(
            t=t[1:, 0],
            h=h[:, 0],
            q=q[1:],
            v=v[1:],
            impulse=lam + blow[1:],
            joint_impulse=mu,
            slip_impulse=slip,
            motion_residual=np.full(n, outcome.violation),
            loss=loss + struck[1:],
            work=work,
            iterations=np.full(n, outcome.iterations / n),
            solve_time=np.full(n, outcome.seconds / n),
            retries=np.zeros(n),
            reason=objects(["optimum"] * n),
            tried=objects([()] * n),
            at_end=np.full(n, self.scheme.horizon_at_end),
        )
        if self.scheme.holds_inputs:  # nothing is held after the end
            drive[-1], u[-1] = drive[-2], u[-2]
        nodes = Course(q, v, a, u, float(t[-1, 0]))
        table = np.hstack([drive, u])

        def acting(now: float) -> Array:
            """Return what a node holds until the next, or the straight line between them."""
            if self.scheme.holds_inputs:
                held: Array = table[int(np.searchsorted(t[:-1, 0], now, side="right")) - 1]
                return held
            return np.array([np.interp(now, t[:, 0], x) for x in table.T])

        aside = self._aside(t[:-1], q[:-1], outcome.x, lam / h)
        return Motion(t[:, 0], nodes, drive, force, taken, acting, np.nan, aside)

    def _aside(self, t: Array, q: Array, x: Array, force: Array) -> Array:
        """Return what contact forces are beside those along places at the start, (n, ng, 3) [N].

        Parameters
        ----------
        t, q : (n, 1), (n, nq)
            Starts of steps.
        x : (size,)
        force : (n, ng) [N]
            Normal forces over steps.
        """
        n, edges, lifting = len(t), self.model.edges, self.model.lifting
        places = np.array([x[at + edges[2] : at + edges[3]] for at, _ in self._places()])
        turned = self.scheme.ahead * np.diff(places, axis=0)
        known = [ca.SX.sym("x", k) for k in (1, q.shape[1], len(self.p), lifting.size)]
        pushes = ca.Function("pushes", known, [lifting.pushes(*known)])
        rows = (t.T, q.T, np.tile(self.p[:, None], n), turned.T)
        along = np.asarray(pushes.map(n)(*rows)).T.reshape(n, -1, 3)
        return along * force[:, :, None]

    def _over_steps(self, work: Array, h: Array) -> Array:
        """Return the work done in each step, from that at each node."""
        if self.scheme.holds_inputs:
            return np.append(work[:-2], work[-2:].sum())
        # At a node acts half of the step before and half of the one after.
        before, after = np.append(0.0, h), np.append(h, 0.0)
        early = work * before / (before + after)
        over: Array = early[1:] + (work - early)[:-1]
        return over

    def _read(self, x: Place, rows: Array, data: Array, numbers: Array) -> list[Array]:
        """Return what the record keeps of places, a row each."""
        m = x.moment
        u = [m.input(name) for name in self.inputs]
        y = x.passage
        wanted = [m.t, m.q, m.v, m.a, m.drive, ca.vertcat(ca.SX(0, 1), *u), m.contact_force]
        wanted += [y.h, y.impulse, y.blow, y.joint_impulse, y.slip_impulse]
        wanted += [y.loss, y.blow_loss, y.work]
        outputs = [ca.densify(value) for value in wanted]
        function = ca.Function("read", [x.w, x.data, x.p], outputs, {"cse": True})
        n = len(rows)
        found = function.map(n)(rows.T, data.T, np.tile(numbers[:, None], n))
        return [np.asarray(value).T.reshape(n, -1) for value in found]
