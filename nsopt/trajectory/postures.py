"""Postures that meet conditions: inverse kinematics, by `find_posture`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.arrays import Array
from nsopt.checks import finite
from nsopt.mechanics import Dynamics
from nsopt.mpcc import QUIET
from nsopt.trajectory.conditions import Bound, Condition, Orient
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.returned import call_bounds

MET = 1e-7  # violation up to which a condition counts as met, in its unit

AT_LIMIT = 1e-3
"""Distance from a limit at which a value counts as at it, over the width of the range, or over the
limit if there is no other: where conditions exclude each other searches end roughly."""


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

    Conditions that hold at every node (limits, obstacles) or at the end (`Reach`, `Orient`) are
    met. With `ActuatorLimits` the drives can also hold the posture against gravity.

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
        Seed of the random postures.
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
    center = np.zeros(n) if near is None else finite("near of find_posture", near, (n,))
    q, bounds = ca.SX.sym("q", n), []
    at_rest = ca.SX.zeros(n)
    p = ca.SX(ca.DM(dynamics.values(parameters)))
    m = NodeSample(dynamics, ca.SX(0), q, at_rest, at_rest, p)
    for condition in conditions:
        stated = call_bounds(condition, "along", m) + call_bounds(condition, "end", m)
        bounds += [b for b in stated if ca.depends_on(b.value, q)]
    search = _PostureSearch(q, bounds, center)
    ends = [search.run(x) for x in _choose_starts(dynamics, center, starts, seed)]
    met = [end.q for end in ends if end.violations.max(initial=0.0) <= MET]
    if not met:
        orients = any(isinstance(x, Orient) for x in conditions)
        best = min(ends, key=lambda end: float(end.violations.max()))
        raise ValueError(search.explain(best, starts, orients))
    return min(met, key=lambda x: float(np.linalg.norm(x - center)))


class _End(NamedTuple):
    """Where a search ends."""

    q: Array  # (nq,) coordinates
    values: Array  # (m,) of the rows of bounds
    violations: Array  # (m,) of these


class _PostureSearch:
    """The search for the nearest posture that meets bounds, by IPOPT."""

    def __init__(self, q: ca.SX, bounds: Sequence[Bound], near: Array) -> None:
        self.lower = np.concatenate([np.zeros(0), *(b.lower for b in bounds)])
        self.upper = np.concatenate([np.zeros(0), *(b.upper for b in bounds)])
        self.labels = [b.label for b in bounds for _ in range(b.value.numel())]
        g = ca.vertcat(ca.SX(0, 1), *(b.value for b in bounds))
        # Equations of a pose may be dependent, which IPOPT refuses: they become narrow ranges.
        self._slack = MET / 2 * (self.lower == self.upper)
        program: dict[str, Any] = {"x": q, "f": ca.sumsqr(q - near), "g": ca.densify(g)}
        options = {**QUIET, "ipopt.max_iter": 200, "ipopt.constr_viol_tol": MET / 10}
        self._solve = ca.nlpsol("posture", "ipopt", program, options)

    def run(self, start: Array) -> _End:
        """Return where a search ends."""
        solution = self._solve(x0=start, lbg=self.lower - self._slack, ubg=self.upper + self._slack)
        q, g = (np.asarray(solution[name]).ravel() for name in ("x", "g"))
        off = np.maximum(np.maximum(self.lower - g, g - self.upper), 0)
        return _End(q, g, np.where(np.isfinite(g), off, np.inf))

    def explain(self, best: _End, starts: int, orients: bool) -> str:
        """Return the message that no posture was found; ``orients`` if there is an `Orient`."""
        worst: dict[str, float] = {}
        for k in np.argsort(-best.violations):
            if best.violations[k] > MET:
                worst.setdefault(self.labels[k], float(best.violations[k]))
        off = " and ".join(f"{label} is off by {size:.3g}" for label, size in worst.items())
        limits = self._describe_limits(best)
        at = f" while {' and '.join(limits)}" if limits else ""
        remedies = ["move the target"]
        if limits:
            remedies.append("widen that limit" if len(limits) == 1 else "widen those limits")
        if orients:
            remedies.append("let Orient be further off (within=, about_z=True)")
        return (
            f"no posture meets all conditions: in the best of {starts} searches {off}{at}; "
            f"{', '.join(remedies)}, or give more starts"
        )

    def _describe_limits(self, end: _End) -> list[str]:
        """Return in words the limits that values are at."""
        width, texts = self.upper - self.lower, []
        for limits, side in ((self.lower, "lower"), (self.upper, "upper")):
            size = np.where(np.isfinite(width), width, np.maximum(np.abs(limits), MET))
            at_limit = np.isfinite(limits) & (width > 0) & (end.violations <= MET)
            at_limit &= np.abs(end.values - limits) <= AT_LIMIT * size
            texts += [
                f"{self.labels[k]} is at its {side} limit, {limits[k]:.6g}"
                for k in np.flatnonzero(at_limit)
            ]
        return texts


def _choose_starts(dynamics: Dynamics, near: Array, starts: int, seed: int) -> list[Array]:
    """Return the postures from which searches start, (nq,) each."""
    random = np.random.default_rng(seed)
    names = [name.rsplit(".", 1) for name in dynamics.q_names]  # joint, quantity
    reach = np.array([1.0 if quantity == "distance" else np.pi for _, quantity in names])
    low, high = -reach, reach
    for actuator in dynamics.mechanism.actuators:
        for k, (owner, _) in enumerate(names):
            if owner == actuator.joint and np.all(np.isfinite([actuator.lower, actuator.upper])):
                low[k], high[k] = actuator.lower, actuator.upper
    return [near, *(random.uniform(low, high) for _ in range(starts - 1))]
