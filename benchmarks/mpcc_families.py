"""Programs with complementarity in the manner of MacMPEC's families, with linear constraints.

Objectives are quadratic, and convex but where a name says otherwise: each branch is a convex
quadratic program, so that the least of all branches is known (`mpcc.py` solves them all).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.mpcc import Mpcc

Random = np.random.Generator


@dataclass(frozen=True)
class Stated:
    """A program by name; `state` states it."""

    name: str
    state: Callable[[Mpcc], None]

    def program(self) -> Mpcc:
        """Return it."""
        mpcc = Mpcc(self.name)
        self.state(mpcc)
        return mpcc


def programs() -> Iterator[Stated]:
    """Yield all programs."""
    for by_hand in BY_HAND:
        yield Stated(by_hand.__name__.strip("_"), by_hand)
    for family, count in FAMILIES:
        for seed in range(count):
            yield _drawn(family, seed)


def _drawn(family: Callable[[Mpcc, Random, int], None], seed: int) -> Stated:
    name = family.__name__.strip("_")

    def state(m: Mpcc) -> None:
        family(m, np.random.default_rng([seed, *name.encode()]), seed)

    return Stated(f"{name}_{seed}", state)


def _convex(rng: Random, n: int, rank: int) -> ca.DM:
    A = rng.normal(size=(rank, n))
    return ca.DM(A.T @ A)


def _bilevel(m: Mpcc, rng: Random, seed: int) -> None:
    """A leader's x and a follower's y, who minimizes a convex quadratic over a polyhedron."""
    n, k, r = 2 + seed % 3, 3, 4 + seed % 4
    x = m.variable("x", n, lower=0, upper=10, guess=1)
    y, lam = m.variable("y", k), m.variable("lam", r, lower=0)
    Q, C = _convex(rng, k, k + 1), ca.DM(rng.normal(size=(k, n)))
    A, B = ca.DM(rng.normal(size=(r, k))), ca.DM(rng.normal(size=(r, n)))
    b = ca.DM(rng.uniform(1, 3, r))
    m.equal("follower", Q @ y + C @ x + ca.DM(rng.normal(size=k)) + A.T @ lam)
    m.complement("limits", b + B @ x - A @ y, lam)
    aim_x, aim_y = ca.DM(rng.uniform(0, 4, n)), ca.DM(rng.normal(size=k))
    m.minimize(ca.sumsqr(x - aim_x) + ca.sumsqr(y - aim_y))


def _bilevel_linear(m: Mpcc, rng: Random, seed: int) -> None:
    """The same with linear objectives of both, as ex9.1.*."""
    n, k, r = 1 + seed % 2, 2, 5 + seed % 3
    x = m.variable("x", n, lower=0, upper=8, guess=1)
    y, lam = m.variable("y", k, lower=0, upper=20), m.variable("lam", r, lower=0)
    nu = m.variable("nu", k, lower=0)
    A, B = ca.DM(rng.uniform(-1, 2, (r, k))), ca.DM(rng.uniform(-1, 1, (r, n)))
    A[r - 1, :] = 1.0  # what follower may do is bounded
    b, d = ca.DM(rng.uniform(2, 8, r)), ca.DM(rng.uniform(-2, 1, k))
    m.equal("follower", d + A.T @ lam - nu)
    m.complement("limits", b + B @ x - A @ y, lam)
    m.complement("signs", y, nu)
    m.minimize(ca.dot(ca.DM(rng.normal(size=n)), x) + ca.dot(ca.DM(rng.normal(size=k)), y))


def _qpec(m: Mpcc, rng: Random, seed: int) -> None:
    """A convex quadratic over a linear complementarity problem in y, as Jiang and Ralph draw."""
    n, k = 3, 5 + seed % 5
    x, y = m.variable("x", n, guess=0.5), m.variable("y", k, lower=0, guess=0.5)
    P = _convex(rng, n + k, n + k) + 0.1 * ca.DM.eye(n + k)
    M = _convex(rng, k, k) + 0.2 * ca.DM.eye(k)
    N, q = ca.DM(rng.normal(size=(k, n))), ca.DM(rng.normal(size=k))
    z = ca.vertcat(x, y)
    A = ca.DM(rng.uniform(0, 1, (2, n)))
    m.less("polyhedron", A @ x - ca.DM(rng.uniform(1, 3, 2)))
    m.complement("lcp", N @ x + M @ y + q, y)
    m.minimize(ca.bilin(P, z, z) / 2 + ca.dot(ca.DM(rng.normal(size=n + k)), z))


def _membrane(m: Mpcc, rng: Random, seed: int) -> None:
    """A string over an obstacle that is to be as close as can be to a shape, by its load."""
    n = 6 + seed
    u, lam = m.variable("u", n), m.variable("lam", n, lower=0)
    load = m.variable("load", n, lower=-2, upper=2)
    K = 2 * ca.DM.eye(n) - ca.DM(np.eye(n, k=1) + np.eye(n, k=-1))
    s = np.linspace(0, 1, n + 2)[1:-1]
    obstacle = ca.DM(0.3 - rng.uniform(0.5, 1.5) * (s - 0.5) ** 2 * 4)
    shape = ca.DM(0.4 * np.sin(np.pi * s) + rng.normal(scale=0.1, size=n))
    m.equal("balance", K @ u - load - lam)
    m.complement("contact", u - obstacle, lam)
    m.minimize(ca.sumsqr(u - shape) + 1e-2 * ca.sumsqr(load))


def _packaging(m: Mpcc, rng: Random, seed: int) -> None:
    """A membrane's edge drawn in until it covers a package, with contact along it."""
    n = 6 + seed
    u, lam = m.variable("u", n), m.variable("lam", n, lower=0)
    ends = m.variable("ends", 2, lower=0, upper=1)
    K = 2 * ca.DM.eye(n) - ca.DM(np.eye(n, k=1) + np.eye(n, k=-1))
    edge = ca.vertcat(ends[0], ca.SX.zeros(n - 2), ends[1])
    package = ca.DM(rng.uniform(0, 0.4, n))
    m.equal("balance", K @ u - edge + 0.1 - lam)
    m.complement("contact", u - package, lam)
    m.less("covered", -ca.sum1(lam[1 : n - 1]) + 0.2)
    m.minimize(ca.sum1(u) / n + ca.sumsqr(ends))


