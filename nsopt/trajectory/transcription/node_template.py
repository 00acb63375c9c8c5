"""The equations of a scheme at one node of a horizon, in symbols that serve all nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import (
    Bound,
    Mpcc,
    PairPart,
    Relaxation,
    Rows,
    relax_discs,
    smooth_discs,
    split_into_pairs,
)
from nsopt.schemes import HorizonStep, Interval, Node, Scales, Scheme, internal
from nsopt.trajectory.node_sample import NodeSample, SteppedNode
from nsopt.trajectory.smoothing.schedules import Stage
from nsopt.trajectory.transcription.base import not_negative, with_inputs, zero
from nsopt.trajectory.transcription.lifting import Lifting

N_HOMOTOPY = len(Stage._fields)  # number of homotopy numbers, the last parameters of a program
SHARP = 0.1  # `Node.sharp` times sqrt(sigma), the size of small complementary quantities


@dataclass(frozen=True, eq=False)
class NodeModel:
    """The data common to all node templates of a horizon."""

    dynamics: Dynamics
    scheme: Scheme
    scales: Scales  # typical sizes of the unknowns
    inputs: Sequence[str]  # names
    lifting: Lifting
    driven: Sequence[int]  # indices of the velocities that actuators drive
    mean_h: float  # [s] the mean step; NaN if the duration is free

    @property
    def state_sizes(self) -> list[int]:
        """Sizes of time, coordinates, eccentricities and velocity of a node."""
        return [1, self.dynamics.nq, self.lifting.size, self.dynamics.nv]

    @property
    def state_offsets(self) -> list[int]:
        """Offsets of these four in the unknowns of a node, and their total size."""
        return [0, *np.cumsum(self.state_sizes).tolist()]

    def node(self, x: ca.SX, drive: ca.SX, u: ca.SX, p: ca.SX, z: ca.SX) -> Node:
        """Return a node from its state x, drives [N m, N], inputs u, parameters p of the program.

        ``z`` are the internal states at the node before.
        """
        d = self.dynamics
        t, q, eccentricities, v = ca.vertsplit(x, self.state_offsets)
        parameters = with_inputs(d, self.inputs, p, u)
        sigma, widening, _ = _split_stage(p)
        forces = ca.SX.zeros(d.nv)
        for k, i in enumerate(self.driven):
            forces[i] = drive[k]
        gap = self.lifting.gap(t, q, parameters, eccentricities, widening)
        W = self.lifting.directions(t, q, parameters, eccentricities)
        drift = self.lifting.drift(t, q, parameters, eccentricities)
        slip_drift = d.slip_drift(t, q, parameters)
        sharp = SHARP / ca.sqrt(sigma)
        return Node(t, q, v, parameters, forces, gap, W, drift, slip_drift, z, sharp)


class RecordedNodes(NamedTuple):
    """What is on record of n nodes; impulses act over ``span``, those of impacts at once."""

    t: Array  # (n, 1) [s]
    q: Array  # (n, nq)
    v: Array  # (n, nv)
    a: Array  # (n, nv) change of the velocity over the span, divided by it
    drive: Array  # (n, nv) [N, N m]
    inputs: Array  # (n, number of inputs)
    force: Array  # (n, ng) [N] normal, impacts included
    span: Array  # (n, 1) [s]
    impulse: Array  # (n, ng) [N s]
    impact_impulse: Array  # (n, ng) [N s]
    joint_impulse: Array  # (n, nm)
    slip_impulse: Array  # (n, ns) [N s]
    loss: Array  # (n, ng) [J]
    impact_loss: Array  # (n, ng) [J]
    work: Array  # (n, 1) [J]
    impact_work: Array  # (n, 1) [J]
    projection_work: Array  # (n, 1) [J]


@dataclass(frozen=True, eq=False)
class NodeTemplate:
    """The equations of a node, and of the step after it unless it is the last."""

    # Unknowns: state, unknowns of the scheme, drives and inputs of the node; the state of the next
    # node; time and internal states of the previous one.
    w: ca.SX
    size: int  # number of unknowns of the node itself, the first in w
    # (3,): index of the node; 1 if a step leads to it, else 0; 1 if the steps before and after it
    # are to be of one size, else 0.
    data: ca.SX
    p: ca.SX  # parameters of the program: of the mechanism, then of a `Stage`
    mpcc: Mpcc  # equations and complementarity conditions of the scheme
    node: Node  # what the scheme is given
    interval: Interval  # what the scheme states
    sample: NodeSample  # what costs and conditions are given
    before: ca.SX  # [s] the step before the node
    after: ca.SX  # [s]
    has_discs: bool  # whether the scheme states friction in space by discs, which are relaxed here

    @cached_property
    def guess(self) -> ca.Function:
        """(state, parameters of the program) -> the guess of the scheme's unknowns, scaled."""
        state = next(x.symbol for x in self.mpcc.parameters if x.name == "node")
        guesses = [v.guess / ca.SX(v.scale) for v in self.mpcc.variables]
        return ca.Function("guess", [state, self.p], [ca.vertcat(ca.SX(0, 1), *guesses)])

    def evaluate(self, inputs: Sequence[str], w: Array, data: Array, p: Array) -> RecordedNodes:
        """Return what `Stepped.motion` reads at nodes, from w (n, .), data (n, 3) and p (k,)."""
        m, x = self.sample, self.interval
        u = [m.input(name) for name in inputs]
        recorded = [m.t, m.q, m.v, m.a, m.drive, ca.vertcat(ca.SX(0, 1), *u), m.contact_force]
        recorded += [x.h, x.impulse, x.impact_impulse, x.joint_impulse, x.slip_impulse]
        recorded += [x.loss, x.impact_loss, x.work, x.impact_work, x.projection_work]
        outputs = [ca.densify(value) for value in recorded]
        function = ca.Function("recorded", [self.w, self.data, self.p], outputs, {"cse": True})
        n = len(w)
        values = function.map(n)(w.T, data.T, np.tile(p[:, None], n))
        return RecordedNodes(*(np.asarray(value).T.reshape(n, -1) for value in values))

    def limit_start(self, model: NodeModel, stated: Sequence[Bound], coupled: ca.SX) -> list[Bound]:
        """Return bounds of gaps, closed joints and Euler parameters at a start that is partly free.

        Steps keep them from the second node on; what is given at the start is checked beforehand,
        and what is coupled to the end is kept there. ``stated`` are the bounds of conditions at the
        start, ``coupled`` the values by which conditions couple it to the end.
        """
        d, node = model.dynamics, self.node
        at = (node.t, node.q, node.p)
        given = [b.value for b in stated if np.array_equal(b.lower, b.upper)]
        # Conditions are given an expression for the velocity at the node, which contains node.v.
        bounding_v = ca.vertcat(coupled, *given)
        free_q = _find_free_entries(ca.vertsplit(node.q), given)
        free_v = [e for e in ca.vertsplit(node.v) if not ca.depends_on(bounding_v, e)]
        q = ca.vertcat(ca.SX(0, 1), *(e for e in free_q if not ca.depends_on(coupled, e)))
        v = ca.vertcat(ca.SX(0, 1), *free_v)
        rates = d.closure_matrix(*at) @ node.v + d.closure_drift(*at)
        closed = d.closure_names
        norms = d.norms(node.q) - 1
        rows = [
            *_select_dependent(d.closure(*at), q, [f"start of {x}" for x in closed]),
            *_select_dependent(rates, v, [f"rate at the start of {x}" for x in closed]),
            *_select_dependent(norms, q, ["norm of Euler parameters at the start"] * norms.numel()),
        ]
        gap, sizes = d.gap(*at), model.scales.gap
        free = [k for k in range(gap.numel()) if q.numel() and ca.depends_on(gap[k], q)]
        # Where a condition places a contact on its wall already, one more bound is redundant.
        free = [k for k in free if not _is_stated(gap[k], given, ca.vertsplit(node.q))]
        bounds = [zero(*row) for row in rows] + self._limit_sides(model, free)
        return bounds + [
            not_negative(f"start of {d.contact_names[k]}", node.gap[k] / sizes[k]) for k in free
        ]

    def _limit_sides(self, model: NodeModel, contacts: Sequence[int]) -> list[Bound]:
        """Return bounds by which pins start on the side of the bore on which their first step ends.

        From the opposite wall the mean of both normals would nearly vanish, in any direction.
        """
        if not 0 < model.scheme.normal_implicitness < 1:
            return []
        d, (_, _, begin, end, _) = model.dynamics, model.state_offsets
        products = self.w[begin:end] * self.w[self.size + begin : self.size + end]
        return [
            not_negative(
                f"side of {d.contact_names[k]} at the start", ca.sum(products[3 * i : 3 * i + 3])
            )
            for i, k in enumerate(d.bores)
            if k in contacts
        ]

    @classmethod
    def inner(cls, model: NodeModel) -> NodeTemplate:
        """Return the template of all nodes but the last."""
        x = _NodeSymbols.of(model, "interval")
        node, next_state = x.node, x.mpcc.parameter("next", sum(model.state_sizes))
        forces, z = x.drive * model.scales.force, internal(model.dynamics, node.q)
        following = model.node(next_state, forces, x.u, x.p, z)
        _, _, share = _split_stage(x.p)  # weight of the normal at the end
        u_start, u_end = (ca.vertsplit(y, model.state_offsets)[2] for y in (x.state, next_state))
        eccentricities = u_start + model.scheme.normal_implicitness * (u_end - u_start)
        at = (node.t, node.q, node.p, eccentricities)
        W, drift = model.lifting.directions(*at), model.lifting.drift(*at)
        start = replace(
            node,
            W=(1 - share) * W + share * following.W,
            drift=(1 - share) * drift + share * following.drift,
        )
        one = HorizonStep.between(x.mpcc, model.dynamics, start, following, model.scales)
        interval = model.scheme.add_interval(one, x.before)
        # At the first node, to which no step leads, the velocity is that before any impulse.
        v = node.v + x.data[1] * (interval.at_node - node.v)
        return cls._assemble(model, x, node, [next_state], interval, v, following.t - node.t)

    @classmethod
    def last(cls, model: NodeModel, *, at_rest: bool = False) -> NodeTemplate:
        """Return the template of the last node, ``at_rest`` as of `Node`."""
        x = _NodeSymbols.of(model, "ending")
        node = replace(x.node, at_rest=at_rest)
        one = HorizonStep.at_end(x.mpcc, model.dynamics, node, model.scales)
        interval = model.scheme.add_ending(one, x.before)
        return cls._assemble(model, x, node, [], interval, interval.at_node, ca.SX(0))

    @classmethod
    def _assemble(
        cls,
        model: NodeModel,
        x: _NodeSymbols,
        node: Node,
        next_states: list[ca.SX],
        interval: Interval,
        v: ca.SX,
        after: ca.SX,
    ) -> NodeTemplate:
        d = model.dynamics
        has_discs = bool(x.mpcc.discs)
        sigma, _, _ = _split_stage(x.p)
        # In bores what presses slides: smooth equations of friction are solved from more starts.
        without_discs = smooth_discs if d.bores else relax_discs
        m = split_into_pairs(without_discs(x.mpcc, sigma))
        added = [variable.scaled for variable in m.variables]
        own = ca.vertcat(x.state, *added, x.drive, x.u)
        stepped = SteppedNode(
            h=interval.h,
            change=interval.change,
            drive=node.drive,
            gap=node.gap,
            impulse=interval.impulse,
            joint_impulse=interval.joint_impulse,
            slip_impulse=interval.slip_impulse,
            impact_impulse=interval.impact_impulse,
            loss=interval.loss + interval.impact_loss,
            next_h=after,
            mean_h=ca.SX(model.mean_h),
        )
        a = interval.change / interval.h
        sample = NodeSample(d, node.t, node.q, v, a, node.p, stepped)
        w, size = ca.vertcat(own, *next_states, x.previous), own.numel()
        return cls(w, size, x.data, x.p, m, node, interval, sample, x.before, after, has_discs)

    def check(self, model: NodeModel, p: Array) -> None:
        """Refuse contacts, friction and restitution that the interval of a scheme leaves out.

        Else they would act nowhere, and nothing would tell. ``p`` (np,) are those of the mechanism.

        Raises
        ------
        ValueError
            Naming the contact.
        """
        d, x = model.dynamics, self.interval
        rebounds = np.flatnonzero(np.asarray(d.restitution(p)).ravel() > 0).tolist()
        struck = rebounds if model.scheme.ends_early else []  # others refuse it by themselves
        for what, gaps, impulse, other in (
            ("contact forces", range(len(d.contact_names)), x.impulse, "Variational"),
            ("friction", d.slip_contacts, x.slip_impulse, "Variational"),
            ("restitution", struck, x.impact_impulse, "ContactAligned"),
        ):
            if gaps and impulse.is_zero():
                raise ValueError(
                    f"{type(model.scheme).__name__} states no {what} over a horizon, which contact "
                    f"{d.contact_names[gaps[0]]!r} has: use {other}, or state it in add_interval"
                )

    def constraints(self, model: NodeModel, relaxation: Relaxation) -> list[Bound]:
        """Return the constraints of the scheme and the definition of eccentricities, row by row."""
        d, (sigma, widening, _) = model.dynamics, _split_stage(self.p)
        of_v = ("momentum", "nearest", "motion_end", "rate")
        of_contacts = ("rest", "rebound", "compressed", "expanded", "reach", "trusted")
        names = {  # what rows belong to, by the name that schemes give their block
            **dict.fromkeys(of_v, d.v_names),
            **dict.fromkeys(of_contacts, d.contact_names),
            "move": d.q_names,
            "closure": d.closure_names,
        }
        for phase in ("", "impact_", "compression_", "expansion_"):
            names[f"{phase}motion"] = d.v_names
            names[f"{phase}joint_rate"] = d.closure_names
            names[f"{phase}rolling"] = d.nonholonomic_names
        bounds = []
        for rows in self.mpcc.equalities:
            bounds += [zero(*row) for row in _name_rows(rows, names)]
        for rows in self.mpcc.inequalities:
            low, high = np.full(1, -np.inf), np.zeros(1)
            bounds += [Bound(*row, low, high) for row in _name_rows(rows, names)]
        for pair in self.mpcc.pairs:
            G, H = pair.G / ca.SX(ca.DM(pair.scales[0])), pair.H / ca.SX(ca.DM(pair.scales[1]))
            relaxed, low, high = relaxation.constraints(G, H, sigma)
            for i in range(relaxed.numel()):
                label = f"contact {pair.labels[i % len(pair.labels)]}"
                part = _find_part(relaxation, i // len(pair.labels))
                bounds.append(Bound(label, relaxed[i], low[i : i + 1], high[i : i + 1], part))
        own_state = self.w[: sum(model.state_sizes)]
        t, q, eccentricities, _ = ca.vertsplit(own_state, model.state_offsets)
        lifted = model.lifting.rows(t, q, self.node.p, eccentricities, widening)
        labels = [f"eccentricity of {d.contact_names[k]}" for k in d.bores for _ in range(3)]
        return bounds + [zero(label, lifted[i]) for i, label in enumerate(labels)]


def _find_part(relaxation: Relaxation, k: int) -> PairPart:
    """Return what block k of rows of a relaxation is: G, H, relaxed rows, or these alone."""
    if not relaxation.states_halves:
        return PairPart.RELAXED
    return (PairPart.G, PairPart.H, PairPart.RELAXED)[min(k, 2)]


def _name_rows(rows: Rows, names: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ca.SX]]:
    """Yield each row of a block, scaled, with its label."""
    scaled = rows.expr / ca.SX(ca.DM(rows.scale))
    components = names.get(rows.name, ("",) * scaled.numel())
    for i, x in enumerate(components):
        yield f"{rows.name} of {x}" if x else rows.name, scaled[i]


