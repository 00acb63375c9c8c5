"""Derivatives of simulations and of optima."""

from nsopt.trajectory.sensitivity.optimum import (
    OptimumDerivatives,
    OptimumError,
    cost_derivatives,
    optimum_derivatives,
)
from nsopt.trajectory.sensitivity.recorded import SensitivityError
from nsopt.trajectory.sensitivity.simulation import (
    Derivatives,
    Output,
    Sensitivities,
    StepErrors,
    sensitivities,
)

__all__ = [
    "Derivatives",
    "OptimumDerivatives",
    "OptimumError",
    "Output",
    "Sensitivities",
    "SensitivityError",
    "StepErrors",
    "cost_derivatives",
    "optimum_derivatives",
    "sensitivities",
]
