"""What is tried when a step does not solve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from nsopt.mpcc import FischerBurmeister, Ipopt, NaturalResidual, Relaxation, Solver, Sqp


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
    shrink : float
        h_min times this is the lower bound of h.
    """

    label: str
    solver: Solver
    warm: bool
    shrink: float = 1.0


@dataclass(frozen=True)
class RetryLadder:
    """The order of attempts: warm, cold, other relaxation, other backend, smaller h.

    Parameters
    ----------
    solver : Solver
        The ordinary one.
    shrink : tuple of float
        At the end, h may go below h_min by these factors; each such step is on record.
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
        yield Attempt("cold restart", first, warm=False)
        yield Attempt("other relaxation", relaxed, warm=False)
        yield Attempt("other backend", backend, warm=False)
        for factor in self.shrink:
            yield Attempt(f"h down to {factor:g} h_min", first, warm=False, shrink=factor)
            yield Attempt(f"h down to {factor:g} h_min, other backend", backend, False, factor)
