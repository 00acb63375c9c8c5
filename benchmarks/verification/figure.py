"""One figure: what is known about it, and how nsopt finds it."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A number that is known without nsopt.

    Attributes
    ----------
    what : str
        What is measured, on which mechanism, by which scheme.
    unit : str
    reference : float
        The known value, in ``unit``.
    source : str
        Where it is from: a publication, another engine, or the formula that gives it.
    ours : callable
        Returns what nsopt finds.
    tolerance : float
        The largest difference that is claimed, in ``unit``.
    needs : str
        A package without which it is left out, if any.
    """

    what: str
    unit: str
    reference: float
    source: str
    ours: Callable[[], float]
    tolerance: float
    needs: str = ""


@dataclass(frozen=True)
class Subject:
    """Figures of one subject, in the order of the page."""

    title: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Comparison:
    """A figure and the value that nsopt found for it."""

    figure: Figure
    value: float

    @property
    def difference(self) -> float:
        """What was found less what is known, in the unit of the figure."""
        return self.value - self.figure.reference

    @property
    def holds(self) -> bool:
        """Whether the difference is within what is claimed; nan is not."""
        return abs(self.difference) <= self.figure.tolerance


def available(figure: Figure) -> bool:
    """Return whether the package that a figure needs is installed."""
    return not figure.needs or importlib.util.find_spec(figure.needs) is not None


def compare(figure: Figure) -> Comparison:
    """Return what nsopt finds for a figure, next to it; nan, with a word on stderr, if nothing."""
    try:
        value = float(figure.ours())
    except Exception as error:  # whatever failed, the figure falls short and is said
        print(f"{figure.what}: {type(error).__name__}: {error}", file=sys.stderr)
        value = math.nan
    return Comparison(figure, value)
