"""Motions in phases, each with its own mechanism, modes of contact, duration and costs."""

from nsopt.trajectory.phases.modes import ContactMode, Open, Sliding, Sticking
from nsopt.trajectory.phases.optimize import optimize_phases
from nsopt.trajectory.phases.phase import MotionPhase
from nsopt.trajectory.phases.result import PhasedResult

__all__ = [
    "ContactMode",
    "MotionPhase",
    "Open",
    "PhasedResult",
    "Sliding",
    "Sticking",
    "optimize_phases",
]
