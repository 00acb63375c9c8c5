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
    """Return how many rows of each owner depend on those of the owners before it.

    Parameters
    ----------
    C : (m, n)
    owners : sequence of str
        Of each row.
    first : set of str, optional
        The owners that count as before the others.
    """
    order = sorted(dict.fromkeys(owners), key=lambda name: name not in (first or set()))
    groups = [[k for k, owner in enumerate(owners) if owner == name] for name in order]
    gained = new_directions([C[rows] for rows in groups])
    lost = {name: len(g) - k for name, g, k in zip(order, groups, gained, strict=True)}
    return {name: count for name, count in lost.items() if count}


def over_determined(d: Dynamics, t: float, q: Array, p: Array) -> str:
    """Return in words that more is programmed than the other joints leave free, or nothing."""
    rows = d.timed_rows
    C = np.asarray(d.closure_matrix(t, q, p)).reshape(-1, d.nv)
    others = [k for k in range(len(C)) if k not in rows]
    free = d.nv - (rank(C[others]) if others else 0)
    if len(rows) <= free:
        return ""
    names = " and ".join(repr(x) for x in dict.fromkeys(d.closure_names[k] for k in rows))
    return (
        f"{names} keep {len(rows)} coordinates as functions of time, but the other joints leave "
        f"{free} free, so that {free} at most may be programmed"
    )
