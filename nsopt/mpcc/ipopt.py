"""IPOPT as the backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import casadi as ca

from nsopt.mpcc.backend import Backend, Call, Nlp, NlpsolCall, Outcome, Point, Vector
from nsopt.mpcc.padding import PaddedCall, pad


@dataclass(frozen=True)
class WarmStart:
    """IPOPT's start from a point with multipliers: barrier parameter, and push off the bounds."""

    mu: float = 1e-8
    push: float = 1e-9


@dataclass(frozen=True)
class Ipopt(Backend):
    """The interior-point method IPOPT with the settings that suit complementarity.

    Bounds are not relaxed (the default lets G H end at 1e-8 to 1e-6) and the program is not scaled
    again, for the Mpcc states its scales.

    Parameters
    ----------
    tol, constr_viol_tol : float
        Of the optimality conditions and of the constraints, in scaled units.
    max_iter : int
    warm_start : WarmStart or None
        How to use multipliers when the start has them; None ignores them.
    options : mapping
        Further options of ``nlpsol``, e.g. ``{"ipopt.mu_strategy": "adaptive"}``.
    """

    tol: float = 1e-10
    constr_viol_tol: float = 1e-12
    max_iter: int = 300
    warm_start: WarmStart | None = field(default_factory=WarmStart)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def build(self, nlp: Nlp) -> Call:
        """Compile, once for cold starts and once more if warm starts are asked for."""
        padded = pad(nlp)
        cold = PaddedCall(self._solver(padded, {}), nlp, padded)
        if self.warm_start is None:
            return cold
        warm = PaddedCall(self._solver(padded, _warm(self.warm_start)), nlp, padded)
        return _ColdOrWarm(cold, warm)

    def _solver(self, nlp: Nlp, more: Mapping[str, Any]) -> NlpsolCall:
        options = {
            "print_time": False,
            "error_on_fail": False,
            "show_eval_warnings": False,
            "ipopt.print_level": 0,
            "ipopt.sb": "yes",
            "ipopt.tol": self.tol,
            "ipopt.constr_viol_tol": self.constr_viol_tol,
            "ipopt.max_iter": self.max_iter,
            "ipopt.nlp_scaling_method": "none",
            "ipopt.bound_relax_factor": 0.0,
            "ipopt.honor_original_bounds": "yes",
            **more,
            **self.options,
        }
        program = {"x": nlp.x, "p": nlp.p, "f": nlp.f, "g": nlp.g}
        return NlpsolCall(ca.nlpsol(f"{nlp.name}_ipopt", "ipopt", program, options), nlp)


def _warm(start: WarmStart) -> dict[str, Any]:
    return {
        "ipopt.warm_start_init_point": "yes",
        "ipopt.mu_init": start.mu,
        "ipopt.warm_start_bound_push": start.push,
        "ipopt.warm_start_bound_frac": start.push,
        "ipopt.warm_start_slack_bound_push": start.push,
        "ipopt.warm_start_slack_bound_frac": start.push,
        "ipopt.warm_start_mult_bound_push": start.push,
    }


class _ColdOrWarm:
    """A Call that takes the warm solver where the start has multipliers."""

    def __init__(self, cold: Call, warm: Call) -> None:
        self._cold = cold
        self._warm = warm

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        call = self._warm if start.warm else self._cold
        return call(start, p, lower, upper)
