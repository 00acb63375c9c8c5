"""The points of a sweep: a grid, or samples."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nsopt.problem import Problem, Variants
from nsopt.stored import FIGURE

if TYPE_CHECKING:
    from nsopt.simulation import StepBounds

Row = dict[str, float]
"""The values at one point, by name."""

STEP = ("h", "h_min", "h_max")
"""Names that are no Parameter: a fixed step, and bounds of h."""

SAMPLE = "sample"
"""Dimension of `Samples`."""

DIMENSIONS = {"time", "q", "v", "contact", "joint", "axis", "body", "quaternion", SAMPLE, *FIGURE}
"""Dimensions of results, which name nothing else."""

MOST = 1_000_000
"""Largest number of points of a sweep: with a millisecond each it takes a quarter of an hour."""

FORMS = "give numbers, FROM:TO:COUNT or log:FROM:TO:COUNT, separated by commas"
"""The remedy for text that `numbers` cannot read."""


@dataclass(frozen=True, eq=False)
class Points(ABC):
    """Values of Parameters and step bounds, by name.

    Parameters
    ----------
    values : mapping of name to (n,) numbers
        A name is that of a Parameter, or ``h`` (fixed step), ``h_min``, ``h_max``. A pandas
        DataFrame is such a mapping.

    Raises
    ------
    ValueError
        If there are no values, or they are not finite numbers.
    """

    values: Mapping[str, Any]
    along: ClassVar[str] = ""  # the dimension of all names; if empty, each is one

    def __post_init__(self) -> None:
        values = {str(name): _check_column(str(name), x) for name, x in dict(self.values).items()}
        object.__setattr__(self, "values", values)
        if not values:
            raise ValueError("a sweep needs at least one name with its values")
        if "h" in values and len({*STEP} & {*values}) > 1:
            raise ValueError("h is a fixed step: give either h, or h_min and h_max")

    @abstractmethod
    def rows(self) -> list[Row]:
        """Return the values at each point, the last dimension fastest."""

    @property
    def sizes(self) -> dict[str, int]:
        """Dimensions of the sweep's dataset and their lengths."""
        return {self.along or name: len(x) for name, x in self.values.items()}

    @property
    def coords(self) -> dict[str, tuple[str, NDArray[np.float64], dict[str, str]]]:
        """Coordinates of the sweep's dataset."""
        return {
            name: (self.along or name, x, {"units": "s"} if name in STEP else {})
            for name, x in self.values.items()
        }

    def check(self, problem: Problem | Variants, taken: Collection[str]) -> None:
        """Refuse names that the problem does not have, or that are ``taken`` in the dataset.

        A ValueError lists the names there are.
        """
        first = problem.at(self.rows()[0])
        known = [*problem.choices, *first.dynamics.parameter_names]
        for name in self.values:
            if name in STEP and name in known:
                raise ValueError(f"{name!r} is a step size here: rename the Parameter {name!r}")
            if name not in STEP and name not in known:
                have = f"its parameters {', '.join(known)}, and " if known else ""
                steps = f"the step sizes {', '.join(STEP)}"
                raise ValueError(f"unknown name {name!r}; this problem has: {have}{steps}")
            if name in DIMENSIONS or name in taken:
                raise ValueError(f"{name!r} names something else in results: rename the Parameter")


class Grid(Points):
    """Every combination of the values; each name is a dimension.

    Examples
    --------
    >>> len(Grid({"clearance": [1e-4, 1e-3], "h": [1e-3, 5e-4, 2.5e-4]}).rows())
    6
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, x in self.values.items():
            if len(np.unique(x)) < len(x):
                raise ValueError(f"{name}: a grid takes every value once, got {x.tolist()}")
        if (count := math.prod(len(x) for x in self.values.values())) > MOST:
            raise ValueError(f"a grid of {count:,} points is too large: give {MOST:,} at most")

    def rows(self) -> list[Row]:
        columns = (x.tolist() for x in self.values.values())
        return [dict(zip(self.values, row, strict=True)) for row in product(*columns)]


class Samples(Points):
    """Values taken together, row by row, along the dimension ``sample``.

    Examples
    --------
    >>> len(Samples({"clearance": [1e-4, 1e-3], "h_max": [5e-4, 2e-3]}).rows())
    2
    """

    along = SAMPLE

    def __post_init__(self) -> None:
        super().__post_init__()
        lengths = {name: len(x) for name, x in self.values.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"samples take as many values of each name, got {lengths}")

    def rows(self) -> list[Row]:
        columns = (x.tolist() for x in self.values.values())
        return [dict(zip(self.values, row, strict=True)) for row in zip(*columns, strict=True)]


def find_settings(problem: Problem | Variants, row: Row) -> tuple[Row, Row]:
    """Return the values of all Parameters, and h_min and h_max, at a point; not yet checked."""
    problem = problem.at(row)
    bounds = {"h_min": problem.steps.h_min, "h_max": problem.steps.h_max}
    if "h" in row:
        bounds = {"h_min": row["h"], "h_max": row["h"]}
    bounds |= {name: x for name, x in row.items() if name in bounds}
    stated = {x.name: float(x.value) for x in problem.dynamics.parameters}
    return {name: row.get(name, x) for name, x in stated.items()}, bounds


def find_bounds(problem: Problem, row: Row) -> StepBounds:
    """Return the step bounds at a point; ValueError where they are not legal."""
    return replace(problem.steps, **find_settings(problem, row)[1])


def numbers(text: str) -> list[float]:
    """Return the numbers of a text such as ``1e-4,3e-4``, ``0:1:11`` or ``log:1e-5:1e-2:4``.

    For another text a ValueError names the forms that can be given.
    """
    return [x for part in text.split(",") for x in _read_range(part.strip())]


def _read_range(part: str) -> list[float]:
    """Return the number, or the numbers of FROM:TO:COUNT, with log: in constant ratios."""
    log = part.startswith("log:")
    bounds = part.removeprefix("log:").split(":")
    try:
        if len(bounds) == 1 and not log:
            return [float(part)]
        first, last, count = float(bounds[0]), float(bounds[1]), int(bounds[2])
        if len(bounds) > 3 or count < 1 or (log and not (first > 0 and last > 0)):
            raise ValueError
        if count > MOST:
            raise OverflowError
    except OverflowError:
        raise ValueError(f"{part!r} is too many numbers: give {MOST:,} at most") from None
    except (ValueError, IndexError):
        raise ValueError(f"cannot read {part!r} as numbers: {FORMS}") from None
    values: list[float] = (np.geomspace if log else np.linspace)(first, last, count).tolist()
    return values


def _check_column(name: str, values: Any) -> NDArray[np.float64]:
    """Return the values of a name, (n,); refuse what is no list of finite numbers."""
    try:
        column = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        raise ValueError(f"{name} takes numbers, got {values!r}") from None
    if column.ndim != 1 or not column.size or not np.isfinite(column).all():
        raise ValueError(f"{name} takes a list of finite numbers, got {values!r}")
    return column
