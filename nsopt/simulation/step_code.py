"""The programs of a step and its end as machine code."""

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


class Solved(NamedTuple):
    """A program of the step as kernels solve it."""

    square: Square
    guess: Leaf
    next_guess: Leaf | None  # where the motion goes on as before, if that is known
    given: Leaf | None  # the parameters of the program that it repeats, if it does
    known: int  # how many these are


class StepAddresses(NamedTuple):
    """Addresses of code that belongs together."""

    programs: list[int]  # of each six, see `PackedPrograms`
    end: int
    limits: int
    kept: tuple[int, ...]  # how many numbers the code of each program keeps of parameters
    level: int  # of the programs' values, see `LeafCode`


@dataclass(frozen=True)
class StepCode:
    """Machine code of the programs of a step, and of its end.

    Attributes
    ----------
    solved : tuple of Solved
        The programs.
    values : LeavesInTurn or tuple of Leaf
        Their values with the end and its limits; or where some repeat others, which have the same
        code with other parameters, of each its own, and these two last.
    """

    solved: tuple[Solved, ...]
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
        stated = [program.pattern or (program, None) for program in programs]
        squares = {id(of): SquareProgram.of(of) for of, _ in stated}
        numbers = [given, *(program.x for program in programs)]
        if programs and all(values is None for _, values in stated):
            values_of_all = [squares[id(of)].y for of, _ in stated]
            # As one function: what is the same expression in several is read once.
            whole = ca.Function("step", numbers, [*values_of_all, ca.densify(end), limits])
            solved = [_state_solve(x, squares[id(x)].square, None) for x in programs]
            heads = [x.square.head for x in solved]
            return cls(tuple(solved), LeavesInTurn(whole, heads))
        leaves = {key: square.leaf for key, square in squares.items()}
        solved = [
            _state_solve(x, squares[id(of)].square, values)
            for x, (of, values) in zip(programs, stated, strict=True)
        ]
        last = [
            _leaf(name, ca.vertcat(*numbers), x) for name, x in (("end", end), ("limits", limits))
        ]
        return cls(tuple(solved), (*(leaves[id(of)] for of, _ in stated), *last))

    @property
    def leaves(self) -> list[Leaf | LeavesInTurn]:
        """All of the code."""
        found: list[Leaf | LeavesInTurn] = []
        if isinstance(self.values, tuple):
            found += dict.fromkeys(self.values)
        else:
            found.append(self.values)
        others = chain.from_iterable((x.guess, x.next_guess, x.given) for x in self.solved)
        return [*found, *(x for x in others if x)]

    @property
    def addresses(self) -> StepAddresses:
        """Where the code is that is ready."""
        if isinstance(self.values, tuple):
            codes = {leaf: leaf.code for leaf in self.values}  # each once: it may improve
            *of_each, end, limits = (codes[leaf] for leaf in self.values)
            each = [(code.prepare, code.evaluate, code.complete) for code in of_each]
            last: tuple[int, ...] = (end.evaluate, limits.evaluate)
            kept, level = tuple(code.kept for code in of_each), end.level
        else:
            code = self.values.code
            each = [*zip(code.prepare, code.evaluate, code.complete, strict=True)]
            last = code.last
            kept, level = (code.kept,) * len(each), code.level
        end_of_step, limits_of_step = last
        programs = [
            (_address(x.given), _address(x.guess), _address(x.next_guess), *of)
            for x, of in zip(self.solved, each, strict=True)
        ]
        addresses = [*chain.from_iterable(programs)]
        return StepAddresses(addresses, end_of_step, limits_of_step, kept, level)


def _state_solve(program: Mpcc, square: Square, values: ca.SX | None) -> Solved:
    p, old, name = program.p, ca.SX.sym("old", program.x.numel()), program.name
    known = ca.vertcat(p, old)
    guess, next_guess = _leaf(f"{name}_guess", known, warm_guess(program)(p, old)), None
    if values is not None:  # the last step is not the last time that it was solved
        given = _leaf(f"{name}_parameters", p, values)
        return Solved(square, guess, None, given, values.numel())
    if any(variable.mean for variable in program.variables):
        goes_on = warm_guess(program, goes_on=True)(p, old)
        next_guess = _leaf(f"{name}_next_guess", known, goes_on)
    return Solved(square, guess, next_guess, None, 0)


def _address(leaf: Leaf | None) -> int:
    return leaf.code.evaluate if leaf else 0


def column_leaf(function: ca.Function) -> Leaf:
    """Return a function of several inputs and outputs as code of one column each."""
    symbols = [ca.SX.sym("x", function.numel_in(i)) for i in range(function.n_in())]
    return _leaf(function.name(), ca.vertcat(*symbols), ca.vertcat(*function.call(symbols)))


def _leaf(name: str, given: ca.SX, values: ca.SX) -> Leaf:
    """Return code of (given) -> values."""
    return Leaf(ca.Function(name, [given, ca.SX(0, 1)], [ca.densify(values)]))
