"""Statements that come again and again, as those of one body of a chain after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

TIMES = 4
"""Times from which on it pays to write a loop."""

SPARED = 50
"""Statements that a loop must spare."""

LONGEST = 1000
"""Statements of one time, at most."""

TRIED = 8
"""Periods of the operations alone that are tried with operands as well."""

FAR = -1
"""An operand that is computed by a statement long before."""


class Repeat(NamedTuple):
    """Statements of which all operations and near operands come again."""

    first: int
    period: int
    times: int

    @property
    def end(self) -> int:
        """The statement behind the last."""
        return self.first + self.period * self.times

    @property
    def spared(self) -> int:
        """Statements that a loop spares."""
        return self.period * (self.times - 1)


def repeats(codes: Integers, back: Integers, kinds: Integers) -> list[Repeat]:
    """Return what comes again in a sequence of n statements, in order.

    Operands that are computed near before are so in the same place each time, or by statements far
    before; others are of the same kind.

    Parameters
    ----------
    codes : (n,)
        The operations.
    back : (n, m)
        How many statements before its m-th operand is computed; 0 where that is elsewhere.
    kinds : (n, m)
        What an operand is that is computed elsewhere: negative numbers, `FAR` where any statement
        may have computed it.
    """
    found, left = list[Repeat](), [(0, len(codes))]
    while left:
        low, high = left.pop()
        part = slice(low, high)
        best = _best(codes[part], back[part], kinds[part])
        if best is not None:
            repeat = best._replace(first=low + best.first)
            found.append(repeat)
            left += [(low, repeat.first), (repeat.end, high)]
    return sorted(found)


def _best(codes: Integers, back: Integers, kinds: Integers) -> Repeat | None:
    """Return the repeat that spares most."""
    alike = [
        _run(codes[period:] == codes[:-period], period)
        for period in range(1, min(LONGEST, len(codes) // TIMES) + 1)
    ]
    found = []
    for _, period, _ in sorted(alike, key=lambda x: -x.spared)[:TRIED]:
        near = np.where((back > 0) & (back < 2 * period), back, np.where(back > 0, FAR, kinds))
        same = (codes[period:] == codes[:-period]) & np.all(near[period:] == near[:-period], axis=1)
        found.append(_run(same, period))
    good = [x for x in found if x.times >= TIMES and x.spared >= SPARED]
    return max(good, key=lambda x: x.spared, default=None)


def _run(same: NDArray[np.bool_], period: int) -> Repeat:
    """Return the longest repeat of a period; ``same`` where a statement comes again after it."""
    ends = np.flatnonzero(~np.concatenate([[False], same, [False]]))
    lengths = np.diff(ends) - 1
    k = int(np.argmax(lengths))
    return Repeat(int(ends[k]), period, int(lengths[k]) // period + 1)
