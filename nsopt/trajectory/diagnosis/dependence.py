"""What costs depend on: costs that no motion changes, coordinates that no cost sees."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import StructuredNlp
from nsopt.trajectory.costs import Cost


def dependence(nlp: StructuredNlp, costs: int) -> NDArray[np.bool_]:
    """Return which costs depend on which unknowns, (number of costs, n), by structure alone."""
    depends = np.zeros((costs, nlp.x.numel()), dtype=bool)
    for block in nlp.blocks:
        pattern = block.function.jac_sparsity(1, 0)
        for term, column in zip(
            *(np.array(x, dtype=int) for x in pattern.get_triplet()), strict=True
        ):
            depends[term, block.columns[:, column]] = True
    return depends


def check_costs(costs: Sequence[Cost], depends: NDArray[np.bool_]) -> None:
    """Refuse costs of which none depends on the motion, and warn of one that does not.

    Parameters
    ----------
    costs : sequence of Cost
    depends : (number of costs, n)
        As `dependence` returns it.

    Raises
    ------
    ValueError
        Naming the costs, and what to do.

    Warns
    -----
    UserWarning
        Likewise.
    """
    counted = depends.any(axis=1) & np.array([cost.weight > 0 for cost in costs])
    idle = [cost for cost, counts in zip(costs, counted, strict=True) if not counts]
    if not idle:
        return
    said = dict.fromkeys(
        f"{type(cost).__name__} is the same whatever the motion: {cost.without_effect}"
        for cost in idle
    )
    message = "; ".join(said)
    if not counted.any():
        raise ValueError(message)
    warnings.warn(message, stacklevel=4)
