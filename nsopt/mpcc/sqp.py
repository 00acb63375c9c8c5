"""Sequential quadratic programming as the backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import casadi as ca

from nsopt.mpcc.backend import Backend, Call, Nlp, NlpsolCall, Outcome, Point, Vector
from nsopt.mpcc.evaluator import Evaluator
from nsopt.mpcc.native import compile_native
from nsopt.mpcc.padding import PaddedCall, pad

FEASIBLE = 1e-6  # scaled violation up to which a call counts as having come to an end


class QpSolver(ABC):
    """A solver of the quadratic programs, silent."""

    @property
    @abstractmethod
    def plugin(self) -> str:
        """Name of the CasADi conic plugin."""

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Options of the plugin."""


@dataclass(frozen=True)
class Qrqp(QpSolver):
    """CasADi's own sparse active-set solver; the fastest on small steps, and in generated code."""

    max_iter: int = 40

    @property
    def plugin(self) -> str:
        return "qrqp"

    @property
    def options(self) -> dict[str, Any]:
        quiet = {"print_iter": False, "print_header": False, "print_info": False}
        return {**quiet, "max_iter": self.max_iter}


@dataclass(frozen=True)
class Daqp(QpSolver):
    """Dual active-set solver; needs a positive definite Hessian, which the L-BFGS one is."""

    @property
    def plugin(self) -> str:
        return "daqp"

    @property
    def options(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Piqp(QpSolver):
    """Proximal interior-point solver; indifferent to redundant constraints."""

    @property
    def plugin(self) -> str:
        return "piqp"

    @property
    def options(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Proxqp(QpSolver):
    """Augmented-Lagrangian solver; indifferent to redundant constraints."""

    eps_abs: float = 1e-11
    max_iter: int = 200

    @property
    def plugin(self) -> str:
        return "proxqp"

    @property
    def options(self) -> dict[str, Any]:
        accuracy = {"eps_abs": self.eps_abs, "max_iter": self.max_iter}
        return {"proxqp": {"verbose": False, **accuracy}}


@dataclass(frozen=True)
class Osqp(QpSolver):
    """Operator-splitting solver with a final polish; low accuracy on hard programs."""

    eps: float = 1e-10
    max_iter: int = 20000

    @property
    def plugin(self) -> str:
        return "osqp"

    @property
    def options(self) -> dict[str, Any]:
        accuracy = {"eps_abs": self.eps, "eps_rel": self.eps, "max_iter": self.max_iter}
        return {"osqp": {"verbose": False, "polish": True, **accuracy}}


class Hessian(ABC):
    """What stands for the Hessian of the Lagrangian."""

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Options of sqpmethod."""


@dataclass(frozen=True)
class LimitedMemory(Hessian):
    """BFGS updates, positive definite, restarted from the identity every ``memory`` iterations."""

    memory: int = 10

    @property
    def options(self) -> dict[str, Any]:
        return {"hessian_approximation": "limited-memory", "lbfgs_memory": self.memory}


@dataclass(frozen=True)
class ExactConvexified(Hessian):
    """The exact Hessian, its eigenvalues raised to at least ``margin``."""

    margin: float = 1e-7

    @property
    def options(self) -> dict[str, Any]:
        convex = {"convexify_strategy": "regularize", "convexify_margin": self.margin}
        return {"hessian_approximation": "exact", **convex}


@dataclass(frozen=True)
class Sqp(Backend):
    """CasADi's ``sqpmethod``: line search on an l1 merit function.

    The merit function is f + r |violation|_1 with a single penalty r, never lowered:
    r = max(previous r, 1.01 times the largest multiplier of the quadratic program). A step is
    shortened by 0.8 until the merit falls (Armijo, 1e-4), in at most three trials; the last one
    counts (read off the C code that CasADi 3.8.2 generates). This stands in for the rule of
    [NLP-clearance 2024, eq. 43], r_k = max(lam, (lam + r_{k-1}) / 2), which keeps one penalty for
    each constraint and lets it fall again.

    Where a quadratic program is infeasible, sqpmethod goes over to its elastic mode. Active-set
    solvers fail on redundant equations even so; the call is then repeated with ``fallback``.

    Parameters
    ----------
    qp : QpSolver
    fallback : QpSolver or None
        Taken, from the same start, where ``qp`` ends at a point that is not feasible to 1e-6.
    hessian : Hessian
    tol_pr, tol_du : float
        Largest constraint violation and gradient of the Lagrangian at which it stops.
    max_iter : int
    native : bool
        Whether the iteration with ``qp`` is generated as C and compiled. It then tells neither
        status nor iterations; the residuals of its solution are what counts.
    options : mapping
        Further options of ``sqpmethod``.
    """

    qp: QpSolver = field(default_factory=Qrqp)
    fallback: QpSolver | None = field(default_factory=Piqp)
    hessian: Hessian = field(default_factory=LimitedMemory)
    tol_pr: float = 1e-9
    tol_du: float = 1e-6
    max_iter: int = 60
    native: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def build(self, nlp: Nlp) -> Call:
        """Compile the quadratic programs and the iteration around them."""
        first = self._call(nlp, self.qp)
        if self.fallback is None or self.fallback == self.qp:
            return first
        return _Cascade(first, self._call(nlp, self.fallback), nlp)

    def _call(self, nlp: Nlp, qp: QpSolver) -> Call:
        quiet = dict.fromkeys(
            ("print_header", "print_iteration", "print_time", "print_status", "show_eval_warnings"),
            False,
        )
        options = {
            **quiet,
            "error_on_fail": False,
            "qpsol": qp.plugin,
            "qpsol_options": {"error_on_fail": False, **qp.options},
            "tol_pr": self.tol_pr,
            "tol_du": self.tol_du,
            "max_iter": self.max_iter,
            "min_step_size": 1e-16,
            "elastic_mode": True,
            **self.hessian.options,
            **self.options,
        }
        padded = pad(nlp)
        program = {"x": padded.x, "p": padded.p, "f": padded.f, "g": padded.g}
        solver = ca.nlpsol(f"{nlp.name}_sqp", "sqpmethod", program, options)
        if self.native and qp is self.qp:
            solver = compile_native(solver).function
        return PaddedCall(NlpsolCall(solver, padded), nlp, padded)


class _Cascade:
    """A Call that turns to a second one where the first ends infeasible."""

    def __init__(self, first: Call, second: Call, nlp: Nlp) -> None:
        self._first = first
        self._second = second
        self._bounds = (nlp.lower, nlp.upper)
        self._rows = Evaluator(ca.Function("rows", [nlp.x, nlp.p], [ca.densify(nlp.g)]))

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        one = self._first(start, p, lower, upper)
        if self._feasible(one.point.x, p, lower, upper):
            return one
        two = self._second(start, p, lower, upper)
        return replace(two, iterations=one.iterations + two.iterations, time=one.time + two.time)

    def _feasible(self, x: Vector, p: Vector, lower: Vector, upper: Vector) -> bool:
        g = self._rows(x, p)[0]
        low, high = self._bounds
        met = (low - g <= FEASIBLE).all() and (g - high <= FEASIBLE).all()
        return bool(met and (lower - x <= FEASIBLE).all() and (x - upper <= FEASIBLE).all())
