"""The mobility of a mechanism at a posture: `mobility`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.mechanics import Mechanism, implied_rows
from nsopt.mobility.branches import Branch, branches_of
from nsopt.mobility.cones import cones, spanned
from nsopt.mobility.constraints import LoopConstraints
from nsopt.mobility.gimbals import gimbal_locks
from nsopt.mobility.page import page
from nsopt.mobility.reduction import Reduction
from nsopt.mobility.topology import Topology
from nsopt.mobility.tracing import Finding

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mobility:
    """What a mechanism can do at a posture; ``print`` gives a page.

    Attributes
    ----------
    topology : Topology
    q : (nq,)
        The posture, in the coordinates of `Mechanism.tree`.
    order : int
        The order of the constraints up to which the cones were computed. That cones of two orders
        are equal proves nothing about the next.
    freedoms : int
        Of all joints, each by itself.
    gruebler : int
        ``freedoms`` less the rows of all loops.
    rows, rank : int
        Of the constraints on the freedoms of all joints, whichever are cut.
    differential_freedom : int
        ``freedoms - rank``, the dimension of K^1.
    cone_dimensions : tuple of int
        Of K^1, K^2, ...: the freedom of each order [mobility 2016, eq. 38].
    branches : tuple of Branch
        The pieces of the cones, and what tracing found along them.
    local_freedom : int or None
        The dimension of the set of postures near this one, by tracing; None where undecided.
    shakiness : int or None
        k - 1 for the first K^k that is the tangent cone; 0 where K^1 is. None where none of the
        cones is, or it is undecided.
    singular : bool or None
        Whether that set is no manifold here; None where undecided.
    constraint_singular : bool or None
        Whether the rank is another one nearby, along the motions.
    overconstrained : bool or None
        Whether rows are implied by others here and along the motions.
    underconstrained : bool or None
        Whether the posture is regular, but the differential freedom more than the local one.
    redundant_rows : mapping of joint to int
        How many rows of each cut joint those before it imply, here.
    gimbal_locks : tuple of (str, str, str)
        Three hinges each that stand for a ball, with their axes in one plane: a singularity of the
        coordinates, which a `Spherical` in their place does not have.
    tangent_space : mapping of rate to (k,)
        A basis of the span of the tangent cone, by the rates of all joints.
    """

    topology: Topology
    q: Array
    order: int
    freedoms: int
    rows: int
    rank: int
    cone_dimensions: tuple[int, ...]
    branches: tuple[Branch, ...]
    local_freedom: int | None
    shakiness: int | None
    singular: bool | None
    constraint_singular: bool | None
    overconstrained: bool | None
    redundant_rows: Mapping[str, int]
    gimbal_locks: tuple[tuple[str, str, str], ...]
    tangent_space: Mapping[str, Array]

    @property
    def gruebler(self) -> int:
        """Gruebler's number: freedoms of joints less rows of loops."""
        return self.freedoms - self.rows

    @property
    def differential_freedom(self) -> int:
        """The freedom to first order, that of the kernel of the constraint Jacobian."""
        return self.freedoms - self.rank

    @property
    def underconstrained(self) -> bool | None:
        """Whether the posture is regular, but moves to first order only in some directions."""
        if self.singular is None or self.local_freedom is None:
            return None
        return not self.singular and self.differential_freedom != self.local_freedom

    def __str__(self) -> str:
        """Return the page that a designer reads."""
        return page(self)


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
        If the order is below 1, the mechanism has no loop or is not closed there, or a rank cannot
        be decided: then with the singular values.
    """
    if not isinstance(order, Integral) or isinstance(order, bool) or order < 1:
        raise ValueError(
            f"order must be a whole number, 1 or more, got {order!r}: 1 is that of velocities"
        )
    constraints = LoopConstraints(mechanism, q, parameters)
    reduction = Reduction.of(constraints)
    pieces = cones(reduction.polynomials(order), order)
    branches = branches_of(reduction, pieces)
    local = _local(reduction, branches)
    singular = _singular(reduction, branches, local)
    tangent = spanned(
        [b.piece for b in branches if b.finding is Finding.CONFIRMED], reduction.freedom
    )
    rates = reduction.rates(tangent)
    cut_freedoms = sum(6 - constraints.owners.count(joint.name) for joint in constraints.cut)
    rows = 6 * len(constraints.cut)
    freedoms = constraints.n + cut_freedoms
    return Mobility(
        topology=constraints.topology,
        q=constraints.q,
        order=int(order),
        freedoms=freedoms,
        rows=rows,
        rank=freedoms - reduction.freedom,
        cone_dimensions=tuple(max((p.dimension for p in x), default=0) for x in pieces),
        branches=branches,
        local_freedom=local,
        shakiness=_shakiness(branches, len(pieces), local),
        singular=singular,
        constraint_singular=_rank_changes(reduction, branches, local),
        overconstrained=_overconstrained(reduction, branches, local),
        redundant_rows=implied_rows(reduction.jacobian, constraints.owners),
        gimbal_locks=gimbal_locks(constraints),
        tangent_space=rates,
    )


def _confirmed(branches: tuple[Branch, ...]) -> list[Branch]:
    return [b for b in branches if b.finding is Finding.CONFIRMED]


def _local(reduction: Reduction, branches: tuple[Branch, ...]) -> int | None:
    """Return the local freedom."""
    if not reduction.redundant:
        return reduction.freedom
    found = _confirmed(branches)
    most = max((b.dimension for b in found), default=0)
    # A cusp that other motions pass may be more than a line.
    open_ones = [b for b in branches if b.finding is Finding.UNDECIDED and b.dimension > most]
    beyond = [b for b in found if b.dimension == most and not b.smooth and b.freedom > most]
    return None if open_ones or beyond else most


def _singular(reduction: Reduction, branches: tuple[Branch, ...], local: int | None) -> bool | None:
    if not reduction.redundant:
        return False
    if local is None:
        return None
    found = _confirmed(branches)
    return bool(local) and not (len(found) == 1 and found[0].smooth and found[0].piece.linear)


def _shakiness(branches: tuple[Branch, ...], order: int, local: int | None) -> int | None:
    """Return the order before the first cone that is the tangent cone."""
    if local is None or any(b.finding is Finding.UNDECIDED for b in branches):
        return None
    tangent = {id(b) for b in _confirmed(branches)}
    if any(not b.both_ways for b in _confirmed(branches)):
        return None
    for k in range(1, order + 1):
        if {id(b) for b in branches if b.first <= k <= b.last} == tangent:
            return k - 1
    return None


def _rank_changes(
    reduction: Reduction, branches: tuple[Branch, ...], local: int | None
) -> bool | None:
    if local is None:
        return None
    return any(b.freedom != reduction.freedom for b in _confirmed(branches))


def _overconstrained(
    reduction: Reduction, branches: tuple[Branch, ...], local: int | None
) -> bool | None:
    """Return whether rows depend on others along the motions, or here if there are none."""
    if local is None:
        return None
    m, n = reduction.constraints.m, reduction.constraints.n
    along = [b.freedom for b in _confirmed(branches)] or [reduction.freedom]
    return max(m - n + k for k in along) > 0
