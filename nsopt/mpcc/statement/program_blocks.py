"""The blocks that a program is made of, and what is checked where one is added."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from nsopt.mpcc.statement.blocks import (
    Boxes,
    Discs,
    FirstEvent,
    Pairs,
    ParameterBlock,
    Rows,
    Scale,
    Slopes,
    VariableBlock,
    column,
    fresh,
    only_known,
    positive,
    stack,
)


@dataclass(eq=False)
class ProgramBlocks:
    """The blocks of an `Mpcc`."""

    name: str
    variables: tuple[VariableBlock, ...] = field(default=(), init=False)
    parameters: tuple[ParameterBlock, ...] = field(default=(), init=False)
    equalities: tuple[Rows, ...] = field(default=(), init=False)
    inequalities: tuple[Rows, ...] = field(default=(), init=False)
    pairs: tuple[Pairs, ...] = field(default=(), init=False)
    boxes: tuple[Boxes, ...] = field(default=(), init=False)
    discs: tuple[Discs, ...] = field(default=(), init=False)
    first_events: tuple[FirstEvent, ...] = field(default=(), init=False)
    objective: ca.SX = field(default_factory=lambda: ca.SX(0), init=False)
    least: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        if not ca.Function.check_name(self.name):
            raise ValueError(f"program name {self.name!r} must be letters, digits and single _")

    @property
    def x(self) -> ca.SX:
        """The scaled unknowns, (n,)."""
        return stack(variable.scaled for variable in self.variables)

    @property
    def p(self) -> ca.SX:
        """The symbols of the parameters, (k,)."""
        return stack(block.symbol for block in self.parameters)

    def _scale(self, what: str, value: Any, size: int) -> Scale:
        if isinstance(value, ca.SX):
            return self._of_parameters(what, value, size)
        return positive(what, value, size)

    def _fresh_symbol(self, kind: str, name: str, size: int) -> None:
        taken = [v.name for v in self.variables] + [p.name for p in self.parameters]
        fresh(kind, name, taken)
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0:
            raise ValueError(f"size of {kind} {name!r} must be an integer >= 0, got {size!r}")

    def _fresh_constraint(self, kind: str, name: str) -> None:
        rows = [r.name for r in (*self.equalities, *self.inequalities)]
        blocks: tuple[Pairs | Boxes | Discs | FirstEvent, ...] = (
            *self.pairs,
            *self.boxes,
            *self.discs,
            *self.first_events,
        )
        rows += [b.name for b in blocks]
        fresh(kind, name, rows)

    def _rows(self, kind: str, name: str, expr: Any, scale: Any) -> Rows:
        self._fresh_constraint(kind, name)
        rows = self._check_symbols(f"{kind} {name!r}", expr)
        return Rows(name, rows, self._scale(f"scale of {kind} {name!r}", scale, rows.shape[0]))

    def _slopes(self, what: str, slopes: Slopes | None, rows: ca.SX) -> Slopes | None:
        """Return derivatives of rows by variables, refused where they fit none."""
        sizes = {v.name: v.scaled.numel() for v in self.variables}
        for name, slope in (slopes or {}).items():
            if slope.shape != (rows.shape[0], sizes.get(name)):
                raise ValueError(
                    f"slopes of {what} by {name!r} have shape {slope.shape}: give one row for each "
                    f"of its {rows.shape[0]} rows, one column for each unknown of a variable, of "
                    f"which there are {sizes}"
                )
        return slopes

    def _check_symbols(self, what: str, expr: Any) -> ca.SX:
        rows = column(what, expr)
        only_known(what, rows, [self.x, self.p], f"use symbols returned by program {self.name!r}")
        return rows

    def _of_parameters(self, what: str, value: Any, size: int) -> ca.SX:
        rows = column(what, value, size)
        only_known(what, rows, [self.p], "numbers and parameters only are allowed here")
        return rows
