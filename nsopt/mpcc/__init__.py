"""Complementarity programs: stated in blocks, relaxed, solved, and checked by their residuals."""

from nsopt.mpcc.backends.backend import (
    Backend,
    Derivatives,
    Evaluator,
    Nlp,
    Outcome,
    Point,
    Verdict,
)
from nsopt.mpcc.backends.compiler import has_compiler
from nsopt.mpcc.backends.ipopt import QUIET, Ipopt
from nsopt.mpcc.backends.linear_solver import Ldlt
from nsopt.mpcc.backends.native_output import printing_to_stderr
from nsopt.mpcc.backends.sqp import (
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
from nsopt.mpcc.backends.warm_start import (
    AT_ONCE,
    BENT,
    BESIDE,
    ENDED,
    IN_FEW_STEPS,
    IN_OTHER_STEPS,
    ROUGHLY,
    WarmStart,
)
from nsopt.mpcc.horizon.block_functions import DerivedFunctions
from nsopt.mpcc.horizon.structured import (
    Bound,
    ConstraintBlock,
    HorizonPlace,
    PairPart,
    StructuredNlp,
    constraint_block,
)
from nsopt.mpcc.horizon.structured_program import StructuredProgram
from nsopt.mpcc.solve.active_set import ActiveSet
from nsopt.mpcc.solve.program import MultiStart, Program
from nsopt.mpcc.solve.schedule import Schedule
from nsopt.mpcc.solve.settings import GENERAL, STEP, Recovery, Settings
from nsopt.mpcc.solve.solution import (
    PairResidual,
    Residuals,
    Solution,
    SolveError,
    StageRun,
    Status,
    Worst,
)
from nsopt.mpcc.solve.solver import Solver
from nsopt.mpcc.solve.stationarity import Multipliers, Stationarity, StationarityKind
from nsopt.mpcc.square.newton import Newton, ProximalPoints
from nsopt.mpcc.square.square_program import SquareProgram, SquareSolver
from nsopt.mpcc.statement.blocks import Rows, Slopes
from nsopt.mpcc.statement.disc import relax_discs, smooth_discs
from nsopt.mpcc.statement.layout import Kind, Tolerances
from nsopt.mpcc.statement.min_map import FirstEventRow, min_rows, split_into_pairs
from nsopt.mpcc.statement.problem import Mpcc
from nsopt.mpcc.statement.relaxation import (
    ExactPenalty,
    FischerBurmeister,
    NaturalResidual,
    Relaxation,
    Scholtes,
    ScholtesAggregated,
)

__all__ = [
    "AT_ONCE",
    "BENT",
    "BESIDE",
    "ENDED",
    "GENERAL",
    "IN_FEW_STEPS",
    "IN_OTHER_STEPS",
    "QUIET",
    "ROUGHLY",
    "STEP",
    "ActiveSet",
    "Backend",
    "Bound",
    "ConstraintBlock",
    "Daqp",
    "Derivatives",
    "DerivedFunctions",
    "Evaluator",
    "ExactConvexified",
    "ExactPenalty",
    "FirstEventRow",
    "FischerBurmeister",
    "Hessian",
    "HorizonPlace",
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
