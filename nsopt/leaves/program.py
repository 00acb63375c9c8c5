"""A leaf as modules in LLVM's language."""

from __future__ import annotations

from typing import NamedTuple

from nsopt.leaves.instructions import Instructions
from nsopt.leaves.kinds import PLAIN
from nsopt.leaves.places import NUMBERS, Single
from nsopt.leaves.repeated import Repeated
from nsopt.leaves.routines import divide
from nsopt.leaves.text import Part, write_functions, write_sides

LONG = 500
"""Values from which on a leaf is searched for what it repeats."""

SHARE = 0.5
"""Of its values that loops must compute to repay what goes through memory."""


class LeafText(NamedTuple):
    """Modules that make ``prepare`` and ``evaluate`` together.

    Attributes
    ----------
    modules : tuple of str
    kept : int
        How many numbers ``prepare`` keeps.
    numbers : tuple of float
        The array that the modules read as `NUMBERS`.
    indices : tuple of int
        That which they read as `INDICES`.
    """

    modules: tuple[str, ...]
    kept: int
    numbers: tuple[float, ...]
    indices: tuple[int, ...] = ()


def write_program(instructions: Instructions, lanes: int) -> LeafText:
    """Write a leaf: as one module, or what is long each piece as its own.

    What is repeated often is written as loops. Sides of branches are modules of their own.

    Parameters
    ----------
    instructions : Instructions
    lanes : int
        Numbers side by side in the widest registers.
    """
    numbers = {
        value: number
        for value, number in instructions.constants.items()
        if abs(number) not in PLAIN
    }
    places = {value: Single(NUMBERS, k) for k, value in enumerate(numbers)}
    sides = [part.module() for part in write_sides(instructions)]
    if sum(instructions.needed) >= LONG:
        repeated = Repeated(instructions, lanes)
        if repeated.has(SHARE):
            found = repeated.write(places)
            modules = (*found.modules, *sides)
            return LeafText(modules, found.kept, tuple(numbers.values()), found.indices)
    prepare, evaluate, kept = divide(instructions)
    parts = []
    for routine in (prepare, evaluate):
        given = {**routine.given, **places}
        parts += write_functions(instructions, routine._replace(given=given))
    if len(parts) == 2:
        parts = [Part(parts[0].text + parts[1].text, parts[0].branches | parts[1].branches)]
    modules = (*(part.module() for part in parts), *sides)
    return LeafText(modules, kept, tuple(numbers.values()))
