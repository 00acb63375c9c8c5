"""The equations of a scheme at a node of a horizon, in symbols, instantiated for all nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

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
from nsopt.schemes import Interval, Node, Scales, Scheme, internal
from nsopt.trajectory.node_sample import NodeSample, SteppedNode
from nsopt.trajectory.smoothing.schedules import Stage
from nsopt.trajectory.transcription.lifting import Lifting

Array = NDArray[np.float64]

N_HOMOTOPY = len(Stage._fields)
"""Number of homotopy parameters, after those of the mechanism."""

SHARP = 0.1
"""`Node.sharp` times the root of sigma, with which small complementary quantities scale."""


@dataclass(frozen=True, eq=False)
class Model:
    """The data common to all node templates of a horizon.

    Attributes
    ----------
    dynamics : Dynamics
    scheme : Scheme
    scales : Scales
    inputs : names
    lifting : Lifting
    driven : list of int
        Indices of the velocities that actuators drive.
    mean_h : float [s]
        The mean step; NaN if the duration is free.
    """

    dynamics: Dynamics
    scheme: Scheme
    scales: Scales
    inputs: Sequence[str]
    lifting: Lifting
    driven: Sequence[int]
    mean_h: float

    @property
    def state_sizes(self) -> list[int]:
        """Sizes of time, coordinates, eccentricities and velocity of a node."""
        return [1, self.dynamics.nq, self.lifting.size, self.dynamics.nv]

    @property
    def state_offsets(self) -> list[int]:
        """Offsets of these four in the unknowns of a node, and their total size."""
        return [0, *np.cumsum(self.state_sizes).tolist()]

    def node(self, x: ca.SX, drive: ca.SX, u: ca.SX, p: ca.SX, z: ca.SX) -> Node:
        """Return a node from its unknowns and the internal states z of the previous node."""
        d = self.dynamics
        t, q, eccentricities, v = ca.vertsplit(x, self.state_offsets)
        names = [parameter.name for parameter in d.parameters]
        index = {name: k for k, name in enumerate(self.inputs)}
        entries = [u[index[name]] if name in index else p[i] for i, name in enumerate(names)]
        parameters = ca.vertcat(ca.SX(0, 1), *entries)
        forces = ca.SX.zeros(d.nv)
        for k, i in enumerate(self.driven):
            forces[i] = drive[k]
        gap = self.lifting.gap(t, q, parameters, eccentricities, p[len(names) + 1])
        W = self.lifting.directions(t, q, parameters, eccentricities)
        drift = self.lifting.drift(t, q, parameters, eccentricities)
        slip_drift = d.slip_drift(t, q, parameters)
        sharp = SHARP / ca.sqrt(p[len(names)])  # Stage.sigma
        return Node(t, q, v, parameters, forces, gap, W, drift, slip_drift, z, sharp)


@dataclass(frozen=True, eq=False)
class NodeTemplate:
    """The equations of a node, and of the step after it unless it is the last.

    Attributes
    ----------
    w : SX
        Unknowns: state, unknowns of the scheme, drives and inputs of the node; the state of the
        next node; time and internal states of the previous one.
    size : int
        Number of unknowns of the node itself, the first in w.
    data : SX (3,)
        Index of the node; 1 if a step leads to it, else 0; 1 if the step after it is to be as long
        as the one before, else 0.
    p : SX
        Parameters of the program.
    mpcc : Mpcc
        Equations and complementarity conditions of the scheme.
    node : Node
    interval : Interval
    sample : NodeSample
    before, after : SX scalar [s]
        Sizes of the steps before and after the node.
    has_discs : bool
        Whether the scheme states discs, which are relaxed.
    """

    w: ca.SX
    size: int
    data: ca.SX
    p: ca.SX
    mpcc: Mpcc
    node: Node
    interval: Interval
    sample: NodeSample
    before: ca.SX
    after: ca.SX
    has_discs: bool

    @cached_property
    def guess(self) -> ca.Function:
        """(state, parameters of the program) -> the guess of the scheme's unknowns, scaled."""
        state = next(x.symbol for x in self.mpcc.parameters if x.name == "node")
        guesses = [v.guess / ca.SX(v.scale) for v in self.mpcc.variables]
        return ca.Function("guess", [state, self.p], [ca.vertcat(ca.SX(0, 1), *guesses)])

    def record(self, inputs: Sequence[str], w: Array, data: Array, p: Array) -> list[Array]:
        """Return the recorded quantities of nodes from their unknowns w, one node in a row."""
        m, y = self.sample, self.interval
        u = [m.input(name) for name in inputs]
        recorded = [m.t, m.q, m.v, m.a, m.drive, ca.vertcat(ca.SX(0, 1), *u), m.contact_force]
        recorded += [y.h, y.impulse, y.impact_impulse, y.joint_impulse, y.slip_impulse]
        recorded += [y.loss, y.impact_loss, y.work, y.impact_work, y.projection_work]
        outputs = [ca.densify(value) for value in recorded]
        function = ca.Function("recorded", [self.w, self.data, self.p], outputs, {"cse": True})
        n = len(w)
        values = function.map(n)(w.T, data.T, np.tile(p[:, None], n))
        return [np.asarray(value).T.reshape(n, -1) for value in values]

    def keep_at_start(self, model: Model, started: Sequence[Bound], coupled: ca.SX) -> list[Bound]:
        """Return bounds of gaps, closed joints and Euler parameters of which something is free.

        Steps keep them from the second node on; a start that is given is checked beforehand, and
        one that is coupled to the end is kept there.

        Parameters
        ----------
        model : Model
        started : sequence of Bound
            At the start.
        coupled : SX (n,)
            What couples it to the end.
        """
        d, node = model.dynamics, self.node
        at = (node.t, node.q, node.p)
        given = [b.value for b in started if np.array_equal(b.lower, b.upper)]
        # Conditions see the velocity as an expression, which is that at the start there.
        of_v = ca.vertcat(coupled, *given)
        q_left = _find_free_entries(ca.vertsplit(node.q), given)
        v_left = [e for e in ca.vertsplit(node.v) if not ca.depends_on(of_v, e)]
        q = ca.vertcat(ca.SX(0, 1), *(e for e in q_left if not ca.depends_on(coupled, e)))
        v = ca.vertcat(ca.SX(0, 1), *v_left)
        rates = d.closure_matrix(*at) @ node.v + d.closure_drift(*at)
        closed = d.closure_names
        norms = d.norms(node.q) - 1
        rows = [
            *_depending(d.closure(*at), q, [f"start of {x}" for x in closed]),
            *_depending(rates, v, [f"rate at the start of {x}" for x in closed]),
            *_depending(norms, q, ["norm of Euler parameters at the start"] * norms.numel()),
        ]
        gap, sizes, low, high = d.gap(*at), model.scales.gap, np.zeros(1), np.full(1, np.inf)
        open_ = [k for k in range(gap.numel()) if q.numel() and ca.depends_on(gap[k], q)]
        # A condition of one's own may place a contact on its wall, where a bound more is redundant.
        open_ = [k for k in open_ if not _is_stated(gap[k], given, ca.vertsplit(node.q))]
        kept = [zero(*row) for row in rows] + self._on_their_sides(model, open_)
        return kept + [
            Bound(f"start of {d.contact_names[k]}", node.gap[k] / sizes[k], low, high)
            for k in open_
        ]

    def _on_their_sides(self, model: Model, contacts: Sequence[int]) -> list[Bound]:
        """Return bounds of pins that start where they like: on the side where the step ends.

        From the opposite wall means of normals would be next to nothing, with forces along them of
        any direction.
        """
        if not 0 < model.scheme.normal_implicitness < 1:
            return []
        d, (_, _, begin, end, _) = model.dynamics, model.state_offsets
        products = self.w[begin:end] * self.w[self.size + begin : self.size + end]
        return [
            Bound(
                f"side of {d.contact_names[k]} at the start",
                ca.sum(products[3 * i : 3 * i + 3]),
                *(np.zeros(1), np.full(1, np.inf)),
            )
            for i, k in enumerate(d.bores)
            if k in contacts
        ]

    @classmethod
    def inner(cls, model: Model) -> NodeTemplate:
        """Return the template of all nodes but the last."""
        m, p, data, first, drive, u, node, before = _node_symbols(model, "interval")
        second = m.parameter("next", sum(model.state_sizes))
        following = model.node(second, drive, u, p, internal(model.dynamics, node.q))
        share = p[-1]  # Stage.normal_implicitness
        u_start, u_end = (ca.vertsplit(x, model.state_offsets)[2] for x in (first, second))
        eccentricities = u_start + model.scheme.normal_implicitness * (u_end - u_start)
        at = (node.t, node.q, node.p, eccentricities)
        W, drift = model.lifting.directions(*at), model.lifting.drift(*at)
        start = replace(
            node,
            W=(1 - share) * W + share * following.W,
            drift=(1 - share) * drift + share * following.drift,
        )
        interval = model.scheme.add_interval(
            m, model.dynamics, start, following, before, model.scales
        )
        # The initial velocity is that before any impulse at the first node.
        v = node.v + data[1] * (interval.at_node - node.v)
        after = following.t - node.t
        return cls._assemble(
            model, m, (first, drive, u, [second]), p, data, node, interval, v, before, after
        )

    @classmethod
    def last(cls, model: Model, *, at_rest: bool = False) -> NodeTemplate:
        """Return the template of the last node, ``at_rest`` as of `Node`."""
        m, p, data, first, drive, u, node, before = _node_symbols(model, "ending")
        node = replace(node, at_rest=at_rest)
        interval = model.scheme.add_ending(m, model.dynamics, node, before, model.scales)
        return cls._assemble(
            model,
            m,
            (first, drive, u, []),
            p,
            data,
            node,
            interval,
            interval.at_node,
            before,
            ca.SX(0),
        )

    @classmethod
    def _assemble(
        cls,
        model: Model,
        m: Mpcc,
        unknowns: tuple[ca.SX, ca.SX, ca.SX, list[ca.SX]],
        p: ca.SX,
        data: ca.SX,
        node: Node,
        interval: Interval,
        v: ca.SX,
        before: ca.SX,
        after: ca.SX,
    ) -> NodeTemplate:
        d = model.dynamics
        has_discs = bool(m.discs)
        # In bores, where all that presses slides, equations are met from more starts.
        without_discs = smooth_discs if d.bores else relax_discs
        m = split_into_pairs(without_discs(m, p[len(d.parameters)]))  # Stage.sigma
        first, drive, u, following = unknowns
        previous = next(x.symbol for x in m.parameters if x.name == "earlier")
        added = [variable.scaled for variable in m.variables]
        own = ca.vertcat(first, *added, drive, u)
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
        w = ca.vertcat(own, *following, previous)
        return cls(w, own.numel(), data, p, m, node, interval, sample, before, after, has_discs)

    def constraints(self, model: Model, relaxation: Relaxation) -> list[Bound]:
        """Return the constraints of the scheme and the definition of eccentricities, row by row."""
        d = model.dynamics
        names = {
            "motion": d.v_names,
            "momentum": d.v_names,
            "move": d.q_names,
            "closure": d.closure_names,
            "joint_rate": d.closure_names,
            "rolling": d.nonholonomic_names,
            "rest": d.contact_names,
            "rebound": d.contact_names,
            "compressed": d.contact_names,
            "expanded": d.contact_names,
            "reach": d.contact_names,
            "nearest": d.v_names,
            "motion_end": d.v_names,
            "rate": d.v_names,
            "trusted": d.contact_names,
            "impact_motion": d.v_names,
            "impact_joint_rate": d.closure_names,
            "impact_rolling": d.nonholonomic_names,
            "compression_motion": d.v_names,
            "compression_joint_rate": d.closure_names,
            "compression_rolling": d.nonholonomic_names,
            "expansion_motion": d.v_names,
            "expansion_joint_rate": d.closure_names,
            "expansion_rolling": d.nonholonomic_names,
        }
        bounds = []
        for rows in self.mpcc.equalities:
            bounds += [zero(*row) for row in _name_rows(rows, names)]
        for rows in self.mpcc.inequalities:
            low, most = np.full(1, -np.inf), np.zeros(1)
            bounds += [Bound(*row, low, most) for row in _name_rows(rows, names)]
        for pair in self.mpcc.pairs:
            G, H = pair.G / ca.SX(ca.DM(pair.scales[0])), pair.H / ca.SX(ca.DM(pair.scales[1]))
            products, low, high = relaxation.constraints(G, H, self.p[len(d.parameters)])
            for i in range(products.numel()):
                label = f"contact {pair.labels[i % len(pair.labels)]}"
                part = _part(relaxation, i // len(pair.labels))
                bounds.append(Bound(label, products[i], low[i : i + 1], high[i : i + 1], part))
        t, q, u, _ = ca.vertsplit(self.w[: sum(model.state_sizes)], model.state_offsets)
        lifted = model.lifting.rows(t, q, self.node.p, u, self.p[len(d.parameters) + 1])
        labels = [f"eccentricity of {d.contact_names[k]}" for k in d.bores for _ in range(3)]
        return bounds + [zero(label, lifted[i]) for i, label in enumerate(labels)]


def _part(relaxation: Relaxation, row: int) -> PairPart:
    """Return what a block of rows is: by the number of rows of each pair before it."""
    if not relaxation.states_halves:
        return PairPart.RELAXED
    return (PairPart.G, PairPart.H, PairPart.RELAXED)[min(row, 2)]


def _name_rows(rows: Rows, names: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ca.SX]]:
    """Yield each row of a block, scaled, with its label."""
    scaled = rows.expr / ca.SX(ca.DM(rows.scale))
    components = names.get(rows.name, ("",) * scaled.numel())
    for i, x in enumerate(components):
        yield f"{rows.name} of {x}" if x else rows.name, scaled[i]


