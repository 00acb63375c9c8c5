"""A relaxation, as CONTRIBUTING says: one class, an export, a row with its schedule."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import Relaxation
from tests.catalog_methods import DOWN, RELAXATIONS
from tests.mpcc import test_known
from tests.recipes.generic import runs

Bound = NDArray[np.float64]


@dataclass(frozen=True)
class FischerInequality(Relaxation):
    """G, H >= 0 and G + H - sqrt(G^2 + H^2 + 2 sigma) <= 0, which is G H <= sigma."""

    def constraints(self, G: ca.SX, H: ca.SX, sigma: ca.SX) -> tuple[ca.SX, Bound, Bound]:
        m = G.shape[0]
        rows = ca.vertcat(G, H, G + H - ca.sqrt(G**2 + H**2 + 2 * sigma))
        lower = np.concatenate([np.zeros(2 * m), np.full(m, -np.inf)])
        return rows, lower, np.concatenate([np.full(2 * m, np.inf), np.zeros(m)])


@runs(test_known, "relaxed", RELAXATIONS[0])
def test_is_a_relaxation_like_any_other(check):
    check(relaxed=(FischerInequality(), DOWN))
