"""The equations of a scheme at a node of a horizon, in symbols: the template of all such places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc, Relaxation
from nsopt.mpcc.blocks import Rows
from nsopt.stepping import Scales, Scheme
from nsopt.stepping.node import Node, Passage
from nsopt.stepping.terms import internal
from nsopt.trajectory.conditions import Bound
from nsopt.trajectory.homotopy import Stage
from nsopt.trajectory.lifting import Lifting
from nsopt.trajectory.moment import Acting, Moment

EXTRA = len(Stage._fields)
"""Parameters after those of the mechanism."""

SHARP = 0.1
"""`Node.sharp` times the root of sigma: what is small by complementarity goes with that root."""


@dataclass(frozen=True, eq=False)
class Model:
    """What the places of a horizon have in common.

    Attributes
    ----------
    dynamics : Dynamics
    scheme : Scheme
    scales : Scales
    inputs : names
    lifting : Lifting
    driven : list of int
        Which velocities actuators drive.
    even : float [s]
        The mean step; not a number where the duration is free.
    """

    dynamics: Dynamics
    scheme: Scheme
    scales: Scales
    inputs: Sequence[str]
    lifting: Lifting
    driven: Sequence[int]
    even: float

    @property
    def state(self) -> list[int]:
        """Sizes of time, coordinates, places in bores and velocity of a node."""
        return [1, self.dynamics.nq, self.lifting.size, self.dynamics.nv]

    @property
    def edges(self) -> list[int]:
        """Where they begin and end."""
        return [0, *np.cumsum(self.state).tolist()]

    def node(self, x: ca.SX, drive: ca.SX, u: ca.SX, p: ca.SX, z: ca.SX) -> Node:
        """Return a node from its unknowns and the internal states of the node before."""
        d = self.dynamics
        t, q, places, v = ca.vertsplit(x, self.edges)
        names = [parameter.name for parameter in d.parameters]
        at = {name: k for k, name in enumerate(self.inputs)}
        entries = [u[at[name]] if name in at else p[i] for i, name in enumerate(names)]
        given = ca.vertcat(ca.SX(0, 1), *entries)
        forces = ca.SX.zeros(d.nv)
        for k, i in enumerate(self.driven):
            forces[i] = drive[k]
        gap = self.lifting.gap(t, q, given, places, p[len(names) + 1])
        W = self.lifting.directions(t, q, given, places)
        sharp = SHARP / ca.sqrt(p[len(names)])  # Stage.sigma
        return Node(t, q, v, given, forces, gap, W, z, sharp)


@dataclass(frozen=True, eq=False)
class Place:
    """A node, and the step after it unless it is the last.

    Attributes
    ----------
    w : SX
        Unknowns: state, what the scheme adds, drives and inputs of the node; the state of the next;
        time and internal states of the one before.
    own : int
        How many of them are of the node.
    data : SX (3,)
        Number of the place, whether a step leads to it, whether the next is as long.
    p : SX
        Parameters of the program.
    mpcc : Mpcc
        What the scheme states.
    node : Node
    passage : Passage
    moment : Moment
    before, after : SX scalar [s]
        The steps that lead to it and from it.
    """

    w: ca.SX
    own: int
    data: ca.SX
    p: ca.SX
    mpcc: Mpcc
    node: Node
    passage: Passage
    moment: Moment
    before: ca.SX
    after: ca.SX

    @cached_property
    def guess(self) -> ca.Function:
        """(state, parameters of the program) -> the guess of what the scheme adds, scaled."""
        state = next(x.symbol for x in self.mpcc.parameters if x.name == "node")
        guesses = [v.guess / ca.SX(v.scale) for v in self.mpcc.variables]
        return ca.Function("guess", [state, self.p], [ca.vertcat(ca.SX(0, 1), *guesses)])

    @classmethod
    def inner(cls, model: Model) -> Place:
        """Return the template of a node that a step follows."""
        m, p, data, first, drive, u, node, before = _begun(model, "interval")
        second = m.parameter("next", sum(model.state))
        following = model.node(second, drive, u, p, internal(model.dynamics, node.q))
        share = p[-1]  # Stage.ahead
        here, there = (ca.vertsplit(x, model.edges)[2] for x in (first, second))
        places = here + model.scheme.ahead * (there - here)
        W = model.lifting.directions(node.t, node.q, node.p, places)
        pushed = replace(node, W=(1 - share) * W + share * following.W)
        passage = model.scheme.add_interval(
            m, model.dynamics, pushed, following, before, model.scales
        )
        # At the start the velocity given is that before anything acts.
        v = node.v + data[1] * (passage.at_node - node.v)
        after = following.t - node.t
        return cls._made(
            model, m, (first, drive, u, [second]), p, data, node, passage, v, before, after
        )

    @classmethod
    def last(cls, model: Model) -> Place:
        """Return the template of the last node."""
        m, p, data, first, drive, u, node, before = _begun(model, "ending")
        passage = model.scheme.add_ending(m, model.dynamics, node, before, model.scales)
        return cls._made(
            model,
            m,
            (first, drive, u, []),
            p,
            data,
            node,
            passage,
            passage.at_node,
            before,
            ca.SX(0),
        )

    @classmethod
    def _made(
        cls,
        model: Model,
        m: Mpcc,
        unknowns: tuple[ca.SX, ca.SX, ca.SX, list[ca.SX]],
        p: ca.SX,
        data: ca.SX,
        node: Node,
        passage: Passage,
        v: ca.SX,
        before: ca.SX,
        after: ca.SX,
    ) -> Place:
        d, m = model.dynamics, m.split()
        first, drive, u, following = unknowns
        earlier = next(x.symbol for x in m.parameters if x.name == "earlier")
        added = [variable.scaled for variable in m.variables]
        mine = ca.vertcat(first, *added, drive, u)
        acting = Acting(
            h=passage.h,
            change=passage.change,
            drive=node.drive,
            gap=node.gap,
            impulse=passage.impulse,
            joint_impulse=passage.joint_impulse,
            slip_impulse=passage.slip_impulse,
            blow=passage.blow,
            loss=passage.loss + passage.blow_loss,
            after=after,
            even=ca.SX(model.even),
        )
        a = passage.change / passage.h
        moment = Moment(d, node.t, node.q, v, a, node.p, acting)
        w = ca.vertcat(mine, *following, earlier)
        return cls(w, mine.numel(), data, p, m, node, passage, moment, before, after)

    def stated(self, model: Model, relaxation: Relaxation) -> list[Bound]:
        """Return the equations of the scheme, and of the places inside bores, row by row."""
        d = model.dynamics
        names = {
            "motion": d.v_names,
            "momentum": d.v_names,
            "move": d.q_names,
            "closure": d.closure_names,
            "joint_rate": d.closure_names,
            "jump": d.v_names,
            "rest": d.contact_names,
            "rebound": d.contact_names,
            "compressed": d.contact_names,
            "expanded": d.contact_names,
            "reach": d.contact_names,
            "nearest": d.v_names,
            "motion_end": d.v_names,
            "rate": d.v_names,
            "trusted": d.contact_names,
            "blow_rate": d.closure_names,
            "first_jump": d.v_names,
            "second_jump": d.v_names,
            "first_rate": d.closure_names,
            "second_rate": d.closure_names,
        }
        found = []
        for rows in self.mpcc.equalities:
            found += [zero(*row) for row in _named(rows, names)]
        for rows in self.mpcc.inequalities:
            low, most = np.full(1, -np.inf), np.zeros(1)
            found += [Bound(*row, low, most) for row in _named(rows, names)]
        for pair in self.mpcc.pairs:
            G, H = pair.G / ca.SX(ca.DM(pair.scales[0])), pair.H / ca.SX(ca.DM(pair.scales[1]))
            products, low, high = relaxation.constraints(G, H, self.p[len(d.parameters)])
            for i in range(products.numel()):
                label = f"contact {pair.labels[i % len(pair.labels)]}"
                found.append(Bound(label, products[i], low[i : i + 1], high[i : i + 1]))
        t, q, places, _ = ca.vertsplit(self.w[: sum(model.state)], model.edges)
        lifted = model.lifting.rows(t, q, self.node.p, places, self.p[len(d.parameters) + 1])
        owners = [d.contact_names[k] for k in model.lifting.bores for _ in range(3)]
        return found + [zero(f"place in {owner}", lifted[i]) for i, owner in enumerate(owners)]


def _named(rows: Rows, names: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ca.SX]]:
    """Yield each row of a block, scaled, with its label."""
    scaled = rows.expr / ca.SX(ca.DM(rows.scale))
    of = names.get(rows.name, ("",) * scaled.numel())
    for i, x in enumerate(of):
        yield f"{rows.name} of {x}" if x else rows.name, scaled[i]


def zero(label: str, value: ca.SX) -> Bound:
    """Return that a number vanishes."""
    return Bound(label, value, np.zeros(1), np.zeros(1))


def _begun(model: Model, name: str) -> tuple[Mpcc, ca.SX, ca.SX, ca.SX, ca.SX, ca.SX, Node, ca.SX]:
    """Return a program with the symbols of a node, and the step that leads to it."""
    m = Mpcc(name)
    p = m.parameter("p", len(model.dynamics.parameters) + EXTRA)
    data = m.parameter("data", 3)
    first = m.parameter("node", sum(model.state))
    drive, u = m.parameter("drive", len(model.driven)), m.parameter("inputs", len(model.inputs))
    earlier = m.parameter("earlier", 1 + len(model.dynamics.internal_names))
    node = model.node(first, drive * model.scales.force, u, p, earlier[1:])
    return m, p, data, first, drive, u, node, data[1] * (node.t - earlier[0])
