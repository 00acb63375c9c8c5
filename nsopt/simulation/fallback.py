"""Steppers of a scheme and of the schemes it falls back on, as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nsopt.mechanics import Start
from nsopt.schemes import Scheme
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.stepper import StepError, Stepper

BY = "by "
"""Before the name of the scheme, in the reason of a step that another one took."""


class FallbackStepper:
    """A `Stepper` whose failed steps are taken below h_min, then by the scheme's fallback.

    Parameters
    ----------
    scheme : Scheme
    make : callable
        Returns the stepper of a scheme; called when it is needed.
    h_min : float [s]
    chained : bool
        Whether a compiled chain has tried the scheme before. Where its steps end early, the
        solvers, to which an event is many pairs, then come after the fallbacks.
    """

    def __init__(
        self,
        scheme: Scheme,
        make: Callable[[Scheme], Stepper],
        h_min: float,
        chained: bool = False,
    ) -> None:
        self._make, self._h_min = make, h_min
        self._own_last = chained and scheme.ends_early
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
            If every attempt with every scheme failed; with the message of the first one.
        """
        first: StepError | None = None
        tried: tuple[str, ...] = ()
        for scheme, stepper, below_h_min in self._attempts():
            own = scheme is self._steppers[0][0]
            if first is not None or not own:
                stepper.trial = self._h_min
            try:
                accepted = stepper.step(start, t_end, below_h_min)
            except StepError as error:
                first, tried = first or error, (*tried, *error.tried)
                continue
            if first is None and own:
                return accepted
            return accepted.with_earlier(tried, "" if own else f"{BY}{type(scheme).__name__}")
        assert first is not None  # there is at least one stepper
        raise first

    def _attempts(self) -> Iterator[tuple[Scheme, Stepper, bool]]:
        """Yield steppers in turn, and whether h may go below h_min.

        A shorter step of the scheme itself keeps its order, so it comes before the fallbacks.
        """
        if not self._own_last:
            yield (*self._steppers[0], True)
        k = 1
        while (fallback := self._steppers[k - 1][0].fallback) is not None:
            if k == len(self._steppers):
                self._steppers.append((fallback, self._make(fallback)))
            yield (*self._steppers[k], False)
            k += 1
        for scheme, stepper in self._steppers[0 if self._own_last else 1 :]:
            yield scheme, stepper, True
