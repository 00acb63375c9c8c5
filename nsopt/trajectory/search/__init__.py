"""The search for a motion: an ordered plan of strategies, and what runs it."""

from nsopt.trajectory.search.coarser_grids import CoarserGrids
from nsopt.trajectory.search.contacts_from_afar import ContactsFromAfar
from nsopt.trajectory.search.finish import FinishAcceptable, LessenTie
from nsopt.trajectory.search.friction_in_stages import FrictionInStages
from nsopt.trajectory.search.from_guess import FromGuess
from nsopt.trajectory.search.keep_limits import KeepLimits
from nsopt.trajectory.search.least_duration import LeastDuration
from nsopt.trajectory.search.other_starts import OtherStarts
from nsopt.trajectory.search.plan import IN_STEPS
from nsopt.trajectory.search.program import SearchedProgram, StatedProgram, restate_limits
from nsopt.trajectory.search.resolve_steps import ResolveSteps
from nsopt.trajectory.search.resting_joints import RestingJoints
from nsopt.trajectory.search.rough_first import RoughFirst
from nsopt.trajectory.search.strategy import (
    ExactMotion,
    Found,
    FoundMotion,
    MotionSearch,
    Plan,
    Search,
    Spent,
    Strategy,
    StrategyRun,
)
from nsopt.trajectory.search.tightening import LimitedPart, LimitExcess, Tightening

__all__ = [
    "IN_STEPS",
    "CoarserGrids",
    "ContactsFromAfar",
    "ExactMotion",
    "FinishAcceptable",
    "Found",
    "FoundMotion",
    "FrictionInStages",
    "FromGuess",
    "KeepLimits",
    "LeastDuration",
    "LessenTie",
    "LimitExcess",
    "LimitedPart",
    "MotionSearch",
    "OtherStarts",
    "Plan",
    "ResolveSteps",
    "RestingJoints",
    "RoughFirst",
    "Search",
    "SearchedProgram",
    "Spent",
    "StatedProgram",
    "Strategy",
    "StrategyRun",
    "Tightening",
    "restate_limits",
]
