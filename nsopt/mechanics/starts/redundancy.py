"""Ideal joints whose rows imply others, everywhere or at a posture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nsopt.algebra import new_directions, rank
from nsopt.arrays import Array
from nsopt.mechanics.equations.dynamics import Dynamics
from nsopt.mechanics.starts.closing import reach


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


AWAY = 0.1  # how far, as `reach` measures it, the postures are that one is compared with

FREE = 1e-4
"""Singular values below this part of the largest leave directions free."""

LOST = 0.02  # part of its value nearby below which a singular value counts as lost
CLOSED = 1e-10  # residual [m, or 1] at which a posture nearby is closed
# Random directions in which postures nearby are looked for: one would do where joints close from
# there, for a posture at random is regular.
TRIES = 4


def singular_posture(dynamics: Dynamics, t: float, q: Array, p: Array) -> str:
    """Return in words how the rank of the ideal joints drops at a posture; empty if it does not.

    The posture is compared with closed ones nearby, in random directions that its joints leave
    free; it may be one that a solver did not quite reach. Where no others are found, though some
    directions are free, that is told.
    """
    C = np.asarray(dynamics.closure_matrix(t, q, p))
    _, values, V = np.linalg.svd(C)
    free = V[int(np.sum(values > FREE * values.max(initial=0.0))) :].T  # or nearly, to first order
    if not C.size or not free.shape[1]:
        return ""
    nearby = list(_find_nearby_matrices(dynamics, t, q, p, free))
    if not nearby:
        return (
            f"no other posture near that at t = {t:.4g} s was found in which the joints close, "
            "though to first order some motion is free: it may be shaky"
        )
    regular = max(nearby, key=rank)
    r = rank(regular)
    U, here, V = np.linalg.svd(C, full_matrices=False)
    there = np.linalg.svd(regular, compute_uv=False)
    left = int(np.sum(here[:r] > LOST * there[:r]))
    if left == r:
        return ""
    # A solver stops near a singular posture: C of the rank that it has there tells whose rows.
    singular = (U[:, :left] * here[:left]) @ V[:left]
    first = joints_of_tree(dynamics)
    usual, found = (implied_rows(x, dynamics.closure_names, first) for x in (regular, singular))
    lost = [name for name, count in found.items() if count > usual.get(name, 0)]
    return (
        f"the posture at t = {t:.4g} s is singular: the joints have rank {left}, {r} nearby, as "
        f"rows of {', '.join(map(repr, lost))} depend on others there"
    )


def _find_nearby_matrices(
    dynamics: Dynamics, t: float, q: Array, p: Array, free: Array
) -> Iterator[Array]:
    """Yield the matrices C (nc, nv) of the joints at closed postures nearby."""
    rng = np.random.default_rng(0)
    for _ in range(TRIES):
        v = free @ rng.normal(size=free.shape[1])
        closed = _close_after(dynamics, t, q, AWAY / reach(dynamics.poses, q, v, p) * v, p)
        if closed is not None:
            yield closed


def _close_after(
    dynamics: Dynamics, t: float, q: Array, displacement: Array, p: Array
) -> Array | None:
    """Return C where Gauss-Newton closes the joints after a displacement; None if not nearby.

    Nearby is a quarter to four times `AWAY` from q.
    """
    begin, total = q, displacement
    q = _move(dynamics, q, displacement)
    for _ in range(20):
        error = np.asarray(dynamics.closure(t, q, p)).ravel()
        C = np.asarray(dynamics.closure_matrix(t, q, p))
        if np.max(np.abs(error), initial=0.0) < CLOSED:
            near = AWAY / 4 < reach(dynamics.poses, begin, total, p) < 4 * AWAY
            return C if near else None
        step = np.asarray(-np.linalg.lstsq(C, error, rcond=1e-8)[0], dtype=float)
        q, total = _move(dynamics, q, step), total + step
    return None


def _move(dynamics: Dynamics, q: Array, displacement: Array) -> Array:
    return np.asarray(dynamics.renormalise(dynamics.retract(q, displacement))).ravel()
