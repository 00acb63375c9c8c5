"""Trajectory optimization: the best motion of a mechanism."""

from nsopt.trajectory import conditions, costs, guesses, identification
from nsopt.trajectory.checks import FREE
from nsopt.trajectory.conditions import *
from nsopt.trajectory.costs import *
from nsopt.trajectory.diagnosis import Scaling
from nsopt.trajectory.exact import PLAN, ContactPhase, ExactContacts
from nsopt.trajectory.guesses import *
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.identification import *
from nsopt.trajectory.multi_start import multi_start
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.optimization import Optimization
from nsopt.trajectory.optimize import optimize
from nsopt.trajectory.phases import (
    ContactMode,
    MotionPhase,
    Open,
    PhasedResult,
    Sliding,
    Sticking,
    optimize_phases,
)
from nsopt.trajectory.postures import find_posture
from nsopt.trajectory.prepared import PreparedOptimization
from nsopt.trajectory.refine import ObjectiveChange, StepDefect, refine
from nsopt.trajectory.search import IN_STEPS, Plan
from nsopt.trajectory.sensitivity import (
    Derivatives,
    OptimumDerivatives,
    OptimumError,
    Sensitivities,
    SensitivityError,
    StepErrors,
    cost_derivatives,
    optimum_derivatives,
    sensitivities,
)
from nsopt.trajectory.smoothing.schedules import (
    DAMPED,
    DAMPED_START,
    FINE,
    FROM_AFAR,
    FROM_AFAR_SLOWLY,
    FROM_NEARBY,
    GRADUAL,
    STRAIGHT,
    WARM_START,
    WIDE,
    Stage,
)

__all__ = [
    "DAMPED",
    "DAMPED_START",
    "FINE",
    "FREE",
    "FROM_AFAR",
    "FROM_AFAR_SLOWLY",
    "FROM_NEARBY",
    "GRADUAL",
    "IN_STEPS",
    "PLAN",
    "STRAIGHT",
    "WARM_START",
    "WIDE",
    "ContactMode",
    "ContactPhase",
    "Derivatives",
    "ExactContacts",
    "Horizon",
    "MotionPhase",
    "NodeSample",
    "ObjectiveChange",
    "Open",
    "Optimization",
    "OptimumDerivatives",
    "OptimumError",
    "PhasedResult",
    "Plan",
    "PreparedOptimization",
    "Scaling",
    "Sensitivities",
    "SensitivityError",
    "Sliding",
    "Stage",
    "StepDefect",
    "StepErrors",
    "Sticking",
    "cost_derivatives",
    "find_posture",
    "multi_start",
    "optimize",
    "optimize_phases",
    "optimum_derivatives",
    "refine",
    "sensitivities",
]
__all__ += conditions.__all__
__all__ += costs.__all__
__all__ += guesses.__all__
__all__ += identification.__all__
