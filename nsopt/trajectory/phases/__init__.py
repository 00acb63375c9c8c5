"""Motions in phases, each with its own mechanism, modes of contact, duration and costs."""

from nsopt.trajectory.phases.cone_excess import join_cone_excess
from nsopt.trajectory.phases.constraint_forces import find_constraint_forces
from nsopt.trajectory.phases.few_steps_first import FewStepsFirst
from nsopt.trajectory.phases.mode_conditions import SLIP, ContactInMode, ContactMotion
from nsopt.trajectory.phases.modes import (
    ContactMode,
    ModeForces,
    Open,
    Sliding,
    Sticking,
    name_gap,
    name_normal,
    sample_symbols,
    with_modes,
)
from nsopt.trajectory.phases.optimize import optimize_phases, record_phases
from nsopt.trajectory.phases.phase import MotionPhase, PhaseProgram
from nsopt.trajectory.phases.program import SearchedPhases
from nsopt.trajectory.phases.result import PhasedResult
from nsopt.trajectory.phases.solve import (
    PLAN_OF_PHASES,
    SolvedPhases,
    compute_impact_losses,
    solve_phases,
)

__all__ = [
    "PLAN_OF_PHASES",
    "SLIP",
    "ContactInMode",
    "ContactMode",
    "ContactMotion",
    "FewStepsFirst",
    "ModeForces",
    "MotionPhase",
    "Open",
    "PhaseProgram",
    "PhasedResult",
    "SearchedPhases",
    "Sliding",
    "SolvedPhases",
    "Sticking",
    "compute_impact_losses",
    "find_constraint_forces",
    "join_cone_excess",
    "name_gap",
    "name_normal",
    "optimize_phases",
    "record_phases",
    "sample_symbols",
    "solve_phases",
    "with_modes",
]
