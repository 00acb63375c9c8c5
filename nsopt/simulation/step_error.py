"""The error of a step that no attempt solved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nsopt.schemes import Scheme

RESTARTED = "restarted after"
"""Begins the text of an attempt that says what the solver ended with, but not what was off."""

BY = "by "
"""Before the name of the scheme, where another one took or tried a step."""

LAW = "with "
"""Before the name of the law of impact, where that is another one."""

SIZE = "h = "
"""Begins the label of an attempt that was as the one before, but for its h."""


class StepError(RuntimeError):
    """A step that no attempt solved.

    The first line of the message says when, what failed and what was tried; the others are the
    attempts, one each.

    Parameters
    ----------
    t : float [s]
    tried : sequence of str
        Attempts, as "label: what it failed by".
    remedy : str
    fault : str
        What failed; by default what most of the attempts failed by.

    Attributes
    ----------
    tried : tuple of str
    """

    def __init__(self, t: float, tried: Sequence[str], remedy: str = "", fault: str = "") -> None:
        self.tried, self._t, self._remedy = tuple(tried), t, remedy
        self._fault = fault or _commonest(tried)
        head = (
            f"no step from t = {t:.9g} s: {self._fault}; tried {'; '.join(_labels(tried))}. "
            f"{remedy or 'Try smaller step bounds or another solver'}"
        )
        super().__init__("\n".join([head, *tried]))

    def join(self, other: StepError) -> StepError:
        """Return the error of all attempts of both."""
        return StepError(self._t, [*self.tried, *other.tried], self._remedy or other._remedy)

    def among(self, tried: Sequence[str]) -> StepError:
        """Return the same error with more attempts, its own among them."""
        return StepError(self._t, tried, self._remedy, self._fault)


def name_scheme(own: Scheme, taken: Scheme) -> str:
    """Return by which scheme, and with which law of impact, if by or with another one."""
    laws = [getattr(x, "impact", None) for x in (own, taken)]
    name = f"{BY}{type(taken).__name__}" if type(taken) is not type(own) else ""
    law = f"{LAW}{type(laws[1]).__name__}" if None not in laws and laws[0] != laws[1] else ""
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
