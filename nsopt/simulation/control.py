"""Control of the step size where the scheme does not choose it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca
import numpy as np

HALF = 0.5
"""Part of h that is tried after a step that did not count."""


class StepControl(ABC):
    """The rule by which h is chosen within its bounds; expressions, so that chains compile it.

    A new rule is one frozen dataclass. Under every rule h is never above h_max nor below h_min but
    at the end of the run, a refused step is tried again at half of h, and the last steps share the
    time that is left.

    Attributes
    ----------
    description : str
        The reason of h on record when no bound decided it.
    """

    description: str

    @abstractmethod
    def keeps(self, error: ca.SX) -> ca.SX:
        """Return whether a step with the local error ``error`` [m] is good enough above h_min."""

    @abstractmethod
    def factor(self, error: ca.SX, order: int) -> ca.SX:
        """Return the factor on h after a step of that error, kept or not.

        Parameters
        ----------
        error : SX scalar [m]
        order : int
            Of the scheme.
        """


@dataclass(frozen=True)
class LargestStep(StepControl):
    """Steps of h_max; after a step that had to be smaller, longer by a factor each time.

    Parameters
    ----------
    growth : float
    """

    growth: float = 1.25
    description = "growing after a refused step"

    def __post_init__(self) -> None:
        if not 1 < self.growth < np.inf:
            raise ValueError(f"growth must be above 1, got {self.growth}")

    def keeps(self, error: ca.SX) -> ca.SX:
        del error
        return ca.SX(1)

    def factor(self, error: ca.SX, order: int) -> ca.SX:
        del error, order
        return ca.SX(self.growth)


@dataclass(frozen=True)
class ErrorControl(StepControl):
    """Steps whose estimated local error stays below a tolerance.

    The estimate is embedded in the scheme: how unevenly the two halves of a step are loaded, as a
    displacement in the metric of the mass. It falls with h^3, for schemes of first order with h^2.

    Parameters
    ----------
    tolerance : float [m]
        Largest local error of a step; steps of h_min are kept whatever their error.
    safety : float
    """

    tolerance: float
    safety: float = 0.9
    description = "error tolerance"

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < np.inf or not 0 < self.safety <= 1:
            raise ValueError(
                f"tolerance must be a positive length in metres and safety in (0, 1], got {self}"
            )

    def keeps(self, error: ca.SX) -> ca.SX:
        return error <= self.tolerance

    def factor(self, error: ca.SX, order: int) -> ca.SX:
        ratio = self.tolerance / ca.fmax(error, 1e-3 * self.tolerance)
        return ca.fmin(ca.fmax(self.safety * ratio ** (1 / (order + 1)), 0.2), 2.0)
