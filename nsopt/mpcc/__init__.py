"""Complementarity programs: stated in blocks, relaxed, solved, and checked by their residuals."""

from nsopt.mpcc.active_set import ActiveSet
from nsopt.mpcc.backend import Backend, Derivatives, Nlp, Outcome, Point, Verdict
from nsopt.mpcc.blocks import Rows, Slopes
from nsopt.mpcc.compiler import has_compiler
from nsopt.mpcc.disc import relax_discs, smooth_discs
from nsopt.mpcc.evaluator import Evaluator
from nsopt.mpcc.ipopt import QUIET, Ipopt
from nsopt.mpcc.layout import Kind, Tolerances
from nsopt.mpcc.linear_solver import Ldlt
from nsopt.mpcc.min_map import FirstEventRow, min_rows, split_into_pairs
from nsopt.mpcc.multi_start import MultiStart
from nsopt.mpcc.native_output import printing_to_stderr
from nsopt.mpcc.newton import Newton, ProximalPoints
from nsopt.mpcc.problem import Mpcc
from nsopt.mpcc.program import Program
from nsopt.mpcc.recovery import Recovery
from nsopt.mpcc.relaxation import (
    ExactPenalty,
    FischerBurmeister,
    NaturalResidual,
    Relaxation,
    Scholtes,
    ScholtesAggregated,
)
from nsopt.mpcc.schedule import Schedule
from nsopt.mpcc.settings import GENERAL, STEP, Settings
from nsopt.mpcc.solution import (
    PairResidual,
    Residuals,
    Solution,
    SolveError,
    StageRun,
    Status,
    Worst,
)
from nsopt.mpcc.solver import Solver
from nsopt.mpcc.sqp import (
    Daqp,
    ExactConvexified,
    Hessian,
    IpoptQp,
    LimitedMemory,
    Osqp,
    Piqp,
    Proxqp,
    QpSolver,
    Qrqp,
    Sqp,
)
from nsopt.mpcc.square_program import SquareProgram, SquareSolver
from nsopt.mpcc.stationarity import Multipliers, Stationarity, StationarityKind
from nsopt.mpcc.structured import Bound, ConstraintBlock, PairPart, StructuredNlp, constraint_block
from nsopt.mpcc.structured_program import StructuredProgram
from nsopt.mpcc.warm_start import AT_ONCE, BENT, BESIDE, ENDED, ROUGHLY, WarmStart

__all__ = [
    "AT_ONCE",
    "BENT",
    "BESIDE",
    "ENDED",
    "GENERAL",
    "QUIET",
    "ROUGHLY",
    "STEP",
    "ActiveSet",
    "Backend",
    "Bound",
    "ConstraintBlock",
    "Daqp",
    "Derivatives",
    "Evaluator",
    "ExactConvexified",
    "ExactPenalty",
    "FirstEventRow",
    "FischerBurmeister",
    "Hessian",
    "Ipopt",
    "IpoptQp",
    "Kind",
    "Ldlt",
    "LimitedMemory",
    "Mpcc",
    "MultiStart",
    "Multipliers",
    "NaturalResidual",
    "Newton",
    "Nlp",
    "Osqp",
    "Outcome",
    "PairPart",
    "PairResidual",
    "Piqp",
    "Point",
    "Program",
    "ProximalPoints",
    "Proxqp",
    "QpSolver",
    "Qrqp",
    "Recovery",
    "Relaxation",
    "Residuals",
    "Rows",
    "Schedule",
    "Scholtes",
    "ScholtesAggregated",
    "Settings",
    "Slopes",
    "Solution",
    "SolveError",
    "Solver",
    "Sqp",
    "SquareProgram",
    "SquareSolver",
    "StageRun",
    "Stationarity",
    "StationarityKind",
    "Status",
    "StructuredNlp",
    "StructuredProgram",
    "Tolerances",
    "Verdict",
    "WarmStart",
    "Worst",
    "constraint_block",
    "has_compiler",
    "min_rows",
    "printing_to_stderr",
    "relax_discs",
    "smooth_discs",
    "split_into_pairs",
]
