"""The page of a mobility, for a designer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsopt.mobility.branches import Branch
from nsopt.mobility.tracing import Finding

if TYPE_CHECKING:
    from nsopt.mobility.mobility import Mobility

WIDTH = 24

SHOWN = 1e-9
"""Part of the largest rate below which a rate is zero."""


def page(x: Mobility) -> str:
    """Return the page, one finding a line."""
    rows = [
        ("mechanism", _mechanism(x)),
        ("", _verdict(x)),
        ("freedom by counting", f"{x.gruebler}: {x.freedoms} of joints, {x.rows} held by loops"),
        ("rank", f"{x.rank} of {x.rows}"),
        ("freedom of order", _orders(x)),
        ("finite freedom", _finite(x)),
        *_character(x),
        *(("redundant rows", text) for text in _redundant(x)),
        *(("gimbal lock", _lock(names)) for names in x.gimbal_locks),
        *_branches(x),
    ]
    return "\n".join(f"{label:<{WIDTH}}{text}" for label, text in rows if text)


def _mechanism(x: Mobility) -> str:
    t = x.topology
    cuts = ", ".join(cycle.cut for cycle in t.cycles)
    return (
        f"{_count(len(t.bodies), 'body', 'bodies')} and the ground, {len(t.joints)} joints, "
        f"{_count(t.gamma, 'loop', 'loops')}, cut at {cuts}"
    )


def _verdict(x: Mobility) -> str:
    if x.local_freedom is None:
        return "whether it moves is undecided"
    if x.local_freedom == 0:
        moves = "it cannot move"
        if x.differential_freedom:
            moves += f", but to first order in {x.differential_freedom} directions"
        return moves
    return f"it moves with {_count(x.local_freedom, 'freedom', 'freedoms')}"


def _orders(x: Mobility) -> str:
    dims = ", ".join(map(str, x.cone_dimensions))
    return f"{dims}   (1 to {x.order}; equal ones prove nothing about the next)"


def _finite(x: Mobility) -> str:
    if x.local_freedom is None:
        return "undecided: see the directions below"
    found = [b for b in x.branches if b.finding is Finding.CONFIRMED]
    how = "the constraints are independent" if not any(x.redundant_rows) else "by tracing"
    text = f"{x.local_freedom}, {how}"
    if found and x.local_freedom > x.cone_dimensions[-1]:
        text += (
            f", though the cones end with {x.cone_dimensions[-1]}: a cusp, whose motions begin "
            "with a higher derivative"
        )
    return text


def _character(x: Mobility) -> Iterator[tuple[str, str]]:
    yield (
        "posture",
        {None: "undecided", True: "singular", False: "regular"}[x.singular]
        + ("; the rank is another one nearby" if x.constraint_singular else ""),
    )
    words = []
    if x.overconstrained:
        words.append("overconstrained: rows are implied by others wherever it moves")
    if x.underconstrained:
        words.append("underconstrained: regular, with more freedom to first order than it has")
    if x.shakiness:
        words.append(f"shaky of order {x.shakiness}")
    for k, word in enumerate(words):
        yield "" if k else "constraints", word


def _redundant(x: Mobility) -> Iterator[str]:
    total = sum(x.redundant_rows.values())
    if total:
        names = ", ".join(f"{count} of {name!r}" for name, count in x.redundant_rows.items())
        yield f"{total}: {names}"


def _lock(names: tuple[str, str, str]) -> str:
    return (
        f"of {', '.join(map(repr, names))}: three hinges through one point with axes in a plane, "
        "where a Spherical in their place has none"
    )


def _branches(x: Mobility) -> Iterator[tuple[str, str]]:
    for k, branch in enumerate(x.branches):
        yield (
            f"direction {k + 1}" if branch.dimension == 1 else f"directions {k + 1}",
            _branch(branch),
        )
        if branch.dimension == 1:
            yield "", _rates(branch)


def _branch(b: Branch) -> str:
    kind = {1: "a line"}.get(b.dimension, f"of dimension {b.dimension}")
    if not b.piece.linear:
        kind += ", curved"
    orders = f"order {b.first} to {b.last}" if b.last > b.first else f"order {b.first}"
    found = {
        Finding.CONFIRMED: "finite motions lead along it",
        Finding.REFUTED: "no finite motion leads along it",
        Finding.UNDECIDED: "whether finite motions lead along it is undecided",
    }[b.finding]
    if b.finding is Finding.CONFIRMED and not b.both_ways:
        found += ", one way only"
    elif b.finding is Finding.CONFIRMED and not b.smooth:
        found += ", several in one direction"
    return f"{kind}, {orders}: {found}"


def _rates(b: Branch) -> str:
    values = {name: float(rate[0]) for name, rate in b.rates.items()}
    most = max(values.values(), key=abs)
    shown = {name: v / most for name, v in values.items() if abs(v) > SHOWN * abs(most)}
    return ", ".join(f"{name} {_short(v)}" for name, v in shown.items())


def _short(v: float) -> str:
    return f"{np.round(v, 4):g}"


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"
