"""Steppers of a scheme and of the schemes it falls back on, as one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from nsopt.mechanics import Start
from nsopt.schemes import Scheme
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.retry import RetryLevel
from nsopt.simulation.stepper import StepError, Stepper

BY = "by "
"""Before the name of the scheme, in the reason of a step that another one took."""

LAW = " with "
"""Before the name of the law of impact, where that is another one too."""


class FallbackStepper:
    """A `Stepper` whose failed steps are taken below h_min, then by the scheme's fallback.

    Parameters
    ----------
    scheme : Scheme
    make : callable
        Returns the stepper of a scheme; called when it is needed.
    h_min : float [s]
    chained : bool
        Whether a compiled chain has tried the scheme before, a little below h_min too. They then
        come before all but the first attempts of its solvers, which seldom solve what it did not;
        and before all of them where steps end early, for to solvers an event is many pairs.
    """

    def __init__(
        self,
        scheme: Scheme,
        make: Callable[[Scheme], Stepper],
        h_min: float,
        chained: bool = False,
    ) -> None:
        self._make, self._h_min = make, h_min
        self._chained, self._own_last = chained, chained and scheme.ends_early
        self._steppers = [(scheme, make(scheme))]

    @property
    def trial(self) -> float:
        """The h to try next [s]."""
        return self._steppers[0][1].trial

    @trial.setter
    def trial(self, h: float) -> None:
        self._steppers[0][1].trial = h

    def step(self, start: Start, t_end: float) -> AcceptedSteps:
        """Return the next accepted step towards ``t_end`` [s].

        Raises
        ------
        StepError
            If every attempt with every scheme failed; with what the scheme itself failed by.
        """
        first: StepError | None = None
        tried: tuple[str, ...] = ()
        for scheme, stepper, levels in self._attempts():
            own = scheme is self._steppers[0][0]
            if first is not None or not own:
                stepper.trial = self._h_min
            try:
                accepted = stepper.step(start, t_end, levels)
            except StepError as error:
                tried = (*tried, *error.tried)
                first = error if first is None else first.joined(error) if own else first
                continue
            if first is None and own:
                return accepted
            return accepted.with_earlier(tried, "" if own else self._named(scheme))
        assert first is not None  # there is at least one stepper
        raise first

    def _named(self, scheme: Scheme) -> str:
        """Return by which scheme, and which law of impact, a step was taken."""
        own, other = (getattr(x, "impact", None) for x in (self._steppers[0][0], scheme))
        law = "" if other in (None, own) else f"{LAW}{type(other).__name__}"
        return f"{BY}{type(scheme).__name__}{law}"

    def _attempts(self) -> Iterator[tuple[Scheme, Stepper, Collection[RetryLevel]]]:
        """Yield steppers in turn, and which attempts they are to make.

        A shorter step of the scheme itself keeps its order, so it comes before the fallbacks.
        """
        own = self._steppers[0]
        first = tuple(RetryLevel)
        if self._chained:
            first = () if self._own_last else (RetryLevel.FIRST,)
        rest = tuple(x for x in RetryLevel if x not in first)
        if first:
            yield *own, first
        k = 1
        while (fallback := self._steppers[k - 1][0].fallback) is not None:
            if k == len(self._steppers):
                self._steppers.append((fallback, self._make(fallback)))
            yield *self._steppers[k], (RetryLevel.FIRST, RetryLevel.MORE)
            k += 1
        if rest:
            yield *own, rest
        for scheme, stepper in self._steppers[1:]:
            yield scheme, stepper, (RetryLevel.BELOW_H_MIN,)
