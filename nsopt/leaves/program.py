"""A leaf as modules in LLVM's language."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from nsopt.leaves.guards import find_guards, order_by_guards
from nsopt.leaves.instructions import Instructions
from nsopt.leaves.kinds import PLAIN
from nsopt.leaves.places import NUMBERS, Single
from nsopt.leaves.repeated import Repeated
from nsopt.leaves.routines import divide_values, place_values
from nsopt.leaves.text import CalledBranch, Part, write_functions, write_sides
from nsopt.leaves.turns import InTurn

LONG = 500
"""Values from which on a leaf is searched for what it repeats."""

SHARE = 0.5
"""Of its values that loops must compute to repay what goes through memory."""


class LeafText(NamedTuple):
    """Modules that make some routines together.

    Attributes
    ----------
    names : tuple of str
        Of the routines.
    modules : tuple of str
    kept : int
        How many numbers they keep for each other.
    numbers : tuple of float
        The array that the modules read as `NUMBERS`.
    indices : tuple of int
        That which they read as `INDICES`.
    """

    names: tuple[str, ...]
    modules: tuple[str, ...]
    kept: int
    numbers: tuple[float, ...]
    indices: tuple[int, ...] = ()


def write_program(instructions: Instructions, lanes: int, turns: InTurn | None = None) -> LeafText:
    """Write a leaf: as one module, or what is long each piece as its own.

    What is repeated often is written as loops. Sides of branches are modules of their own.

    Parameters
    ----------
    instructions : Instructions
    lanes : int
        Numbers side by side in the widest registers.
    turns : InTurn, optional
        Its functions, one without.
    """
    turns = turns or InTurn.of(instructions)
    names = turns.routines
    numbers = {
        value: number
        for value, number in instructions.constants.items()
        if abs(number) not in PLAIN
    }
    places = {value: Single(NUMBERS, k) for k, value in enumerate(numbers)}
    sides = [part.module() for part in write_sides(instructions)]
    shares = divide_values(instructions, turns)
    if sum(instructions.needed) >= LONG:
        repeated = Repeated(instructions, shares, lanes)
        if repeated.has(SHARE):
            found = repeated.write(places)
            modules = (*found.modules, *sides)
            return LeafText(names, modules, found.kept, tuple(numbers.values()), found.indices)
    guards = find_guards(instructions, chain.from_iterable(share.outputs for share in shares))
    for k, share in enumerate(shares):
        shares[k] = share._replace(values=order_by_guards(instructions, share.values, guards))
    routines, kept = place_values(shares)
    parts = []
    for routine in routines:
        given = {**routine.given, **places}
        parts += write_functions(instructions, routine._replace(given=given, guards=guards))
    if len(parts) == len(routines):
        branches = frozenset[CalledBranch]().union(*(part.branches for part in parts))
        parts = [Part("".join(part.text for part in parts), branches)]
    modules = (*(part.module() for part in parts), *sides)
    return LeafText(names, modules, kept, tuple(numbers.values()))
