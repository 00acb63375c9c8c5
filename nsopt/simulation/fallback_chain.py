"""Steps by Newton with the fallbacks of a scheme, where its compiled chain is stuck."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics, Start
from nsopt.schemes import Scheme
from nsopt.simulation.bounds import StepBounds
from nsopt.simulation.chain import Chain
from nsopt.simulation.fallback import BY
from nsopt.simulation.record.accepted_steps import AcceptedSteps

Array = NDArray[np.float64]

MOST = 64
"""Steps of a fallback, after which at the latest the scheme itself is tried again."""

ATTEMPTS = 4
"""Attempts for each of these steps, in the mean."""

FEW, SWEEPS = 5000, (500, 5000, 50000)
"""Of Gauss-Seidel, above h_min and there, from which Newton starts in turn."""

LONGER = (1.0, 10.0, 100.0)
"""Times h_min, where steps from Gauss-Seidel begin: an impulse that stops a jam has any h."""


class Backoff(NamedTuple):
    """How long a fallback goes on before the scheme itself is tried again.

    Attributes
    ----------
    steps : int
        Steps of the fallback in the last jam.
    own : int
        Steps that the scheme itself has taken since.
    """

    steps: int = 0
    own: int = 0

    @property
    def after_jam(self) -> Backoff:
        """The next one: twice as long where the scheme itself has taken fewer steps since."""
        return Backoff(min(2 * self.steps, MOST) if self.own < self.steps else 1)


class FallbackChains:
    """Steps by Newton with the fallbacks of a scheme, the last from starts by Gauss-Seidel too.

    In a jam with friction the scheme may have no step, however short, or one whose impulses are
    not unique, or a jump of velocities far from where they were: solvers of optimization problems
    find none of these. A scheme without fallbacks is its own.

    Parameters
    ----------
    dynamics : Dynamics
    scheme : Scheme
        Fallbacks that are the same scheme with another law of impact are left out: they are for
        impacts that give energy, which `FallbackStepper` knows.
    bounds : StepBounds
        A fallback begins with h_min, and has h of its own from there on.
    make : callable
        (scheme, whether Newton guesses where it starts) -> chain; called when it is needed.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        scheme: Scheme,
        bounds: StepBounds,
        make: Callable[[Scheme, bool], Chain],
    ) -> None:
        self._dynamics, self._make = dynamics, make
        self._h_min, self._h_max = bounds.h_min, bounds.h_max
        self._others = [*_others(scheme)]
        self._last = [scheme, *self._others][-1]
        self._chains: dict[tuple[Scheme, bool], Chain] = {}

    @property
    def other(self) -> bool:
        """Whether any of them is another scheme."""
        return bool(self._others)

    def steps(self, start: Start, count: int, tried: tuple[str, ...]) -> AcceptedSteps | None:
        """Return up to ``count`` accepted steps, None if there is not one.

        Parameters
        ----------
        start : Start
        count : int
        tried : tuple of str
            What earlier attempts at the first step failed by.
        """
        ways = [(scheme, True, 1.0) for scheme in self._others]
        ways += [(self._last, False, factor) for factor in LONGER]
        for scheme, guesses, factor in ways:
            h = min(factor * self._h_min, self._h_max)
            accepted, refused = self._taken(scheme, guesses, start, h, count)
            if len(accepted):
                how = f"{BY}{type(scheme).__name__}" if self._others else ""
                return accepted.with_earlier(tried, how)
            tried += refused
        return None

    def _chain(self, scheme: Scheme, guesses: bool) -> Chain:
        key = scheme, guesses
        if key not in self._chains:
            self._chains[key] = self._make(*key)
        return self._chains[key]

    def _taken(
        self, scheme: Scheme, guesses: bool, start: Start, h: float, count: int
    ) -> tuple[AcceptedSteps, tuple[str, ...]]:
        """Return up to ``count`` steps, and what attempts at the next one failed by."""
        chain = self._chain(scheme, guesses)
        z = chain.begin(start, h)
        tried: tuple[str, ...] = ()
        steps = AcceptedSteps.none(self._dynamics)
        for _ in range(ATTEMPTS * count if guesses or chain.sweeps else 0):
            for ready in [z] if guesses else self._swept(chain, z):
                run = chain.run(ready, tried)
                tried = run.refused
                if len(run.accepted):
                    break
            z, steps = run.state, AcceptedSteps.joined([steps, run.accepted])
            if chain.ended(z) or len(steps) >= count:
                break
        return steps, tried

    def _swept(self, chain: Chain, z: Array) -> Iterator[Array]:
        """Yield states with unknowns by Gauss-Seidel, several at h_min, where h cannot shrink."""
        for sweeps in SWEEPS if chain.trial(z) <= self._h_min else (FEW,):
            yield chain.swept(z, sweeps)


def _others(scheme: Scheme) -> Iterator[Scheme]:
    """Yield the fallbacks of a scheme that are other schemes."""
    last = scheme
    while (fallback := last.fallback) is not None and type(fallback) is not type(last):
        yield fallback
        last = fallback
