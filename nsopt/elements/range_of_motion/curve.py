"""Edges of cones: closed curves that a cone's data lie on.

A curve lives in the plane of longitude and latitude taken as polar coordinates, (x, y) =
sigma (cos psi, sin psi) [RoM 2023, eqs. 9, 10]; its parameter l is periodic.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import casadi as ca
import numpy as np

PER_QUARTER, PER_PIECE, LEAST = 12, 5, 48
"""Samples of a quarter of an ellipse; of a piece of a spline and of a whole spline, at least."""


class Jet(NamedTuple):
    """A point in the plane and its first two derivatives by l, each (2,)."""

    at: ca.SX
    first: ca.SX
    second: ca.SX


class Piece(ABC):
    """A smooth part of a curve."""

    @abstractmethod
    def jet(self, l: ca.SX) -> Jet:
        """Return point and derivatives at l."""


class Curve(ABC):
    """A closed curve through given points."""

    period: ca.SX  # scalar, l of one turn

    @abstractmethod
    def piece(self, l: ca.SX) -> Piece:
        """Return the piece on which l is, for l in [0, period); where two meet the later one."""

    @abstractmethod
    def samples(self) -> list[tuple[ca.SX, Piece]]:
        """Return values of l once around, from 0, and the piece that each is on, by `piece`.

        They are closer where the curvature changes fast.
        """


@dataclass(frozen=True, eq=False)
class _Quarter(Piece):
    a: ca.SX  # [rad] semi-axes along x and y
    b: ca.SX

    def jet(self, l: ca.SX) -> Jet:
        cosine, sine = ca.cos(l), ca.sin(l)
        at = ca.vertcat(self.a * cosine, self.b * sine)
        return Jet(at, ca.vertcat(-self.a * sine, self.b * cosine), -at)


class Quarters(Curve):
    """Quarters of ellipses between the semi-axes at 0, 90, 180 and 270 deg [eqs. 13, 14].

    The latitudes (4,) [rad] there. In the eccentric angle, so that a semi-axis may be zero.
    """

    def __init__(self, axes: ca.SX) -> None:
        self._axes = axes
        self.period = ca.SX(2 * np.pi)

    def piece(self, l: ca.SX) -> Piece:
        quarter, axes = ca.floor(l / (np.pi / 2) + 1e-9), self._axes
        left = ca.logic_or(quarter == 1, quarter == 2)
        return _Quarter(
            ca.if_else(left, axes[2], axes[0]), ca.if_else(quarter >= 2, axes[3], axes[1])
        )

    def samples(self) -> list[tuple[ca.SX, Piece]]:
        # The curvature jumps where quarters meet, and extrema crowd there.
        in_one = (1 - np.cos(np.pi * np.arange(PER_QUARTER) / PER_QUARTER)) / 2
        quarters = [
            _Quarter(self._axes[a], self._axes[b]) for a, b in ((0, 1), (2, 1), (2, 3), (0, 3))
        ]
        return [
            (ca.SX(np.pi / 2 * (k + x)), quarter)
            for k, quarter in enumerate(quarters)
            for x in in_one
        ]


@dataclass(frozen=True, eq=False)
class _Cubic(Piece):
    knot: ca.SX
    coefficients: ca.SX  # (8,) of powers 0 to 3 of l - knot, x and y each

    def jet(self, l: ca.SX) -> Jet:
        s = l - self.knot
        c0, c1, c2, c3 = ca.vertsplit(self.coefficients, 2)
        return Jet(
            c0 + s * (c1 + s * (c2 + s * c3)), c1 + s * (2 * c2 + s * 3 * c3), 2 * c2 + 6 * s * c3
        )


class PeriodicSpline(Curve):
    """The periodic cubic spline through points (n, 2), over their chord length [eqs. 15-17]."""

    def __init__(self, points: ca.SX) -> None:
        n = points.size1()
        chord_vectors = [points[(k + 1) % n, :] - points[k, :] for k in range(n)]
        chords = [ca.norm_2(step) for step in chord_vectors]
        self._knots = [sum(chords[:k], ca.SX(0)) for k in range(n + 1)]
        self.period = self._knots[n]
        slopes = [step / chord for step, chord in zip(chord_vectors, chords, strict=True)]
        # Second derivatives at the knots (n, 2), from continuous first ones.
        A, rows = ca.SX(n, n), []
        for k in range(n):
            A[k, k - 1 if k else n - 1] += chords[k - 1] / 6
            A[k, k] += (chords[k - 1] + chords[k]) / 3
            A[k, (k + 1) % n] += chords[k] / 6
            rows.append(slopes[k] - slopes[k - 1])
        second = ca.solve(A, ca.vertcat(*rows))
        self._pieces = [
            ca.horzcat(
                points[k, :],
                slopes[k] - chords[k] * (2 * second[k, :] + second[(k + 1) % n, :]) / 6,
                second[k, :] / 2,
                (second[(k + 1) % n, :] - second[k, :]) / (6 * chords[k]),
            ).T
            for k in range(n)
        ]

    def piece(self, l: ca.SX) -> Piece:
        knot, coefficients = self._knots[0], self._pieces[0]
        for start, piece in zip(self._knots[1:-1], self._pieces[1:], strict=True):
            beyond = l >= start
            coefficients = ca.if_else(beyond, piece, coefficients)
            knot = ca.if_else(beyond, start, knot)
        return _Cubic(knot, coefficients)

    def samples(self) -> list[tuple[ca.SX, Piece]]:
        per_piece = max(PER_PIECE, -(-LEAST // (len(self._knots) - 1)))  # rounded up
        pieces = zip(pairwise(self._knots), self._pieces, strict=True)
        return [
            (a + (b - a) * k / per_piece, _Cubic(a, piece))
            for (a, b), piece in pieces
            for k in range(per_piece)
        ]
