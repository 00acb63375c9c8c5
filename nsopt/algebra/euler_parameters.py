"""Euler parameters p = (e0, e) of a rotation: body axes to world axes.

Rates are those of [NLP-clearance 2024, eq. 9] with the sign corrected in the errata: for angular
velocity in body axes ``G = [-e, -skew(e) + e0 I]``.
"""

from functools import cache

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

TERMS = 10
"""Number of terms of the power series of cosine and sine: exact to round-off up to one radian."""


def rotation_matrix(p: ca.SX) -> ca.SX:
    """Return the rotation matrix of ``p / |p|``, shape (3, 3); ``p`` need not be normalised."""
    e0, e = p[0], p[1:4]
    twice = 2 / ca.sumsqr(p) * e  # a division takes as long as ten products
    return ca.SX.eye(3) + twice @ e.T - ca.dot(twice, e) * ca.SX.eye(3) + e0 * ca.skew(twice)


def body_rate_matrix(p: ca.SX) -> ca.SX:
    """Return G(p), shape (3, 4): ``w = 2 G pdot`` and ``pdot = G^T w / 2`` at |p| = 1.

    ``w`` is the angular velocity in body axes [NLP-clearance 2024, eq. 9].
    """
    e0, e = p[0], p[1:4]
    return ca.horzcat(-e, e0 * ca.SX.eye(3) - ca.skew(e))


def normalise(p: ca.SX) -> ca.SX:
    """Return p / |p|, shape (4,)."""
    return p / ca.norm_2(p)


def product(p: ca.SX, r: ca.SX) -> ca.SX:
    """Return the Euler parameters of the rotation by ``r`` in axes turned by ``p``, shape (4,)."""
    return ca.vertcat(
        p[0] * r[0] - ca.dot(p[1:4], r[1:4]),
        p[0] * r[1:4] + r[0] * p[1:4] + ca.cross(p[1:4], r[1:4]),
    )


def turn(p: ca.SX, w: ca.SX) -> ca.SX:
    """Return ``p`` rotated by the rotation vector ``w`` (3,) [rad] in body axes, normalised, (4,).

    By power series of cosine and sine of half the angle, so that all derivatives exist at w = 0
    too; exact to round-off up to two radians, with a small error of the angle beyond.
    """
    return _state_turns()[0](p, w)


def turn_jacobian(w: ca.SX) -> ca.SX:
    """Return T (3, 3): `turn` by w + dw is turned by w, then by T dw, to first order.

    The right Jacobian of the rotation group, as exact as `turn`.
    """
    return _state_turns()[1](w)


@cache
def _state_turns() -> tuple[ca.Function, ca.Function]:
    """State `turn` and `turn_jacobian`, which a mechanism calls for each of its bodies."""
    p, w = ca.SX.sym("p", 4), ca.SX.sym("w", 3)
    x, W = ca.sumsqr(w) / 4, ca.skew(w)  # x: the square of half the angle
    cosine, sinc = _sum_cosine_and_sinc(x)
    end = normalise(cosine * p + sinc * body_rate_matrix(p).T @ w / 2)
    series = ca.SX(1)  # of (a - sin a) 6 / a^3, a the angle
    for k in reversed(range(TERMS - 1)):
        series = 1 - x * (4 / ((2 * k + 4) * (2 * k + 5))) * series
    T = ca.SX.eye(3) - sinc**2 / 2 * W + series / 6 * (w @ w.T - 4 * x * ca.SX.eye(3))
    return ca.Function("turn", [p, w], [end]), ca.Function("turn_jacobian", [w], [T])


def turn_over(w: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return e0 and e / h, (e0, e) of the turn at angular velocity ``w`` (3,) over ``h``.

    h [s] may be zero.
    """
    cosine, sinc = _sum_cosine_and_sinc(h**2 * ca.sumsqr(w) / 4)
    return cosine, sinc * w / 2


def angular_velocity_over(e0: ca.SX, rate: ca.SX, h: ca.SX) -> ca.SX:
    """Return the constant angular velocity (3,) that turns by (e0, h ``rate``) over ``h``.

    The inverse of `turn_over`, as exact: to round-off up to two radians.
    """
    # With x half the angle: tan(x / 2)^2, then y^2 of y = tan(x / 4), and x = 4 arctan(y).
    t = ca.sumsqr(h * rate) / (1 + e0) ** 2
    y = t / (1 + ca.sqrt(1 + t)) ** 2
    series = ca.SX(0)
    for k in reversed(range(TERMS + 2)):
        series = 1 / (2 * k + 1) - y * series
    return 2 * rate * (1 + t) * (1 - y) * series


def _sum_cosine_and_sinc(x: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return cos(a) and sin(a) / a of x = a^2."""
    cosine = sinc = ca.SX(1)
    for k in reversed(range(TERMS - 1)):
        cosine = 1 - x * (1 / ((2 * k + 1) * (2 * k + 2))) * cosine
        sinc = 1 - x * (1 / ((2 * k + 2) * (2 * k + 3))) * sinc
    return cosine, sinc


def from_rotation(A: ArrayLike) -> NDArray[np.float64]:
    """Return the Euler parameters of a rotation matrix, e0 >= 0, shape (4,).

    Parameters
    ----------
    A : (3, 3)
        Proper orthogonal.

    Raises
    ------
    ValueError
        If ``A`` is not a rotation to 1e-6.
    """
    A = np.asarray(A, dtype=float)
    if A.shape != (3, 3) or not np.allclose(A.T @ A, np.eye(3), atol=1e-6) or np.linalg.det(A) < 0:
        raise ValueError(f"not a rotation matrix (A^T A = I, det A = 1): {A.tolist()}")
    # Dividing by the largest of the four keeps the round-off small.
    trace = np.trace(A)
    squares = np.array([1 + trace, *(1 - trace + 2 * np.diag(A))]) / 4
    k = int(np.argmax(squares))
    w = np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])
    p = np.empty(4)
    p[k] = np.sqrt(squares[k])
    if k == 0:
        p[1:] = w / (4 * p[0])
    else:
        i = k - 1
        p[0] = w[i] / (4 * p[k])
        for j in {0, 1, 2} - {i}:
            p[j + 1] = (A[i, j] + A[j, i]) / (4 * p[k])
    p /= np.linalg.norm(p)
    return p if p[0] >= 0 else -p


def rotate(e: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points (n, 3) or (3,) of body axes in world axes, by unit e, (4,) or (n, 4)."""
    twice = 2 * np.cross(e[..., 1:], points)
    rotated: NDArray[np.float64] = points + e[..., :1] * twice + np.cross(e[..., 1:], twice)
    return rotated