def _centring(m: Mpcc, rng: Random, seed: int) -> None:
    """Largest distance of a centre from walls, of which any may be left out at a price."""
    k = 5 + seed % 4
    c, r = m.variable("c", 2, lower=-5, upper=5), m.variable("r", 1, lower=0, upper=5)
    out, slack = m.variable("out", k, lower=0, upper=2), m.variable("slack", k, lower=0)
    angle = rng.uniform(0, 2 * np.pi, k)
    walls = ca.DM(np.column_stack([np.cos(angle), np.sin(angle)]))
    reach = ca.DM(rng.uniform(0.5, 2, k))
    m.equal("walls", walls @ c + r - reach - out + slack)
    m.complement("either", out, slack)
    m.minimize(-r + ca.dot(ca.DM(rng.uniform(0.1, 0.6, k)), out) + 0.05 * ca.sumsqr(c))


def _scale(m: Mpcc, rng: Random, seed: int) -> None:
    """Pairs whose halves differ in size by up to 1e5."""
    k = 3
    size = 10.0 ** rng.uniform(-2.5, 2.5, k)
    a, b = m.variable("a", k, lower=0, guess=0.5), m.variable("b", k, lower=0, guess=0.5)
    m.complement("pairs", ca.DM(size) * a, b / ca.DM(size))
    aim = rng.uniform(0.2, 2, (2, k)) * (1 if seed % 2 else [[1], [-1]])
    m.minimize(ca.sumsqr(a - ca.DM(aim[0])) + ca.sumsqr(b - ca.DM(aim[1])))


def _cournot(m: Mpcc, rng: Random, seed: int) -> None:
    """A leader and k followers in a market with a linear price, as in Stackelberg's game."""
    k = 4 + seed
    x = m.variable("x", 1, lower=0, upper=50, guess=5)
    y, off = m.variable("y", k, lower=0, guess=5), m.variable("off", k, lower=0)
    cost = ca.DM(rng.uniform(5, 60, k))
    total = x + ca.sum1(y)
    m.equal("followers", cost - (100 - total) + y - off)
    m.complement("produce", y, off)
    # The leader's profit is concave in x for given followers: price (100 - total) times x.
    m.minimize(x**2 / 2 + 8 * x - 1.5 * ca.sum1(y) + 0.01 * ca.sumsqr(y))


FAMILIES: tuple[tuple[Callable[[Mpcc, Random, int], None], int], ...] = (
    (_bilevel, 12),
    (_bilevel_linear, 10),
    (_qpec, 12),
    (_membrane, 4),
    (_packaging, 4),
    (_centring, 8),
    (_scale, 6),
    (_cournot, 4),
)


def _origin(m: Mpcc) -> None:
    z = m.variable("z", 2, guess=0.7)
    m.complement("pair", z[0], z[1])
    m.minimize(z[0] + z[1])


def _two_ways(m: Mpcc) -> None:
    z = m.variable("z", 2, guess=[0.3, 0.9])
    m.complement("pair", z[0], z[1])
    m.minimize(0.5 * (z[0] - 1) ** 2 + (z[1] - 1) ** 2)


def _better_way_round(m: Mpcc) -> None:
    """From the guess the worse branch is nearer."""
    z = m.variable("z", 2, guess=[0.1, 0.9])
    m.complement("pair", z[0], z[1])
    m.minimize((z[0] - 2) ** 2 + (z[1] - 1) ** 2)


def _slope_at_the_origin(m: Mpcc) -> None:
    """M-stationary at the origin, from where only one half improves."""
    z = m.variable("z", 2, guess=0.0)
    m.complement("pair", z[0], z[1])
    m.minimize((z[0] - 1) ** 2 + z[1] ** 2 + z[1])


def _follower(m: Mpcc) -> None:
    """A follower of one unknown with three limits, as bard1."""
    x, y = m.variable("x", 1, lower=0, guess=2), m.variable("y", 1, lower=0, guess=1)
    lam = m.variable("lam", 3, lower=0, guess=1)
    m.equal("follower", 2 * (y - 1) - 1.5 * x + lam[0] - 0.5 * lam[1] + lam[2])
    m.complement("limits", ca.vertcat(3 * x - y - 3, -x + 0.5 * y + 4, -x - y + 7), lam)
    m.minimize((x - 5) ** 2 + (2 * y + 1) ** 2)


def _no_strict_point(m: Mpcc) -> None:
    """Two pairs that share an unknown: no MPCC-LICQ."""
    z = m.variable("z", 3, lower=0, guess=0.5)
    m.complement("first", z[0], z[1])
    m.complement("second", z[0], z[2])
    m.less("sum", z[1] + z[2] - z[0] - 1)
    m.minimize(ca.sumsqr(z - ca.DM([0.2, 1, 1])))


BY_HAND = (
    _origin,
    _two_ways,
    _better_way_round,
    _slope_at_the_origin,
    _follower,
    _no_strict_point,
)
