"""Impulses of ideal joints, those among them that drives of joints give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from nsopt.algebra import rank
from nsopt.mechanics.dynamics import Dynamics
from nsopt.mechanics.element import Constraint
from nsopt.mechanics.frame import Frame
from nsopt.mechanics.symbolic import SymbolicMechanism, VirtualWork

SOMEWHERE = 0.3
"""Displacement [m, rad] to where ranks are those of most postures."""

UNIT = 1e-9
"""Below that an entry of a direction is round-off."""


class Kept(NamedTuple):
    """A joint that is a constraint, with what keeps it."""

    joint: Constraint
    mu: ca.SX  # (rows,) its multipliers
    residual: ca.SX  # (rows,)
    rates: ca.SX  # (drives,) of the freedoms that are driven
    efforts: ca.SX  # (drives,) of their drives, under mu

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames that these act on."""
        drives = self.joint.drives
        return tuple(x for drive in drives for x in (drive.a, drive.b)) or self.joint.frames

    @property
    def work(self) -> VirtualWork:
        """The forces that keep it: on the bodies of its frames, or those of drives."""
        if not self.joint.drives:
            return VirtualWork(((self.residual, self.mu),))
        return VirtualWork((), ((self.rates, self.efforts),))


def kept_joints(s: SymbolicMechanism, mu: ca.SX) -> Iterator[Kept]:
    """Yield the joints that are constraints under multipliers mu (nc,).

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
            efforts = _directions(s, rates).T @ (s.gradient(residual).T @ own)
        yield Kept(joint, own, residual, rates, efforts)


def effort_functions(s: SymbolicMechanism) -> dict[str, Any]:
    """Return the functions of a `Dynamics` that concern forces of ideal joints, by name."""
    mu = ca.SX.sym("mu", sum(r.numel() for r in s.residuals))
    columns, efforts, names, units = [], [], list[str](), list[str]()
    for kept in kept_joints(s, mu):
        if not kept.joint.drives:
            columns.append(s.gradient(kept.residual).T)
            continue
        push = ca.jacobian(kept.efforts, kept.mu)
        columns.append(_directions(s, kept.rates) @ push)
        efforts.append(kept.efforts)
        drives = kept.joint.drives
        names += [
            f"{kept.joint.name}.{drive.names[2]}" + (f"[{k}]" if len(drives) > 1 else "")
            for k, drive in enumerate(drives)
        ]
        units += [drive.units[2] for drive in drives]
    F = ca.horzcat(ca.SX(s.v.numel(), 0), *columns)
    return {
        "effort_matrix": s.function("effort_matrix", "t q p", F),
        "drive_names": tuple(names),
        "drive_units": tuple(units),
        "efforts": ca.Function(
            "efforts",
            [s.t, s.q, s.p, mu],
            s.evaluated(ca.vertcat(ca.SX(0, 1), *efforts)),
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
    C, F = (np.asarray(f(*at)) for f in (d.closure_matrix, d.effort_matrix))
    # Mobility of what is driven by unit efforts, as that of guides by unit forces.
    mobile = C @ np.linalg.pinv(np.asarray(d.mass(*at[1:])), hermitian=True)
    if rank(mobile @ F) >= rank(mobile @ C.T):
        return
    names = [x.name for x in d.constraints if len(x.drives) > 1] or list(d.closure_names)
    drives = [x for x in d.drive_names if x.startswith(f"{names[0]}.")]
    raise ValueError(
        f"the drives {', '.join(drives)} cannot produce the effort of joint {names[0]!r}: drive "
        "joints that move it in all the directions it keeps"
    )


def _directions(s: SymbolicMechanism, rates: ca.SX) -> ca.SX:
    """Return generalized forces per effort of drives, (nv, drives)."""
    return s.evaluated(ca.jacobian(rates, s.v))[0].T


def _check_drives(s: SymbolicMechanism, joint: Constraint, rates: ca.SX, rows: int) -> None:
    """Refuse drives that are not as many as the rows of a joint, unless the tree has them all."""
    what, count = f"{type(joint).__name__} {joint.name!r}", rates.numel()
    if count < rows:
        raise ValueError(
            f"{count} drives cannot produce the effort of {what}, which keeps {rows} coordinates: "
            f"name {rows} joints"
        )
    in_tree = s.mechanism.coordinates != "absolute"
    if in_tree:
        q = np.append(s.coordinates.start(refuse=False)[0], np.zeros(len(s.internal_names)))
        p = [parameter.value for parameter in s.parameters]
        B = np.asarray(s.function("directions", "t q p", _directions(s, rates))(0.0, q, p))
        in_tree = bool(np.all(np.sum(np.abs(B) > UNIT, axis=0) == 1))
    if not in_tree:
        raise ValueError(
            f"{what} keeps {rows} coordinates by {count} drives: name {rows} of them, or use "
            "relative coordinates with all of their joints in the tree"
        )
