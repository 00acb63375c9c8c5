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
    check_known,
    check_name,
    check_scale,
    make_column,
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
    least: tuple[str, ...] = field(default=(), init=False)  # variables, see `Mpcc.least_norm`

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

    # Texts ``what``, ``kind`` and ``of`` name in messages what is wrong.

    def _make_scale(self, what: str, value: Any, size: int) -> Scale:
        if isinstance(value, ca.SX):
            return self._check_parametric(what, value, size)
        return check_scale(what, value, size)

    def _make_scales(self, of: str, scale: tuple[Any, Any], size: int) -> tuple[Scale, Scale]:
        if not isinstance(scale, Sequence) or len(scale) != 2:
            raise ValueError(f"scale {of} must be two, of G and H or of z and F, got {scale!r}")
        first, second = (self._make_scale(f"scale {of}", value, size) for value in scale)
        return first, second

    def _check_new_symbol(self, kind: str, name: str, size: int) -> None:
        taken = [v.name for v in self.variables] + [p.name for p in self.parameters]
        check_name(kind, name, taken)
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0:
            raise ValueError(f"size of {kind} {name!r} must be an integer >= 0, got {size!r}")

    def _check_new_constraint(self, kind: str, name: str) -> None:
        rows = [r.name for r in (*self.equalities, *self.inequalities)]
        rows += [b.name for b in self.pairs] + [b.name for b in self.boxes]
        rows += [b.name for b in self.discs] + [b.name for b in self.first_events]
        check_name(kind, name, rows)

    def _make_rows(self, kind: str, name: str, expr: Any, scale: Any) -> Rows:
        self._check_new_constraint(kind, name)
        rows = self._check_symbols(f"{kind} {name!r}", expr)
        return Rows(name, rows, self._make_scale(f"scale of {kind} {name!r}", scale, rows.shape[0]))

    def _check_slopes(self, what: str, slopes: Slopes | None, rows: ca.SX) -> Slopes | None:
        """Return derivatives of rows by variables; ValueError where their shapes do not fit."""
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
        """Return an expression of this program's symbols as a column; refuse others."""
        rows = make_column(what, expr)
        check_known(what, rows, [self.x, self.p], f"use symbols returned by program {self.name!r}")
        return rows

    def _check_parametric(self, what: str, value: Any, size: int) -> ca.SX:
        """Return numbers and parameters as a column (size,); refuse what contains unknowns."""
        rows = make_column(what, value, size)
        check_known(what, rows, [self.p], "numbers and parameters only are allowed here")
        return rows


@dataclass(eq=False)
class ChainedProgram(ProgramBlocks):
    """A program among others that are solved before or after it."""

    earlier: tuple[Self, ...] = field(default=(), init=False)  # see `before`
    # The program that this one repeats, and the values of all its parameters; see `repeats`.
    pattern: tuple[Self, ca.SX] | None = field(default=None, init=False)

    def after(self, name: str) -> Self:
        """Return a program that is solved after this one, with its solution known.

        It has the parameters of this one, then a block of this one's name: its scaled unknowns.
        Expressions of both may be used in it.
        """
        other = self.beside(name)
        other.parameters += (self._make_known(self.parameters),)
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
        self.parameters += (other._make_known(self.parameters),)
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
        sizes = [x.numel() for x in (*values, *(v.scaled for v in self.variables))]
        symbols = [block.symbol for block in other.parameters]
        needed = [x.numel() for x in (*symbols, *(v.scaled for v in other.variables))]
        if sizes != needed:
            raise ValueError(
                f"program {self.name!r} does not repeat {other.name!r}: parameters and unknowns "
                f"have {sizes} numbers, not {needed}: state both alike"
            )
        stated = stack(values)
        self.pattern = other, self._check_parametric("what is given", stated, stated.numel())

    def _make_known(self, known: Sequence[ParameterBlock]) -> ParameterBlock:
        """Return the scaled unknowns of this program as a parameter block for another."""
        check_name("parameter", self.name, [p.name for p in known])
        return ParameterBlock(self.name, self.x)
