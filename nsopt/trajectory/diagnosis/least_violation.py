"""Whether rows could be met nearby, which oppose each other, and if a longer duration helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from nsopt.mpcc import StructuredNlp, printing_to_stderr

Array = NDArray[np.float64]

REACH = 1.0
"""How far an unknown may move, over the larger of its size and one. Rows that oppose each other
leave the same violation however far that is."""
LONGER, HELPS = 0.1, 0.1
"""Part of the longest duration that is added to it, and the part of the violation that this must
take away for a longer duration to count as a remedy."""
STUCK = 0.9
"""Part of the violation that is left nearby where rows count as opposed to each other: some
hundredths are left where a solver merely stopped on its way."""
WEIGHT = 1e-2
"""Of the largest multiplier, the least with which a row counts as opposed to others."""
LATER = 1e-6
"""By how much a duration is longer than allowed, rather than by round-off [s]."""
SECONDS = 10.0
"""Of the linear solver, at most."""


@dataclass(frozen=True, eq=False)
class LeastViolation:
    """What rows come to within a small distance of a point, to first order.

    Attributes
    ----------
    left : float
        Of the sum of violations at the point, the part that is left.
    multipliers : (rows,)
        By how much the sum grows with the limit of each row, -1 to 1.
    longer : sequence of int
        Which of the durations are too short: the sum would fall were they longer than allowed.
    total : bool
        Whether that holds for all durations together.
    """

    left: float
    multipliers: Array
    longer: Sequence[int]
    total: bool = False

    @property
    def opposed(self) -> NDArray[np.intp]:
        """Rows that cannot all be met, those that count most first; none where they could be."""
        size = np.abs(self.multipliers)
        order = np.argsort(-size, kind="stable")
        count = size[order] > WEIGHT * size.max(initial=0.0)
        found: NDArray[np.intp] = order[count & (self.left > STUCK)]
        return found

    def of_part(self, rows: slice, duration: int) -> LeastViolation:
        """Return it for a part of a program, with the number of its duration."""
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

    Parameters
    ----------
    nlp : StructuredNlp
    x, p : (n,), (np,)
        Unknowns and parameters.
    limits : pair of (n,)
        Of the unknowns.
    durations : sequence of int
        Unknowns that are durations.
    total : int, optional
        The row that is their sum.
    """
    values = nlp.derivatives().jac_g(x, p)
    g, J = np.asarray(values[0]).ravel(), values[1].sparse()
    off = nlp.violations(g).sum()
    if not (np.isfinite(off) and np.isfinite(J.data).all() and off > 0):
        return None
    reach = REACH * np.maximum(np.abs(x), 1.0)
    low, high = np.maximum(limits[0] - x, -reach), np.minimum(limits[1] - x, reach)
    low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)  # where x itself is a little outside
    rows = nlp.lower - g, nlp.upper - g
    stated = _least(J, rows, (low, high), off)
    more, wide = high.copy(), rows[1].copy()
    time = np.asarray(durations, dtype=np.intp)
    more[time] += LONGER * limits[1][time]
    if total is not None:
        wide[total] += LONGER * nlp.upper[total]
    longer = _least(J, (rows[0], wide), (low, more), off)
    if stated is None or longer is None:
        return None
    helps = stated[0] - longer[0] > HELPS * min(1.0, stated[0] + HELPS)
    late = [k for k, i in enumerate(durations) if helps and longer[1][i] > high[i] + LATER]
    over = helps and total is not None and float(longer[1][time].sum()) > rows[1][total] + LATER
    return LeastViolation(stated[0], stated[2], late, over)


def _least(
    J: Any, rows: tuple[Array, Array], bounds: tuple[Array, Array], off: float
) -> tuple[float, Array, Array] | None:
    """Return the share of a sum of violations that is left, the step (n,), and multipliers."""
    m, n = J.shape
    one = scipy.sparse.eye_array(m)
    # J d + up - down is within the rows; what is up or down counts.
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
