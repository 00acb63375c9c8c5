"""Warnings before the first step, of what no step of a run can follow."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from nsopt.algebra import null_space
from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Solver, Sqp
from nsopt.simulation.method import Method
from nsopt.simulation.run import Run

FALL = 100.0  # clearances that a body falls through in one step of h_min, from which on to warn
CLEARANCE = 100.0  # times the tolerance of gaps, the clearance below which to warn
SWING = 10.0  # angular frequency times h_min from which on to warn: 1.6 periods in a step
LARGE = 200  # unknowns of a step from which on quadratic programs take seconds
MASSLESS = 1e-12  # part of the largest inertia that counts as none

NUDGE = 1e-7
"""Displacement [m, rad] by which stiffness is measured: the root of the round-off of a number, at
which differences to one side have six digits; a warning needs one."""


def warn_of_limits(dynamics: Dynamics, run: Run, method: Method, stacklevel: int = 3) -> None:
    """Warn, with the remedy, where a run would be wrong or take without end.

    Only what is far beyond: steps that are too long for a contact or a spring by less are found
    and retried while it runs.
    """
    for text in (
        *_find_narrow_clearances(dynamics, run, method),
        *_find_long_falls(dynamics, run),
        *_find_stiff_springs(dynamics, run),
        *_find_large_programs(dynamics, method),
    ):
        warnings.warn(text, stacklevel=stacklevel)


def _find_narrow_clearances(d: Dynamics, run: Run, method: Method) -> Iterator[str]:
    c = _column(d.clearance(run.p))
    least, gap = np.nanmin(c, initial=np.inf), method.acceptance.gap
    if least < CLEARANCE * gap:
        owner = d.contact_owners[int(np.nanargmin(c))]
        yield (
            f"the clearance {least:.3g} m of {owner!r} is hardly more than the {gap:g} m to which "
            "gaps are solved: use the ideal joint, or a wider one"
        )


def _find_long_falls(d: Dynamics, run: Run) -> Iterator[str]:
    c = _column(d.clearance(run.p))
    mass = float(np.sum(_column(d.masses(run.p))))
    load = _column(d.applied(run.start.t, run.start.q, run.start.v, run.p))
    if not np.any(np.isfinite(c)) or not mass > 0 or not np.any(load):
        return
    acceleration = float(np.max(np.abs(load))) / mass
    h, least = run.steps.h_min, float(np.nanmin(c))
    if acceleration * h**2 / 2 > FALL * least:
        owner = d.contact_owners[int(np.nanargmin(c))]
        yield (
            f"in one step of h_min = {h:g} s a body falls {acceleration * h**2 / 2 / least:.2g} "
            f"times the clearance {least:g} m of {owner!r}: give h_min and h_max of about "
            f"{np.sqrt(2 * least / acceleration):.1g} s or less"
        )


def _find_stiff_springs(d: Dynamics, run: Run) -> Iterator[str]:
    frequency, name = find_fastest_swing(d, run)
    if frequency * run.steps.h_min > SWING:
        yield (
            f"{name!r} swings at {frequency:.3g} rad/s, too fast for h_min = {run.steps.h_min:g} "
            f"s: give h_min and h_max of about {1 / frequency:.1g} s, a softer spring, or a joint "
            "in its place"
        )


def find_fastest_swing(d: Dynamics, run: Run) -> tuple[float, str]:
    """Return the highest angular frequency [rad/s] at the start, 0 if none, and what moves most.

    The frequency is that of K x = w^2 M x among the motions that ideal joints allow.
    """
    if not d.applied.jac_sparsity(0, 1).nnz():  # loads do not depend on q: no springs
        return 0.0, ""
    start, p, still = run.start, run.p, np.zeros(d.nv)  # v is zero: dampers are no springs
    N = np.asarray(d.rate_matrix(start.q))
    at = _column(d.applied(start.t, start.q, still, p))
    moved = [_column(d.applied(start.t, start.q + NUDGE * n, still, p)) for n in N.T]
    K = (at - np.array(moved)).T / NUDGE
    free = null_space(np.asarray(d.closure_matrix(start.t, start.q, p)).reshape(-1, d.nv))
    M = free.T @ np.asarray(d.mass(start.q, p)) @ free
    K = free.T @ (K + K.T) @ free / 2
    if not np.any(K) or not np.all(np.isfinite(K)):
        return 0.0, ""
    inertias = np.linalg.eigvalsh(M)
    if inertias[0] <= MASSLESS * inertias[-1]:
        return 0.0, ""
    root = np.linalg.inv(np.linalg.cholesky(M))
    squares, motions = np.linalg.eigh(root @ K @ root.T)
    name = d.v_owners[int(np.argmax(np.abs(free @ root.T @ motions[:, -1])))]
    return float(np.sqrt(max(squares[-1], 0.0))), name


def _find_large_programs(d: Dynamics, method: Method) -> Iterator[str]:
    solver = method.first_solver(d)
    if not isinstance(solver, Solver) or not isinstance(solver.backend, Sqp):
        return
    count = d.nv + len(d.multiplier_names) + len(d.contact_names) + len(d.slip_contacts)
    if count > LARGE:
        remedy = "" if method.scheme.chooses_h else "solver=Compiled(), "
        yield (
            f"a step has {count} unknowns, for which quadratic programs (Sqp) take seconds: use "
            f"{remedy}Ipopt, or relative coordinates"
        )


def _column(x: object) -> Array:
    return np.asarray(x, dtype=float).ravel()
