"""Generated C in several translation units, which are compiled at the same time."""

from __future__ import annotations

import re
from typing import NamedTuple

SHORT = 20_000
"""Length of functions that stay together, where the compiler may put them into each other."""

BEGIN = re.compile(r"(?m)^(?=(?:__attribute__\(\(.*?\)\) )?static int casadi_f\d+\()")
NAME = re.compile(r"\bcasadi_f\d+(?=\()")
HELPER = re.compile(r"(?m)^(?:CASADI_SYMBOL_EXPORT )?(?!static|typedef)(?=[a-z].*\) \{)")
PROTOTYPE = (
    "int {}(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem);\n"
)


class _GeneratedFunction(NamedTuple):
    """A generated function, and what stands behind it, which stays in the first unit."""

    name: str
    text: str
    behind: str

    @property
    def shared(self) -> str:
        """The function as one that other units may call; no other library sees it."""
        return self.text.replace("static int ", "int ", 1)


def units_of(source: str, count: int) -> list[str]:
    """Return at most ``count`` units of about the same length.

    Code with memory of its own, as that of generated solvers has, is one unit.
    """
    head, *texts = BEGIN.split(source)
    if count < 2 or "_mem_counter" in source:
        return [source]
    functions = [_function(text) for text in texts]
    place = _places([len(f.text) for f in functions], count)
    unit_of = {f.name: unit for f, unit in zip(functions, place, strict=True)}
    calls = [(unit_of[f.name], f.text) for f in functions] + [(0, f.behind) for f in functions]
    shared = {name for unit, text in calls for name in NAME.findall(text) if unit_of[name] != unit}
    declared = "".join(PROTOTYPE.format(name) for name in sorted(shared))
    # What the head defines each unit has for itself, but for the first under the same name.
    own = HELPER.sub("static ", head)
    units = [(head if unit == 0 else own) + declared for unit in range(count)]
    for f, unit in zip(functions, place, strict=True):
        units[unit] += f.shared if f.name in shared else f.text
        units[0] += f.behind
    return [unit for k, unit in enumerate(units) if k == 0 or k in place]


def _function(text: str) -> _GeneratedFunction:
    end = text.index("\n}\n") + 3
    return _GeneratedFunction(NAME.findall(text)[0], text[:end], text[end:])


def _places(lengths: list[int], count: int) -> list[int]:
    """Return the unit of each function: long ones where there is least, the longest first."""
    place = [0] * len(lengths)
    filled = [sum(n for n in lengths if n < SHORT)] + [0] * (count - 1)
    for k in sorted(range(len(lengths)), key=lambda k: -lengths[k]):
        if lengths[k] >= SHORT:
            place[k] = filled.index(min(filled))
            filled[place[k]] += lengths[k]
    return place
