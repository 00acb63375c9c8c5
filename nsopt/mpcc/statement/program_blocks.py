"""What a program is made of: its blocks, and programs that are solved before or after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

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


@dataclass(eq=False)
class ChainedProgram(ProgramBlocks):
    """A program among others that are solved before or after it."""

    earlier: tuple[Self, ...] = field(default=(), init=False)  # see `before`
    pattern: tuple[Self, ca.SX] | None = field(default=None, init=False)  # see `repeats`

    def after(self, name: str) -> Self:
        """Return a program that is solved after this one, with its solution known.

        It has the parameters of this one, then a block of this one's name: its scaled unknowns.
        Expressions of both may be used in it.
        """
        other = self.beside(name)
        other.parameters += (self._solve(self.parameters),)
        return other

    def beside(self, name: str) -> Self:
        """Return a program with the parameters of this one."""
        other = type(self)(name)
        other.parameters = self.parameters
        return other

    @contextmanager
    def before(self, name: str) -> Iterator[Self]:
        """Yield a program that is solved before this one, to be stated within the context.

        It has the parameters of this one, which afterwards has a block of its name too: its scaled
        unknowns. Whoever solves this one solves those in ``earlier`` first, in their order.
        """
        other = self.beside(name)
        yield other
        self.parameters += (other._solve(self.parameters),)
        self.earlier += (other,)

    def repeats(self, other: Self, **given: ca.SX) -> None:
        """Declare that this program is ``other`` with some of its parameters given.

        The machine code of ``other`` then serves this one too: a step of many parts that are alike
        has the code of one.

        Parameters
        ----------
        other : Mpcc
            With as many unknowns, and the same rows.
        given : SX
            Values of its parameters, in those of this program, by their names; the others are
            those of this program that have their names.
        """
        own = {block.name: block.symbol for block in self.parameters} | given
        values = [own.get(block.name, ca.SX(0, 1)) for block in other.parameters]
        sizes = [
            [value.numel() for value in (*values, *(v.scaled for v in self.variables))],
            [block.symbol.numel() for block in other.parameters]
            + [v.scaled.numel() for v in other.variables],
        ]
        if sizes[0] != sizes[1]:
            raise ValueError(
                f"program {self.name!r} does not repeat {other.name!r}: parameters and unknowns "
                f"have {sizes[0]} numbers, not {sizes[1]}: state both alike"
            )
        stated = stack(values)
        self.pattern = other, self._of_parameters("what is given", stated, stated.numel())

    def _solve(self, known: Sequence[ParameterBlock]) -> ParameterBlock:
        """Return the unknowns of this program as one more block of parameters."""
        fresh("parameter", self.name, [p.name for p in known])
        return ParameterBlock(self.name, self.x)
