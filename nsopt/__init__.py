"""Simulation of mechanisms with real joints.

State bodies and joints, `assemble` them into `Dynamics`, `simulate` them with step-size bounds,
look at the `Result`.
"""

# isort: off
from nsopt import interrupt  # noqa: F401 (first, so that Ctrl-C ends imports too)
# isort: on

from nsopt import elements
from nsopt.elements import *  # noqa: F403 (what elements export, users see)
from nsopt.loads import joint_loads, rms_loads
from nsopt.mechanics import (
    GROUND,
    Actuator,
    Body,
    ContactLaw,
    Dynamics,
    Frame,
    Mechanism,
    Mimic,
    Relative,
    Start,
    acceleration,
    assemble,
    consistent,
    equilibrium,
    joint_resistance,
)
from nsopt.mpcc import (
    ActiveSet,
    ExactPenalty,
    FischerBurmeister,
    Ipopt,
    Mpcc,
    NaturalResidual,
    Scholtes,
    ScholtesAggregated,
    Solver,
    Sqp,
)
from nsopt.parameter import Parameter
from nsopt.problem import Problem, Variants, load_problem
from nsopt.result import Result
from nsopt.schemes import (
    Composition,
    ContactAligned,
    LinearisedClosure,
    MoreauJean,
    NewtonImpact,
    PaperStep,
    PoissonImpact,
    RungeKutta,
    TrueClosure,
    Variational,
)
from nsopt.simulation import (
    Acceptance,
    Checkpoint,
    Compiled,
    ErrorControl,
    FollowContacts,
    LargestStep,
    StepBounds,
    batch_step,
    simulate,
)
from nsopt.sweep import Grid, Samples, sweep

__all__ = [
    "GROUND",
    "Acceptance",
    "ActiveSet",
    "Actuator",
    "Body",
    "Checkpoint",
    "Compiled",
    "Composition",
    "ContactAligned",
    "ContactLaw",
    "Dynamics",
    "ErrorControl",
    "ExactPenalty",
    "FischerBurmeister",
    "FollowContacts",
    "Frame",
    "Grid",
    "Ipopt",
    "LargestStep",
    "LinearisedClosure",
    "Mechanism",
    "Mimic",
    "MoreauJean",
    "Mpcc",
    "NaturalResidual",
    "NewtonImpact",
    "PaperStep",
    "Parameter",
    "PoissonImpact",
    "Problem",
    "Relative",
    "Result",
    "RungeKutta",
    "Samples",
    "Scholtes",
    "ScholtesAggregated",
    "Solver",
    "Sqp",
    "Start",
    "StepBounds",
    "TrueClosure",
    "Variants",
    "Variational",
    "acceleration",
    "assemble",
    "batch_step",
    "consistent",
    "equilibrium",
    "joint_loads",
    "joint_resistance",
    "load_problem",
    "rms_loads",
    "simulate",
    "sweep",
]
__all__ += elements.__all__
