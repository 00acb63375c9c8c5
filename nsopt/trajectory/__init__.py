"""Trajectory optimization: the best motion of a mechanism."""

from nsopt.trajectory import conditions, costs, guesses
from nsopt.trajectory.conditions import *  # noqa: F403
from nsopt.trajectory.costs import *  # noqa: F403
from nsopt.trajectory.diagnosis import Scaling
from nsopt.trajectory.guesses import *  # noqa: F403
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.identification import (
    Design,
    Fit,
    FitOutcome,
    FullWindow,
    GrowingWindow,
    Limit,
    Measured,
    Unknown,
    design,
    fit,
)
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
from nsopt.trajectory.schedules import (
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
from nsopt.trajectory.sensitivity import (
    Derivatives,
    OptimumDerivatives,
    OptimumError,
    Sensitivities,
    SensitivityError,
    cost_derivatives,
    optimum_derivatives,
    sensitivities,
)

__all__ = [
    "DAMPED",
    "DAMPED_START",
    "FINE",
    "FROM_AFAR",
    "FROM_AFAR_SLOWLY",
    "FROM_NEARBY",
    "GRADUAL",
    "STRAIGHT",
    "WARM_START",
    "WIDE",
    "ContactMode",
    "Derivatives",
    "Design",
    "Fit",
    "FitOutcome",
    "FullWindow",
    "GrowingWindow",
    "Horizon",
    "Limit",
    "Measured",
    "MotionPhase",
    "NodeSample",
    "ObjectiveChange",
    "Open",
    "Optimization",
    "OptimumDerivatives",
    "OptimumError",
    "PhasedResult",
    "PreparedOptimization",
    "Scaling",
    "Sensitivities",
    "SensitivityError",
    "Sliding",
    "Stage",
    "StepDefect",
    "Sticking",
    "Unknown",
    "cost_derivatives",
    "design",
    "find_posture",
    "fit",
    "multi_start",
    "optimize",
    "optimize_phases",
    "optimum_derivatives",
    "refine",
    "sensitivities",
]
__all__ += conditions.__all__ + costs.__all__ + guesses.__all__
