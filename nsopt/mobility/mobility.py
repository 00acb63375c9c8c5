"""The mobility of a mechanism at a posture: `mobility`."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.interrupt import interruptible
from nsopt.mechanics import Mechanism, implied_rows
from nsopt.mobility.branches import MotionBranch, branches_of
from nsopt.mobility.cones import cones, span_pieces
from nsopt.mobility.constraints import LoopConstraints
from nsopt.mobility.findings import Mobility
from nsopt.mobility.gimbals import gimbal_locks
from nsopt.mobility.reduction import Reduction
from nsopt.mobility.tracing import Finding, strays

Array = NDArray[np.float64]


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
        Highest derivative of the constraints, 1 or more.
    parameters : mapping of name to float, optional
        Other values for Parameters.

    Returns
    -------
    Mobility

    Raises
    ------
    TypeError
        If ``mechanism`` is something else.
    ValueError
        If the order is below 1 or too high for so many free directions, the mechanism has no loop
        or is not closed there, or a rank cannot be decided: then with the singular values.
    KeyboardInterrupt
        After Ctrl-C or SIGTERM.
    """
    if not isinstance(order, Integral) or isinstance(order, bool) or order < 1:
        raise ValueError(
            f"order must be a whole number, 1 or more, got {order!r}: 1 is that of velocities"
        )
    with interruptible():
        return _find_mobility(LoopConstraints(mechanism, q, parameters), int(order))


def _find_mobility(constraints: LoopConstraints, order: int) -> Mobility:
    reduction = Reduction.of(constraints)
    pieces = cones(reduction.polynomials(order), order)
    branches = branches_of(reduction, pieces)
    local = _local(reduction, branches)
    singular = _singular(reduction, branches, local)
    tangent = span_pieces([b.piece for b in _confirm(branches)], reduction.freedom)
    cut_freedoms = sum(6 - constraints.owners.count(joint.name) for joint in constraints.cut)
    rows = 6 * len(constraints.cut)
    freedoms = constraints.n + cut_freedoms
    return Mobility(
        reduction=reduction,
        order=order,
        freedoms=freedoms,
        rows=rows,
        rank=freedoms - reduction.freedom,
        cone_dimensions=tuple(max((p.dimension for p in x), default=0) for x in pieces),
        branches=branches,
        local_freedom=local,
        shakiness=_shakiness(branches, len(pieces), local),
        singular=singular,
        constraint_singular=_rank_changes(reduction, branches, local),
        overconstrained=_has_dependent_rows(reduction, branches, local),
        redundant_rows=implied_rows(reduction.jacobian, constraints.owners),
        gimbal_locks=gimbal_locks(constraints),
        tangent_space=reduction.rates(tangent),
    )


def _confirm(branches: tuple[MotionBranch, ...]) -> list[MotionBranch]:
    return [b for b in branches if b.finding is Finding.CONFIRMED]


def _local(reduction: Reduction, branches: tuple[MotionBranch, ...]) -> int | None:
    """Return the local freedom."""
    if not reduction.redundant:
        return reduction.freedom
    found = _confirm(branches)
    most = max((b.dimension for b in found), default=0)
    # A cusp that other motions pass may be more than a line.
    open_ones = [b for b in branches if b.finding is Finding.UNDECIDED and b.dimension > most]
    beyond = [b for b in found if b.dimension == most and not b.smooth and b.freedom > most]
    if open_ones or beyond:
        return None
    # Part of a direction may be one of motions, if higher orders would tell.
    more = reduction.freedom > max(most, 1) and strays(reduction, [b.piece for b in found])
    return None if more else most


def _singular(
    reduction: Reduction, branches: tuple[MotionBranch, ...], local: int | None
) -> bool | None:
    if not reduction.redundant:
        return False
    if local is None:
        return None
    found = _confirm(branches)
    return bool(local) and not (len(found) == 1 and found[0].smooth and found[0].piece.linear)


def _shakiness(branches: tuple[MotionBranch, ...], order: int, local: int | None) -> int | None:
    """Return the order before the first cone that is the tangent cone."""
    if local is None or any(b.finding is Finding.UNDECIDED for b in branches):
        return None
    tangent = {id(b) for b in _confirm(branches)}
    if any(not b.both_ways for b in _confirm(branches)):
        return None
    for k in range(1, order + 1):
        if {id(b) for b in branches if b.first <= k <= b.last} == tangent:
            return k - 1
    return None


def _rank_changes(
    reduction: Reduction, branches: tuple[MotionBranch, ...], local: int | None
) -> bool | None:
    if local is None:
        return None
    return any(b.freedom != reduction.freedom for b in _confirm(branches))


def _has_dependent_rows(
    reduction: Reduction, branches: tuple[MotionBranch, ...], local: int | None
) -> bool | None:
    """Return whether rows depend on others along the motions, or here if there are none."""
    if local is None:
        return None
    m, n = reduction.constraints.m, reduction.constraints.n
    along = [b.freedom for b in _confirm(branches)] or [reduction.freedom]
    return min(m - n + k for k in along) > 0
