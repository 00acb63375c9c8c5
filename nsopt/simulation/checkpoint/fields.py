"""What the head of a checkpoint holds, checked field by field."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.simulation.checkpoint.folder import is_block
from nsopt.simulation.checkpoint.hdf5 import Arrays, Facts
from nsopt.simulation.driver import StepCounts
from nsopt.simulation.fallback_chain import Backoff
from nsopt.simulation.record.accepted_steps import FieldError

POINT = ("x", "lam_x", "lam_g")  # arrays of a `Point`

Check = Callable[[Any], bool]


def check_facts(facts: Facts) -> None:
    """Refuse facts of a head that lack something, or have it of another kind; by a FieldError."""
    if missing := {*FACTS} - {*facts}:
        raise FieldError(f"it lacks {', '.join(sorted(missing))}")
    for name, is_right in FACTS.items():
        if not is_right(facts[name]):
            raise FieldError(f"{name} is not what a run writes: {facts[name]!r:.60}")
    if len(facts["trial"]) != len(facts["warm"]):
        raise FieldError("trial and warm are of different solvers")


def check_arrays(arrays: Arrays, facts: Facts, dynamics: Dynamics) -> None:
    """Refuse arrays of a head that lack one, or have it of another shape; by a FieldError."""
    vectors: dict[str, int | None] = {"q": dynamics.nq, "v": dynamics.nv}
    if "z" in arrays:
        vectors["z"] = None
    for i, warms in enumerate(facts["warm"]):
        vectors |= {f"{x}_{i}_{k}": None for k in range(len(warms)) for x in POINT}
    for name, size in vectors.items():
        if name not in arrays:
            raise FieldError(f"it lacks {name}")
        x = arrays[name]
        if x.dtype != float or x.ndim != 1 or size not in (None, len(x)):
            wanted = "a vector" if size is None else f"{size} numbers"
            raise FieldError(f"{name} is of type {x.dtype} and shape {x.shape}, not {wanted}")
        if size and not np.all(np.isfinite(x)):
            raise FieldError(f"{name} has entries that are no finite numbers")
    for name in (n for n in vectors if n.startswith("lam_x")):
        of = name.removeprefix("lam_")
        if len(arrays[name]) != len(arrays[of]):
            sizes = f"{len(arrays[name])} and {len(arrays[of])} numbers"
            raise FieldError(f"{name} and {of} are of {sizes}, which must be alike")


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def _is_whole(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and x >= 0


def _all(is_right: Check, count: int | None = None) -> Check:
    return lambda x: isinstance(x, list) and count in (None, len(x)) and all(map(is_right, x))


def _is_text(x: Any) -> bool:
    return isinstance(x, str)


def _is_table(x: Any) -> bool:
    return isinstance(x, dict) and all(map(_is_text, x.values()))


FACTS: dict[str, Check] = {
    "identity": _is_table,
    "blocks": lambda x: _is_table(x) and all(map(is_block, x)),
    "count": _is_whole,
    "t": _is_number,
    "step_counts": _all(_is_number, len(StepCounts._fields)),
    "refused": _all(_is_text),
    "by_contacts": lambda x: isinstance(x, bool),
    "backoff": _all(_is_whole, len(Backoff._fields)),
    "trial": _all(_is_number),
    "warm": _all(_all(lambda x: isinstance(x, bool))),
}
"""Facts of a head, and what they are."""
