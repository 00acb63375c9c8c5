"""What contacts did in steps: open, lasting contact or impact, one answer for all schemes."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.contact_modes import FREE, IMPACT, LASTING
from nsopt.mechanics import Dynamics, Start
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.record.evaluated_steps import BLOCK, evaluate_at_times
from nsopt.simulation.record.node_equations import NodeEquations, Nodes
from nsopt.simulation.record.node_forces import hold_closed

Rows = NDArray[np.int_]
Mask = NDArray[np.bool_]

MANY = 4.0
"""Steps: an impulse of more of them of the lasting force is an impact, less is chatter; likewise
the time after which a contact that was let go is closed again by the forces on it."""

SHARE = 1 / MANY
"""Of the lasting forces of a joint, the least that each of its contacts is taken to carry: which of
them do changes from step to step, and no impact is less than what all of them do in one."""

SLIGHT = 1e-3
"""Steps: an impulse that a scheme says to act at once, where steps end at impacts, is one of more
of them of the lasting force, however short flights were before; less is left by solvers."""


class Held(NamedTuple):
    """Contacts at nodes, those that press held closed."""

    force: Array  # (n, ng) [N] with which they press
    compliance: Array  # (n, ng) [1/kg] acceleration of each gap by a unit force there
    gap: Array  # (n, ng) [m]
    rate: Array  # (n, ng) [m/s]

    @property
    def to_come(self) -> Array:
        """Impulses that stop what still moves into the walls, each alone, (n, ng) [N s]."""
        approach = np.maximum(-self.rate, 0.0)
        held_fast = np.where(approach > 0, np.inf, 0.0)  # what no force of the contact moves
        return np.divide(approach, self.compliance, out=held_fast, where=self.compliance > 0)

    @property
    def back(self) -> Array:
        """Time until contacts that are let go, each alone, are closed again (n, ng) [s]."""
        a, gap = self.force * self.compliance, np.maximum(self.gap, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            back = (self.rate + np.sqrt(self.rate**2 + 2 * a * gap)) / a
        return np.where(a > 0, back, np.inf)


class ContactJudge:
    """Tells lasting contact from impacts by forces and gaps of the motion.

    In a lasting contact the impulse of a step is about h times the force that holds it closed,
    which follows from the equations of motion at a node; an impact takes the speed of its approach
    as well. So a contact that presses

    * lasts if it pressed before, by no less than 1 / `MANY` of the force;
    * else is an impact if its impulse, with what is left to stop it, is that of more than `MANY`
      steps of the lasting force.

    What is left of an impact in the steps after it counts as part of it. A contact that lets go for
    a moment lasts if forces close it again within `MANY` steps: steps of this size do not resolve
    what is finer. Schemes whose steps end at impacts do, and say what acts at once: if that is most
    of the impulse of a step, it is an impact. Else how a step was computed does not enter, so that
    schemes agree within their errors; only the step and the one before it do, so that runs that are
    thinned, interrupted or resumed agree too. ``gains`` are `Scheme.gains`.
    """

    def __init__(
        self, dynamics: Dynamics, p: Array, gains: tuple[float, float] | None = None
    ) -> None:
        self.dynamics, self.p, self._gains = dynamics, p, gains
        owners = np.array(dynamics.contact_owners)
        self.of_joint = (owners[:, None] == owners).astype(float)

    @cached_property
    def _equations(self) -> NodeEquations:
        return NodeEquations(self.dynamics, self._gains)

    def judge(
        self,
        start: Start,
        before: AcceptedSteps | None,
        steps: AcceptedSteps,
        at_nodes: tuple[Array, Array] | None = None,
    ) -> AcceptedSteps:
        """Return the steps with the modes of their contacts and the impulses of impacts.

        ``start`` is that of the first, ``before`` the step before it, judged, as one row.
        ``at_nodes`` are parameters (n + 1, np) and forces of drives (n + 1, nv) at the nodes, if
        they are not those of the run.
        """
        if not self.dynamics.contact_names or not len(steps):
            return steps
        return _Judged(self, start, before, steps, at_nodes).steps

    def find_held(self, nodes: tuple[Array, ...], slip: Array, pressing: Mask) -> Held:
        """Return what holds contacts that press (n, ng) closed at nodes, under slip (n, ns) [N]."""
        parts = []
        for begin in range(0, len(slip), BLOCK):
            rows = slice(begin, begin + BLOCK)
            here = tuple(x[rows] for x in nodes)
            parts.append(_find_held(self._equations, here, slip[rows], pressing[rows]))
        return Held(*(np.concatenate(x) for x in zip(*parts, strict=True)))


class _Judged:
    """Steps while they are judged."""

    def __init__(
        self,
        judge: ContactJudge,
        start: Start,
        before: AcceptedSteps | None,
        steps: AcceptedSteps,
        at_nodes: tuple[Array, Array] | None,
    ) -> None:
        self._judge, n = judge, len(steps) + 1
        p, drive = at_nodes or (np.tile(judge.p, (n, 1)), np.zeros((n, judge.dynamics.nv)))
        q, v = np.vstack([start.q, steps.q]), np.vstack([start.v, steps.v])
        self._nodes = np.append(start.t, steps.t), q, v, p, drive
        lam, h = steps.impulse, steps.h[:, None]
        (first, mode), h_first = np.zeros((2, 1, lam.shape[1])), h[:1]
        if before is not None:
            h_first = before.h[:, None]
            first, mode = before.impulse / h_first, before.contact_mode
        earlier, now = np.vstack([first, lam[:-1] / h[:-1]]), lam / h
        self._own, self._h = h, np.maximum(h, np.vstack([h_first, h[:-1]]))
        self._lam, self._slip = lam, steps.slip_impulse / h
        presses = lam > 0
        steady = presses & (earlier > 0) & (now <= MANY * earlier)
        self.mode = np.vstack([mode, np.where(presses, LASTING, FREE)])
        self._at_once = 2 * steps.impact_impulse > lam
        self._tell_impacts(presses & (~steady | self._at_once), 0 * self._slip, begins=True)
        self._tell_seconds(steady)
        self._tell_let_go(~presses)
        mode = self.mode[1:]
        beside = (self.mode[:-1] == LASTING) & (now > MANY * earlier)
        own = np.where(beside, lam - h * earlier, lam)
        at_once = np.where(steps.impact_impulse > 0, steps.impact_impulse, own)
        impact = np.where(mode == IMPACT, at_once, 0.0)
        self.steps = replace(steps, contact_mode=mode, impact_impulse=impact)

    def _tell_impacts(self, asked: Mask, slip: Array, begins: bool = False) -> None:
        """Mark those of the contacts asked for whose impulse is far above that of lasting force.

        Where a contact begins, so is what is left of its approach.
        """
        rows = np.flatnonzero(np.any(asked, axis=1))
        if not rows.size:
            return
        held = self._find_held(rows + 1, slip[rows], self._lam[rows] > 0)
        least = SHARE * held.force @ self._judge.of_joint
        lasting = self._own[rows] * np.maximum(held.force, least)
        to_come = held.to_come if begins else 0.0
        least_steps = np.where(self._at_once[rows], SLIGHT, MANY)
        impact = self._lam[rows] + to_come > least_steps * lasting
        self.mode[1:][rows] = np.where(asked[rows] & impact, IMPACT, self.mode[1:][rows])

    def _tell_seconds(self, steady: Mask) -> None:
        """Mark what is left of impacts that schemes spread over several steps."""
        asked = steady & (self.mode[:-1] == IMPACT)
        told = np.zeros_like(asked)
        while np.any(asked):
            self._tell_impacts(asked, self._slip)
            told |= asked
            asked = steady & (self.mode[:-1] == IMPACT) & ~told

    def _tell_let_go(self, idle: Mask) -> None:
        """Mark contacts that do not press, but that forces close again at once, as lasting."""
        asked = idle & (self.mode[:-1] > FREE)
        told = np.zeros_like(asked)
        while np.any(asked):
            rows = np.flatnonzero(np.any(asked, axis=1))
            held = self._find_held(rows, 0 * self._slip[rows], self.mode[rows] > FREE)
            lasts = asked[rows] & (held.back <= MANY * self._h[rows])
            self.mode[1:][rows] = np.where(lasts, LASTING, self.mode[1:][rows])
            told |= asked
            asked = idle & (self.mode[:-1] > FREE) & ~told

    def _find_held(self, nodes: Rows, slip: Array, pressing: Mask) -> Held:
        return self._judge.find_held(tuple(x[nodes] for x in self._nodes), slip, pressing)


def _find_held(
    equations: NodeEquations, known: tuple[Array, ...], slip: Array, pressing: Mask
) -> Held:
    """Return `Held` at a block of nodes, friction of joints left out."""
    (t, q, v, p, drive), n = known, len(slip)
    none = np.zeros((n, 0))
    nodes = Nodes(t, q, v, p, drive, t, none, np.zeros(pressing.shape), slip, t, q)
    at = equations.at(nodes)
    W, T = equations.directions(t, q, p)
    gap, drift = evaluate_at_times(_gaps(equations.dynamics), t, q, p)
    rate = (W.transpose(0, 2, 1) @ at.nodes.v[:, :, None])[:, :, 0] + drift
    at = at._replace(force=at.force + (T @ slip[:, :, None])[:, :, 0])
    found, compliance = hold_closed(at, W, equations.gap_bias(at.nodes), pressing)
    force = found[:, -pressing.shape[1] :]
    return Held(force, compliance, gap, rate)


@lru_cache(maxsize=16)
def _gaps(d: Dynamics) -> ca.Function:
    """Return (t, q, p) -> gaps, and their rates while nothing moves but walls."""
    t, q, p = (ca.SX.sym(*x) for x in (("t", 1), ("q", d.nq), ("p", len(d.parameters))))
    return ca.Function("gaps", [t, q, p], [d.gap(t, q, p), d.gap_drift(t, q, p)])


class After(NamedTuple):
    """What lasts right after nodes, impacts left out.

    Of the step that begins there; where that has an impact, at its end, or was not kept, of the
    step that ends there. Between two steps with impacts it is not known, unless all are open.
    """

    pressing: Mask  # (n, ng) which contacts press
    step: NDArray[np.int_]  # (n,) the step that tells, by its end
    known: Mask  # (n,) whether one does


def after_nodes(mode: Array, follows: Mask) -> After:
    """Return what lasts right after nodes.

    Modes (n, ng) are those in the step that ends at each node, NaN at the first; ``follows``
    (n - 1,) tells whether each node is the end of the step that begins at the one before.
    """
    pressed, own = mode > FREE, np.arange(len(mode))
    quiet = ~np.any((mode == IMPACT) | np.isnan(mode), axis=1)
    ahead = np.append(follows & quiet[1:], False)
    stays = pressed.copy()
    stays[0] = True
    stays[:-1] &= pressed[1:] | ~follows[:, None]
    pressing: Mask = np.where(ahead[:, None], np.roll(pressed, -1, axis=0), stays)
    known = ahead | quiet | ~np.any(stays, axis=1)
    return After(pressing & known[:, None], own + ahead, known)
