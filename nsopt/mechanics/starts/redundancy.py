"""Redundancy of the ideal joints: rows that the others imply."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import new_directions, rank
from nsopt.mechanics.equations.dynamics import Dynamics

Array = NDArray[np.float64]


def redundancy(dynamics: Dynamics, t: float, q: Array, p: Array) -> int:
    """Return the number of redundant rows of the ideal joints at a closed configuration.

    Redundant joints can be simulated; their reactions are those of least norm.
    """
    return sum(redundant_rows(dynamics, t, q, p).values())


def redundant_rows(dynamics: Dynamics, t: float, q: Array, p: Array) -> dict[str, int]:
    """Return how many rows of each ideal joint those of the joints before it imply.

    The joints of a spanning tree, which imply none of each other, count as before those that close
    its loops. Joints without such rows are left out.
    """
    C = np.asarray(dynamics.closure_matrix(t, q, p))
    return implied_rows(C, dynamics.closure_names, joints_of_tree(dynamics))


def redundancy_note(dynamics: Dynamics, t: float, q: Array, p: Array) -> str:
    """Return in words which rows of the ideal joints are redundant; empty if none is."""
    implied = redundant_rows(dynamics, t, q, p)
    if not implied:
        return ""
    rows, count = len(dynamics.closure_names), sum(implied.values())
    names = ", ".join(f"{count} of {name!r}" for name, count in implied.items())
    return (
        f"the {rows} rows of the ideal joints have rank {rows - count}, as {names} depend on "
        "others: reactions are of least norm"
    )


def joints_of_tree(dynamics: Dynamics) -> set[str]:
    """Return the names of the joints of the mechanism's spanning tree."""
    return {b.joint.name for b in dynamics.mechanism.tree.branches if b.joint is not None}


def implied_rows(C: Array, owners: Sequence[str], first: set[str] | None = None) -> dict[str, int]:
    """Return how many rows of each owner depend on its others or on those of owners before it.

    Parameters
    ----------
    C : (m, n)
    owners : sequence of str
        The name of what each row belongs to, (m,).
    first : set of str, optional
        The owners that count as before the others; else they are in the order of rows.
    """
    order = sorted(dict.fromkeys(owners), key=lambda name: name not in (first or set()))
    groups = [[k for k, owner in enumerate(owners) if owner == name] for name in order]
    ranks = new_directions([C[rows] for rows in groups])
    implied = {name: len(g) - r for name, g, r in zip(order, groups, ranks, strict=True)}
    return {name: count for name, count in implied.items() if count}


def over_determined(d: Dynamics, t: float, q: Array, p: Array) -> str:
    """Return in words that more is programmed in time than other joints leave free; "" if not."""
    timed = d.timed_rows
    C = np.asarray(d.closure_matrix(t, q, p)).reshape(-1, d.nv)
    others = [k for k in range(len(C)) if k not in timed]
    free = d.nv - (rank(C[others]) if others else 0)
    if len(timed) <= free:
        return ""
    names = " and ".join(repr(x) for x in dict.fromkeys(d.closure_names[k] for k in timed))
    return (
        f"{names} keep {len(timed)} coordinates as functions of time, but the other joints leave "
        f"{free} free, so that {free} at most may be programmed"
    )
