"""Rules by which redundant joints share a load that equilibrium leaves undetermined.

A rule says which joints take as little as possible of a load, one level of joints after another.
Later levels and rules change nothing that earlier ones determine, as no large weight could ensure;
what all leave open has least norm. Within a level the sum of squares is least: joints alike take
equal parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsopt.arrays import Array
from nsopt.checks import finite
from nsopt.mechanics import Body

SMALL = 1e-9  # singular values below this part of the largest count as zero


@dataclass(frozen=True)
class SharingRule(ABC):
    """Joints that share components of the load on one body.

    Parameters
    ----------
    joints : sequence of str
        All connected to the body.
    body : Body
        On which the loads are counted, in its axes.
    force, torque : (3,)
        Weights of the components of the load; one of weight zero is not shared.
    """

    joints: Sequence[str]
    body: Body
    force: Sequence[float] = (0.0, 0.0, 0.0)
    torque: Sequence[float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for name in ("force", "torque"):
            what = f"{name} of {type(self).__name__} of {', '.join(self.joints)}"
            finite(what, getattr(self, name), (3,))
        if len(self.joints) < 2 or not np.any(self.weights):
            raise ValueError(f"{type(self).__name__} takes two joints and a component to share")

    @property
    def weights(self) -> Array:
        """Weights of force and torque, (6,)."""
        return np.concatenate([self.force, self.torque]).astype(float)

    @abstractmethod
    def levels(self) -> Sequence[Sequence[str]]:
        """Return the joints whose load is made least first, then those of the next level, ..."""


class EqualSharing(SharingRule):
    """Joints of the same design take equal parts [CHARMIE 2023, eqs. 36, 38, 43]."""

    def levels(self) -> Sequence[Sequence[str]]:
        return [self.joints]


class ToleranceOrder(SharingRule):
    """The first joint, of the tightest tolerance, takes all that the others need not.

    The last joint takes the least it can, then the one before [CHARMIE 2023, eqs. 42, 43].
    """

    def levels(self) -> Sequence[Sequence[str]]:
        return [[name] for name in reversed(self.joints[1:])]


def lexicographic_least_squares(
    levels: Sequence[tuple[Array, Array]], start: Array, free: Array
) -> Array:
    """Return the x = start + free z of least |r0 + R x|, level after level, then of least |x|.

    Levels are pairs of R (m, n) and r0 (m,); start is (n,), columns of free (n, k) are orthonormal.
    """
    x, N = start, free  # N spans what the levels so far leave free
    for R, r0 in [*levels, (np.eye(len(start)), np.zeros(len(start)))]:
        if N.shape[1] == 0:
            break
        size = max(float(np.linalg.norm(R)), 1e-300)
        U, s, Vt = np.linalg.svd(R @ N)
        rank = int(np.sum(s > SMALL * size))
        x = x - N @ (Vt[:rank].T @ (U[:, :rank].T @ (R @ x + r0) / s[:rank]))
        N = N @ Vt[rank:].T
    return np.asarray(x)
