"""The settings of a solve, all of them given."""

from __future__ import annotations

from dataclasses import dataclass, field

from nsopt.mpcc.solve.active_set import ActiveSet
from nsopt.mpcc.solve.schedule import GRADUAL, Schedule
from nsopt.mpcc.statement.layout import Tolerances
from nsopt.mpcc.statement.relaxation import FischerBurmeister, Relaxation, Scholtes


@dataclass(frozen=True)
class Settings:
    """The choices of a `Solver` for one kind of program; the defaults suit a step.

    Parameters
    ----------
    relaxation, schedules, tolerances, retries, active_set
        As of `Solver`.
    recovers : bool
        Whether what fails is solved in other ways, those of `list_recoveries`, where a `Solver`
        states none.
    """

    relaxation: Relaxation = field(default_factory=FischerBurmeister)
    schedules: tuple[Schedule, ...] = (((1e-10,),),)
    tolerances: Tolerances = field(default_factory=Tolerances)
    retries: int = 8
    active_set: ActiveSet | None = None
    recovers: bool = False


STEP = Settings()
"""Of a step: small, solved thousands of times, from a start that is near.

Sigma is small at once. Nothing is recovered: who takes steps has other ways of its own.
"""

SQUARE = Settings(recovers=True)  # of a program without an objective, from any start

GENERAL = Settings(Scholtes(), (GRADUAL,), retries=2, active_set=ActiveSet(), recovers=True)
"""Of a program with an objective, from any start."""
