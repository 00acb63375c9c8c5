"""Complementarity programs: stated in blocks, relaxed, solved, and checked by their residuals."""

from nsopt.mpcc.backend import Backend, Nlp, Outcome, Point
from nsopt.mpcc.evaluator import Evaluator
from nsopt.mpcc.homotopy import Program, Solver
from nsopt.mpcc.ipopt import Ipopt, WarmStart
from nsopt.mpcc.layout import Kind, Tolerances
from nsopt.mpcc.native import NativeFunction, cache_folder, compile_native
from nsopt.mpcc.newton import Newton
from nsopt.mpcc.problem import Mpcc
from nsopt.mpcc.relaxation import (
    ExactPenalty,
    FischerBurmeister,
    NaturalResidual,
    Relaxation,
    Scholtes,
    ScholtesAggregated,
)
from nsopt.mpcc.solution import (
    Attempt,
    PairResidual,
    Residuals,
    Solution,
    SolveError,
    Status,
    Worst,
)
from nsopt.mpcc.sqp import (
    Daqp,
    ExactConvexified,
    Hessian,
    LimitedMemory,
    Osqp,
    Piqp,
    Proxqp,
    QpSolver,
    Qrqp,
    Sqp,
)

__all__ = [
    "Attempt",
    "Backend",
    "Daqp",
    "Evaluator",
    "ExactConvexified",
    "ExactPenalty",
    "FischerBurmeister",
    "Hessian",
    "Ipopt",
    "Kind",
    "LimitedMemory",
    "Mpcc",
    "NativeFunction",
    "NaturalResidual",
    "Newton",
    "Nlp",
    "Osqp",
    "Outcome",
    "PairResidual",
    "Piqp",
    "Point",
    "Program",
    "Proxqp",
    "QpSolver",
    "Qrqp",
    "Relaxation",
    "Residuals",
    "Scholtes",
    "ScholtesAggregated",
    "Solution",
    "SolveError",
    "Solver",
    "Sqp",
    "Status",
    "Tolerances",
    "WarmStart",
    "Worst",
    "cache_folder",
    "compile_native",
]
