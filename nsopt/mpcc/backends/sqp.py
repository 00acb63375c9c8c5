"""Sequential quadratic programming as the backend: `Sqp`, and the solvers of its programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

import casadi as ca

from nsopt.mpcc.backends.backend import (
    Backend,
    Call,
    Derivatives,
    Evaluator,
    Nlp,
    NlpsolCall,
    Outcome,
    PaddedCall,
    Point,
    Vector,
    pad,
)
from nsopt.mpcc.backends.filter_sqp import FilterSqp, make_structured_qp
from nsopt.mpcc.backends.ipopt import QUIET, Ipopt
from nsopt.mpcc.backends.native_output import printing_to_stderr

FEASIBLE = 1e-6  # scaled violation above which single programs are solved again by `Sqp.fallback`


class QpSolver(ABC):
    """A solver of the quadratic programs, silent.

    Attributes
    ----------
    plugin : str
        Name of the CasADi conic plugin.
    prints : bool
        Whether it prints errors on standard output whatever it is told.
    """

    plugin: ClassVar[str]
    prints: ClassVar[bool] = False

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Options of the plugin."""


@dataclass(frozen=True)
class Qrqp(QpSolver):
    """CasADi's own sparse active-set solver; the fastest for steps of small mechanisms."""

    plugin: ClassVar[str] = "qrqp"
    max_iter: int = 40

    @property
    def options(self) -> dict[str, Any]:
        quiet = {"print_iter": False, "print_header": False, "print_info": False}
        return {**quiet, "max_iter": self.max_iter}


