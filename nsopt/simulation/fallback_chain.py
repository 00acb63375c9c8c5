"""Steps by Newton from other starts and with fallbacks, where a compiled chain is stuck."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics, Start
from nsopt.schemes import Scheme
from nsopt.simulation.attempt import AT_H_MIN
from nsopt.simulation.bounds import StepBounds
from nsopt.simulation.chain import Chain, ChainRun
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.step_error import BY

Array = NDArray[np.float64]

MAX_STEPS = 16
"""Steps of a fallback, after which at the latest the scheme itself is tried again, and Ctrl-C is
heard."""

ATTEMPTS = 3
"""Attempts for each of these steps, in the mean."""

FROM_GAUSS_SEIDEL = "from Gauss-Seidel"
"""In the reason of a step, where Newton did not start by itself."""

SWEEPS = 500, 5000, 50000
"""Of Gauss-Seidel at h_min, from which Newton starts in turn."""

SWEEPS_ABOVE = 5000
"""Of Gauss-Seidel above h_min, where a smaller h may be tried instead of more."""

LONGER = (1.0, 10.0, 100.0)
"""Times h_min, where steps from Gauss-Seidel begin: an impulse that stops a jam has any h."""


class Backoff(NamedTuple):
    """How long a fallback goes on before the scheme itself is tried again.

    Attributes
    ----------
    steps : int
        Steps of the fallback in the last jam.
    own : int
        Steps that the compiled chain of the scheme itself has taken since.
    """

    steps: int = 0
    own: int = 0

    @property
    def after_jam(self) -> Backoff:
        """The next one: twice as long where the scheme itself has taken fewer steps since."""
        return Backoff(min(2 * self.steps, MAX_STEPS) if self.own < self.steps else 1)


class Fallback(NamedTuple):
    """A way to take steps where a compiled chain is stuck.

    Attributes
    ----------
    scheme : Scheme
    sweeps : tuple of int
        Of Gauss-Seidel at h_min, from which Newton starts in turn; none: it guesses where to start.
    first : float
        The h to try first, in h_min.
    """

    scheme: Scheme
    sweeps: tuple[int, ...] = ()
    first: float = 1.0


class FallbackSteps(NamedTuple):
    """Accepted steps, maybe none, and what the attempts after the last of them failed by."""

    accepted: AcceptedSteps
    refused: tuple[str, ...]


class FallbackChains:
    """Steps by Newton where the compiled chain of a scheme is stuck, by other ways than its own.

    In a jam with friction what stops the bodies is an impulse, far from where Newton starts, or
    many impulses give the same motion; solvers of optimization problems seldom find it. So Newton
    starts from `GaussSeidel`: with the scheme itself, then with its fallbacks, which may have a
    step where the scheme has none. Contacts there must be: nothing else is solved so.

    Parameters
    ----------
    dynamics : Dynamics
    scheme : Scheme
        Fallbacks that are the same scheme with another law of impact are left out: they are for
        impacts that give energy, which `FallbackStepper` knows.
    bounds : StepBounds
    make : callable
        (scheme, whether Newton guesses where it starts) -> chain; called when it is needed.

    Attributes
    ----------
    own, others : tuple of Fallback
        With the scheme itself, and with its fallbacks, in the order in which they are tried.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        scheme: Scheme,
        bounds: StepBounds,
        make: Callable[[Scheme, bool], Chain],
    ) -> None:
        self._dynamics, self._scheme, self._make = dynamics, scheme, make
        self._h_min, self._h_max = bounds.h_min, bounds.h_max
        self._chains: dict[tuple[Scheme, bool], Chain] = {}
        self.own: tuple[Fallback, ...] = ()
        self.others: tuple[Fallback, ...] = ()
        if not dynamics.contact_names:
            return
        others = [*_others(scheme)]
        last = tuple(Fallback([scheme, *others][-1], SWEEPS, factor) for factor in LONGER)
        self.own = (Fallback(scheme, SWEEPS[:1]),) if others else last
        self.others = (*map(Fallback, others), *last) if others else ()

    def steps(self, fallbacks: Iterable[Fallback], start: Start, count: int) -> FallbackSteps:
        """Return up to ``count`` steps, by the first of some fallbacks that takes any."""
        taken, sizes = FallbackSteps(AcceptedSteps.none(self._dynamics), ()), set()
        for fallback in fallbacks:
            chain = self._chain(fallback)
            z = chain.begin(start, min(fallback.first * self._h_min, self._h_max))
            size = (fallback.scheme, bool(fallback.sweeps), chain.size(z))
            if size in sizes or (fallback.sweeps and not chain.takes_gauss_seidel):
                continue
            sizes.add(size)
            more = self._taken(chain, fallback, z, count)
            tried = (*taken.refused, *self._described(fallback, more.refused))
            if len(more.accepted):
                accepted = more.accepted.with_earlier(taken.refused, self._description(fallback))
                return FallbackSteps(accepted, self._described(fallback, more.refused))
            taken = FallbackSteps(more.accepted, tried)
        return taken

    def _taken(self, chain: Chain, fallback: Fallback, z: Array, count: int) -> FallbackSteps:
        taken = FallbackSteps(AcceptedSteps.none(self._dynamics), ())
        for _ in range(ATTEMPTS * count):
            run = self._attempt(chain, fallback, z, taken.refused)
            z = run.state
            taken = FallbackSteps(AcceptedSteps.joined([taken.accepted, run.accepted]), run.refused)
            if chain.ended(z) or len(taken.accepted) >= count:
                break
        return taken

    def _attempt(
        self, chain: Chain, fallback: Fallback, z: Array, refused: tuple[str, ...]
    ) -> ChainRun:
        """Return an attempt; at h_min, where h cannot shrink, several until Newton converges."""
        if not fallback.sweeps:
            return chain.run(z, refused)
        run: ChainRun | None = None
        at_h_min = chain.size(z) <= self._h_min * AT_H_MIN
        for sweeps in fallback.sweeps if at_h_min else (SWEEPS_ABOVE,):
            run = chain.run(chain.from_gauss_seidel(z, sweeps), run.refused if run else refused)
            if run.solved:
                break
        assert run is not None  # there are sweeps
        return run

    def _description(self, fallback: Fallback) -> str:
        """Return in words how steps were taken, as far as not by the scheme and Newton alone."""
        by = f"{BY}{type(fallback.scheme).__name__}" if fallback.scheme != self._scheme else ""
        return f"{by} {FROM_GAUSS_SEIDEL if fallback.sweeps else ''}".strip()

    def _described(self, fallback: Fallback, refused: tuple[str, ...]) -> tuple[str, ...]:
        description = self._description(fallback)
        return tuple(f"{description}: {text}" for text in refused)

    def _chain(self, fallback: Fallback) -> Chain:
        key = fallback.scheme, not fallback.sweeps
        if key not in self._chains:
            self._chains[key] = self._make(*key)
        return self._chains[key]


def _others(scheme: Scheme) -> Iterator[Scheme]:
    """Yield the fallbacks of a scheme that are other schemes."""
    last = scheme
    while (fallback := last.fallback) is not None and type(fallback) is not type(last):
        yield fallback
        last = fallback