def _find_free_entries(entries: list[ca.SX], given: Sequence[ca.SX]) -> list[ca.SX]:
    """Return the entries that no given value determines by depending on them alone."""
    rows = [x for value in given for x in ca.vertsplit(value)]
    used = [[e for e in entries if ca.depends_on(x, e)] for x in rows]
    determined = {own[0].element_hash() for own in used if len(own) == 1}
    return [e for e in entries if e.element_hash() not in determined]


def _is_stated(gap: ca.SX, given: Sequence[ca.SX], entries: list[ca.SX]) -> bool:
    """Return whether a gap depends on n of the entries, and at least n given values do so too."""
    own = [e for e in entries if ca.depends_on(gap, e)]
    rows = [x for value in given for x in ca.vertsplit(value)]
    return sum(ca.depends_on(x, ca.vertcat(*own)) for x in rows) >= len(own)


def _select_dependent(values: ca.SX, free: ca.SX, labels: Sequence[str]) -> list[tuple[str, ca.SX]]:
    """Return labels and values of the rows that depend on what is free."""
    if not free.numel():
        return []
    entries = zip(labels, ca.vertsplit(values) if values.numel() else [], strict=True)
    return [(label, x) for label, x in entries if ca.depends_on(x, free)]


def _split_stage(p: ca.SX) -> list[ca.SX]:
    """Return the fields of a `Stage` among the parameters of a program."""
    return ca.vertsplit(p[-N_HOMOTOPY:])


class _NodeSymbols(NamedTuple):
    """Symbols of a node, parameters of a program that a scheme will state; see `NodeTemplate`."""

    mpcc: Mpcc
    p: ca.SX
    data: ca.SX
    state: ca.SX
    drive: ca.SX  # over its scale
    u: ca.SX  # inputs
    previous: ca.SX  # time and internal states of the previous node
    node: Node
    before: ca.SX  # [s]

    @classmethod
    def of(cls, model: NodeModel, name: str) -> _NodeSymbols:
        m = Mpcc(name)
        p = m.parameter("p", len(model.dynamics.parameters) + N_HOMOTOPY)
        data = m.parameter("data", 3)
        state = m.parameter("node", sum(model.state_sizes))
        drive, u = m.parameter("drive", len(model.driven)), m.parameter("inputs", len(model.inputs))
        previous = m.parameter("earlier", 1 + len(model.dynamics.internal_names))
        node = model.node(state, drive * model.scales.force, u, p, previous[1:])
        return cls(m, p, data, state, drive, u, previous, node, data[1] * (node.t - previous[0]))