@dataclass(frozen=True)
class Daqp(QpSolver):
    """Dual active-set solver; needs a positive definite Hessian, which the L-BFGS one is."""

    plugin: ClassVar[str] = "daqp"

    @property
    def options(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Piqp(QpSolver):
    """Sparse proximal interior-point solver; indifferent to redundant constraints.

    It needs 10 to 30 iterations, and does not end where a program is not convex.
    """

    plugin: ClassVar[str] = "piqp"
    max_iter: int = 60

    @property
    def options(self) -> dict[str, Any]:
        return {"piqp": {"max_iter": self.max_iter}}


@dataclass(frozen=True)
class Proxqp(QpSolver):
    """Augmented-Lagrangian solver; indifferent to redundant constraints."""

    plugin: ClassVar[str] = "proxqp"
    eps_abs: float = 1e-11
    max_iter: int = 200

    @property
    def options(self) -> dict[str, Any]:
        accuracy = {"eps_abs": self.eps_abs, "max_iter": self.max_iter}
        return {"proxqp": {"verbose": False, **accuracy}}


@dataclass(frozen=True)
class Osqp(QpSolver):
    """Operator-splitting solver with a final polish; low accuracy on hard programs."""

    plugin: ClassVar[str] = "osqp"
    prints: ClassVar[bool] = True
    eps: float = 1e-10
    max_iter: int = 20000

    @property
    def options(self) -> dict[str, Any]:
        accuracy = {"eps_abs": self.eps, "eps_rel": self.eps, "max_iter": self.max_iter}
        return {"osqp": {"verbose": False, "polish": True, **accuracy}}


@dataclass(frozen=True)
class IpoptQp(QpSolver):
    """IPOPT for the quadratic programs: sparse, and its inertia correction needs no convexity."""

    plugin: ClassVar[str] = "nlpsol"
    tol: float = 1e-10
    max_iter: int = 200

    @property
    def options(self) -> dict[str, Any]:
        constant = ("hessian_constant", "jac_c_constant", "jac_d_constant")
        options = {
            **QUIET,
            "ipopt.tol": self.tol,
            "ipopt.max_iter": self.max_iter,
            "ipopt.mu_strategy": "adaptive",
            "ipopt.bound_relax_factor": 0.0,
            "ipopt.mumps_permuting_scaling": 0,
            **{f"ipopt.{name}": "yes" for name in constant},
        }
        return {"nlpsol": "ipopt", "nlpsol_options": options}


class Hessian(ABC):
    """The approximation of the Hessian of the Lagrangian."""

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
    """Sequential quadratic programming.

    Over a horizon it is `FilterSqp`, with exact second derivatives and sparse quadratic programs.
    Single programs are solved by CasADi's ``sqpmethod``, a line search on the l1 merit function
    f + r |violation|_1 with a single penalty r, never lowered: r = max(previous r, 1.01 times the
    largest multiplier of the quadratic program). A step is shortened by 0.8 until the merit falls
    (Armijo, 1e-4), in at most three trials; the last one counts (read off the C code that CasADi
    3.8.2 generates). This stands in for the rule of [NLP-clearance 2024, eq. 43],
    r_k = max(lam, (lam + r_{k-1}) / 2), with one penalty for each constraint, which may fall again.

    Where a quadratic program is infeasible, sqpmethod goes over to its elastic mode. Active-set
    solvers fail on redundant equations even so; the call is then repeated with ``fallback``.

    Parameters
    ----------
    qp : QpSolver, optional
        By default `Qrqp` of a single program, `Piqp` over a horizon.
    tol_pr, tol_du : float, optional
        Largest constraint violation and gradient of the Lagrangian at which it stops, by default
        1e-9 and 1e-6; over a horizon 1e-8 and 1e-6, see `FilterSqp`.
    max_iter : int, optional
        By default 60, over a horizon 300 of each stage.
    fallback : QpSolver or None
        Of single programs: taken, from the same start, where ``qp`` ends at a point that is not
        feasible to 1e-6.
    hessian : Hessian
        Of single programs.
    options : mapping
        Of single programs: further options of ``sqpmethod``.
    """

    qp: QpSolver | None = None
    tol_pr: float | None = None
    tol_du: float | None = None
    max_iter: int | None = None
    fallback: QpSolver | None = field(default_factory=Piqp)
    hessian: Hessian = field(default_factory=LimitedMemory)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    @property
    def prefers_equations(self) -> bool:
        """Yes: the rows of `Scholtes` leave quadratic programs without a minimum."""
        return True

    @property
    def other(self) -> Ipopt:
        """IPOPT."""
        return Ipopt()

    @property
    def exact(self) -> Sqp:
        """With ``tol_du`` 1e-8 where it is not given."""
        return replace(self, tol_du=1e-8 if self.tol_du is None else self.tol_du)

    def build(self, nlp: Nlp) -> Call:
        """Compile the quadratic programs and the iteration around them."""
        if nlp.derivatives is not None:
            return self._build_structured(nlp, nlp.derivatives)
        qp = Qrqp() if self.qp is None else self.qp
        first = self._build_single(nlp, qp)
        if self.fallback is None or self.fallback == qp:
            return first
        return _Cascade(first, self._build_single(nlp, self.fallback), nlp)

    def _build_structured(self, nlp: Nlp, derivatives: Derivatives) -> Call:
        qp = Piqp() if self.qp is None else self.qp
        options = {"error_on_fail": False, **qp.options}
        call = FilterSqp(
            nlp,
            derivatives,
            *make_structured_qp(nlp, derivatives, qp.plugin, options),
            tol_pr=1e-8 if self.tol_pr is None else self.tol_pr,
            tol_du=1e-6 if self.tol_du is None else self.tol_du,
            max_iter=300 if self.max_iter is None else self.max_iter,
        )
        return _send_to_stderr(call) if qp.prints else call

    def _build_single(self, nlp: Nlp, qp: QpSolver) -> Call:
        quiet = dict.fromkeys(
            ("print_header", "print_iteration", "print_time", "print_status", "show_eval_warnings"),
            False,
        )
        options = {
            **quiet,
            "error_on_fail": False,
            "qpsol": qp.plugin,
            "qpsol_options": {"error_on_fail": False, **qp.options},
            "tol_pr": 1e-9 if self.tol_pr is None else self.tol_pr,
            "tol_du": 1e-6 if self.tol_du is None else self.tol_du,
            "max_iter": 60 if self.max_iter is None else self.max_iter,
            "min_step_size": 1e-16,
            "elastic_mode": True,
            **self.hessian.options,
            **self.options,
        }
        padded = pad(nlp)
        program = {"x": padded.x, "p": padded.p, "f": padded.f, "g": padded.g}
        solver = ca.nlpsol(f"{nlp.name}_sqp", "sqpmethod", program, options)
        call = PaddedCall(NlpsolCall(solver, padded), nlp, padded)
        return _send_to_stderr(call) if qp.prints else call


def _send_to_stderr(call: Call) -> Call:
    """Return a call that prints on standard error what its solver prints."""

    def solve(start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        with printing_to_stderr():
            return call(start, p, lower, upper)

    return solve


class _Cascade:
    """A `Call` that turns to a second one where the first ends infeasible."""

    def __init__(self, first: Call, second: Call, nlp: Nlp) -> None:
        self._first = first
        self._second = second
        self._bounds = (nlp.lower, nlp.upper)
        self._rows = Evaluator(ca.Function("rows", [nlp.x, nlp.p], [ca.densify(nlp.g)]))

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        first = self._first(start, p, lower, upper)
        if self._is_feasible(first.point.x, p, lower, upper):
            return first
        return self._second(start, p, lower, upper).after(first)

    def _is_feasible(self, x: Vector, p: Vector, lower: Vector, upper: Vector) -> bool:
        g = self._rows(x, p)[0]
        low, high = self._bounds
        met = (low - g <= FEASIBLE).all() and (g - high <= FEASIBLE).all()
        return bool(met and (lower - x <= FEASIBLE).all() and (x - upper <= FEASIBLE).all())
