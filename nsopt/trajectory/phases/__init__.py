"""Motions in phases, each with its own mechanism, modes of contact, duration and costs."""

from nsopt.trajectory.phases.mode_conditions import SLIP, ContactMotion, InMode
from nsopt.trajectory.phases.modes import (
    ContactMode,
    Open,
    Sliding,
    Sticking,
    name_gaps,
    name_normal,
    sample,
    with_modes,
)
from nsopt.trajectory.phases.optimize import optimize_phases, record_phases
from nsopt.trajectory.phases.phase import MotionPhase, PhaseProgram
from nsopt.trajectory.phases.recorded_modes import losses_of_impact
from nsopt.trajectory.phases.result import PhasedResult
from nsopt.trajectory.phases.search import PhasesProgram
from nsopt.trajectory.phases.solve import SolvedPhases, solve_phases

__all__ = [
    "SLIP",
    "ContactMode",
    "ContactMotion",
    "InMode",
    "MotionPhase",
    "Open",
    "PhaseProgram",
    "PhasedResult",
    "PhasesProgram",
    "Sliding",
    "SolvedPhases",
    "Sticking",
    "losses_of_impact",
    "name_gaps",
    "name_normal",
    "optimize_phases",
    "record_phases",
    "sample",
    "solve_phases",
    "with_modes",
]
