"""The programs of a step and its end as machine code: `StepCode`, for `StepKernel`.

A leaf is the machine code of one function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import casadi as ca

from nsopt.kernels import Square
from nsopt.leaves import Leaf, LeavesInTurn
from nsopt.mpcc import Mpcc, SquareProgram
from nsopt.simulation.step_rules import warm_guess


class KernelProgram(NamedTuple):
    """A program of the step as kernels solve it.

    One that is solved for several instances (`Mpcc.pattern`) has the code of its pattern.
    """

    square: Square
    guess: Leaf  # (parameters, last solution) -> unknowns
    next_guess: Leaf | None  # the same where the motion goes on as before, if that is known
    given: Leaf | None  # its parameters -> those of the pattern, if it has one
    known: int  # number of these


class StepAddresses(NamedTuple):
    """Addresses of the code of a step, all from the same moment: code may be replaced."""

    programs: list[int]  # six of each program, see `PackedPrograms`
    end: int
    limits: int
    kept: tuple[int, ...]  # how many numbers the code of each program keeps of parameters
    level: int  # of the programs' values, see `LeafCode`


@dataclass(frozen=True)
class StepCode:
    """Machine code of the programs of a step, and of its end."""

    solved: tuple[KernelProgram, ...]
    # The values of programs, the end and its limits: as one function; where programs have patterns,
    # one leaf each.
    values: LeavesInTurn | tuple[Leaf, ...]

    @classmethod
    def of(cls, programs: Sequence[Mpcc], given: ca.SX, end: ca.SX, limits: ca.SX) -> StepCode:
        """Return the code of programs.

        Parameters
        ----------
        programs : sequence of Mpcc
            Each with the unknowns of those before among its parameters.
        given : SX (k,)
            The parameters of the first.
        end : SX (l,)
            What follows from these and all unknowns.
        limits : SX (checks,)
            Of the checks of the end, which are looked at where simpler ones are not met.
        """
        # Of each program the one that has its code, and the parameters of that if it is another.
        patterns = [program.pattern or (program, None) for program in programs]
        squares = {id(pattern): SquareProgram.of(pattern) for pattern, _ in patterns}
        solved = tuple(
            _make_kernel_program(program, squares[id(pattern)].square, values)
            for program, (pattern, values) in zip(programs, patterns, strict=True)
        )
        numbers = [given, *(program.x for program in programs)]
        if programs and all(values is None for _, values in patterns):
            values_of_all = [squares[id(pattern)].y for pattern, _ in patterns]
            # As one function: what is the same expression in several is read once.
            whole = ca.Function("step", numbers, [*values_of_all, ca.densify(end), limits])
            return cls(solved, LeavesInTurn(whole, [x.square.head for x in solved]))
        leaves = {key: square.leaf for key, square in squares.items()}
        last = [
            _leaf(name, ca.vertcat(*numbers), x) for name, x in (("end", end), ("limits", limits))
        ]
        return cls(solved, (*(leaves[id(pattern)] for pattern, _ in patterns), *last))

    @property
    def leaves(self) -> list[Leaf | LeavesInTurn]:
        """All of the code."""
        found: list[Leaf | LeavesInTurn] = (
            [*dict.fromkeys(self.values)] if isinstance(self.values, tuple) else [self.values]
        )
        others = chain.from_iterable((x.guess, x.next_guess, x.given) for x in self.solved)
        return [*found, *(x for x in others if x)]

    @property
    def addresses(self) -> StepAddresses:
        """The addresses of the code that is ready."""
        if isinstance(self.values, tuple):
            codes = {leaf: leaf.code for leaf in self.values}  # each once: it may improve
            *of_each, end, limits = (codes[leaf] for leaf in self.values)
            parts = [(code.prepare, code.evaluate, code.complete) for code in of_each]
            last: tuple[int, ...] = (end.evaluate, limits.evaluate)
            kept, level = tuple(code.kept for code in of_each), end.level
        else:
            code = self.values.code
            parts = [*zip(code.prepare, code.evaluate, code.complete, strict=True)]
            last = code.last
            kept, level = (code.kept,) * len(parts), code.level
        programs = [
            (_address(x.given), _address(x.guess), _address(x.next_guess), *of)
            for x, of in zip(self.solved, parts, strict=True)
        ]
        end_of_step, limits_of_step = last
        addresses = [*chain.from_iterable(programs)]
        return StepAddresses(addresses, end_of_step, limits_of_step, kept, level)


def _make_kernel_program(program: Mpcc, square: Square, values: ca.SX | None) -> KernelProgram:
    """Return a program with its guesses; ``values`` are the parameters of its pattern, if any."""
    p, old, name = program.p, ca.SX.sym("old", program.x.numel()), program.name
    known = ca.vertcat(p, old)
    guess, next_guess = _leaf(f"{name}_guess", known, warm_guess(program)(p, old)), None
    if values is not None:  # its last solution is of another instance, not of the last step
        given = _leaf(f"{name}_parameters", p, values)
        return KernelProgram(square, guess, None, given, values.numel())
    if any(variable.mean for variable in program.variables):
        goes_on = warm_guess(program, goes_on=True)(p, old)
        next_guess = _leaf(f"{name}_next_guess", known, goes_on)
    return KernelProgram(square, guess, next_guess, None, 0)


def _address(leaf: Leaf | None) -> int:
    return leaf.code.evaluate if leaf else 0


def column_leaf(function: ca.Function) -> Leaf:
    """Return code of (all inputs in one column) -> all outputs in one column."""
    symbols = [ca.SX.sym("x", function.numel_in(i)) for i in range(function.n_in())]
    return _leaf(function.name(), ca.vertcat(*symbols), ca.vertcat(*function.call(symbols)))


def _leaf(name: str, given: ca.SX, values: ca.SX) -> Leaf:
    """Return code of (given) -> values."""
    return Leaf(ca.Function(name, [given, ca.SX(0, 1)], [ca.densify(values)]))
