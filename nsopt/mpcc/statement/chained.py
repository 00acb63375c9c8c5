"""Programs that are solved one after another, each with the solutions of those before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self

import casadi as ca

from nsopt.mpcc.statement.blocks import ParameterBlock, fresh, stack
from nsopt.mpcc.statement.program_blocks import ProgramBlocks


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
