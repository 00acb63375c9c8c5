"""Steps by Newton's method with other schemes, where a compiled chain is stuck: `FallbackChains`.

A *jam* is a state from which the scheme itself has no step, at any h down to h_min.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start
from nsopt.schemes import Scheme
from nsopt.simulation.bounds import StepBounds
from nsopt.simulation.chain import Chain
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.step_error import FailedAttempt, compare_schemes, name_scheme

MAX_STEPS = 16
"""Steps of a fallback at most, before the scheme itself is tried again, and Ctrl-C is heard."""

# Attempts for each of these steps, in the mean: two more than it takes, that are refused or tried
# again to end at a change of contact.
ATTEMPTS = 3

LONGER = (10.0, 100.0)
"""Times h_min, the h that the last of a scheme's fallbacks tries where h_min fails with it too: the
impulse that ends a jam may take any h."""

LASTING = 4
"""Steps of a fallback from which on a jam lasts, if the scheme itself does not go on after them:
nor did it after the 1 and the 2 steps before."""


class Backoff(NamedTuple):
    """How long a fallback goes on before the scheme itself is tried again."""

    steps: int = 0  # steps of the fallback in the last jam
    own: int = 0  # steps that the compiled chain of the scheme itself has taken since

    @property
    def after_jam(self) -> Backoff:
        """The next one: twice as long where the scheme itself has taken fewer steps since."""
        return Backoff(min(2 * self.steps, MAX_STEPS) if self.own < self.steps else 1)

    @property
    def lasts(self) -> bool:
        """Whether the scheme itself has not gone on for a while."""
        return self.own < self.steps and self.steps >= LASTING


class Fallback(NamedTuple):
    """A way to take steps where a compiled chain is stuck."""

    scheme: Scheme
    first: float = 1.0  # the h to try first, over h_min


class FallbackSteps(NamedTuple):
    """Accepted steps, maybe none, and the attempts after the last of them."""

    accepted: AcceptedSteps
    refused: tuple[FailedAttempt, ...] = ()


class FallbackChains:
    """Steps by Newton where the compiled chain of a scheme is stuck, with its fallbacks.

    They may have a step where the scheme has none, as in a jam. Without contacts there are none.

    Parameters
    ----------
    dynamics : Dynamics
    scheme : Scheme
    bounds : StepBounds
    make : callable
        scheme -> chain; called when it is needed.

    Attributes
    ----------
    others : tuple of Fallback
        With other schemes, in the order in which they are tried.
    law : tuple of Fallback
        With another law of impact, where contacts gave energy by the scheme's own. They come after
        other schemes, but before them in a jam that lasts, as where small impacts follow each
        other.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        scheme: Scheme,
        bounds: StepBounds,
        make: Callable[[Scheme], Chain],
    ) -> None:
        self._dynamics, self._scheme, self._make = dynamics, scheme, make
        self._h_min, self._h_max = bounds.h_min, bounds.h_max
        self._chains: dict[Scheme, Chain] = {}
        self.others: tuple[Fallback, ...] = ()
        self.law: tuple[Fallback, ...] = ()
        if not dynamics.contact_names:
            return
        others = [*_others(scheme)]
        longer = tuple(Fallback(other, factor) for other in others[-1:] for factor in LONGER)
        self.others = (*map(Fallback, others), *longer)
        self.law = tuple(map(Fallback, _with_other_law(scheme, *others)))

    def steps(self, fallbacks: Iterable[Fallback], start: Start, count: int) -> FallbackSteps:
        """Return up to ``count`` steps, by the first of some fallbacks that has any."""
        taken, tried = FallbackSteps(AcceptedSteps.empty(self._dynamics)), set()
        for fallback in fallbacks:
            chain = self._chain(fallback.scheme)
            z = chain.begin(start, min(fallback.first * self._h_min, self._h_max))
            attempt = fallback.scheme, chain.choose_h(z)
            if attempt in tried:  # the remaining time, or h_max, cuts a longer one to the same h
                continue
            tried.add(attempt)
            more = self._take(chain, z, count)
            by = name_scheme(self._scheme, fallback.scheme)
            refused = tuple(attempt._replace(by=by) for attempt in more.refused)
            if len(more.accepted):
                how = compare_schemes(self._scheme, fallback.scheme)
                steps = more.accepted.with_earlier(taken.refused, by, how)
                return FallbackSteps(steps, refused)
            taken = FallbackSteps(more.accepted, (*taken.refused, *refused))
        return taken

    def _take(self, chain: Chain, z: Array, count: int) -> FallbackSteps:
        """Return up to ``count`` steps of a chain, within `ATTEMPTS` for each."""
        taken = FallbackSteps(AcceptedSteps.empty(self._dynamics))
        for _ in range(ATTEMPTS * count):
            run = chain.run(z, taken.refused, count=1)
            z = run.state
            taken = FallbackSteps(AcceptedSteps.join([taken.accepted, run.accepted]), run.refused)
            if chain.has_ended(z) or len(taken.accepted) >= count:
                break
        return taken

    def _chain(self, scheme: Scheme) -> Chain:
        if scheme not in self._chains:
            self._chains[scheme] = self._make(scheme)
        return self._chains[scheme]


def _others(scheme: Scheme) -> Iterator[Scheme]:
    """Yield the fallbacks of a scheme that are other schemes."""
    last = scheme
    while (fallback := last.fallback) is not None and not fallback.is_like(last):
        yield fallback
        last = fallback


def _with_other_law(*schemes: Scheme) -> Iterator[Scheme]:
    """Yield schemes with the law that takes over from theirs, where there is one."""
    for scheme in schemes:
        law = getattr(scheme, "impact", None)
        if law is not None and law.fallback is not None:
            yield replace(scheme, impact=law.fallback)  # type: ignore[type-var]
