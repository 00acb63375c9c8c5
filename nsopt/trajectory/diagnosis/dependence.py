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
        pattern = block.function.jac_sparsity(1, 0)  # of the terms of costs by the unknowns
        terms, columns = (np.array(x, dtype=int) for x in pattern.get_triplet())
        for term, column in zip(terms, columns, strict=True):
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
    counts = depends.any(axis=1) & np.array([cost.weight > 0 for cost in costs])
    idle = [cost for cost, does_count in zip(costs, counts, strict=True) if not does_count]
    if not idle:
        return
    sentences = dict.fromkeys(  # each once
        f"{type(cost).__name__} is the same whatever the motion: {cost.without_effect}"
        for cost in idle
    )
    message = "; ".join(sentences)
    if not counts.any():
        raise ValueError(message)
    warnings.warn(message, stacklevel=4)
