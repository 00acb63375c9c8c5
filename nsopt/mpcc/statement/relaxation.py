"""Relaxations of complementarity: each turns 0 <= G _|_ H >= 0 into ordinary constraints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Side = NDArray[np.float64]


class Relaxation(ABC):
    """How the pairs enter the nonlinear program; exact as sigma goes to 0.

    Attributes
    ----------
    states_halves : bool
        Whether its rows begin with G >= 0, then H >= 0.
    exact : bool
        Whether it may be exact above some sigma: a schedule ends where complementarity holds, and
        goes on to a smaller sigma from a program that has no solution.
    """

    states_halves: ClassVar[bool] = False
    exact: ClassVar[bool] = False

    @abstractmethod
    def constraints(self, G: ca.SX, H: ca.SX, sigma: ca.SX) -> tuple[ca.SX, Side, Side]:
        """Return rows and their bounds, lower <= rows <= upper.

        Parameters
        ----------
        G, H : SX (m,)
            Scaled pairs; m may be 0.
        sigma : SX (1,)
            Relaxation parameter, positive.

        Returns
        -------
        rows : SX (k,)
        lower, upper : (k,)
            Numbers, the same for every sigma.
        """

    def penalty(self, G: ca.SX, H: ca.SX, sigma: ca.SX) -> ca.SX:  # noqa: ARG002
        """Return what is added to the objective, SX (1,), arguments as for `constraints`."""
        return ca.SX(0)


def _state_signs(G: ca.SX, H: ca.SX) -> tuple[ca.SX, Side, Side]:
    """Return rows G, then H, and their bounds: zero or more."""
    rows = ca.vertcat(G, H)
    return rows, np.zeros(rows.shape[0]), np.full(rows.shape[0], np.inf)


def _state_zero(rows: ca.SX) -> tuple[ca.SX, Side, Side]:
    """Return rows and their bounds, both zero."""
    return rows, np.zeros(rows.shape[0]), np.zeros(rows.shape[0])


@dataclass(frozen=True)
class Scholtes(Relaxation):
    """G, H >= 0 and G_i H_i <= sigma for each pair [Scholtes 2001, SIAM J. Optim. 11(4)].

    Robust for general programs from sigma = 1 downwards by 0.1.
    """

    states_halves: ClassVar[bool] = True

    def constraints(self, G: ca.SX, H: ca.SX, sigma: ca.SX) -> tuple[ca.SX, Side, Side]:
        rows, lower, upper = _state_signs(G, H)
        m = G.shape[0]
        return (
            ca.vertcat(rows, G * H - sigma),
            np.concatenate([lower, np.full(m, -np.inf)]),
            np.concatenate([upper, np.zeros(m)]),
        )


@dataclass(frozen=True)
class ScholtesAggregated(Relaxation):
    """G, H >= 0 and sum of G_i H_i <= sigma: one row for all pairs [Scholtes 2001, his G.H form].

    Cheaper with many pairs; the products share one sigma.
    """

    states_halves: ClassVar[bool] = True

    def constraints(self, G: ca.SX, H: ca.SX, sigma: ca.SX) -> tuple[ca.SX, Side, Side]:
        rows, lower, upper = _state_signs(G, H)
        if G.shape[0] == 0:
            return rows, lower, upper
        return (
            ca.vertcat(rows, ca.dot(G, H) - sigma),
            np.append(lower, -np.inf),
            np.append(upper, 0),
        )


@dataclass(frozen=True)
class FischerBurmeister(Relaxation):
    """G + H - sqrt(G^2 + H^2 + 2 sigma) = 0, that is G, H > 0 and G H = sigma.

    The complementarity function of [Fischer 1992, Optimization 24], smoothed as in [Kanzow 1996,
    SIAM J. Matrix Anal. Appl. 17(4)].
    """

    def constraints(self, G: ca.SX, H: ca.SX, sigma: ca.SX) -> tuple[ca.SX, Side, Side]:
        return _state_zero(G + H - ca.sqrt(G**2 + H**2 + 2 * sigma))


@dataclass(frozen=True)
class NaturalResidual(Relaxation):
    """min(G, H) = 0 smoothed: (G + H - sqrt((G - H)^2 + 4 sigma)) / 2 = 0, so G H = sigma.

    The Chen-Harker-Kanzow-Smale function [Chen and Harker 1993, SIAM J. Matrix Anal. Appl. 14(4);
    Kanzow 1996; Smale 1987].
    """

    def constraints(self, G: ca.SX, H: ca.SX, sigma: ca.SX) -> tuple[ca.SX, Side, Side]:
        return _state_zero((G + H - ca.sqrt((G - H) ** 2 + 4 * sigma)) / 2)


@dataclass(frozen=True)
class ExactPenalty(Relaxation):
    """G, H >= 0 with G.H / sigma added to the objective: the l1 penalty.

    [Anitescu 2005, SIAM J. Optim. 15(4)]. Here sigma is the inverse of the penalty weight. Once
    1/sigma exceeds a threshold set by the multipliers the products vanish, so the weight rises
    along a schedule only as long as complementarity is left, or the penalised objective has no
    least value [Leyffer, Lopez-Calva, Nocedal 2006, SIAM J. Optim. 17(1)]; theirs rises between
    iterations, here it rises between programs.
    """

    states_halves: ClassVar[bool] = True
    exact: ClassVar[bool] = True

    def constraints(self, G: ca.SX, H: ca.SX, sigma: ca.SX) -> tuple[ca.SX, Side, Side]:
        del sigma
        return _state_signs(G, H)

    def penalty(self, G: ca.SX, H: ca.SX, sigma: ca.SX) -> ca.SX:
        return ca.dot(G, H) / sigma
