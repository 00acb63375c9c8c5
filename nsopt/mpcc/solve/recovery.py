"""What else is tried where a program is not solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsopt.mpcc.backends.backend import Backend
from nsopt.mpcc.solve.schedule import GRADUAL, Schedule, Stage, schedule
from nsopt.mpcc.statement.relaxation import ExactPenalty, FischerBurmeister, Relaxation


@dataclass(frozen=True)
class Recovery:
    """A homotopy to be followed where another ended without a solution.

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
        made: tuple[Schedule, ...] = tuple(schedule(stages) for stages in self.schedules)
        object.__setattr__(self, "schedules", made)
        if not made:
            raise ValueError("schedules of a Recovery must be one or more, got none")


def list_recoveries(backend: Backend, relaxation: Relaxation) -> tuple[Recovery, ...]:
    """Return what is tried, in order, for a solver that is given no recoveries of its own.

    The same relaxation by the other backend; then, by the same backend, pairs as a penalty that is
    exact, and as equations by the function of Fischer and Burmeister.
    """
    others = [Recovery(backend.other, relaxation)]
    others += [
        Recovery(backend, other)
        for other in (ExactPenalty(), FischerBurmeister())
        if other != relaxation
    ]
    return tuple(others)
