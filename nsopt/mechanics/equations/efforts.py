"""Impulses of ideal joints, by their own multipliers or by the drives that keep them.

A constraint may name drives in place of a guide that pushes (`Programmed`, a servo constraint): the
motion keeps its rows all the same, but forces act only where these drives do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from nsopt.algebra import rank
from nsopt.mechanics.equations.dynamics import Dynamics
from nsopt.mechanics.equations.symbolic import SymbolicMechanism, VirtualWork
from nsopt.mechanics.model.element import Constraint, RateConstraint
from nsopt.mechanics.model.frame import Frame

SOMEWHERE = 0.3
"""Largest entry of a random displacement [m, rad] to where ranks are those of most postures."""

UNIT = 1e-9  # up to which an entry of a direction, which has entries of about one, is round-off


class Kept(NamedTuple):
    """A joint that is a constraint, with the forces that keep it."""

    joint: Constraint
    mu: ca.SX  # (rows,) its multipliers
    residual: ca.SX  # (rows,) [m, or 1]
    rates: ca.SX  # (drives,) [rad/s, m/s] of the freedoms that are driven; none without drives
    efforts: ca.SX  # (drives,) [N m, N] of these; mu (rows,) where they are as many, or none

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames on which these forces act."""
        drives = self.joint.drives
        return tuple(x for drive in drives for x in (drive.a, drive.b)) or self.joint.frames

    @property
    def work(self) -> VirtualWork:
        """The forces that keep it: on the bodies of its frames, or those of drives."""
        if not self.joint.drives:
            return VirtualWork(((self.residual, self.mu),))
        return VirtualWork((), ((self.rates, self.efforts),))


def pair_rates(s: SymbolicMechanism, nu: ca.SX) -> Iterator[tuple[RateConstraint, VirtualWork]]:
    """Yield constraints on velocities under multipliers nu, each with the forces that keep it."""
    first = 0
    for element, rows in zip(s.rate_constraints, s.speeds, strict=True):
        last = first + rows.numel()
        yield element, VirtualWork((), ((rows, nu[first:last]),))
        first = last


def pair_joints(s: SymbolicMechanism, mu: ca.SX) -> Iterator[Kept]:
    """Yield the joints that are constraints under the first of the multipliers mu (nm,).

    Raises
    ------
    ValueError
        If drives that are to keep one are fewer than its rows; or more, but not all in the tree.
    """
    first = 0
    for joint, residual in zip(s.mechanism.cut, s.residuals, strict=True):
        n = residual.numel()
        own, first = mu[first : first + n], first + n
        rates = ca.vertcat(ca.SX(0, 1), *(drive.rate(s.state) for drive in joint.drives))
        efforts = own
        if joint.drives and rates.numel() != n:
            _check_drives(s, joint, rates, n)
            # Each drive gives its part of the force by which a guide would keep the joint, C^T mu.
            # It moves one coordinate of the tree, as is checked: its part is one entry of that.
            efforts = _find_directions(s, rates).T @ (s.gradient(residual).T @ own)
        yield Kept(joint, own, residual, rates, efforts)


def effort_functions(s: SymbolicMechanism) -> dict[str, Any]:
    """Return the functions of a `Dynamics` that concern forces of ideal joints, by name."""
    mu = ca.SX.sym("mu", sum(r.numel() for r in [*s.residuals, *s.speeds]))
    columns, efforts, names, units = [], [], list[str](), list[str]()
    for kept in pair_joints(s, mu):
        if not kept.joint.drives:
            columns.append(s.gradient(kept.residual).T)
            continue
        columns.append(_find_directions(s, kept.rates) @ ca.jacobian(kept.efforts, kept.mu))
        efforts.append(kept.efforts)
        drives = kept.joint.drives
        names += [
            f"{kept.joint.name}.{drive.names[2]}" + (f"[{k}]" if len(drives) > 1 else "")
            for k, drive in enumerate(drives)
        ]
        units += [drive.units[2] for drive in drives]
    columns += [ca.jacobian(rows, s.v).T for rows in s.speeds]
    (F,) = s.evaluate(ca.horzcat(ca.SX(s.v.numel(), 0), *columns))
    return {
        "effort_matrix": s.function("effort_matrix", "t q p", F),
        "drive_names": tuple(names),
        "drive_units": tuple(units),
        "efforts": ca.Function(
            "efforts",
            [s.t, s.q, s.p, mu],
            s.evaluate(ca.vertcat(ca.SX(0, 1), *efforts)),
            ["t", "q", "p", "mu"],
            ["efforts"],
        ),
    }


def check_efforts(d: Dynamics) -> None:
    """Refuse drives that cannot keep their joints, whatever their efforts.

    Judged in a posture somewhere near the stated one, which may be singular by itself.

    Raises
    ------
    ValueError
        Naming the joint and its drives.
    """
    if not np.any(np.asarray(d.driven)):
        return
    p, (q, _) = d.values(), d.stated_start(refuse=False)
    away = np.random.default_rng(0).uniform(-SOMEWHERE, SOMEWHERE, d.nv)
    at = (0.0, np.asarray(d.retract(q, away)).ravel(), p)
    matrices = (d.closure_matrix, d.nonholonomic_matrix, d.effort_matrix)
    C, B, F = (np.asarray(f(*at)) for f in matrices)
    J = np.vstack([C.reshape(-1, d.nv), B.reshape(-1, d.nv)])
    # Accelerations of what is kept, by generalized forces. Drives must reach as many of them as
    # forces J^T of the constraints themselves would.
    response = J @ np.linalg.pinv(np.asarray(d.mass(*at[1:])), hermitian=True)

    def too_weak(driven: list[str]) -> bool:
        """Return whether drives of some joints, constraint forces of others, keep less."""
        with_drives = np.where(np.isin(d.multiplier_names, driven), F, J.T)
        return rank(response @ with_drives) < rank(response @ J.T)

    driven = [joint.name for joint in d.constraints if joint.drives]
    if not too_weak(driven):
        return
    name = next((name for name in driven if too_weak([name])), driven[0])
    drives = [x for x in d.drive_names if x.rpartition(".")[0] == name]
    raise ValueError(
        f"the drives {', '.join(drives)} cannot produce the effort of joint {name!r}: drive "
        "joints that move it in all the directions it keeps"
    )


def _find_directions(s: SymbolicMechanism, rates: ca.SX) -> ca.SX:
    """Return generalized forces per effort of drives, (nv, drives)."""
    return s.evaluate(ca.jacobian(rates, s.v))[0].T


def _check_drives(s: SymbolicMechanism, joint: Constraint, rates: ca.SX, rows: int) -> None:
    """Refuse drives that are not as many as the rows of a joint, unless the tree has them all."""
    what, count = f"{type(joint).__name__} {joint.name!r}", rates.numel()
    if count < rows:
        raise ValueError(
            f"{count} drives cannot produce the effort of {what}, which keeps {rows} coordinates: "
            f"name {rows} joints"
        )
    in_tree = s.mechanism.is_relative
    if in_tree:
        q = np.append(s.coordinates.start(refuse=False)[0], np.zeros(len(s.internal_names)))
        p = [parameter.value for parameter in s.parameters]
        B = np.asarray(s.function("directions", "t q p", _find_directions(s, rates))(0.0, q, p))
        in_tree = bool(np.all(np.sum(np.abs(B) > UNIT, axis=0) == 1))  # a coordinate each
    if not in_tree:
        raise ValueError(
            f"{what} keeps {rows} coordinates by {count} drives: name {rows} of them, or use "
            "relative coordinates with all of their joints in the tree"
        )
