"""Texts of leaves, kept: most of a start goes into finding what a function repeats.

That depends on its `Structure`, and on which of its numbers are equal: a text that reads one number
at two places is of mechanisms alone where both are equal, to the bit; one that reads two, of all.
So a text serves mechanisms of other lengths and masses. Where it does not, as lengths that were
equal differ by round-off, the next one reads a number at each use where it was read at several that
are not equal. After a few mechanisms of a kind no other text is needed.
"""

from __future__ import annotations

import json
import zlib
from collections import OrderedDict
from functools import cache
from hashlib import sha256
from pathlib import Path

import casadi as ca
import numpy as np

from nsopt.kept_code import Entry, cache_folder
from nsopt.leaves import program
from nsopt.leaves.instructions import read_function
from nsopt.leaves.program import LeafText, write_program
from nsopt.leaves.structure import Integers, Records, Structure
from nsopt.leaves.turns import Turns

MOST = 32
"""Texts that are kept in the process, the last ones used."""

_Kept = tuple[Integers, LeafText]
"""Labels of the uses of numbers, and the text that reads numbers by label."""

_texts: OrderedDict[tuple[str, int], _Kept] = OrderedDict()


def find_text(function: ca.Function, records: Records | None, turns: Turns, lanes: int) -> LeafText:
    """Return the text of a function of dense columns: one that is kept, or a new one.

    Parameters
    ----------
    function : Function
    records : Records, optional
        Its instructions, where `read_records` finds them.
    turns : Turns
        How its inputs and outputs belong to functions that are computed in turn.
    lanes : int
        See `write_program`.

    Raises
    ------
    ValueError
        For an operation that has no machine code, and for what is computed in another order.
    """
    if records is None or len(records) < program.LONG:
        instructions = read_function(function, turns.entries, once=turns.once)
        return write_program(instructions, lanes, turns.split(instructions))
    structure = Structure(turns, records)
    kept = _recall(structure, lanes)
    if kept and structure.allows(kept[0]):
        return kept[1]._replace(numbers=structure.values(kept[0]))
    labels = structure.apart(kept[0]) if kept else structure.alike()
    instructions = structure.instructions(labels)
    text = write_program(instructions, lanes, turns.split(instructions))
    _keep(structure, lanes, labels, text)
    return text


def _recall(structure: Structure, lanes: int) -> _Kept | None:
    """Return what is kept of a structure in the process, else on the disk; None if nothing."""
    at = structure.key, lanes
    if at not in _texts:
        content = _entry(*at).read(cache_folder())
        if content is None:
            return None
        stated = json.loads(zlib.decompress(content))
        labels = np.array(stated["labels"], dtype=np.int64)
        names, modules, indices = (tuple(stated[x]) for x in ("names", "modules", "indices"))
        _store(at, (labels, LeafText(names, modules, stated["kept"], (), indices)))
    _texts.move_to_end(at)
    return _texts[at]


def _keep(structure: Structure, lanes: int, labels: Integers, text: LeafText) -> None:
    at = structure.key, lanes
    _store(at, (labels, text._replace(numbers=())))  # each mechanism has numbers of its own
    stated = {
        "labels": labels.tolist(),
        "names": text.names,
        "modules": text.modules,
        "kept": text.kept,
        "indices": text.indices,
    }
    content = zlib.compress(json.dumps(stated).encode(), 1)
    _entry(*at).write(content, cache_folder())


def _store(at: tuple[str, int], kept: _Kept) -> None:
    _texts[at] = kept
    while len(_texts) > MOST:
        _texts.popitem(last=False)


def _entry(key: str, lanes: int) -> Entry:
    return Entry({"structure": key, "lanes": str(lanes), "writer": _hash_sources()}, ".text")


@cache
def _hash_sources() -> str:
    """Return what changes whenever a leaf is written otherwise."""
    total = sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        total.update(path.read_bytes())
    return total.hexdigest()
