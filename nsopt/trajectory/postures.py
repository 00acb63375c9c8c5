"""Postures that meet conditions: inverse kinematics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.checks import finite
from nsopt.mechanics import Dynamics
from nsopt.mpcc import QUIET
from nsopt.trajectory.conditions import Bound, Condition
from nsopt.trajectory.node_sample import NodeSample

Array = NDArray[np.float64]

MET = 1e-7
"""Violation below which a condition counts as met."""


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
        names the one that is violated most in the best.
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
        bounds += [b for b in condition.along(m) + condition.end(m) if ca.depends_on(b.value, q)]
    search = _Search(q, bounds, about)
    ends = [search.run(x) for x in _starts(dynamics, about, starts, seed)]
    met = [x for x, violation in ends if violation.max(initial=0.0) <= MET]
    if not met:
        raise ValueError(search.complaint(min((v for _, v in ends), key=np.max), starts))
    return min(met, key=lambda x: float(np.linalg.norm(x - about)))


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

    def run(self, start: Array) -> tuple[Array, Array]:
        """Return the posture where a search ends, and the violation of each bound there."""
        solution = self._solve(x0=start, lbg=self.lower - self._wide, ubg=self.upper + self._wide)
        q, g = (np.asarray(solution[name]).ravel() for name in ("x", "g"))
        off = np.maximum(np.maximum(self.lower - g, g - self.upper), 0)
        return q, np.where(np.isfinite(g), off, np.inf)

    def complaint(self, violation: Array, starts: int) -> str:
        """Return the message for no posture found."""
        k = int(np.argmax(violation))
        return (
            f"no posture meets all conditions: in the best of {starts} searches {self.labels[k]} "
            f"is off by {violation[k]:.3g}; move the target, or give more starts"
        )


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
