"""Circumduction cones: the largest tilt of a pointer around an axis [RoM 2023, section 3.1]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.checks import finite
from nsopt.elements.range_of_motion.curve import Curve, PeriodicSpline, Quarters
from nsopt.parameter import Numbers, number

FULL = 2 * np.pi  # a full turn [rad]
SAME = 1e-9  # angles [rad] that differ by less are the same

FROM_AXIS, FROM_OPPOSITE = 1.75e-4, 1e-3
"""Least angle between the edge and the axis, and between the edge and the opposite of the axis
[rad]: 0.01 and 0.06 deg."""

CHECKED = 720  # points of the edge at which a cone is checked


@dataclass(frozen=True, eq=False)
class Cone:
    """The largest latitude of a pointer over its longitude.

    The axis of the cone is z of a frame. Longitude is the angle about it from x, latitude the
    angle from it [eqs. 6, 7].

    Parameters
    ----------
    longitudes : (n,) [rad]
        Ascending from 0 to 2 pi.
    latitudes : (n,) of float or Parameter [rad]
        From 0 to pi; the first and the last are the same. The edge is kept at least
        0.01 deg from the axis and 0.06 deg from its opposite, where it would have corners.
    spline : bool or None
        Whether to interpolate by a periodic cubic spline over the cumulative chord length
        [eqs. 15-19] or by quarters of ellipses [eqs. 13, 14], which need the longitudes 0, 90,
        180, 270, 360 deg. None takes the quarters where the longitudes are those.

    Raises
    ------
    ValueError
        If the data are not those of a closed cone; says what to change.
    """

    longitudes: Numbers
    latitudes: Numbers
    spline: bool | None = None

    def __post_init__(self) -> None:
        psi, sigma = (
            np.atleast_1d(number(getattr(self, name))) for name in ("longitudes", "latitudes")
        )
        _check(psi, sigma)
        if self.spline is False and not self.elliptic:
            raise ValueError(
                "quarters of ellipses need latitudes at longitudes 0, 90, 180, 270 and 360 deg, "
                f"got {_deg(psi)} deg: use spline=True"
            )
        self._check_edge()

    @property
    def elliptic(self) -> bool:
        """Whether the edge is made of quarters of ellipses."""
        psi = number(self.longitudes)
        quadrants = len(psi) == 5 and np.allclose(psi, np.linspace(0, FULL, 5), atol=SAME)
        return bool(quadrants and not self.spline)

    def curve(self, value: Callable[[object], ca.SX] = lambda x: ca.SX(number(x))) -> Curve:
        """Return the edge; ``value`` turns Parameters into expressions."""
        psi = number(self.longitudes)[:-1]
        # On the axis and opposite to it the edge would have a corner, and the cone no normal.
        sigma = [
            ca.fmin(ca.fmax(value(x), FROM_AXIS), np.pi - FROM_OPPOSITE)
            for x in self.latitudes[:-1]
        ]
        if self.elliptic:
            return Quarters(ca.vertcat(*sigma))
        rows = [ca.horzcat(s * np.cos(x), s * np.sin(x)) for x, s in zip(psi, sigma, strict=True)]
        return PeriodicSpline(ca.vertcat(*rows))

    def edge(self, count: int = 361) -> tuple[Array, Array]:
        """Return longitudes [0, 2 pi] and latitudes [rad] of points on the edge, each (count,)."""
        x, _, _ = self._sample(count)
        psi = np.unwrap(np.arctan2(x[1], x[0]))
        return psi - FULL * np.round(psi[0] / FULL), np.hypot(*x)

    def _sample(self, count: int) -> list[Array]:
        """Return points once around the edge and both derivatives by l, (2, count) each [rad]."""
        curve, l = self.curve(), ca.SX.sym("l")
        jet = ca.Function("edge", [l], list(curve.piece(l).jet(l)))
        lengths = np.linspace(0, 1, count) * float(curve.period)
        return [np.asarray(part) for part in jet.map(count)(lengths)]

    def _check_edge(self) -> None:
        """Refuse an edge that goes beyond 180 deg, turns back, or encloses nothing, or all."""
        x, dx, _ = self._sample(CHECKED)
        sigma = np.hypot(*x)
        k = int(np.argmax(sigma))
        if sigma[k] > np.pi + SAME:
            raise ValueError(
                f"between its data the cone reaches a latitude of {_deg(sigma[k])} deg at "
                f"longitude {_deg(np.arctan2(x[1, k], x[0, k]) % FULL)} deg, more than 180: add "
                "data there, or take smaller latitudes"
            )
        if np.min(sigma) > np.pi - 2 * FROM_OPPOSITE:
            raise ValueError("latitudes of 180 deg all around restrict nothing: leave the cone out")
        turn = x[0] * dx[1] - x[1] * dx[0]  # sigma^2 d(psi)/dl
        k = int(np.argmin(turn))
        if turn[k] < -SAME:
            raise ValueError(
                "between its data the edge of the cone turns back at longitude "
                f"{_deg(np.arctan2(x[1, k], x[0, k]) % FULL)} deg: latitudes change too steeply "
                "there; add data"
            )
        if np.mean(sigma) < 10 * FROM_AXIS:
            raise ValueError(
                f"latitudes {_deg(number(self.latitudes))} deg enclose next to no directions: make "
                "some of them larger, 0.1 deg at least on the mean"
            )


def _check(psi: Array, sigma: Array) -> None:
    """Refuse longitudes and latitudes [rad] that are not those of a closed edge."""
    finite("longitudes of the cone", psi, psi.shape)
    finite("latitudes of the cone", sigma, sigma.shape)
    if psi.ndim != 1 or psi.shape != sigma.shape or psi.size < 4:
        raise ValueError(
            f"a cone takes as many latitudes as longitudes, at least 4 with both 0 and 360 deg; "
            f"got {psi.size} longitudes and {sigma.size} latitudes"
        )
    if np.any(np.diff(psi) <= SAME):
        raise ValueError(f"longitudes must ascend, got {_deg(psi)} deg")
    if abs(psi[0]) > SAME or abs(psi[-1] - FULL) > SAME:
        raise ValueError(
            f"longitudes must go from 0 to 360 deg, got {_deg(psi[0])} to {_deg(psi[-1])} deg "
            "(angles are in radians)"
        )
    if abs(sigma[0] - sigma[-1]) > SAME:
        raise ValueError(
            f"latitudes at longitudes 0 and 360 deg must be the same, got {_deg(sigma[0])} and "
            f"{_deg(sigma[-1])} deg"
        )
    wrong = np.flatnonzero((sigma < 0) | (sigma > np.pi + SAME))
    if wrong.size:
        k = int(wrong[0])
        raise ValueError(
            f"latitudes must be from 0 to 180 deg, got {_deg(sigma[k])} deg at longitude "
            f"{_deg(psi[k])} deg: angles are in radians"
        )


def _deg(angles: Array | float) -> str:
    """Return angles [rad] in degrees, as text."""
    return ", ".join(f"{x:g}" for x in np.atleast_1d(np.round(np.degrees(angles), 6)))
