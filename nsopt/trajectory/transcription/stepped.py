"""Direct transcription in the steps of a scheme: contacts, clearances and loops included.

The unknowns of node k are time, coordinates, eccentricities in bores and the velocity at the end of
the step before, which are its state; then those that the scheme adds, such as impulses and the
velocity after an impact; then forces of drives, and inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Start
from nsopt.mpcc import (
    Bound,
    ConstraintBlock,
    HorizonPlace,
    Relaxation,
    Scholtes,
    Solution,
    StructuredNlp,
    constraint_block,
)
from nsopt.schemes import NewtonImpact, Scales, Scheme, internal
from nsopt.simulation import losses_of_forces, significant_impulses
from nsopt.trajectory.conditions import Span, ends_at_rest
from nsopt.trajectory.guesses import Guess, Trajectory
from nsopt.trajectory.returned import call_bounds, call_costs, call_spans
from nsopt.trajectory.smoothing.schedules import LAST, Stage
from nsopt.trajectory.transcription.base import (
    Index,
    TranscribedMotion,
    Transcription,
    make_accepted_steps,
    zero,
)
from nsopt.trajectory.transcription.lifting import Lifting
from nsopt.trajectory.transcription.node_template import (
    N_HOMOTOPY,
    NodeModel,
    NodeTemplate,
    RecordedNodes,
)

SHORTEST = 1e-3  # lower bound of free step sizes, over the mean step: none may vanish
# Upper bound of eccentricities, without which first iterations of solvers move pins far out of
# their bores; at a solution they are 1 at most.
LARGEST_ECCENTRICITY = 1.5


@dataclass(frozen=True, eq=False)
class Stepped(Transcription):
    """Unknowns and constraint blocks of a motion in the steps of a scheme.

    Parameters of the program are those of the mechanism, then those of a `Stage`.
    """

    scheme: Scheme
    p: Array  # (np,) of the mechanism
    relaxation: Relaxation = field(default_factory=Scholtes)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.scheme.check_horizon(self.dynamics, self.p)

    @property
    def description(self) -> tuple[str, str]:
        return type(self.scheme).__name__, repr(self.scheme)

    @property
    def last_stage(self) -> Stage:
        return LAST

    @property
    def fits_any_parameters(self) -> bool:
        return not self.dynamics.parameters  # scales depend on them

    @property
    def rebounds_by_newton(self) -> bool:
        return isinstance(getattr(self.scheme, "impact", None), NewtonImpact)

    @property
    def is_complementary(self) -> bool:
        return bool(self.dynamics.contact_names)

    @cached_property
    def model(self) -> NodeModel:
        """The data common to all node templates."""
        d, (low, high) = self.dynamics, self.horizon.bounds
        T = (low + high) / 2 if np.isfinite(high) else low
        values = {x.name: float(v) for x, v in zip(d.parameters, self.p, strict=True)}
        # Not that of the guess, so that multipliers have the same scales from any guess.
        start = Start(*d.stated_start(values, refuse=False))
        h = T / self.horizon.steps
        scales = Scales.of(d, start, self.p, h, T)
        mean_h = h if low == high else np.nan
        driven = [k for k, x in enumerate(d.v_owners) if x in d.mechanism.driven_joints]
        return NodeModel(d, self.scheme, scales, self.inputs, Lifting(d), driven, mean_h)

    @cached_property
    def inner(self) -> NodeTemplate:
        """The template of all nodes but the last."""
        template = NodeTemplate.inner(self.model)
        template.check(self.model, self.p)
        return template

    @cached_property
    def last(self) -> NodeTemplate:
        """The template of the last node."""
        return NodeTemplate.last(self.model, at_rest=ends_at_rest(self.dynamics, self.conditions))

    @property
    def size(self) -> int:
        return self.horizon.steps * self.inner.size + self.last.size

    def _list_nodes(self) -> list[tuple[int, NodeTemplate]]:
        """Return the index of the first unknown of each node, and its template."""
        n, stride = self.horizon.steps, self.inner.size
        return [(k * stride, self.inner if k < n else self.last) for k in range(n + 1)]

    def names(self) -> list[str]:
        d, names = self.dynamics, list[str]()
        lifted = [f"eccentricity of {d.contact_names[k]}" for k in d.bores for _ in "xyz"]
        state = ["time", *d.q_names, *lifted, *d.v_names]
        controls = [*(f"drive of {d.v_names[k]}" for k in self.model.driven), *self.inputs]
        for _, node in self._list_nodes():
            added = [v.name for v in node.mpcc.variables for _ in range(v.scaled.numel())]
            names += [*state, *added, *controls]
        return names

    # The program

    def nlp(self) -> StructuredNlp:
        blocks = [self._state_inner(), self._state_start(), *self._state_spans()]
        blocks += [self._state_last(), self._state_coupling()]
        n_parameters = len(self.dynamics.parameters) + N_HOMOTOPY
        return StructuredNlp(blocks, self.size, n_parameters, complementary=self.is_complementary)

    def _locate(self) -> Index:
        """Return the indices of `NodeTemplate.w` of all nodes but the last, (n, size of w)."""
        n, stride, state = self.horizon.steps, self.inner.size, sum(self.model.state_sizes)
        first = np.arange(n)[:, None] * stride
        previous = np.maximum(first - stride, 0) + self._passed_on  # unused at the first node
        return np.hstack([first + np.arange(stride + state), previous])

    @property
    def _passed_on(self) -> Index:
        """Indices of time and internal states among the unknowns of a node; the next needs them."""
        d = self.dynamics
        end = 1 + d.nq  # internal states are the last of the coordinates
        return np.append(0, np.arange(end - len(d.internal_names), end))

    def _make_data(self) -> Array:
        """Return `NodeTemplate.data` of all nodes but the last, (n, 3)."""
        k = np.arange(self.horizon.steps)
        return np.column_stack([k, (k > 0).astype(float), self.horizon.mark_equal_steps()])

    @property
    def _last_data(self) -> Array:
        return np.array([[self.horizon.steps, 1.0, 0.0]])

    def _locate_last(self) -> Index:
        begin = self.horizon.steps * self.inner.size
        previous = begin - self.inner.size + self._passed_on
        return np.append(np.arange(begin, self.size), previous)[None]

    def _state_inner(self) -> ConstraintBlock:
        x = self.inner
        bounds = [*x.constraints(self.model, self.relaxation), *self._limit_step_sizes()]
        bounds += [b for c in self.conditions for b in call_bounds(c, "along", x.sample)]
        symbols = (x.w, x.data, x.p)
        block = constraint_block(
            "interval", symbols, bounds, self._sum_costs(x), self._locate(), HorizonPlace.NODES
        )
        return replace(block, data=self._make_data())

    def _state_last(self) -> ConstraintBlock:
        x = self.last
        bounds = x.constraints(self.model, self.relaxation)
        bounds += [b for c in self.conditions for b in call_bounds(c, "along", x.sample)]
        bounds += [b for c in self.conditions for b in call_bounds(c, "end", x.sample)]
        spans, n = self._list_spans(x), self.horizon.steps
        bounds += [b for span in spans if span.find_nodes(n)[1] == n for b in span.bounds]
        terms = self._sum_costs(x) + call_costs(self.costs, "final", x.sample)
        block = constraint_block(
            "end", (x.w, x.data, x.p), bounds, terms, self._locate_last(), HorizonPlace.END
        )
        return replace(block, data=self._last_data)

    def _state_start(self) -> ConstraintBlock:
        stated = [b for c in self.conditions for b in call_bounds(c, "start", self.inner.sample)]
        coupled = ca.vertcat(ca.SX(0, 1), *(b.value for b in self._list_couplings()))
        implied = self.inner.limit_start(self.model, stated, coupled)
        bounds = [*stated, *self._unload_bristles(stated, coupled), *implied]
        return self._state_at("start", bounds, np.arange(1, dtype=np.intp), HorizonPlace.START)

    def _list_couplings(self) -> list[Bound]:
        first, last = self.inner.sample, self.last.sample
        return [b for c in self.conditions for b in call_bounds(c, "couple", first, last)]

    def _unload_bristles(self, stated: Sequence[Bound], coupled: ca.SX) -> list[Bound]:
        """Return the bounds by which internal states are zero at the start unless conditions say.

        Else an optimum would start with loaded bristles that drive the motion.
        """
        d, z = self.dynamics, internal(self.dynamics, self.inner.node.q)
        values = ca.vertcat(*(b.value for b in stated), coupled)
        names = enumerate(d.q_names[d.nq - z.numel() :])
        return [zero(f"start of {x}", z[k]) for k, x in names if not ca.depends_on(values, z[k])]

    def _state_spans(self) -> list[ConstraintBlock]:
        """Return the blocks of the conditions that hold at some of the nodes."""
        blocks = []
        for k, span in enumerate(self._list_spans(self.inner)):
            first, last = span.find_nodes(self.horizon.steps)
            nodes = np.arange(first, min(last, self.horizon.steps - 1) + 1, dtype=np.intp)
            blocks.append(self._state_at(f"during_{k}", span.bounds, nodes, HorizonPlace.NODES, k))
        return blocks

    def _state_at(
        self,
        name: str,
        bounds: Sequence[Bound],
        nodes: Index,
        place: HorizonPlace,
        span: int | None = None,
    ) -> ConstraintBlock:
        """Return the block of bounds at some of the nodes, the last not among them."""
        x, no_costs, columns = self.inner, ca.SX.zeros(len(self.costs)), self._locate()[nodes]
        symbols = (x.w, x.data, x.p)
        block = constraint_block(name, symbols, bounds, no_costs, columns, place, span)
        return replace(block, data=self._make_data()[nodes])

    def _list_spans(self, x: NodeTemplate) -> list[Span]:
        return [span for c in self.conditions for span in call_spans(c, x.sample)]

    def _state_coupling(self) -> ConstraintBlock:
        """Return the block of the conditions that couple start and end."""
        first, last = self.inner, self.last
        of_last = ca.vertcat(last.data, last.p)  # a block has the symbols of one template
        values = ca.vertcat(ca.DM(self._last_data.T), first.p)
        bounds = [
            b._replace(value=ca.substitute(b.value, of_last, values))
            for b in self._list_couplings()
        ]
        columns = np.hstack([self._locate()[:1], self._locate_last()])
        symbols = (ca.vertcat(first.w, last.w), first.data, first.p)
        no_costs = ca.SX.zeros(len(self.costs))
        block = constraint_block("coupling", symbols, bounds, no_costs, columns, HorizonPlace.ENDS)
        return replace(block, data=self._make_data()[:1])

    def _sum_costs(self, x: NodeTemplate) -> ca.SX:
        m, duration = x.sample, x.interval.share  # [s] the part of the motion that the node is for
        return duration * call_costs(self.costs, "rate", m) + call_costs(self.costs, "impact", m)

    def _limit_step_sizes(self) -> list[Bound]:
        """Return the bounds of step sizes, none if the horizon gives these."""
        x, h = self.inner, self.horizon.h
        if self.horizon.fixed:
            return []
        bounds = [zero("steps alike", x.data[2] * (x.after - x.before))]
        shortest = SHORTEST * self.horizon.bounds[0] / self.horizon.steps
        least, most = (h.h_min, h.h_max) if h is not None else (shortest, np.inf)
        bounds.append(Bound("step size", x.after, np.array([least]), np.array([most])))
        return bounds

    # Numbers

    @property
    def remedy(self) -> str:
        return self.scheme.remedies(self.dynamics, self.is_complementary)

    @property
    def free_unknowns(self) -> Index:
        # No step follows the last node, so constant inputs over it act nowhere.
        n = len(self.model.driven) + len(self.inputs) if self.scheme.holds_inputs else 0
        return np.arange(self.size - n, self.size, dtype=np.intp)

    def limits(self) -> tuple[Array, Array]:
        both = zip(self._limit_node(self.inner), self._limit_node(self.last), strict=True)
        low, high = (np.concatenate([np.tile(x, self.horizon.steps), y]) for x, y in both)
        least, most = self.horizon.bounds
        times = np.array([first for first, _ in self._list_nodes()])
        low[times], high[times] = 0.0, most
        low[times[-1]], high[times[0]] = least, 0.0
        if self.horizon.fixed:
            low[times] = high[times] = np.linspace(0, least, len(times))
        return low, high

    def _limit_node(self, node: NodeTemplate) -> tuple[Array, Array]:
        """Return bounds of the unknowns of a node, (size,) each."""
        low, high = np.full(node.size, -np.inf), np.full(node.size, np.inf)
        *_, first, last, k = self.model.state_offsets  # of eccentricities, of what the scheme adds
        if not self.scheme.allows_penetration:
            low[first:last], high[first:last] = -LARGEST_ECCENTRICITY, LARGEST_ECCENTRICITY
        for v in node.mpcc.variables:
            size = v.scaled.numel()
            low[k : k + size] = np.asarray(ca.evalf(v.lower / ca.SX(v.scale))).ravel()
            high[k : k + size] = np.asarray(ca.evalf(v.upper / ca.SX(v.scale))).ravel()
            k += size
        return low, high

    def start_from(self, guess: Guess) -> Array:
        share = np.linspace(0, 1, self.horizon.steps + 1)
        trajectory = guess.trajectory(share, self.horizon.bounds, self.inputs)
        trajectory = trajectory.with_internal_states(self.dynamics)
        parameters, unknowns = self.parameters(self.p), list[Array]()
        for k, (_, node) in enumerate(self._list_nodes()):
            t, q, v = share[k] * trajectory.duration, trajectory.q[k], trajectory.v[k]
            state = [np.array([t]), q, self.model.lifting.guess(t, q, self.p), v]
            added = np.asarray(node.guess(np.concatenate(state), parameters)).ravel()
            unknowns += [*state, added, np.zeros(len(self.model.driven)), trajectory.inputs[k]]
        return np.concatenate(unknowns)

    def nodes(self, x: Array) -> tuple[Array, Array, Array]:
        nq, nu = self.dynamics.nq, len(self.inputs)
        rows = [x[first : first + node.size] for first, node in self._list_nodes()]
        t, q = (np.array([row[i] for row in rows]) for i in (0, slice(1, 1 + nq)))
        return t, q, np.array([row[len(row) - nu :] for row in rows])

    def eccentricities(self, x: Array) -> Array:
        """Return the eccentricities in bores at the nodes, (n + 1, 3 bores), of all unknowns x."""
        _, _, begin, end, _ = self.model.state_offsets
        return np.array([x[first + begin : first + end] for first, _ in self._list_nodes()])

    def motion(self, solution: Solution, p: Array) -> TranscribedMotion:
        parameters = self.parameters(p)
        w, w_last = solution.x[self._locate()], solution.x[self._locate_last()]
        inner = self.inner.evaluate(self.inputs, w, self._make_data(), parameters)
        last = self.last.evaluate(self.inputs, w_last, self._last_data, parameters)
        both = zip(inner, last, strict=True)
        x = RecordedNodes(*(np.vstack(values) for values in both))
        t, q, drive, u, h = x.t, x.q, x.drive, x.inputs, np.diff(x.t, axis=0)
        # Impulses of a node act over its span, those on record over the step after it.
        lam, mu, slip = (
            y[:-1] * h / x.span[:-1] for y in (x.impulse, x.joint_impulse, x.slip_impulse)
        )
        typical = float(self.model.scales.impulse)
        lam, impact = (significant_impulses(y, typical) for y in (lam, x.impact_impulse))
        # What is lost at the last node counts for the last step.
        loss = np.vstack([x.loss[:-2], x.loss[-2:].sum(axis=0)]) + x.impact_loss[1:]
        work = self._divide_work(x.work[:, 0], h[:, 0]) + x.impact_work[1:, 0]
        work[0] += x.impact_work[0, 0]
        loss = np.hstack([loss, losses_of_forces(self.dynamics, t[:, 0], q, x.v, p)])
        impulses = (lam + impact[1:], impact[1:], mu, slip)
        more = x.projection_work[:-1, 0], self.scheme.horizon_at_end
        accepted = make_accepted_steps(solution, t[:, 0], q, x.v, loss, work, impulses, *more)
        if self.scheme.holds_inputs:  # no step follows the last node
            drive[-1], u[-1] = drive[-2], u[-2]
        nodes = Trajectory(q, x.v, x.a, u, float(t[-1, 0]))
        at_nodes = np.hstack([drive, u])

        def controls(now: float) -> Array:
            """Return the constant value over the step, or interpolate between its nodes."""
            if self.scheme.holds_inputs:
                return np.array(at_nodes[int(np.searchsorted(t[:-1, 0], now, side="right")) - 1])
            return np.array([np.interp(now, t[:, 0], column) for column in at_nodes.T])

        begin, end = at_nodes[:-1], at_nodes[:-1] if self.scheme.holds_inputs else at_nodes[1:]
        step_controls: Array = np.stack([begin, (begin + end) / 2, end], axis=1)
        correction = self._correct_forces(t[:-1], q[:-1], solution.x, lam / h)
        return TranscribedMotion(
            *(t[:, 0], nodes, drive, x.force, accepted, step_controls, controls, None),
            force_correction=correction,
        )

    def _correct_forces(self, t: Array, q: Array, x: Array, force: Array) -> Array:
        """Return contact forces minus those along normals at starts of steps, (n, ng, 3) [N].

        ``t`` (n, 1) and ``q`` are those at the starts, ``x`` all unknowns, ``force`` (n, ng) the
        mean normal forces over the steps.
        """
        n, lifting, u = len(t), self.model.lifting, self.eccentricities(x)
        u_of_normals = u[:-1] + self.scheme.normal_implicitness * np.diff(u, axis=0)
        at = ca.SX.sym("t"), ca.SX.sym("q", q.shape[1]), ca.SX.sym("p", len(self.p))
        u_start, u_normal = (ca.SX.sym("u", lifting.size) for _ in range(2))
        change = lifting.normals(*at, u_normal) - lifting.normals(*at, u_start)
        function = ca.Function("change", [*at, u_start, u_normal], [ca.densify(change)])
        rows = (t.T, q.T, np.tile(self.p[:, None], n), u[:-1].T, u_of_normals.T)
        changes = np.asarray(function.map(n)(*rows)).T.reshape(n, -1, 3)
        return changes * force[:, :, None]

    def _divide_work(self, work: Array, h: Array) -> Array:
        """Return the work in each step (n,), from that at each node (n + 1,) [J]."""
        if self.scheme.holds_inputs:
            return np.append(work[:-2], work[-2:].sum())
        # The work at a node is of half the step before and half the step after it.
        before, after = np.append(0.0, h), np.append(h, 0.0)
        in_step_before = work * before / (before + after)
        return np.asarray(in_step_before[1:] + (work - in_step_before)[:-1])
