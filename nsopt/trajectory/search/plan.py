"""The plan of search in steps: which strategies are tried for a motion, in order."""

from __future__ import annotations

from nsopt.trajectory.search.coarser_grids import CoarserGrids
from nsopt.trajectory.search.contacts_from_afar import ContactsFromAfar
from nsopt.trajectory.search.finish import FinishAcceptable, LessenTie
from nsopt.trajectory.search.friction_in_stages import FrictionInStages
from nsopt.trajectory.search.from_guess import FromGuess
from nsopt.trajectory.search.keep_limits import KeepLimits
from nsopt.trajectory.search.least_duration import LeastDuration
from nsopt.trajectory.search.other_starts import OtherStarts
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.resolve_steps import ResolveSteps
from nsopt.trajectory.search.resting_joints import RestingJoints
from nsopt.trajectory.search.rough_first import RoughFirst
from nsopt.trajectory.search.strategy import Plan

IN_STEPS = Plan[StatedProgram](
    (
        # The first of these that applies solves the program from the guess.
        CoarserGrids(),
        ContactsFromAfar(),
        FrictionInStages(),
        RoughFirst(),
        FromGuess(),
        # What is solved becomes exact, its steps resolved, its limits kept at all times.
        FinishAcceptable(),
        LessenTie(),
        ResolveSteps(),
        KeepLimits(),
        RestingJoints(),
        # Where there is no motion.
        OtherStarts(),
        LeastDuration(),
    )
)
"""The plan for a motion in steps; that of `optimize`, `PLAN`, has `ExactContacts` after it."""
