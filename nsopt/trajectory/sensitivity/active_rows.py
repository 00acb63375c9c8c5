"""The rows of a solved step that hold, and those that nearly do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca

from nsopt.mpcc import Mpcc


@dataclass
class ActiveRows:
    """The min map of a square program, each row by what holds at its solution.

    Where `Newton` solves min(G, H) = 0, here the smaller of the two is a row and the other its
    alternative: an equation that holds as well where both are zero. Then the derivative exists in
    a direction only if the alternative stays zero along it.

    Attributes
    ----------
    rows : list of SX scalars
        Scaled; as many as unknowns.
    alternatives : list of SX scalars
    margins : list of SX scalars
        How far each alternative is from holding, zero or more; infinite where it does not count.
    labels : list of str
        What would switch.
    """

    rows: list[ca.SX] = field(default_factory=list)
    alternatives: list[ca.SX] = field(default_factory=list)
    margins: list[ca.SX] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, mpcc: Mpcc, contacts: Sequence[str]) -> ActiveRows:
        """Return the rows of a program; ``contacts`` are the names of rows by contact."""
        found = cls()
        for equation in mpcc.equalities:
            found.rows += ca.vertsplit(ca.densify(equation.expr / ca.SX(equation.scale)))
        for pair in mpcc.pairs:
            G, H = pair.G / ca.SX(pair.scales[0]), pair.H / ca.SX(pair.scales[1])
            for k, name in enumerate(pair.labels):
                found._pair(G[k], H[k], pair.active[k], f"contact {name!r}")
        for box in mpcc.boxes:
            z, F = box.z / ca.SX(box.scales[0]), box.F / ca.SX(box.scales[1])
            low, up = (b / ca.SX(box.scales[0]) for b in (box.lower, box.upper))
            x = ca.vertcat(*(v.scaled for v in mpcc.variables))
            meet = low == up if not ca.depends_on(ca.vertcat(low, up), x) else ca.SX(z.sparsity())
            names = contacts if z.numel() == len(contacts) else [box.name] * z.numel()
            for k, name in enumerate(names):
                found._box(z[k] - low[k], z[k] - up[k], F[k], meet[k], f"contact {name!r}")
        for lowest in mpcc.lowests:
            rows = lowest.expr / ca.SX(lowest.scale)
            names = ["the end of the step", *(f"contact {name!r}" for name in [*contacts] * 2)]
            found._lowest(rows, lowest.active, names[: rows.numel()])
        return found

    def _add(self, row: ca.SX, others: Sequence[tuple[ca.SX, ca.SX, str]]) -> None:
        self.rows.append(row)
        for alternative, margin, label in others:
            self.alternatives.append(alternative)
            self.margins.append(margin)
            self.labels.append(label)

    def _pair(self, G: ca.SX, H: ca.SX, active: ca.SX, label: str) -> None:
        first = ca.logic_and(active, G < H)
        other = ca.if_else(first, H, G)
        margin = ca.if_else(active, ca.fabs(G - H), ca.inf)
        self._add(ca.if_else(first, G, H), [(other, margin, label)])

    def _box(self, low: ca.SX, up: ca.SX, F: ca.SX, meet: ca.SX, label: str) -> None:
        at_low, at_up = low <= F, up >= F
        at_low = ca.logic_and(at_low, ca.logic_not(at_up))
        row = ca.if_else(at_up, up, ca.if_else(at_low, low, F))
        second = ca.if_else(ca.logic_or(at_up, at_low), F, low)
        third = ca.if_else(at_up, low, up)
        # Where given bounds meet, that is the row, whatever F is.
        margins = (ca.if_else(meet, ca.inf, ca.fabs(x - row)) for x in (second, third))
        others = zip((second, third), margins, (label, label), strict=True)
        self._add(row, list(others))

    def _lowest(self, rows: ca.SX, active: ca.SX, names: Sequence[str]) -> None:
        """Add the smallest of the active rows, of which the first always is."""
        which, least = ca.SX(0), rows[0]
        for k in range(1, rows.numel()):
            lower = ca.logic_and(active[k], rows[k] < least)
            least, which = ca.if_else(lower, rows[k], least), ca.if_else(lower, k, which)
        others = []
        for k in range(rows.numel()):
            counts = ca.logic_and(active[k], which != k)
            others.append((rows[k], ca.if_else(counts, rows[k] - least, ca.inf), names[k]))
        self._add(least, others)
