"""The error of a step that no attempt solved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nsopt.schemes import Scheme
from nsopt.simulation.acceptance import Fault
from nsopt.simulation.record.accepted_steps import How


class FailedAttempt(NamedTuple):
    """An attempt at a step that failed."""

    fault: Fault
    label: str  # what was done
    # The scheme that did it, or the law of impact, where it is another one; see `name_scheme`.
    by: str = ""
    sized: bool = False  # whether it was as the one before but for its h, which is the label

    def __str__(self) -> str:
        return f"{f'{self.label} {self.by}'.strip()}: {self.fault}"


class StepError(RuntimeError):
    """A step that no attempt solved.

    The first line of the message says when, what failed and what was tried; the others are the
    attempts, one each.

    Parameters
    ----------
    t : float [s]
    tried : tuple of FailedAttempt
    remedy : str
    fault : str
        What failed; by default what most of the attempts failed by.

    Attributes
    ----------
    tried : tuple of FailedAttempt
    """

    def __init__(
        self, t: float, tried: tuple[FailedAttempt, ...], remedy: str = "", fault: str = ""
    ) -> None:
        self.tried, self._t, self._remedy = tried, t, remedy
        self._fault = fault or _find_commonest(tried)
        head = (
            f"no step from t = {t:.9g} s: {self._fault}; tried {'; '.join(_name(tried))}. "
            f"{remedy or 'Try smaller step bounds or another solver'}"
        )
        super().__init__("\n".join([head, *map(str, tried)]))

    def join(self, other: StepError) -> StepError:
        """Return the error of all attempts of both."""
        return StepError(self._t, (*self.tried, *other.tried), self._remedy or other._remedy)

    def among(self, tried: tuple[FailedAttempt, ...]) -> StepError:
        """Return the same error with more attempts, its own among them."""
        return StepError(self._t, tried, self._remedy, self._fault)


def has_gained_by_contacts(tried: Sequence[FailedAttempt]) -> bool:
    """Return whether contacts gave energy in one of some attempts."""
    return any(attempt.fault.by_contacts for attempt in tried)


def compare_schemes(own: Scheme, taken: Scheme) -> How:
    """Return whether a step is by another scheme than its own, or with another law of impact."""
    how = How.AS_ASKED if own.is_like(taken) else How.BY_OTHER_SCHEME
    laws = [getattr(x, "impact", None) for x in (own, taken)]
    return how | How.BY_OTHER_LAW if None not in laws and laws[0] != laws[1] else how


def name_scheme(own: Scheme, taken: Scheme) -> str:
    """Return by which scheme, and with which law of impact, if by or with another one."""
    how = compare_schemes(own, taken)
    name = f"by {type(taken).__name__}" if how & How.BY_OTHER_SCHEME else ""
    law = f"with {type(getattr(taken, 'impact', None)).__name__}" if how & How.BY_OTHER_LAW else ""
    return f"{name} {law}".strip()


def _find_commonest(tried: Sequence[FailedAttempt]) -> str:
    """Return the fault of the kind that most attempts failed by, as the first of them had it."""
    faults = [x.fault for x in tried if not x.fault.of_solver] or [x.fault for x in tried]
    kind, _ = Counter(fault.kind for fault in faults).most_common(1)[0]
    return next(str(fault) for fault in faults if fault.kind == kind)


def _name(tried: Sequence[FailedAttempt]) -> list[str]:
    """Return what was tried, each once, and of attempts that only differ in h the last."""
    sizes = [*dict.fromkeys(x.label for x in tried if x.sized)]
    names = dict.fromkeys(name for x in tried for name in (x.label, x.by) if name)
    return [name for name in names if name not in sizes[:-1]]
