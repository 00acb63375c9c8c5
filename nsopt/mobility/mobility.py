"""The mobility of a mechanism at a posture: `mobility`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from nsopt.algebra import rank
from nsopt.arrays import Array
from nsopt.checks import whole
from nsopt.interrupt import interruptible
from nsopt.mechanics import Mechanism, implied_rows
from nsopt.mobility.branches import MotionBranch, trace_branches
from nsopt.mobility.cones import find_cones, span_pieces
from nsopt.mobility.constraints import LoopConstraints
from nsopt.mobility.findings import Mobility
from nsopt.mobility.reduction import Reduction
from nsopt.mobility.tracing import Finding, has_other_motions


def mobility(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    order: int = 6,
    parameters: Mapping[str, float] | None = None,
) -> Mobility:
    """Return the mobility of a mechanism at a posture [mobility 2016, section 5].

    Parameters
    ----------
    mechanism : Mechanism
        Bodies without mass are legal.
    q : (nq,), optional
        Coordinates of ``mechanism.tree``; by default those of the poses that the bodies state.
    order : int
        Highest derivative by time of the constraints, 1 (velocities) or more.
    parameters : mapping of name to float, optional
        Values of Parameters in place of those stated.

    Returns
    -------
    Mobility

    Raises
    ------
    TypeError
        If ``mechanism`` is something else.
    ValueError
        If the order is below 1 or too high for so many free directions, the mechanism has no loop
        or is not closed there, or a rank cannot be decided (`UndecidedRankError`).
    KeyboardInterrupt
        After Ctrl-C or SIGTERM.
    """
    order = whole("order", order, "1 is that of velocities")
    with interruptible():
        return _find_mobility(LoopConstraints(mechanism, q, parameters), order)


def _find_mobility(constraints: LoopConstraints, order: int) -> Mobility:
    reduction = Reduction.of(constraints)
    cones = find_cones(reduction.polynomials(order), order)
    branches = trace_branches(reduction, cones)
    found = [b for b in branches if b.finding is Finding.CONFIRMED]
    local = _find_local_freedom(reduction, branches, found)
    along = [b.freedom for b in found]  # n - rank J beside the posture
    rank_changes = any(x != reduction.freedom for x in along)
    # More rows than rank along the motions, even where that is largest; here if there are none.
    overconstrained = constraints.m > constraints.n - min(along, default=reduction.freedom)
    # Counted as if loops were cut in bodies: six rows each, and the 6 - m freedoms of a cut joint
    # of m rows, so that the numbers are the same whichever joint is cut.
    cut_freedoms = sum(6 - constraints.owners.count(joint.name) for joint in constraints.cut)
    freedoms = constraints.n + cut_freedoms
    return Mobility(
        reduction=reduction,
        order=order,
        freedoms=freedoms,
        rows=6 * len(constraints.cut),
        rank=freedoms - reduction.freedom,
        cone_dimensions=tuple(max((p.dimension for p in cone), default=0) for cone in cones),
        branches=branches,
        local_freedom=local,
        shakiness=_find_shakiness(branches, found, order, local),
        singular=_is_singular(reduction, found, local),
        constraint_singular=None if local is None else rank_changes,
        overconstrained=None if local is None else overconstrained,
        redundant_rows=implied_rows(reduction.jacobian, constraints.owners),
        gimbal_locks=gimbal_locks(constraints),
        tangent_space=reduction.rates(span_pieces([b.piece for b in found], reduction.freedom)),
    )


def _find_local_freedom(
    reduction: Reduction, branches: Sequence[MotionBranch], found: Sequence[MotionBranch]
) -> int | None:
    """Return the largest dimension of the motions, None where larger ones cannot be excluded."""
    if not reduction.redundant:
        return reduction.freedom
    most = max((b.dimension for b in found), default=0)
    larger = [b for b in branches if b.finding is Finding.UNDECIDED and b.dimension > most]
    # At a cusp the tangents may be fewer than the motions, which J beside the posture bounds.
    cusps = [b for b in found if b.dimension == most and not b.smooth and b.freedom > most]
    if larger or cusps:
        return None
    # The last cone may be too large, and motions be in a part of a piece that tracing refuted.
    pieces = [b.piece for b in found]
    more = reduction.freedom > max(most, 1) and has_other_motions(reduction, pieces)
    return None if more else most


def _is_singular(
    reduction: Reduction, found: Sequence[MotionBranch], local: int | None
) -> bool | None:
    """Return whether the closed postures nearby are other than one smooth manifold."""
    if not reduction.redundant:
        return False
    if local is None:
        return None
    return bool(local) and not (len(found) == 1 and found[0].smooth and found[0].piece.linear)


def _find_shakiness(
    branches: Sequence[MotionBranch], found: list[MotionBranch], order: int, local: int | None
) -> int | None:
    """Return k - 1 of the first K^k that is the tangent cone: that of the confirmed branches."""
    if local is None or any(b.finding is Finding.UNDECIDED for b in branches):
        return None
    if any(not b.both_ways for b in found):  # half a line at least, and all cones have whole ones
        return None
    for k in range(1, order + 1):
        if [b for b in branches if b.first <= k <= b.last] == found:
            return k - 1
    return None


def gimbal_locks(loops: LoopConstraints) -> tuple[tuple[str, str, str], ...]:
    """Return all names of three hinges, one after another in a loop, that are in gimbal lock.

    Their axes meet in one point and are in one plane there, not all in line: one rotation is
    missing that a ball joint in their place has.
    """
    hinges = {
        name: screws[0]
        for name, screws in loops.joint_screws().items()
        if len(screws) == 1
        and screws[0, :3].any()
        and abs(screws[0, :3] @ screws[0, 3:]) < 1e-9 * loops.size  # no pitch [m/rad]
    }
    found: dict[frozenset[str], tuple[str, str, str]] = {}
    for cycle in loops.topology.cycles:
        loop = (*cycle.joints, cycle.cut)
        for k in range(len(loop) if len(loop) >= 3 else 0):
            names = loop[k], loop[(k + 1) % len(loop)], loop[(k + 2) % len(loop)]
            if all(name in hinges for name in names):
                screws = np.array([hinges[name] for name in names])
                if _is_locked(screws, loops.size):
                    found.setdefault(frozenset(names), names)
    return tuple(found.values())


def _is_locked(screws: Array, size: float) -> bool:
    """Return whether the axes of three screws (3, 6) meet in a point and are in one plane."""
    e, moments = screws[:, :3], screws[:, 3:] / size
    # The point r with r x e = its moment for all three, by least squares.
    arms = np.concatenate([np.cross(np.eye(3), x).T for x in e])
    r = np.linalg.lstsq(arms, moments.ravel(), rcond=None)[0]
    meet = np.allclose(np.cross(r, e), moments, atol=1e-9)
    return bool(meet and rank(e) == 2)
