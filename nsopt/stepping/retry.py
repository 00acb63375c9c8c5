"""What is tried when a step does not solve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from nsopt.mpcc import FischerBurmeister, Ipopt, NaturalResidual, Relaxation, Solver, Sqp
from nsopt.stepping.bounds import StepBounds


@dataclass(frozen=True)
class Rung:
    """One way to solve a step.

    Attributes
    ----------
    label : str
        As recorded in ``step_reason``; empty for the ordinary way.
    solver : Solver
    warm : bool
        Whether to start from the previous step's solution and multipliers.
    below : (float, float) or None
        Bounds of h as parts of the run's h_min, for steps smaller than that.
    """

    label: str
    solver: Solver
    warm: bool = False
    below: tuple[float, float] | None = None

    @property
    def here(self) -> bool:
        """Whether this is tried in the ordinary bounds of h."""
        return self.below is None

    def smaller(self, label: str) -> Rung:
        """Return this way for a smaller h that is given."""
        return replace(self, label=label, warm=False, below=(1.0, 1.0))

    def bounds(self, now: StepBounds, h_min: float) -> StepBounds:
        """Return the bounds of h here, of a step whose ordinary bounds are ``now``."""
        if self.below is None:
            return now
        low, high = self.below
        top = min(high * h_min, now.h_max)
        return StepBounds(min(low * h_min, top), top)


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

    def rungs(self) -> Iterator[Rung]:
        """Return the attempts in order."""
        # The ladder itself is the recovery: a program that fails should fail fast.
        first = replace(self.solver, retries=min(self.solver.retries, 1))
        other: Relaxation = NaturalResidual()
        if first.relaxation == other:
            other = FischerBurmeister()
        backend = replace(first, backend=Sqp() if isinstance(first.backend, Ipopt) else Ipopt())
        yield Rung("", first, warm=True)
        yield Rung("cold restart", first)
        yield Rung("other relaxation", replace(first, relaxation=other))
        yield Rung("other backend", backend)
        for high, low in pairwise((1.0, *self.shrink)):
            label = f"h down to {low:g} h_min"
            yield Rung(label, first, below=(low, high))
            yield Rung(f"{label}, other backend", backend, below=(low, high))
