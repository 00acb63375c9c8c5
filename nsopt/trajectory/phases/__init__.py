"""Motions in phases, each with its own mechanism, duration, costs and conditions."""

from nsopt.trajectory.phases.optimize import optimize_phases
from nsopt.trajectory.phases.phase import MotionPhase
from nsopt.trajectory.phases.result import PhasedResult

__all__ = ["MotionPhase", "PhasedResult", "optimize_phases"]
