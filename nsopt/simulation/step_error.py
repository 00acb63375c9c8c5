"""The error of a step that no attempt solved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nsopt.schemes import Scheme
from nsopt.simulation.record.accepted_steps import How

RESTARTED = "restarted after"
"""Begins the text of an attempt that says what the solver ended with, but not what was off."""

BY = "by "
"""Before the name of the scheme, where another one took or tried a step."""

SIZE = "h = "
"""Begins the label of an attempt that was as the one before, but for its h."""


class Refused(NamedTuple):
    """Attempts at a step that failed.

    Attributes
    ----------
    texts : tuple of str
        What was tried, and what it failed by: "label: fault".
    by_contacts : bool
        Whether one failed by energy that contacts gave.
    """

    texts: tuple[str, ...] = ()
    by_contacts: bool = False

    def then(self, later: Refused) -> Refused:
        """Return these attempts and later ones."""
        return Refused((*self.texts, *later.texts), self.by_contacts or later.by_contacts)


class StepError(RuntimeError):
    """A step that no attempt solved.

    The first line of the message says when, what failed and what was tried; the others are the
    attempts, one each.

    Parameters
    ----------
    t : float [s]
    tried : Refused
    remedy : str
    fault : str
        What failed; by default what most of the attempts failed by.

    Attributes
    ----------
    tried : Refused
    """

    def __init__(self, t: float, tried: Refused, remedy: str = "", fault: str = "") -> None:
        self.tried, self._t, self._remedy = tried, t, remedy
        self._fault = fault or _commonest(tried.texts)
        head = (
            f"no step from t = {t:.9g} s: {self._fault}; tried {'; '.join(_labels(tried.texts))}. "
            f"{remedy or 'Try smaller step bounds or another solver'}"
        )
        super().__init__("\n".join([head, *tried.texts]))

    def join(self, other: StepError) -> StepError:
        """Return the error of all attempts of both."""
        return StepError(self._t, self.tried.then(other.tried), self._remedy or other._remedy)

    def among(self, tried: Refused) -> StepError:
        """Return the same error with more attempts, its own among them."""
        return StepError(self._t, tried, self._remedy, self._fault)


def compare_schemes(own: Scheme, taken: Scheme) -> How:
    """Return whether a step is by another scheme than its own, or with another law of impact."""
    how = How.BY_OTHER_SCHEME if type(taken) is not type(own) else How.AS_ASKED
    laws = [getattr(x, "impact", None) for x in (own, taken)]
    return how | How.BY_OTHER_LAW if None not in laws and laws[0] != laws[1] else how


def name_scheme(own: Scheme, taken: Scheme) -> str:
    """Return by which scheme, and with which law of impact, if by or with another one."""
    how = compare_schemes(own, taken)
    name = f"{BY}{type(taken).__name__}" if how & How.BY_OTHER_SCHEME else ""
    law = f"with {type(getattr(taken, 'impact', None)).__name__}" if how & How.BY_OTHER_LAW else ""
    return f"{name} {law}".strip()


def _commonest(tried: Sequence[str]) -> str:
    """Return the fault of the kind that most attempts failed by, as the first of them had it."""
    faults = [text for _, text in map(_parts, tried)]
    faults = [text for text in faults if not text.startswith(RESTARTED)] or faults
    kinds = [text.partition(" off by")[0] for text in faults]
    return faults[kinds.index(Counter(kinds).most_common(1)[0][0])]


def _labels(tried: Sequence[str]) -> list[str]:
    """Return the labels of the attempts, each once, and of those that only differ in h the last."""
    labels = dict.fromkeys(label for label, _ in map(_parts, tried))
    halves = [label.partition(BY) for label in labels]  # what was done, and by which scheme
    names = [name for own, by, other in halves for name in (own.strip(), by + other) if name]
    sizes = [name for name in names if name.startswith(SIZE)]
    return [name for name in dict.fromkeys(names) if name not in sizes[:-1]]


def _parts(attempt: str) -> tuple[str, str]:
    label, _, text = attempt.partition(": ")
    return label, text
