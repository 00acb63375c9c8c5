"""What contacts did in steps: open, lasting contact or impact, one answer for all schemes."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.contact_modes import FREE, IMPACT, LASTING, ROUNDING
from nsopt.kernels import multiply_matrices
from nsopt.mechanics import Dynamics, Start
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.record.node_equations import NodeEquations, Nodes, divide_nodes
from nsopt.simulation.record.node_forces import Mask, hold_closed

Rows = NDArray[np.int_]

MANY = 4.0
"""Steps. An impulse is an impact if the lasting force needs more steps for it, else chatter; and a
contact that is let go lasts if the forces on it close it again within as many."""

SHARE = 1 / MANY
"""Part of the lasting forces of a joint that each of its contacts is taken to carry at least: which
of them do changes from step to step, and an impact is more than what all of them do in one."""

SLIGHT = 1e-3
"""Steps, in place of `MANY` for an impulse that acts at once, by a scheme whose steps end at
impacts: it is an impact however short the flight before. What is less comes of round-off."""


class HeldContacts(NamedTuple):
    """Contacts at nodes where those that press are held closed."""

    force: Array  # (n, ng) [N] that holds them, the lasting force
    compliance: Array  # (n, ng) [1/kg] of those that press: acceleration of the gap by a unit force
    gap: Array  # (n, ng) [m]
    rate: Array  # (n, ng) [m/s] of the gap

    @property
    def stopping_impulse(self) -> Array:
        """Impulses that stop what still moves into walls, each alone, (n, ng) [N s]."""
        approach = np.maximum(-self.rate, 0.0)
        immovable = np.where(approach > 0, np.inf, 0.0)  # no force of the contact moves these
        return np.divide(approach, self.compliance, out=immovable, where=self.compliance > 0)

    @property
    def closing_time(self) -> Array:
        """Time until each contact, let go alone, is closed again (n, ng) [s]."""
        a, gap = self.force * self.compliance, np.maximum(self.gap, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            time = (self.rate + np.sqrt(self.rate**2 + 2 * a * gap)) / a
        return np.where(a > 0, time, np.inf)


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
    what is finer. Schemes whose steps end at impacts resolve it, and say what acts at once: if that
    is most of the impulse of a step, it is an impact. Else how a step was computed does not matter,
    so that schemes agree within their errors. Only the step and the one before it matter, so that
    runs that are thinned, interrupted or resumed agree too. ``gains`` are `Scheme.gains`.
    """

    def __init__(
        self, dynamics: Dynamics, p: Array, gains: tuple[float, float] | None = None
    ) -> None:
        self.dynamics, self.p, self._gains = dynamics, p, gains
        owners = np.array(dynamics.contact_owners)
        self.same_joint = (owners[:, None] == owners).astype(float)  # (ng, ng) 1 or 0

    @cached_property
    def equations(self) -> NodeEquations:
        """The equations of motion at nodes."""
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
        return _Judgement(self, start, before, steps, at_nodes).steps


