"""What is tried when a step does not solve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from nsopt.mpcc import FischerBurmeister, Ipopt, NaturalResidual, Relaxation, Solver, Sqp
from nsopt.stepping.bounds import StepBounds


@dataclass(frozen=True)
class Attempt:
    """One way to solve a step.

    Attributes
    ----------
    label : str
        As recorded in ``step_reason``; empty for the ordinary way.
    solver : Solver
    warm : bool
        Whether to start from the previous step's solution and multipliers.
    below : (float, float) or None
        Bounds of h as parts of h_min, for steps smaller than that.
    """

    label: str
    solver: Solver
    warm: bool = False
    below: tuple[float, float] | None = None

    def bounds(self, steps: StepBounds) -> StepBounds:
        """Return the bounds of h for this attempt."""
        if self.below is None:
            return steps
        low, high = self.below
        return StepBounds(low * steps.h_min, high * steps.h_min)


@dataclass(frozen=True)
class RetryLadder:
    """The order of attempts: warm, cold, other relaxation, other backend, smaller h.

    Parameters
    ----------
    solver : Solver
        The ordinary one.
    shrink : tuple of float
        At the end, h may go below h_min by these factors in turn; each such step is on record.
    """

    solver: Solver = field(default_factory=Solver)
    shrink: tuple[float, ...] = (0.3, 0.1, 0.01, 0.001)

    def attempts(self) -> Iterator[Attempt]:
        """Return the attempts in order."""
        first = self.solver
        other: Relaxation = NaturalResidual()
        if first.relaxation == other:
            other = FischerBurmeister()
        relaxed = replace(first, relaxation=other)
        backend = replace(first, backend=Sqp() if isinstance(first.backend, Ipopt) else Ipopt())
        yield Attempt("", first, warm=True)
        yield Attempt("cold restart", first)
        yield Attempt("other relaxation", relaxed)
        yield Attempt("other backend", backend)
        for high, low in pairwise((1.0, *self.shrink)):
            label = f"h down to {low:g} h_min"
            yield Attempt(label, first, below=(low, high))
            yield Attempt(f"{label}, other backend", backend, below=(low, high))