def _find_free_entries(entries: list[ca.SX], given: Sequence[ca.SX]) -> list[ca.SX]:
    """Return the entries of which none of the given values is a function alone."""
    rows = [x for value in given for x in ca.vertsplit(value)]
    found = [[e for e in entries if ca.depends_on(x, e)] for x in rows]
    known = {alone[0].element_hash() for alone in found if len(alone) == 1}
    return [e for e in entries if e.element_hash() not in known]


def _is_stated(gap: ca.SX, given: Sequence[ca.SX], entries: list[ca.SX]) -> bool:
    """Return whether as many equations as a gap has coordinates are of these."""
    own = [e for e in entries if ca.depends_on(gap, e)]
    rows = [x for value in given for x in ca.vertsplit(value)]
    return sum(ca.depends_on(x, ca.vertcat(*own)) for x in rows) >= len(own)


def _depending(values: ca.SX, free: ca.SX, labels: Sequence[str]) -> list[tuple[str, ca.SX]]:
    """Return the entries that depend on something free, with their labels."""
    if not free.numel():
        return []
    entries = zip(labels, ca.vertsplit(values) if values.numel() else [], strict=True)
    return [(label, x) for label, x in entries if ca.depends_on(x, free)]


def zero(label: str, value: ca.SX) -> Bound:
    """Return the bound that sets a scalar to zero."""
    return Bound(label, value, np.zeros(1), np.zeros(1))


def _node_symbols(
    model: Model, name: str
) -> tuple[Mpcc, ca.SX, ca.SX, ca.SX, ca.SX, ca.SX, Node, ca.SX]:
    """Return a program with the symbols of a node, and the size of the step before it."""
    m = Mpcc(name)
    p = m.parameter("p", len(model.dynamics.parameters) + N_HOMOTOPY)
    data = m.parameter("data", 3)
    first = m.parameter("node", sum(model.state_sizes))
    drive, u = m.parameter("drive", len(model.driven)), m.parameter("inputs", len(model.inputs))
    earlier = m.parameter("earlier", 1 + len(model.dynamics.internal_names))
    node = model.node(first, drive * model.scales.force, u, p, earlier[1:])
    return m, p, data, first, drive, u, node, data[1] * (node.t - earlier[0])
