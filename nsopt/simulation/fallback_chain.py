"""Steps by Newton from other starts and with fallbacks, where a compiled chain is stuck."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics, Start
from nsopt.schemes import Scheme
from nsopt.simulation.bounds import StepBounds
from nsopt.simulation.chain import Chain
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.step_error import named

Array = NDArray[np.float64]

MAX_STEPS = 16
"""Steps of a fallback, after which at the latest the scheme itself is tried again, and Ctrl-C is
heard."""

ATTEMPTS = 3
"""Attempts for each of these steps, in the mean."""

FROM_PROXIMAL_POINT = "from proximal points"
"""In the reason of a step, where Newton did not start by itself."""

LONGER = (1.0, 10.0, 100.0)
"""Times h_min, where steps from proximal points begin: an impulse that stops a jam has any h."""


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
    proximal : bool
        Whether Newton starts from `ProximalPoint`; otherwise it guesses where to start.
    first : float
        The h to try first, in h_min.
    """

    scheme: Scheme
    proximal: bool = False
    first: float = 1.0


class FallbackSteps(NamedTuple):
    """Accepted steps, maybe none, and what the attempts after the last of them failed by."""

    accepted: AcceptedSteps
    refused: tuple[str, ...]


class FallbackChains:
    """Steps by Newton where the compiled chain of a scheme is stuck, by other ways than its own.

    In a jam with friction what stops the bodies is an impulse, far from where Newton starts, or
    many impulses give the same motion; solvers of optimization problems seldom find it. So Newton
    starts from `ProximalPoint`: with the scheme itself, then with its fallbacks, which may have a
    step where the scheme has none. Contacts there must be: nothing else is solved so.

    Parameters
    ----------
    dynamics : Dynamics
    scheme : Scheme
    bounds : StepBounds
    make : callable
        (scheme, whether Newton guesses where it starts) -> chain; called when it is needed.

    Attributes
    ----------
    longer : tuple of Fallback
        With the scheme itself above h_min, where Newton does not solve a step nearly as short.
    own, others : tuple of Fallback
        With the scheme itself, and with its fallbacks, in the order in which they are tried.
    law : tuple of Fallback
        With another law of impact, where contacts gave energy by the scheme's own.
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
        self.longer: tuple[Fallback, ...] = ()
        self.own: tuple[Fallback, ...] = ()
        self.others: tuple[Fallback, ...] = ()
        self.law: tuple[Fallback, ...] = ()
        if not dynamics.contact_names:
            return
        others = [*_others(scheme)]
        last = tuple(Fallback([scheme, *others][-1], True, factor) for factor in LONGER)
        self.longer = tuple(Fallback(scheme, True, factor) for factor in reversed(LONGER[1:]))
        self.own = (Fallback(scheme, True),) if others else last
        self.others = (*map(Fallback, others), *last) if others else ()
        other_law = [scheme, *others][-1].fallback
        self.law = (Fallback(other_law, True),) if other_law is not None else ()

    def steps(self, fallbacks: Iterable[Fallback], start: Start, count: int) -> FallbackSteps:
        """Return up to ``count`` steps, by the first of some fallbacks that takes any."""
        taken, sizes = FallbackSteps(AcceptedSteps.none(self._dynamics), ()), set()
        for fallback in fallbacks:
            chain = self._chain(fallback)
            z = chain.begin(start, min(fallback.first * self._h_min, self._h_max))
            size = (fallback.scheme, fallback.proximal, chain.size(z))
            if size in sizes or (fallback.proximal and not chain.takes_proximal_point):
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
            begun = chain.from_proximal_point(z) if fallback.proximal else z
            run = chain.run(begun, taken.refused)
            z = run.state
            taken = FallbackSteps(AcceptedSteps.joined([taken.accepted, run.accepted]), run.refused)
            if chain.ended(z) or len(taken.accepted) >= count:
                break
        return taken

    def _description(self, fallback: Fallback) -> str:
        """Return in words how steps were taken, as far as not by the scheme and Newton alone."""
        by = named(self._scheme, fallback.scheme)
        return f"{by} {FROM_PROXIMAL_POINT if fallback.proximal else ''}".strip()

    def _described(self, fallback: Fallback, refused: tuple[str, ...]) -> tuple[str, ...]:
        description = self._description(fallback)
        return tuple(f"{description}: {text}" for text in refused)

    def _chain(self, fallback: Fallback) -> Chain:
        key = fallback.scheme, not fallback.proximal
        if key not in self._chains:
            self._chains[key] = self._make(*key)
        return self._chains[key]


def _others(scheme: Scheme) -> Iterator[Scheme]:
    """Yield the fallbacks of a scheme that are other schemes."""
    last = scheme
    while (fallback := last.fallback) is not None and type(fallback) is not type(last):
        yield fallback
        last = fallback
