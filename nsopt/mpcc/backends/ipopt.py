"""IPOPT as the backend: `Ipopt`, and the options that suit single programs and horizons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

from nsopt.interrupt import is_interrupted
from nsopt.mpcc.backends.backend import (
    Backend,
    Call,
    Derivatives,
    Nlp,
    NlpsolCall,
    Outcome,
    PaddedCall,
    Point,
    Vector,
    pad,
)
from nsopt.mpcc.backends.linear_solver import PARDISO, Ldlt, Trees
from nsopt.mpcc.backends.warm_start import WarmStart


@dataclass(frozen=True)
class Ipopt(Backend):
    """The interior-point method IPOPT with the settings that suit complementarity.

    Bounds are not relaxed where there is complementarity (the default lets G H end at 1e-8 to
    1e-6). A single program is not scaled again, for the Mpcc states its scales. Linear systems
    are solved by MUMPS; those of motions of many steps by `Ldlt`, and by MUMPS where that gives up;
    ``options`` may choose another solver. A motion without complementarity for which no step is
    found is solved again with an adaptive barrier, unless ``options`` choose a strategy.

    Parameters
    ----------
    tol, constr_viol_tol : float, optional
        Of the optimality conditions and of the constraints, in scaled units. By default 1e-10 and
        1e-12 of a single program, 1e-8 both over a horizon.
    max_iter : int, optional
        Of each stage; by default 300, over a horizon 500.
    warm_start : WarmStart or None
        Of a single program: how to use multipliers that the start has; None ignores them. Over a
        horizon they are used, with IPOPT's own barrier parameter.
    linear_solver : Ldlt, optional
        Over a horizon; by default that of motions of 100 steps or more, and of those that are
        prepared for many solves. ``options`` that choose another one count more.
    options : mapping
        Further options of ``nlpsol``, e.g. ``{"ipopt.mu_strategy": "adaptive"}``.
    """

    tol: float | None = None
    constr_viol_tol: float | None = None
    max_iter: int | None = None
    warm_start: WarmStart | None = field(default_factory=WarmStart)
    linear_solver: Ldlt | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    @property
    def other(self) -> Ipopt:
        """With the other strategy of the barrier parameter, adaptive or monotone."""
        name = "ipopt.mu_strategy"
        strategy = "monotone" if self.options.get(name) == "adaptive" else "adaptive"
        return replace(self, options={**self.options, name: strategy})

    @property
    def exact(self) -> Ipopt:
        """With ``tol`` 1e-10 at most."""
        return replace(self, tol=EXACT if self.tol is None else min(self.tol, EXACT))

    @property
    def brief(self) -> Ipopt:
        """With ``max_iter`` 60 at most."""
        return replace(self, max_iter=BRIEF if self.max_iter is None else min(self.max_iter, BRIEF))

    @property
    def rough(self) -> Ipopt:
        """With ``tol`` 1e-3 at least."""
        return replace(self, tol=ROUGH if self.tol is None else max(self.tol, ROUGH))

    @property
    def of_many_steps(self) -> Ipopt:
        """With `Ldlt`."""
        return replace(self, linear_solver=Ldlt())

    def build(self, nlp: Nlp) -> Call:
        """Compile; a single program at once for cold starts, for warm ones at the first."""
        if nlp.derivatives is not None:
            chosen = any(name in self.options for name in CHOOSES_SOLVER)
            first = {} if chosen or self.linear_solver is None else self.linear_solver.options
            build = partial(self._build_structured, nlp, nlp.derivatives)
            barrier = "ipopt.mu_strategy" in self.options or nlp.starts is not None
            other = {} if nlp.complementary or barrier else ADAPTIVE
            return build(first) if first == other else _Twice(build(first), lambda: build(other))
        padded = pad(nlp)
        cold = PaddedCall(self._make_call(padded, SINGLE), nlp, padded)
        if self.warm_start is None:
            return cold
        suited = {**SINGLE, **_list_warm_options(self.warm_start)}
        return _ColdOrWarm(cold, lambda: PaddedCall(self._make_call(padded, suited), nlp, padded))

    def _build_structured(self, nlp: Nlp, own: Derivatives, more: Mapping[str, Any]) -> NlpsolCall:
        """Return the call of a structured program, with ``more`` options."""
        like = (nlp.name, repr(self), nlp.starts, nlp.slope, nlp.complementary, *more)
        call: NlpsolCall | None = nlp.built.get(like)
        if call is not None:
            return call.restate(nlp)
        call = self._make_call(nlp, {**self._list_options(nlp, own), **more})
        if nlp.x.numel() <= LARGE:
            nlp.built[like] = call
        return call

    def _list_options(self, nlp: Nlp, derivatives: Derivatives) -> dict[str, Any]:
        """Return the options that suit a structured program."""
        given = ("grad_f", "jac_g", "hess_lag")
        options = {**STRUCTURED, **{name: getattr(derivatives, name) for name in given}}
        options["cache"] = {"nlp_grad": _make_lagrangian(nlp, derivatives)}
        if nlp.complementary:  # with bounds relaxed products end far above sigma
            options |= {"ipopt.mu_strategy": "adaptive", "ipopt.bound_relax_factor": 0.0}
        if nlp.slope < FLAT:
            options["ipopt.obj_scaling_factor"] = STEEP / nlp.slope
        if nlp.starts is not None:
            options |= {"ipopt.mu_strategy": "monotone", **_list_warm_options(nlp.starts)}
        return options

    def _make_call(self, nlp: Nlp, suited: Mapping[str, Any]) -> NlpsolCall:
        """Return the call with ``suited`` options, those of the user replacing them."""
        stated = {
            "ipopt.tol": self.tol,
            "ipopt.constr_viol_tol": self.constr_viol_tol,
            "ipopt.max_iter": self.max_iter,
        }
        options = {
            **QUIET,
            **suited,
            **{name: value for name, value in stated.items() if value is not None},
            **self.options,
        }
        program = {"x": nlp.x, "p": nlp.p, "f": nlp.f, "g": nlp.g}
        callback = None
        if nlp.derivatives is not None:  # a single program is solved in milliseconds
            sizes = (nlp.x.numel(), nlp.p.numel(), nlp.g.numel())
            callback = InterruptCallback(f"{nlp.name}_interrupt", *sizes)
            options["iteration_callback"] = callback
        solver = ca.nlpsol(f"{nlp.name}_ipopt", "ipopt", program, options)
        return NlpsolCall(solver, nlp, callback, Trees.of(nlp.built, options))


LARGE = 20_000
"""Unknowns up to which solvers are kept for restated programs: larger ones take much memory, and to
build them takes little of the time."""

ADAPTIVE: Mapping[str, Any] = MappingProxyType({"ipopt.mu_strategy": "adaptive"})
"""Options for a second try at a program without complementarity."""

GAVE_UP = ("Restoration_Failed", "Error_In_Step_Computation", "Internal_Error")
"""What IPOPT says where it finds no step, or could not solve a linear system."""

CHOOSES_SOLVER = ("ipopt.linear_solver", "ipopt.hsllib", PARDISO)
"""Options by which a user chooses another linear solver."""

FLAT, STEEP = 0.5, 10.0
"""Slope of an objective over a horizon below which it is scaled, and to what. IPOPT itself scales
steep ones down only; flat ones take two to three times as many iterations."""

ROUGH = 1e-3  # tolerance of optimality of a motion that is only the start of another
BRIEF = 60  # iterations within which a program near a solved one is solved, if at all
EXACT = 1e-10  # tolerance of a solution that shows by its multipliers that it is stationary

QUIET: Mapping[str, Any] = MappingProxyType(
    {
        "print_time": False,
        "error_on_fail": False,
        "show_eval_warnings": False,
        "calc_lam_p": False,
        "ipopt.print_level": 0,
        "ipopt.sb": "yes",
    }
)
"""Options by which IPOPT prints nothing, and a failure is told by its status."""

SINGLE: Mapping[str, Any] = MappingProxyType(
    {
        "ipopt.tol": 1e-10,
        "ipopt.constr_viol_tol": 1e-12,
        "ipopt.max_iter": 300,
        "ipopt.nlp_scaling_method": "none",
        "ipopt.bound_relax_factor": 0.0,
    }
)
"""Options of a single program."""

STRUCTURED: Mapping[str, Any] = MappingProxyType(
    {
        "ipopt.tol": 1e-8,
        "ipopt.constr_viol_tol": 1e-8,
        "ipopt.max_iter": 500,
        "ipopt.warm_start_init_point": "yes",
        # Matrices of a horizon are banded; its search for a permutation takes most of the time.
        "ipopt.mumps_permuting_scaling": 0,
        # As fast as METIS or faster; AMD (0) takes some singular matrices as regular.
        "ipopt.mumps_pivot_order": 2,
    }
)
"""Options of a structured program."""


def _make_lagrangian(nlp: Nlp, own: Derivatives) -> ca.Function:
    """Return the gradient of the Lagrangian, which CasADi would else make from f and g.

    Its derivative by p is for sensitivities alone, and NaN here.
    """
    sigma, lam = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", nlp.g.numel())
    (f, slope), (g, J) = own.grad_f(nlp.x, nlp.p), own.jac_g(nlp.x, nlp.p)
    by_x, by_p = sigma * slope + J.T @ lam, ca.MX(ca.DM.nan(nlp.p.numel()))
    names = ["x", "p", "lam_f", "lam_g"], ["f", "g", "grad_gamma_x", "grad_gamma_p"]
    return ca.Function("nlp_grad", [nlp.x, nlp.p, sigma, lam], [f, g, by_x, by_p], *names)


def _list_warm_options(start: WarmStart) -> dict[str, Any]:
    return {
        "ipopt.warm_start_init_point": "yes",
        "ipopt.mu_init": start.mu,
        "ipopt.mu_superlinear_decrease_power": start.decrease,
        "ipopt.warm_start_bound_push": start.push,
        "ipopt.warm_start_bound_frac": start.push,
        "ipopt.warm_start_slack_bound_push": start.push,
        "ipopt.warm_start_slack_bound_frac": start.push,
        "ipopt.warm_start_mult_bound_push": start.push,
    }


class _Twice:
    """A `Call`, and another one where that gives up.

    `Ldlt` does where delayed pivots let fronts grow, as with degenerate complementarity; a monotone
    barrier may lead to the tip of a cone.
    """

    def __init__(self, first: Call, make_other: Callable[[], Call]) -> None:
        self._first, self._make_other = first, make_other

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        first = self._first(start, p, lower, upper)
        if first.success or first.interrupted or first.status not in GAVE_UP:
            return first
        return self._make_other()(start, p, lower, upper).after(first)


class _ColdOrWarm:
    """A `Call` by the warm solver where the start has multipliers, else by the cold one."""

    def __init__(self, cold: Call, make_warm: Callable[[], Call]) -> None:
        self._cold, self._make_warm = cold, make_warm

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        call = self._warm if start.warm else self._cold
        return call(start, p, lower, upper)

    @cached_property
    def _warm(self) -> Call:
        return self._make_warm()


class InterruptCallback(ca.Callback):
    """An iteration callback that ends the solver at the point it has when Ctrl-C was pressed.

    An exception inside a solver would be lost: CasADi takes it for a failed evaluation. ``x``,
    ``p`` and ``g`` are the numbers of unknowns, parameters and rows.
    """

    def __init__(self, name: str, x: int, p: int, g: int) -> None:
        ca.Callback.__init__(self)
        sizes = {"x": x, "f": 1, "g": g, "lam_x": x, "lam_g": g, "lam_p": p}
        self._sizes = [sizes[name] for name in ca.nlpsol_out()]
        self.construct(name, {})

    def get_n_in(self) -> int:
        """Return the number of outputs of a solver, which are the inputs here."""
        return len(self._sizes)

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._sizes[i], 1)

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arguments: Any, results: Any) -> int:
        """Tell the solver whether to stop."""
        del arguments
        np.frombuffer(results[0])[:] = float(is_interrupted())
        return 0
