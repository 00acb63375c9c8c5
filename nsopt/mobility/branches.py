"""Branches: pieces of cones, in rates of joints, what tracing found and the motions along them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from nsopt.algebra import null_space
from nsopt.arrays import Array
from nsopt.mobility.cones import ConePiece
from nsopt.mobility.reduction import Reduction
from nsopt.mobility.tracing import Finding, Trace, trace

SHOWN = 1e-6  # part of the largest rate up to which a rate is not shown
SMALL = 0.01  # part of the largest rate up to which others are not stated over it
CLOSED = 1e-10  # residual, in scaled rows, at which loops are closed


@dataclass(frozen=True, eq=False)
class MotionBranch:
    """A line, a subspace or a curved part of the cones.

    Attributes
    ----------
    piece : ConePiece
        In the kernel of J.
    first, last : int
        The lowest and highest order k of the cones K^k that it is a piece of.
    finding : Finding
        Whether finite motions lead along it: `CONFIRMED` if along all directions that were tried,
        `REFUTED` if not along one of them.
    both_ways : bool
        Whether motions lead along each direction and its opposite.
    smooth : bool
        Whether exactly one motion leads along each direction and its opposite.
    freedom : int
        The least freedom to first order, n - rank J, at points of the motions.
    rates : mapping of rate to (k,)
        Rates of all joints, cut ones too, along each vector of a basis of its span.
    equations : tuple of str
        Of a curved one, to lowest order, in rates by which all others are given.
    points : (number, n)
        Coordinates u [rad or m] of one point of each motion that was found.
    """

    piece: ConePiece
    first: int
    last: int
    finding: Finding
    both_ways: bool
    smooth: bool
    freedom: int
    rates: Mapping[str, Array]
    equations: tuple[str, ...]
    points: Array

    @property
    def dimension(self) -> int:
        """Its dimension."""
        return self.piece.dimension

    def __str__(self) -> str:
        """Return in words what it is, and what was found along it."""
        kind = {1: "a line"}.get(self.dimension, f"of dimension {self.dimension}")
        if not self.piece.linear:
            kind += ", curved"
        orders = f"order {self.first}" + (f" to {self.last}" if self.last > self.first else "")
        found = {
            Finding.CONFIRMED: "finite motions lead along it",
            Finding.REFUTED: "no finite motion leads along it",
            Finding.UNDECIDED: "whether finite motions lead along it is undecided",
        }[self.finding]
        if self.finding is Finding.CONFIRMED and not self.both_ways:
            found += ", one way only"
        elif self.finding is Finding.CONFIRMED and not self.smooth:
            found += ", several in one direction"
        return f"{kind}, {orders}: {found}"


def trace_branches(reduction: Reduction, cones: list[list[ConePiece]]) -> tuple[MotionBranch, ...]:
    """Return the pieces of all cones as branches, each traced."""
    pieces = {id(piece): piece for cone in cones for piece in cone}
    branches = []
    for key, piece in pieces.items():
        orders = [k for k, cone in enumerate(cones, 1) if any(id(p) == key for p in cone)]
        others = [x for x in pieces.values() if x is not piece and not x.contains(piece)]
        # With one free direction g is a power series in it: once a coefficient is not zero, the
        # cone ends there and g has no other zero nearby.
        isolated = reduction.freedom == 1 and orders[-1] < len(cones)
        pairs = [] if isolated else _trace_rays(reduction, piece, others)
        found = [x for pair in pairs for x in pair if x.finding is Finding.CONFIRMED]
        finding = Finding.REFUTED if isolated else _judge(pairs)
        both = finding is Finding.CONFIRMED and len(found) == 2 * len(pairs)
        points = np.array([x.u for x in found]).reshape(-1, len(reduction.columns))
        branches.append(
            MotionBranch(
                piece=piece,
                first=orders[0],
                last=orders[-1],
                finding=finding,
                both_ways=both,
                smooth=both and all(x.sheets == 1 for x in found),
                freedom=min((x.freedom for x in found), default=0),
                rates=reduction.rates(piece.basis),
                equations=_format_equations(reduction, piece),
                points=points * reduction.columns,
            )
        )
    return tuple(branches)


def _trace_rays(
    reduction: Reduction, piece: ConePiece, others: list[ConePiece]
) -> list[tuple[Trace, Trace]]:
    """Return the traces of each ray of a piece and its opposite, up to one without motion."""
    pairs: list[tuple[Trace, Trace]] = []
    for ray in piece.rays.T:
        pairs.append((trace(reduction, piece, ray, others), trace(reduction, piece, -ray, others)))
        if all(x.finding is Finding.REFUTED for x in pairs[-1]):
            break
    return pairs


def _format_equations(reduction: Reduction, piece: ConePiece) -> tuple[str, ...]:
    """Return the lowest forms of a curved piece in as many rates of joints as J leaves free."""
    if piece.equations is None:
        return ()
    N = reduction.columns[:, None] * reduction.bases.N
    # Pivots of QR are the rates by which s is known best.
    chosen = np.sort(scipy.linalg.qr(N.T, pivoting=True, mode="r")[1][: N.shape[1]])
    names = [reduction.constraints.names[k] for k in chosen]
    inverse = np.asarray(np.linalg.inv(N[chosen]), dtype=float)
    return piece.equations.g.lowest().along(inverse).texts(names)


def _judge(pairs: list[tuple[Trace, Trace]]) -> Finding:
    """Return the finding of a piece: a motion along a ray or its opposite is one along the line."""
    findings = [{x.finding for x in pair} for pair in pairs]
    if all(Finding.CONFIRMED in x for x in findings):
        return Finding.CONFIRMED
    return Finding.REFUTED if any(x == {Finding.REFUTED} for x in findings) else Finding.UNDECIDED


def format_rates(b: MotionBranch) -> tuple[str, ...]:
    """Return the rates of a line or a subspace as text, one for each vector of a basis."""
    names, basis = list(b.rates), _reduce_basis(np.array(list(b.rates.values())))
    return tuple(
        ", ".join(
            f"{name} {np.round(v, 4) + 0.0:g}"  # + 0.0 makes 0 of -0
            for name, v in zip(names, x, strict=True)
            if abs(v) > SHOWN * np.max(np.abs(x))
        )
        for x in basis.T
    )


def _reduce_basis(basis: Array) -> Array:
    """Return vectors (n, k) of the same span, each 1 at a place where the others are 0."""
    R, done = basis.copy(), 0  # Gauss-Jordan elimination of columns
    for row in range(len(R)):
        left = np.abs(R[:, done:])
        if not left.size:
            break
        k = done + int(np.argmax(left[row]))
        if left[row, k - done] > SMALL * np.max(left):
            R[:, [done, k]] = R[:, [k, done]]
            R[:, done] /= R[row, done]
            others = np.arange(R.shape[1]) != done
            R[:, others] -= np.outer(R[:, done], R[row, others])
            done += 1
    return R


def follow_branch(
    reduction: Reduction, branch: MotionBranch, step: float, count: int
) -> list[Array]:
    """Return the motions of a branch that tracing confirmed: u (steps + 1, n), zero at the posture.

    Each, one for each direction that was traced, is continued along its tangent as far as the loops
    close, ``count`` steps at most, of length ``step`` in scaled coordinates [rad, or over the size
    of the mechanism].
    """
    return [
        reduction.columns * _follow(reduction, point / reduction.columns, step, count)
        for point in branch.points
    ]


def _follow(reduction: Reduction, near: Array, step: float, count: int) -> Array:
    """Return the motion (steps + 1, n) through the posture and a point near it, scaled."""
    points = [np.zeros_like(near), near]
    while len(points) <= count:
        _, J = reduction.evaluate(points[-1])
        free = null_space(J)
        ahead = points[-1] - points[-2]
        ahead = free @ (free.T @ ahead)
        size = float(np.linalg.norm(ahead))
        new = None if size < 1e-9 else _close(reduction, points[-1] + step / size * ahead)
        if new is None:
            break
        points.append(new)
    # The point near by is no step away: it is left out unless it is all there is.
    return np.array([points[0], *points[2:]] if len(points) > 2 else points)


def _close(reduction: Reduction, u: Array) -> Array | None:
    """Return a closed posture near ``u``, by Gauss-Newton; None where it finds none."""
    for _ in range(20):
        h, J = reduction.evaluate(u)
        if np.max(np.abs(h), initial=0.0) < CLOSED:
            return u
        u = u - np.linalg.lstsq(J, h, rcond=1e-8)[0]
    return None
