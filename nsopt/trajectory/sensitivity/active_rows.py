"""The rows of a solved step that hold, and those that nearly do."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from nsopt.mpcc import FirstEventRow, Mpcc, min_rows


@dataclass
class ActiveRows:
    """The rows of a square program that hold at its solution, and their alternatives.

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
    def of(cls, mpcc: Mpcc) -> ActiveRows:
        """Return the rows of a program."""
        active = cls()
        for equation in mpcc.equalities:
            active.rows += ca.vertsplit(ca.densify(equation.expr / ca.SX(equation.scale)))
        for row in min_rows(mpcc):
            expr, alternatives = row.holding
            active.rows.append(expr)
            for other in alternatives:
                active.alternatives.append(other.expr)
                active.margins.append(other.margin)
                active.labels.append(
                    other.label if isinstance(row, FirstEventRow) else f"contact {other.label!r}"
                )
        return active
