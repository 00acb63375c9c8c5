"""Many uses of one operation: calls of a CasADi Function, pairs of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import casadi as ca

T = TypeVar("T")


def repeated(step: ca.Function, count: int, base: int = 10) -> ca.Function:
    """Return ``count`` calls, one or more, of ``(z, *given) -> (z, *records)``, records together.

    Nested by powers of ``base``, so that generated code stays short.
    """
    size = 1
    while size * base < count:
        size *= base
    parts = [repeated(step, size) if size > 1 else step] * (count // size)
    if count % size:
        parts.append(repeated(step, count % size))
    if len(parts) == 1:
        return parts[0]
    z, *given = (ca.MX.sym(f"in_{i}", step.sparsity_in(i)) for i in range(step.n_in()))
    state, records = z, []
    for part in parts:
        state, *record = part.call([state, *given])
        records.append(record)
    side_by_side = [ca.horzcat(*record) for record in zip(*records, strict=True)]
    return ca.Function(f"{step.name()}_{count}", [z, *given], [state, *side_by_side])


def in_pairs(operation: Callable[[T, T], T], values: Sequence[T]) -> T:
    """Return one or more values joined by an associative operation, neighbours first.

    A processor computes pairs side by side, where in a chain each waits for the one before.
    """
    while len(values) > 1:
        joined = [operation(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = [*joined, *values[2 * len(joined) :]]
    return values[0]
