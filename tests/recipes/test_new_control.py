"""A control of the step size, as CONTRIBUTING says: h is changed only where it must be."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

from nsopt import ErrorControl
from nsopt.simulation import StepControl, StepFigures
from tests.catalog_methods import CONTROLS
from tests.recipes.generic import runs
from tests.simulation import test_controls


@dataclass(frozen=True)
class DoubleOrHalve(StepControl):
    """Steps are halved where the error is above a tolerance, doubled where it is far below."""

    tolerance: float
    description = "error tolerance, by halves"

    def keeps(self, step: StepFigures) -> ca.SX:
        return step.local_error <= self.tolerance

    def factor(self, step: StepFigures, order: int) -> ca.SX:
        grown = 2.0 ** (order + 1) * step.local_error
        larger = ca.if_else(2 * grown < self.tolerance, 2, 1)
        return ca.if_else(step.local_error > self.tolerance, 0.5, larger)


@runs(test_controls, "control", CONTROLS[0])
def test_is_a_control_like_any_other(check):
    check(DoubleOrHalve(1e-7))


@pytest.mark.slow
def test_it_changes_h_by_halves_and_is_no_less_exact_than_others():
    halves, others = (
        test_controls.pendulum(x(1e-8))["time"].values for x in (DoubleOrHalve, ErrorControl)
    )
    sizes = np.diff(halves)[:-2]
    powers = np.log2(sizes / sizes[0])
    assert np.abs(powers - np.round(powers)).max() < 1e-9
    assert np.unique(np.round(powers)).size > 1
    assert len(halves) < 4 * len(others)
