"""The settings of a solve, all of them given."""

from __future__ import annotations

from dataclasses import dataclass, field

from nsopt.mpcc.layout import Tolerances
from nsopt.mpcc.relaxation import FischerBurmeister, Relaxation
from nsopt.mpcc.schedule import Schedule


@dataclass(frozen=True)
class Settings:
    """The choices of a `Solver` for one kind of program; the defaults suit a single one.

    Parameters
    ----------
    relaxation, schedules, tolerances, retries
        As of `Solver`.
    """

    relaxation: Relaxation = field(default_factory=FischerBurmeister)
    schedules: tuple[Schedule, ...] = (((1e-10,),),)
    tolerances: Tolerances = field(default_factory=Tolerances)
    retries: int = 8


SINGLE = Settings()
"""Of a single program, such as a step."""
