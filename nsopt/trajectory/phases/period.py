"""A motion in phases that is periodic: what its end need not state, as it is that of the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.trajectory.conditions import Periodic
from nsopt.trajectory.phases.constraints import ConstraintsInPhase
from nsopt.trajectory.phases.mode_conditions import ContactInMode, EndEquations
from nsopt.trajectory.phases.modes import ContactMode

SAME = 1e-9  # difference of gaps, residuals and rates up to which they are the same


@dataclass(frozen=True, eq=False)
class Period:
    """The end of the last phase, from which the first one would begin again."""

    condition: Periodic
    modes: Sequence[Mapping[str, ContactMode]]  # of all phases
    # Contacts of the first phase; none if the last one is the first, too.
    first: Sequence[ContactInMode] = ()

    def imply_contact(self, contact: ContactInMode, p: Array) -> ContactInMode:
        """Return a contact of the last phase, without what holds at its end as at the start."""
        first = self.modes[0].get(contact.name)
        if first is None or not (first.closed and contact.mode.closed):
            return contact
        if not self._repeats(contact.motion, contact.dynamics, p):
            return contact
        slips = contact.end_equations.slip and not first.sticks
        is_given = np.isfinite(self.condition.read_advance(contact.dynamics)).all()
        begins = next((x for x in self.first if x.name == contact.name), contact)
        stays = bool(is_given) and all(x[contact.name].sticks for x in self.modes)
        return replace(
            contact,
            end_equations=EndEquations(distance=False, opening=False, slip=slips),
            is_placed_at_both_ends=contact.is_placed_at_both_ends or stays,
            carries=(contact.carries[0], contact.slips_on_in(begins)),
        )

    def imply_constraints(self, kept: ConstraintsInPhase, p: Array) -> ConstraintsInPhase:
        """Return constraints of the last phase, without what holds at its end as at the start."""
        d, of_stated = kept.stated, np.asarray(kept.read_parameters(p))
        t, q, v, x = (ca.SX.sym("x", n) for n in (1, d.nq, d.nv, len(d.parameters)))
        rows = [d.closure(0, q, x), kept.compute_matrix(q, x) @ v]
        a = ca.SX.sym("a", d.nv)
        function = ca.Function("rows", [t, q, v, a, x], rows)
        return kept.without_end() if self._repeats(function, d, of_stated) else kept

    def _repeats(self, function: ca.Function, d: Dynamics, p: Array) -> bool:
        """Return whether values of (t, q, v, a, p) are the same a period on, wherever that is."""
        generator = np.random.default_rng(0)
        q, v, free = (generator.uniform(-1, 1, n) for n in (d.nq, d.nv, d.nq))
        given = self.condition.read_advance(d)
        moved = q + np.where(np.isfinite(given), given, free)
        before, after = (function(0, x, v, 0 * v, p) for x in (q, moved))
        pairs = zip(before, after, strict=True)
        return all(np.abs(np.asarray(b - a)).max(initial=0.0) <= SAME for a, b in pairs)
