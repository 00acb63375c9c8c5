"""Static equilibria, under ideal joints and contacts at rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics.equations.dynamics import Dynamics
from nsopt.mechanics.starts.start import Start, consistent
from nsopt.mpcc import Mpcc, Newton, SquareSolver

FIRST = 0.1  # size h [s] of the first of the steps that lead there
LONGER, SHORTER = 3.0, 0.1  # factors on h after a step that is solved, and one that is not
STEPS = 200  # number of steps, at most
BALANCED = 1e-10  # what may be left of the sum of forces, over the typical force
FAR = 0.5  # move [m, rad] of a step from which it counts as not solved: it may not lead down
# h [s] beyond which the search is given up: after 13 steps in a row that are solved, the last of
# them next to without inertia, or after 6 that are not.
LONGEST, SHORTEST = 1e5, 1e-6


class _Step(NamedTuple):
    q: Array  # (nq,) at its end
    unbalanced: Array  # (nv,) [N, N m] sum of all forces there


def equilibrium(
    dynamics: Dynamics,
    near: Start | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Start:
    """Return a state of rest next to another: the start of motions that begin at rest.

    Springs, weight and loads that do not depend on velocities, ideal joints, and contacts without
    friction are in balance, at the time of ``near``. From there the mechanism creeps as in honey,
    by implicit steps M x / h^2 = forces after the move x, with h that grows, so that it comes to
    rest in a minimum of the potential, not on a summit; in which of several depends on ``near``.

    Parameters
    ----------
    dynamics : Dynamics
    near : Start, optional
        The start stated by the bodies by default; joints may be open there.
    parameters : mapping of name to number
        Values of Parameters in place of those stated.

    Returns
    -------
    Start
        Velocities are those of joints that move with time, zero without.

    Raises
    ------
    ValueError
        If none is found: naming the coordinate along which nothing holds and the force on it, or
        the joint that does not close.
    """
    d, p = dynamics, dynamics.values(parameters)
    near = consistent(d, near, parameters)
    creep, q, h = _Creep(d, near.t, p), near.q, FIRST
    last: _Step | None = None
    for _ in range(STEPS):
        step = creep.step(q, h)
        if step is None:
            h *= SHORTER
            if h < SHORTEST:
                raise ValueError(
                    "no equilibrium: steps of the way there do not "
                    f"solve{_describe_unbalanced(creep, last)}; begin nearer to it"
                )
            continue
        q, last = step.q, step
        if np.max(np.abs(step.unbalanced), initial=0.0) <= BALANCED * creep.force:
            return consistent(d, Start(q, np.zeros(d.nv), near.t), parameters)
        h *= LONGER
        if h > LONGEST:
            break
    raise ValueError(
        f"no equilibrium{_describe_unbalanced(creep, last)}: support it there by a joint, a spring "
        "or a contact"
    )


def _describe_unbalanced(creep: _Creep, step: _Step | None) -> str:
    """Return in words the largest force that nothing balances after a step."""
    if step is None:
        return ""
    k = int(np.argmax(np.abs(step.unbalanced)))
    force = abs(step.unbalanced[k])
    return f": {force:.4g} N (or N m) along {creep.names[k]!r} are held by nothing"


class _Creep:
    """Implicit steps M x / h^2 = forces at the end of x, each from rest: mass acts as friction."""

    def __init__(self, d: Dynamics, t: float, p: Array) -> None:
        self._d, self._t, self._p = d, t, p
        self.names = d.v_names
        q0 = np.asarray(d.stated_start(refuse=False)[0])
        load = np.abs(np.asarray(d.applied(t, q0, np.zeros(d.nv), p)))
        mass = float(np.sum(np.asarray(d.masses(p)))) or 1.0
        # The typical force [N]: the largest load, or what moves all mass by 1 m/s^2.
        self.force = max(mass, float(np.max(load, initial=0.0)))
        mpcc = Mpcc("creep")
        q, h = mpcc.parameter("q", d.nq), mpcc.parameter("h", 1)
        x = mpcc.variable("move", d.nv)
        mu = mpcc.variable("joints", len(d.multiplier_names), scale=self.force, multiplier=True)
        lam = mpcc.variable("contacts", len(d.contact_names), scale=self.force)
        end = d.retract(q, x)
        at = (t, end, p)
        forces = d.applied(*at[:2], ca.SX.zeros(d.nv), p)
        forces += d.effort_matrix(*at) @ mu + d.gap_matrix(*at) @ lam
        # Friction, which could hold the mechanism anywhere, is left out; M is made regular, so that
        # bodies without mass creep as well.
        M = d.mass(q, p)
        honey = M + ca.SX.eye(d.nv) * 1e-6 * mass
        mpcc.equal("motion", honey @ x / h**2 - forces, scale=self.force)
        mpcc.equal("closure", d.closure(*at), redundant=d.redundant > 0)
        mpcc.equal("rolling", d.nonholonomic_matrix(t, q, p) @ x)
        scale = (np.asarray(d.gap_scale(p)).ravel(), self.force)
        mpcc.complement("contact", d.gap(*at), lam, scale=scale, labels=d.contact_names)
        self._newton = Newton()
        self._solve = SquareSolver(mpcc, self._newton)
        unknowns = mpcc.x
        self._size = unknowns.numel()
        self._end = ca.Function("end", [unknowns, ca.vertcat(q, h)], [end, forces, x])

    def step(self, q: Array, h: float) -> _Step | None:
        """Return where a step of h leads, None where it does not solve or leads too far."""
        known = np.append(q, h)
        x, residual, _ = self._solve(np.zeros(self._size), known)
        end, forces, move = self._end(x, known)
        if not (residual <= self._newton.rough and float(ca.norm_inf(move)) <= FAR):
            return None
        return _Step(np.asarray(self._d.renormalise(end)).ravel(), np.asarray(forces).ravel())
