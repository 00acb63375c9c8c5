"""Which rows cannot be met together near the last motion, and whether a longer duration helps.

For the message on a failed solve: a linear program in the violations of linearised rows. Rows and
unknowns are those of the program, of which durations are in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mpcc import StructuredNlp, printing_to_stderr

REACH = 1.0
"""How far an unknown may move, over the larger of its size and one. Rows that oppose each other
leave the same violation however far that is."""
LONGER = 0.1  # what is added to the longest duration, as a part of it, to see if more time helps
HELPS = 0.1
"""Part of the violation that more time must take away to count as a remedy: as much as `LONGER`, as
speeds fall by about that part, and what they are beyond a limit by falls by more."""
STUCK = 0.9
"""Part of the violation that is left nearby where rows count as opposed to each other: some
hundredths are left where a solver merely stopped on its way."""
WEIGHT = 1e-2
"""Multiplier, over the largest one, from which a row counts as opposed to others: a violation falls
by a multiplier times what the limit gives way, by a hundredth of what the most opposed row does."""
LATER = 1e-6  # time by which a duration exceeds its limit by more than round-off [s]
SECONDS = 10.0  # time that the linear solver may take [s]


@dataclass(frozen=True, eq=False)
class LeastViolation:
    """What rows come to within a small distance of a point, to first order.

    Durations are too short where the sum of violations would fall were they longer than allowed.
    """

    left: float  # least sum of violations nearby, over the sum at the point
    multipliers: Array  # (rows,) by how much the least sum grows with the limit of each, -1 to 1
    longer: Sequence[int]  # which durations are too short, counted among these from 0
    total: bool = False  # whether the limit of their sum is too short likewise

    @property
    def opposed(self) -> NDArray[np.intp]:
        """Rows that cannot all be met, by falling multiplier; none where all can be met."""
        size = np.abs(self.multipliers)
        order = np.argsort(-size, kind="stable")
        count = size[order] > WEIGHT * size.max(initial=0.0)
        found: NDArray[np.intp] = order[count & (self.left > STUCK)]
        return found

    def of_part(self, rows: slice, duration: int) -> LeastViolation:
        """Return the part that concerns ``rows`` and the duration of that number."""
        longer = [0] if duration in self.longer else []
        return LeastViolation(self.left, self.multipliers[rows], longer)


def least_violation(
    nlp: StructuredNlp,
    x: Array,
    p: Array,
    limits: tuple[Array, Array],
    durations: Sequence[int],
    total: int | None = None,
) -> LeastViolation | None:
    """Return what the rows of a program come to near a point, to first order; None if not known.

    The least sum of violations of linearised rows is a linear program (HiGHS). It is solved as it
    is stated, and with durations that may be a tenth longer than allowed.

    ``limits`` (n,) each are those of the unknowns x, ``durations`` are those unknowns that are
    durations, ``total`` is the row that is their sum.
    """
    values = nlp.derivatives().jac_g(x, p)
    g, J = np.asarray(values[0]).ravel(), values[1].sparse()
    off = nlp.violations(g).sum()
    if not (np.isfinite(off) and np.isfinite(J.data).all() and off > 0):
        return None
    reach = REACH * np.maximum(np.abs(x), 1.0)
    low, high = np.maximum(limits[0] - x, -reach), np.minimum(limits[1] - x, reach)
    low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)  # where x itself is a little outside
    least, most = nlp.lower - g, nlp.upper - g
    as_stated = _minimise_violation(J, (least, most), (low, high), off)
    longer_high, longer_most = high.copy(), most.copy()
    time = np.asarray(durations, dtype=np.intp)
    longer_high[time] += LONGER * limits[1][time]
    if total is not None:
        longer_most[total] += LONGER * nlp.upper[total]
    longer = _minimise_violation(J, (least, longer_most), (low, longer_high), off)
    if as_stated is None or longer is None:
        return None
    left, _, multipliers = as_stated
    left_if_longer, step, _ = longer
    # Of a small violation, too, time must take away a hundredth of all: less is round-off.
    helps = left - left_if_longer > HELPS * min(1.0, left + HELPS)
    late = [k for k, i in enumerate(durations) if helps and step[i] > high[i] + LATER]
    over = helps and total is not None and float(step[time].sum()) > most[total] + LATER
    return LeastViolation(left, multipliers, late, over)


def _minimise_violation(
    J: Any, rows: tuple[Array, Array], bounds: tuple[Array, Array], off: float
) -> tuple[float, Array, Array] | None:
    """Return the least sum of violations over ``off``, the step (n,) there, multipliers (m,)."""
    m, n = J.shape
    one = scipy.sparse.eye_array(m)
    # Unknowns are step (n,), up, down and value (m,) each: J step + up - down = value. The value is
    # within ``rows``, limits less the rows at the point; up and down, zero or more, are the cost.
    A = scipy.sparse.hstack([J, one, -one, -one], format="csc")
    low = np.concatenate([bounds[0], np.zeros(2 * m), rows[0]])
    high = np.concatenate([bounds[1], np.full(2 * m, np.inf), rows[1]])
    cost = np.concatenate([np.zeros(n), np.ones(2 * m), np.zeros(m)])
    sides = np.column_stack([low, high])
    stated: Any = {"A_eq": A, "b_eq": np.zeros(m), "bounds": sides}
    with printing_to_stderr():
        found: Any = scipy.optimize.linprog(cost, **stated, options={"time_limit": SECONDS})
    if found.status != 0:
        return None
    return float(found.fun / off), found.x[:n], np.asarray(found.eqlin.marginals)
