"""Postures that meet conditions: inverse kinematics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.checks import finite
from nsopt.mechanics import Dynamics
from nsopt.mpcc import QUIET
from nsopt.trajectory.conditions import Bound, Condition, Orient
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.returned import bounds_of

Array = NDArray[np.float64]

MET = 1e-7
"""Violation below which a condition counts as met."""

AT_LIMIT = 1e-3
"""Of the width of a range, or of a limit on one side, how far a value at its limit may be off it:
where conditions exclude each other searches end less exactly."""


def find_posture(
    dynamics: Dynamics,
    conditions: Sequence[Condition],
    near: ArrayLike | None = None,
    *,
    starts: int = 12,
    seed: int = 0,
    parameters: Mapping[str, float] | None = None,
) -> Array:
    """Return coordinates, (nq,), at which a mechanism at rest meets conditions.

    Conditions at every node (limits, obstacles) and at the end (`Reach`, `Orient`) are met. With
    `ActuatorLimits` the drives can also hold the posture against gravity.

    Parameters
    ----------
    dynamics : Dynamics
        In coordinates that are angles and lengths.
    conditions : sequence of Condition
    near : (nq,), optional
        Of all postures found the one nearest to this is returned; by default zero.
    starts : int
        Number of searches: the first from ``near``, the others from random postures within the
        range of the actuators, or within half a turn and a metre where there is none.
    seed : int
        Of the random postures.
    parameters : mapping of name to float, optional

    Raises
    ------
    ValueError
        If a condition does not fit the mechanism, or no search meets all of them: the message
        names those that are violated in the best, and the limits that it is at.
    """
    for condition in conditions:
        condition.check(dynamics)
    if dynamics.nq != dynamics.nv:
        raise ValueError("find_posture is for coordinates that are angles and lengths")
    n = dynamics.nq
    about = np.zeros(n) if near is None else finite("near of find_posture", near, (n,))
    q, bounds = ca.SX.sym("q", n), []
    still = ca.SX.zeros(n)
    m = NodeSample(dynamics, ca.SX(0), q, still, still, ca.SX(ca.DM(dynamics.values(parameters))))
    for condition in conditions:
        stated = bounds_of(condition, "along", m) + bounds_of(condition, "end", m)
        bounds += [b for b in stated if ca.depends_on(b.value, q)]
    search = _Search(q, bounds, about)
    ends = [search.run(x) for x in _starts(dynamics, about, starts, seed)]
    met = [end.q for end in ends if end.off.max(initial=0.0) <= MET]
    if not met:
        orients = any(isinstance(x, Orient) for x in conditions)
        best = min(ends, key=lambda end: float(end.off.max()))
        raise ValueError(search.complaint(best, starts, orients))
    return min(met, key=lambda x: float(np.linalg.norm(x - about)))


class _End(NamedTuple):
    """The posture where a search ends, with values and violations of the rows of bounds there."""

    q: Array
    values: Array
    off: Array


class _Search:
    """The nearest posture that meets bounds, by IPOPT."""

    def __init__(self, q: ca.SX, bounds: Sequence[Bound], near: Array) -> None:
        none = np.zeros(0)
        self.lower, self.upper = (
            np.concatenate([none, *(getattr(b, side) for b in bounds)])
            for side in ("lower", "upper")
        )
        self.labels = [b.label for b in bounds for _ in range(b.value.numel())]
        g = ca.vertcat(ca.SX(0, 1), *(b.value for b in bounds))
        # Rows of a pose may imply each other: equations of a little width are no equations.
        self._wide = MET / 2 * (self.lower == self.upper)
        program: dict[str, Any] = {"x": q, "f": ca.sumsqr(q - near), "g": ca.densify(g)}
        options = {**QUIET, "ipopt.max_iter": 200, "ipopt.constr_viol_tol": MET / 10}
        self._solve = ca.nlpsol("posture", "ipopt", program, options)

    def run(self, start: Array) -> _End:
        """Return where a search ends."""
        solution = self._solve(x0=start, lbg=self.lower - self._wide, ubg=self.upper + self._wide)
        q, g = (np.asarray(solution[name]).ravel() for name in ("x", "g"))
        off = np.maximum(np.maximum(self.lower - g, g - self.upper), 0)
        return _End(q, g, np.where(np.isfinite(g), off, np.inf))

    def complaint(self, best: _End, starts: int, orients: bool) -> str:
        """Return the message for no posture found."""
        worst: dict[str, float] = {}
        for k in np.argsort(-best.off):
            if best.off[k] > MET:
                worst.setdefault(self.labels[k], float(best.off[k]))
        off = " and ".join(f"{label} is off by {size:.3g}" for label, size in worst.items())
        limits = self._at_limits(best)
        at = f" while {' and '.join(limits)}" if limits else ""
        remedies = ["move the target"]
        remedies += ["widen that limit" if len(limits) == 1 else "widen those limits"] * bool(
            limits
        )
        remedies += ["let Orient be further off (within=, about_z=True)"] * orients
        return (
            f"no posture meets all conditions: in the best of {starts} searches {off}{at}; "
            f"{', '.join(remedies)}, or give more starts"
        )

    def _at_limits(self, end: _End) -> list[str]:
        """Return the limits that values are at, in words."""
        width, texts = self.upper - self.lower, []
        for limits, side in ((self.lower, "lower"), (self.upper, "upper")):
            size = np.where(np.isfinite(width), width, np.maximum(np.abs(limits), MET))
            near = np.isfinite(limits) & (width > 0) & (end.off <= MET)
            near &= np.abs(end.values - limits) <= AT_LIMIT * size
            texts += [
                f"{self.labels[k]} is at its {side} limit, {limits[k]:.6g}"
                for k in np.flatnonzero(near)
            ]
        return texts


def _starts(dynamics: Dynamics, near: Array, starts: int, seed: int) -> list[Array]:
    """Return the postures from which searches start."""
    random = np.random.default_rng(seed)
    owners = [name.rsplit(".", 1) for name in dynamics.q_names]
    wide = np.array([1.0 if what == "distance" else np.pi for _, what in owners])
    low, high = -wide, wide
    for actuator in dynamics.mechanism.actuators:
        for k, (owner, _) in enumerate(owners):
            if owner == actuator.joint and np.all(np.isfinite([actuator.lower, actuator.upper])):
                low[k], high[k] = actuator.lower, actuator.upper
    return [near, *(random.uniform(low, high) for _ in range(starts - 1))]
