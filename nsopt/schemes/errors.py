"""Embedded estimates of the local error of a step, from the balances of that step alone.

`ErrorControl` chooses h by that of the position; `Acceptance` allows gains of energy by the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import casadi as ca

from nsopt.schemes.balance import Balance
from nsopt.schemes.node import Node
from nsopt.schemes.terms import kinetic, momentum_rate, smooth_forces, squares


class Errors(NamedTuple):
    """Estimates of the local error of a step."""

    energy: ca.SX  # [J]
    position: ca.SX  # [m] of the coordinates, in the metric of the mass


def sum_errors(parts: Iterable[Errors]) -> Errors:
    """Return the sums over the parts of a step."""
    energies, positions = zip(*parts, strict=True)
    return Errors(sum(energies, ca.SX(0)), sum(positions, ca.SX(0)))


def find_change_at_end(balances: Sequence[Balance], end: Node) -> ca.SX:
    """Return by how much impulses change if directions and forces are those at the end, (nv,)."""
    d = balances[0].dynamics
    F, K = d.effort_matrix(*end.at), smooth_forces(d, *end.at, end.v) + end.drive
    return sum(
        (
            b.h * (K - b.K) + (end.W - b.node.W) @ b.impulses.lam + (F - b.F) @ b.impulses.mu
            for b in balances
        ),
        ca.SX.zeros(d.nv),
    )


def estimate_first_order_errors(balances: Sequence[Balance], end: Node, h: ca.SX) -> Errors:
    """Return estimates by what taking all forces at the end of the step would change, of order h^2.

    The end is that before coordinates are projected.
    """
    M, before, after = balances[-1].M, balances[0].before, balances[-1].after
    changed = find_change_at_end(balances, end)
    smooth = sum((b.h * b.K for b in balances), ca.SX.zeros(after.numel()))
    from_smooth, from_changed, from_both = squares(M, smooth, changed, changed + smooth)
    energies = kinetic(M, after) + kinetic(M, before) + from_smooth
    energy = ca.sqrt(from_changed * energies)
    return Errors(energy, h / 2 * _find_mean_speed(M, from_both))


def estimate_symmetric_errors(
    halves: tuple[Balance, Balance],
    h: ca.SX,
    v: ca.SX,
    mu: ca.SX,
    *,
    M: ca.SX | None = None,
    impact: ca.SX | int = 0,
) -> Errors:
    """Return estimates for a symmetric step of two halves, of order h^3.

    v (nv,) is the velocity of the move, mu (nm,) are impulses of joints whose directions are
    compared, M (nv, nv) is the metric of the coordinates, by default the mass matrix at the end.
    ``impact`` is 1 where all momentum changes at once: its time is known to first order only,
    whatever h, which is no reason for smaller steps.
    """
    first, second = halves
    (mu_0, lam, _), (mu_1, lam_1, _) = first.impulses, second.impulses
    W, W_1, F, F_1 = first.node.W, second.node.W, first.F, second.F
    d = first.dynamics
    K, K_1 = momentum_rate(d, *first.node.at, v), momentum_rate(d, *second.node.at, v)
    forces = h / 2 * (K_1 - K)
    # What impulses of the first half would change with the directions at the end; and by how much
    # the halves differ.
    changed = forces + (W_1 - W) @ lam + (F_1 - F) @ mu
    uneven = forces + (1 - impact) * (W_1 @ lam_1 - W @ lam + F_1 @ mu_1 - F @ mu_0)
    dv = second.after - first.before
    from_changed, from_quadrature, from_mass, from_uneven, from_mean = squares(
        second.M,
        changed,
        # Where forces set in within the step this is all of the error.
        estimate_quadrature_error(first, h, v, K + K_1),
        (second.M - first.M) @ dv,
        uneven,
        h / 2 * (K + K_1),
    )
    twice = 2 * kinetic(second.M, dv)  # |dv|^2 in the metric of the mass
    energy = (
        ca.sqrt(from_changed * twice) / 2
        + ca.sqrt(from_quadrature * 2 * kinetic(second.M, v))
        + ca.sqrt(from_mass * twice)
        # Loads work on the mean velocity of each half, potentials on that of the move.
        + ca.sqrt(from_uneven * from_mean) / 4
    )
    in_metric = (second.M, from_uneven) if M is None else (M, *squares(M, uneven))
    return Errors(energy, h / 6 * _find_mean_speed(*in_metric))


def estimate_quadrature_error(b: Balance, h: ca.SX, v: ca.SX, ends: ca.SX) -> ca.SX:
    """Return by how much the impulse of the smooth forces is off (nv,) [N s, N m s].

    Trapezoidal rule less Simpson's, two thirds of the difference from the midpoint rule, over a
    whole step from b on at v (nv,); ``ends`` (nv,) is the sum of the forces at both ends.
    """
    d, (t, q, p) = b.dynamics, b.node.at
    middle = d.retract(q, h / 2 * v)
    return 2 / 3 * h * (ends / 2 - momentum_rate(d, t + h / 2, middle, p, v))


def _find_mean_speed(M: ca.SX, square: ca.SX) -> ca.SX:
    """Return the speed of the mean mass, tr M / nv, at this square of an impulse [J]."""
    return ca.sqrt(square * M.size1() / ca.trace(M))
