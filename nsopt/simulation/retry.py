"""The attempts at a step by solvers of programs, in order: `RetryPolicy.attempts`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import pairwise

from nsopt.mpcc import (
    FischerBurmeister,
    Ipopt,
    NaturalResidual,
    Relaxation,
    Scholtes,
    Solver,
    Sqp,
)
from nsopt.simulation.bounds import StepBounds

GRADUAL = tuple(10.0**-k for k in range(11))
"""Values of sigma for Scholtes' relaxation: solve jams with friction that one shot does not."""


class RetryLevel(IntEnum):
    """How much an attempt takes: the solver itself, other ways at the same h, steps below h_min."""

    FIRST = 0
    MORE = 1
    BELOW_H_MIN = 2


@dataclass(frozen=True)
class Retry:
    """One attempt at a step."""

    label: str  # as recorded in ``step_reason``; empty for the first attempt
    solver: Solver
    level: RetryLevel = RetryLevel.FIRST
    warm: bool = False  # whether to start from the previous step's solution and multipliers
    # Bounds of h as parts of the run's h_min, for steps shorter than that.
    below: tuple[float, float] | None = None
    sized: bool = False  # whether it is as the one before but for its h, which is the label

    @property
    def keeps_bounds(self) -> bool:
        """Whether this is tried in the ordinary bounds of h."""
        return self.below is None

    def at_given_h(self, label: str, *, sized: bool = False) -> Retry:
        """Return this attempt for a smaller h that is given."""
        return replace(self, label=label, warm=False, below=(1.0, 1.0), sized=sized)

    def bounds(self, ordinary: StepBounds, h_min: float) -> StepBounds:
        """Return the bounds of h of this attempt at a step that has ``ordinary`` bounds."""
        if self.below is None:
            return ordinary
        low, high = self.below
        top = min(high * h_min, ordinary.h_max)
        return StepBounds(min(low * h_min, top), top)


@dataclass(frozen=True)
class RetryPolicy:
    """The order of attempts: warm, cold, other relaxation, other backend, homotopy, smaller h.

    Parameters
    ----------
    solver : Solver
        The ordinary one.
    shrink : tuple of float
        At the end, h may go below h_min by these factors in turn; each such step is on record.
    """

    solver: Solver = field(default_factory=Solver)
    shrink: tuple[float, ...] = (0.3, 0.1, 0.01, 0.001)

    def attempts(self) -> Iterator[Retry]:
        """Return the attempts in order."""
        # These attempts themselves are the recovery: a program that fails should fail fast.
        first = replace(self.solver, retries=min(self.solver.settings().retries, 1))
        other: Relaxation = NaturalResidual()
        if first.relaxation == other:
            other = FischerBurmeister()
        backend = replace(first, backend=Sqp() if isinstance(first.backend, Ipopt) else Ipopt())
        yield Retry("", first, warm=True)
        yield Retry("cold restart", first)
        yield Retry("other relaxation", replace(first, relaxation=other), RetryLevel.MORE)
        yield Retry("other backend", backend, RetryLevel.MORE)
        gradual = replace(first, relaxation=Scholtes(), backend=Ipopt(), schedules=(GRADUAL,))
        yield Retry("homotopy", gradual, RetryLevel.MORE)
        for high, low in pairwise((1.0, *self.shrink)):
            label = f"h down to {low:g} h_min"
            below = RetryLevel.BELOW_H_MIN
            yield Retry(label, first, below, below=(low, high))
            yield Retry(f"{label}, other backend", backend, below, below=(low, high))
