"""Forces for a controller that changes them at given times: held, or linear, between these.

The values of forces at the rows of a file are not what moves a mechanism as the forces do: held
from row to row they come half an interval late, and chords cut off what is curved between rows,
which an unstable motion multiplies. Here the rows have values whose effect is that of the forces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from nsopt.arrays import Array

SHORT = 0.5
"""Length of a neighbour, over that of an interval, below which it takes no part of its moment."""


class Hold(ABC):
    """What a controller does between the rows of a sampled motion."""

    @abstractmethod
    def rows(self, t: Array, at: Array, weights: Array, forces: Array) -> Array:
        """Return the values of forces at the rows, (rows, k).

        Parameters
        ----------
        t : (rows,) [s]
            Times of the rows, rising; two or more.
        at : (n,) [s]
            Points of a quadrature, several in each interval between rows, none on a row.
        weights : (n,) [s]
        forces : (n, k)
            At the points.
        """


@dataclass(frozen=True)
class ZeroOrderHold(Hold):
    """Forces are held from each row to the next, as by a digital controller.

    Each interval has the mean of the force over it, so that its impulse is right. A held force has
    no moment about the middle of its interval: the two intervals beside it make up for that by
    opposite impulses. Motions then differ by the fourth power of the interval in place of the
    second. The last row repeats the one before.
    """

    def rows(self, t: Array, at: Array, weights: Array, forces: Array) -> Array:
        h, middle = np.diff(t), (t[1:] + t[:-1]) / 2
        k = _find_intervals(t, at)
        impulse, moment = np.zeros((2, len(h), forces.shape[1]))
        np.add.at(impulse, k, weights[:, None] * forces)
        np.add.at(moment, k, (weights * (at - middle[k]))[:, None] * forces)
        # The intervals before and after each that are not much shorter, else itself.
        own = np.arange(len(h))
        beside = np.maximum(own - 1, 0), np.minimum(own + 1, len(h) - 1)
        before, after = (np.where(h[j] > SHORT * h, j, own) for j in beside)
        arm = middle[after] - middle[before]
        couple = np.divide(moment, arm[:, None], where=arm[:, None] > 0, out=np.zeros_like(moment))
        np.add.at(impulse, before, -couple)
        np.add.at(impulse, after, couple)
        held = impulse / h[:, None]
        return np.vstack([held, held[-1:]])


@dataclass(frozen=True)
class FirstOrderHold(Hold):
    """Forces are linear between rows, as a controller interpolates them.

    Of all such forces they are the nearest to the motion's in the mean square: what they differ by
    is orthogonal to all functions that are linear between rows, and so has no impulse and no
    moment. Motions then differ by the fourth power of the interval in place of the second.
    """

    def rows(self, t: Array, at: Array, weights: Array, forces: Array) -> Array:
        h, k = np.diff(t), _find_intervals(t, at)
        s = (at - t[k]) / h[k]
        # Integrals of hat functions, one at each row: times the forces, and times each other.
        right = np.zeros((len(t), forces.shape[1]))
        for row, share in ((k, 1 - s), (k + 1, s)):
            np.add.at(right, row, (weights * share)[:, None] * forces)
        products = np.zeros((2, len(t)))  # upper diagonal, diagonal
        products[0, 1:] = h / 6
        products[1, :-1] += h / 3
        products[1, 1:] += h / 3
        return np.asarray(scipy.linalg.solveh_banded(products, right))


def _find_intervals(t: Array, at: Array) -> NDArray[np.intp]:
    """Return the intervals between rows in which times are."""
    return np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
