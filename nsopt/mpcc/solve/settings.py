"""The settings of a solve (`Settings`), and what else is tried where it fails (`Recovery`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nsopt.mpcc.backends.backend import Backend
from nsopt.mpcc.solve.active_set import ActiveSet
from nsopt.mpcc.solve.schedule import GRADUAL, Schedule, Stage, make_schedule
from nsopt.mpcc.statement.layout import Tolerances
from nsopt.mpcc.statement.relaxation import ExactPenalty, FischerBurmeister, Relaxation, Scholtes


@dataclass(frozen=True)
class Settings:
    """The choices of a `Solver` for one kind of program; the defaults suit a step.

    Parameters
    ----------
    relaxation, schedules, tolerances, retries, active_set
        As of `Solver`.
    recovers : bool
        Whether `list_recoveries` are tried where a solve fails and the `Solver` states none.
    """

    relaxation: Relaxation = field(default_factory=FischerBurmeister)
    schedules: tuple[Schedule, ...] = (((1e-10,),),)
    tolerances: Tolerances = field(default_factory=Tolerances)
    retries: int = 8
    active_set: ActiveSet | None = None
    recovers: bool = False


STEP = Settings()
"""Of a step: small, solved thousands of times from starts that are near, so sigma is small at once.

There is no recovery: who takes steps has retries of its own.
"""

SQUARE = Settings(recovers=True)  # of a program without an objective, from any start

GENERAL = Settings(Scholtes(), (GRADUAL,), retries=2, active_set=ActiveSet(), recovers=True)
"""Of a program with an objective, from any start."""


@dataclass(frozen=True)
class Recovery:
    """A homotopy that is followed where others ended without a solution.

    Parameters
    ----------
    backend : Backend
    relaxation : Relaxation
    schedules : sequence of schedules
        As of `Solver`.
    """

    backend: Backend
    relaxation: Relaxation
    schedules: Sequence[Sequence[float | Stage]] = (GRADUAL,)

    def __post_init__(self) -> None:
        made: tuple[Schedule, ...] = tuple(make_schedule(stages) for stages in self.schedules)
        object.__setattr__(self, "schedules", made)
        if not made:
            raise ValueError("schedules of a Recovery must be one or more, got none")


def list_recoveries(backend: Backend, relaxation: Relaxation) -> tuple[Recovery, ...]:
    """Return what is tried, in order, for a solver without recoveries of its own.

    The same relaxation by `Backend.other`, then `ExactPenalty` and `FischerBurmeister` by the same
    backend.
    """
    others = [Recovery(backend.other, relaxation)]
    others += [
        Recovery(backend, other)
        for other in (ExactPenalty(), FischerBurmeister())
        if other != relaxation
    ]
    return tuple(others)