class _Judgement:
    """The modes of contacts in n steps, found one kind after another; ``steps`` have them."""

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
        self._nodes = np.append(start.t, steps.t), q, v, p, drive  # (n + 1, ...) each
        impulse, h = steps.impulse, steps.h[:, None]
        (force, mode), h_before = np.zeros((2, 1, impulse.shape[1])), h[:1]
        if before is not None:
            h_before = before.h[:, None]
            force, mode = before.impulse / h_before, before.contact_mode
        mean = impulse / h  # [N] force of each step, and of the one before it
        mean_before = np.vstack([force, mean[:-1]])
        self._h, self._longer_h = h, np.maximum(h, np.vstack([h_before, h[:-1]]))
        self._impulse, self._slip = impulse, steps.slip_impulse / h
        presses = mean > ROUNDING * mean_before  # after an impact round-off may be left of zero
        steady = presses & (mean_before > 0) & (mean <= MANY * mean_before)
        self._mode = np.vstack([mode, np.where(presses, LASTING, FREE)])  # first of the step before
        self._at_once = 2 * steps.impact_impulse > impulse
        self._mark_impacts(presses & (~steady | self._at_once), 0 * self._slip, begins=True)
        self._mark_rests_of_impacts(steady)
        self._mark_chatter(~presses)
        mode, mode_before = self._mode[1:], self._mode[:-1]
        # Of an impact on a contact that lasts, without what the lasting force does meanwhile.
        on_lasting = (mode_before == LASTING) & (mean > MANY * mean_before)
        without = np.where(on_lasting, impulse - h * mean_before, impulse)
        at_once = np.where(steps.impact_impulse > 0, steps.impact_impulse, without)
        impact = np.where(mode == IMPACT, at_once, 0.0)
        self.steps = replace(steps, contact_mode=mode, impact_impulse=impact)

    def _mark_impacts(self, asked: Mask, slip: Array, begins: bool = False) -> None:
        """Mark contacts asked for (n, ng) whose impulse is far above that of the lasting force.

        Where a contact ``begins``, the impulse that stops the rest of its approach is part of it.
        """
        rows = np.flatnonzero(np.any(asked, axis=1))
        if not rows.size:
            return
        held = self._hold(rows + 1, slip[rows], self._impulse[rows] > 0)
        least = SHARE * held.force @ self._judge.same_joint
        lasting = self._h[rows] * np.maximum(held.force, least)
        rest = held.stopping_impulse if begins else 0.0
        least_steps = np.where(self._at_once[rows], SLIGHT, MANY)
        impact = self._impulse[rows] + rest > least_steps * lasting
        self._mode[1:][rows] = np.where(asked[rows] & impact, IMPACT, self._mode[1:][rows])

    def _mark_rests_of_impacts(self, steady: Mask) -> None:
        """Mark what is left of impacts that schemes spread over several steps, step after step."""
        asked = steady & (self._mode[:-1] == IMPACT)
        done = np.zeros_like(asked)
        while np.any(asked):
            self._mark_impacts(asked, self._slip)
            done |= asked
            asked = steady & (self._mode[:-1] == IMPACT) & ~done

    def _mark_chatter(self, idle: Mask) -> None:
        """Mark contacts that do not press, but that forces close again soon, as lasting."""
        asked = idle & (self._mode[:-1] > FREE)
        done = np.zeros_like(asked)
        while np.any(asked):
            rows = np.flatnonzero(np.any(asked, axis=1))
            held = self._hold(rows, 0 * self._slip[rows], self._mode[rows] > FREE)
            lasts = asked[rows] & (held.closing_time <= MANY * self._longer_h[rows])
            self._mode[1:][rows] = np.where(lasts, LASTING, self._mode[1:][rows])
            done |= asked
            asked = idle & (self._mode[:-1] > FREE) & ~done

    def _hold(self, nodes: Rows, slip: Array, pressing: Mask) -> HeldContacts:
        """Return contacts at nodes (n,), those that press (n, ng) held closed.

        ``slip`` (n, ns) [N] are the forces along tangents.
        """
        parts = []
        for rows in divide_nodes(len(nodes), pressing.shape[1], self._nodes[2].shape[1]):
            block = tuple(x[nodes[rows]] for x in self._nodes)
            parts.append(_hold(self._judge.equations, block, slip[rows], pressing[rows]))
        return HeldContacts(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def _hold(
    equations: NodeEquations, known: tuple[Array, ...], slip: Array, pressing: Mask
) -> HeldContacts:
    """Return contacts at a block of nodes, friction of joints left out."""
    (t, q, v, p, drive), n = known, len(slip)
    # Of these only t, q, v, p and drive are used here.
    nodes = Nodes(t, q, v, p, drive, t, np.zeros((n, 0)), np.zeros(pressing.shape), slip, t, q)
    at = equations.at(nodes)
    WT, v = at.W.transpose(0, 2, 1), at.nodes.v
    rate = multiply_matrices(WT, v[:, :, None])[:, :, 0] + at.gap_drift
    at = at._replace(force=at.force + multiply_matrices(at.T, slip[:, :, None])[:, :, 0])
    found, compliance = hold_closed(at, pressing)
    force = found[:, -pressing.shape[1] :]
    return HeldContacts(force, compliance, at.gap, rate)


class After(NamedTuple):
    """What lasts right after nodes, impacts left out.

    Of the step that begins there; where that has an impact, at its end, or was not kept, of the
    step that ends there. Between two steps with impacts it is not known, unless all are open.
    """

    pressing: Mask  # (n, ng) which contacts press
    step: Rows  # (n,) the step that decides, as the index of its end
    known: Mask  # (n,) whether one does


def find_after(mode: Array, follows: Mask) -> After:
    """Return what lasts right after nodes.

    Modes (n, ng) are those in the step that ends at each node, NaN at the first; ``follows``
    (n - 1,) tells whether each node is the end of the step that begins at the one before.
    """
    pressed, nodes = mode > FREE, np.arange(len(mode))
    without_impact = ~np.any((mode == IMPACT) | np.isnan(mode), axis=1)
    by_next = np.append(follows & without_impact[1:], False)  # whether the next step decides
    stays = pressed.copy()
    stays[0] = True
    stays[:-1] &= pressed[1:] | ~follows[:, None]
    pressing: Mask = np.where(by_next[:, None], np.roll(pressed, -1, axis=0), stays)
    known = by_next | without_impact | ~np.any(stays, axis=1)
    return After(pressing & known[:, None], nodes + by_next, known)
