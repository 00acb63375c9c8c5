"""Sequential quadratic programming as the backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import casadi as ca

from nsopt.mpcc.backend import Backend, Call, Nlp, NlpsolCall


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

    max_iter: int = 1000

    @property
    def plugin(self) -> str:
        """See `QpSolver`."""
        return "qrqp"

    @property
    def options(self) -> dict[str, Any]:
        """See `QpSolver`."""
        quiet = {"print_iter": False, "print_header": False, "print_info": False}
        return {**quiet, "max_iter": self.max_iter}


@dataclass(frozen=True)
class Daqp(QpSolver):
    """Dual active-set solver; needs a positive definite Hessian, which the L-BFGS one is."""

    @property
    def plugin(self) -> str:
        """See `QpSolver`."""
        return "daqp"

    @property
    def options(self) -> dict[str, Any]:
        """See `QpSolver`."""
        return {}


@dataclass(frozen=True)
class Piqp(QpSolver):
    """Proximal interior-point solver; indifferent to redundant constraints."""

    @property
    def plugin(self) -> str:
        """See `QpSolver`."""
        return "piqp"

    @property
    def options(self) -> dict[str, Any]:
        """See `QpSolver`."""
        return {}


@dataclass(frozen=True)
class Proxqp(QpSolver):
    """Augmented-Lagrangian solver; indifferent to redundant constraints."""

    eps_abs: float = 1e-11

    @property
    def plugin(self) -> str:
        """See `QpSolver`."""
        return "proxqp"

    @property
    def options(self) -> dict[str, Any]:
        """See `QpSolver`."""
        return {"proxqp": {"verbose": False, "eps_abs": self.eps_abs}}


@dataclass(frozen=True)
class Osqp(QpSolver):
    """Operator-splitting solver with a final polish; low accuracy on hard programs."""

    eps: float = 1e-10
    max_iter: int = 20000

    @property
    def plugin(self) -> str:
        """See `QpSolver`."""
        return "osqp"

    @property
    def options(self) -> dict[str, Any]:
        """See `QpSolver`."""
        accuracy = {"eps_abs": self.eps, "eps_rel": self.eps, "max_iter": self.max_iter}
        return {"osqp": {"verbose": False, "polish": True, **accuracy}}


@dataclass(frozen=True)
class Highs(QpSolver):
    """HiGHS' active-set solver for convex programs."""

    @property
    def plugin(self) -> str:
        """See `QpSolver`."""
        return "highs"

    @property
    def options(self) -> dict[str, Any]:
        """See `QpSolver`."""
        return {"highs": {"output_flag": False}}


@dataclass(frozen=True)
class Qpoases(QpSolver):
    """Dense and sparse parametric active-set solver."""

    @property
    def plugin(self) -> str:
        """See `QpSolver`."""
        return "qpoases"

    @property
    def options(self) -> dict[str, Any]:
        """See `QpSolver`."""
        return {"printLevel": "none"}


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
        """See `Hessian`."""
        return {"hessian_approximation": "limited-memory", "lbfgs_memory": self.memory}


@dataclass(frozen=True)
class ExactConvexified(Hessian):
    """The exact Hessian, its eigenvalues raised to at least ``margin``."""

    margin: float = 1e-7

    @property
    def options(self) -> dict[str, Any]:
        """See `Hessian`."""
        convex = {"convexify_strategy": "regularize", "convexify_margin": self.margin}
        return {"hessian_approximation": "exact", **convex}


@dataclass(frozen=True)
class Sqp(Backend):
    """CasADi's ``sqpmethod``: line search on an l1 merit function.

    The merit function is f + r |violation|_1 with a single penalty r, never lowered:
    r = max(previous r, 1.01 times the largest multiplier of the quadratic program). It stands in
    for the rule of [NLP-clearance 2024, eq. 43], r_k = max(lam, (lam + r_{k-1}) / 2), which keeps
    one penalty for each constraint and lets it fall again.

    Parameters
    ----------
    qp : QpSolver
    hessian : Hessian
    tol_pr, tol_du : float
        Largest constraint violation and gradient of the Lagrangian at which it stops.
    max_iter : int
    options : mapping
        Further options of ``sqpmethod``.
    """

    qp: QpSolver = field(default_factory=Qrqp)
    hessian: Hessian = field(default_factory=LimitedMemory)
    tol_pr: float = 1e-9
    tol_du: float = 1e-5
    max_iter: int = 60
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def build(self, nlp: Nlp) -> Call:
        """Compile the quadratic program and the iteration around it."""
        quiet = dict.fromkeys(
            ("print_header", "print_iteration", "print_time", "print_status", "show_eval_warnings"),
            False,
        )
        options = {
            **quiet,
            "error_on_fail": False,
            "qpsol": self.qp.plugin,
            "qpsol_options": {"error_on_fail": False, **self.qp.options},
            "tol_pr": self.tol_pr,
            "tol_du": self.tol_du,
            "max_iter": self.max_iter,
            "min_step_size": 1e-16,
            **self.hessian.options,
            **self.options,
        }
        program = {"x": nlp.x, "p": nlp.p, "f": nlp.f, "g": nlp.g}
        return NlpsolCall(ca.nlpsol(f"{nlp.name}_sqp", "sqpmethod", program, options), nlp)
