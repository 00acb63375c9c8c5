"""Steppers of a scheme and of the schemes it falls back on, as one: `FallbackStepper`.

Where there is no compiled chain, or where `FallbackChains` have no step either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from nsopt.mechanics import Start
from nsopt.schemes import Scheme
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.retry import RetryLevel
from nsopt.simulation.step_error import (
    FailedAttempt,
    StepError,
    compare_schemes,
    has_gained_by_contacts,
    name_scheme,
)
from nsopt.simulation.stepper import Stepper


class FallbackStepper:
    """A `Stepper` whose failed steps are taken below h_min or by the scheme's fallbacks.

    Another law of impact is a fallback only where contacts gave energy by the scheme's own.

    Parameters
    ----------
    scheme : Scheme
    make : callable
        Returns the stepper of a scheme; called when it is needed.
    h_min : float [s]
    first : tuple of RetryLevel
        Attempts with the scheme itself that come before its fallbacks; the others come after them.
        By default all, as a shorter step of the scheme keeps its order.
    """

    def __init__(
        self,
        scheme: Scheme,
        make: Callable[[Scheme], Stepper],
        h_min: float,
        first: tuple[RetryLevel, ...] = tuple(RetryLevel),
    ) -> None:
        self._make, self._h_min, self._first = make, h_min, first
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
            If every attempt with every scheme failed, by what the scheme itself failed.
        """
        scheme = self._steppers[0][0]
        own: StepError | None = None
        errors: list[StepError] = []
        tried: list[FailedAttempt] = []
        for taken, stepper, levels in self._plan_attempts(errors):
            if errors or taken is not scheme:
                stepper.trial = self._h_min
            try:
                accepted = stepper.step(start, t_end, levels)
            except StepError as error:
                errors.append(error)
                by = name_scheme(scheme, taken)
                tried += [attempt._replace(by=by) for attempt in error.tried]
                if taken is scheme:
                    own = error if own is None else own.join(error)
                continue
            if not errors and taken is scheme:
                return accepted
            by, how = name_scheme(scheme, taken), compare_schemes(scheme, taken)
            return accepted.with_earlier(tried, by, how)
        assert own is not None  # the scheme itself is always tried
        raise own.among(tuple(tried))

    def _plan_attempts(
        self, errors: list[StepError]
    ) -> Iterator[tuple[Scheme, Stepper, Collection[RetryLevel]]]:
        """Yield steppers in turn, and which attempts they are to make.

        The caller adds what they fail by to ``errors``, which decides whether a fallback is tried.
        """
        own, k = self._steppers[0], 1
        if self._first:
            yield *own, self._first
        while (fallback := self._steppers[k - 1][0].fallback) is not None:
            gains = any(has_gained_by_contacts(error.tried) for error in errors)
            if fallback.is_like(self._steppers[k - 1][0]) and not gains:  # with another law
                break
            if k == len(self._steppers):
                self._steppers.append((fallback, self._make(fallback)))
            yield *self._steppers[k], (RetryLevel.FIRST, RetryLevel.MORE)
            k += 1
        rest = [level for level in RetryLevel if level not in self._first]
        if rest:
            yield *own, rest
        for scheme, stepper in self._steppers[1:k]:
            yield scheme, stepper, (RetryLevel.BELOW_H_MIN,)
