"""A leaf as modules in LLVM's language: written anew, or one that was kept.

Most of a start goes into finding what a function repeats. That depends on its `Structure`, and on
which of its numbers are equal: a text that reads one number at two places is of mechanisms alone
where both are equal, to the bit; one that reads two, of all. So a text serves mechanisms of other
lengths and masses. Where it does not, as lengths that were equal differ by round-off, the next one
reads a number at each use where it was read at several that are not equal. After a few mechanisms
of a kind no other text is needed.
"""

from __future__ import annotations

import json
import zlib
from collections import OrderedDict
from itertools import chain
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.kept_code import Entry, cache_folder
from nsopt.leaves.guards import find_guards, order_by_guards
from nsopt.leaves.instructions import Instructions, read_function
from nsopt.leaves.kinds import PLAIN
from nsopt.leaves.machine import hash_sources
from nsopt.leaves.places import NUMBERS, Single
from nsopt.leaves.repeated import Repeated
from nsopt.leaves.routines import divide_values, place_values
from nsopt.leaves.structure import Integers, Records, Structure
from nsopt.leaves.text import Part, write_functions, write_sides
from nsopt.leaves.turns import Turns

LONG = 500  # values from which on a leaf is searched for what it repeats
SHARE = 0.5  # of its values that loops must compute to repay what goes through memory
MOST = 32  # texts that are kept in the process, the last ones used


class LeafText(NamedTuple):
    """Modules that make some routines together."""

    names: tuple[str, ...]  # of the routines
    modules: tuple[str, ...]
    kept: int  # how many numbers they keep for each other
    numbers: tuple[float, ...]  # the array that the modules read as `NUMBERS`
    indices: tuple[int, ...] = ()  # that which they read as `INDICES`


class _KeptText(NamedTuple):
    """A text without its numbers, and the label of each use of a number: its place among them."""

    labels: Integers
    text: LeafText


_texts: OrderedDict[tuple[str, int], _KeptText] = OrderedDict()
"""By keys of structures and lanes."""


def find_text(function: ca.Function, records: Records | None, turns: Turns, lanes: int) -> LeafText:
    """Return the text of a function of dense columns: one that is kept, or a new one.

    ``records`` are its instructions, where `read_records` finds them; ``turns`` tell how its inputs
    and outputs belong to functions that are computed in turn.

    Raises
    ------
    ValueError
        For an operation that has no machine code, and for what is computed in another order.
    """
    if records is None or len(records) < LONG:
        instructions = read_function(function, turns.entries, has_stages=turns.has_stages)
        return write_program(instructions, lanes, turns)
    structure = Structure(turns, records)
    kept = _recall(structure, lanes)
    if kept and structure.has_equal_numbers(kept.labels):
        return kept.text._replace(numbers=structure.list_numbers(kept.labels))
    labels = structure.part_labels(kept.labels) if kept else structure.label_numbers()
    instructions = structure.number_values(labels)
    text = write_program(instructions, lanes, turns)
    _keep(structure, lanes, labels, text)
    return text


def write_program(instructions: Instructions, lanes: int, turns: Turns | None = None) -> LeafText:
    """Write a leaf: as one module, or what is long each piece as its own.

    What is repeated often is written as loops, in at most so many lanes. Sides of branches are
    modules of their own. Without ``turns`` it is one function alone.
    """
    turns = turns or Turns.of_whole(instructions)
    names, constants = turns.routines, instructions.constants.items()
    numbers = {value: number for value, number in constants if abs(number) not in PLAIN}
    places = {value: Single(NUMBERS, k) for k, value in enumerate(numbers)}
    sides = [part.module() for part in write_sides(instructions)]
    plans = divide_values(instructions, turns)
    if sum(instructions.needed) >= LONG:
        repeated = Repeated(instructions, plans, lanes)
        if repeated.has_share_in_loops(SHARE):
            loops, kept, indices = repeated.write(places)
            modules = (*loops, *sides)
            return LeafText(names, modules, kept, tuple(numbers.values()), tuple(indices))
    guards = find_guards(instructions, chain.from_iterable(plan.outputs for plan in plans))
    plans = [
        plan._replace(values=order_by_guards(instructions, plan.values, guards)) for plan in plans
    ]
    routines, kept = place_values(plans)
    parts = []
    for routine in routines:
        sources = {**routine.sources, **places}
        parts += write_functions(instructions, routine._replace(sources=sources, guards=guards))
    if len(parts) == len(routines):  # none is long
        parts = [Part.merge(parts)]
    modules = (*(part.module() for part in parts), *sides)
    return LeafText(names, modules, kept, tuple(numbers.values()))


def _recall(structure: Structure, lanes: int) -> _KeptText | None:
    """Return what is kept of a structure in the process, else on the disk; None if nothing."""
    at = structure.key, lanes
    if at not in _texts:
        content = _entry(*at).read(cache_folder())
        if content is None:
            return None
        stated = json.loads(zlib.decompress(content))
        labels = np.array(stated["labels"], dtype=np.int64)
        names, modules, indices = (tuple(stated[x]) for x in ("names", "modules", "indices"))
        _store(at, _KeptText(labels, LeafText(names, modules, stated["kept"], (), indices)))
    _texts.move_to_end(at)
    return _texts[at]


def _keep(structure: Structure, lanes: int, labels: Integers, text: LeafText) -> None:
    at = structure.key, lanes
    _store(at, _KeptText(labels, text._replace(numbers=())))  # each mechanism has its own
    stated = {**text._asdict(), "labels": labels.tolist(), "numbers": ()}
    content = zlib.compress(json.dumps(stated).encode(), 1)
    _entry(*at).write(content, cache_folder())


def _store(at: tuple[str, int], kept: _KeptText) -> None:
    _texts[at] = kept
    while len(_texts) > MOST:
        _texts.popitem(last=False)


def _entry(key: str, lanes: int) -> Entry:
    return Entry({"structure": key, "lanes": str(lanes), "writer": hash_sources()}, ".text")
