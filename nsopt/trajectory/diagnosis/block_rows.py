"""Which condition a row of a constraint block is."""

from __future__ import annotations

from nsopt.mpcc import ConstraintBlock
from nsopt.trajectory.diagnosis.statement import ALONG, END, START, Row, Statement


def find_row(block: ConstraintBlock, row: int, statement: Statement, steps: int) -> Row | None:
    """Return the row of a condition that a row of a block is; None if it is an equation."""
    rows = [x for x in _rows_of(block.name, statement, steps) if x.label == block.labels[row]]
    return rows[count_alike_before(block, row) % len(rows)] if rows else None


def count_alike_before(block: ConstraintBlock, row: int) -> int:
    """Return the number of rows of the same label before one in its block."""
    return block.labels[:row].count(block.labels[row])


def _rows_of(name: str, statement: Statement, steps: int) -> list[Row]:
    """Return the rows of conditions that a block contains, in their order.

    Transcriptions name their blocks start, end, during_0, during_1, ...; others hold all along.
    """
    kind, _, number = name.partition("_")
    if kind == "during":
        return list(statement.spans[int(number)][1])
    occasions = {"start": (START,), "end": (ALONG, END)}.get(kind, (ALONG,))
    rows = [row for when in occasions for row in statement.rows if row.when == when]
    if kind == "end":
        # At the last node of a time-stepped motion, spans that end there hold as well.
        rows += [
            row
            for span, held in statement.spans
            if span.find_nodes(steps)[1] == steps
            for row in held
        ]
    return rows
