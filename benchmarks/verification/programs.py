"""Programs with complementarity whose optimum is known."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import casadi as ca

from nsopt.mpcc import Mpcc, Solver

from .figure import Figure, Subject

MACMPEC = "MacMPEC"


def kth2(m: Mpcc) -> None:
    """State kth2 of the collection."""
    z = m.variable("z", 2, guess=[0.3, 0.9])
    m.complement("pair", z[0], z[1])
    m.minimize(z[0] + (1 - z[1]) ** 2)


def kth3(m: Mpcc) -> None:
    """State kth3 of the collection."""
    z = m.variable("z", 2, guess=[0.3, 0.9])
    m.complement("pair", z[0], z[1])
    m.minimize(0.5 * (z[0] - 1) ** 2 + (z[1] - 1) ** 2)


def scholtes3(m: Mpcc) -> None:
    """State scholtes3 of the collection."""
    z = m.variable("z", 2, guess=[0.9, 0.4])
    m.complement("pair", z[0], z[1])
    m.minimize(0.5 * ((z[0] - 1) ** 2 + (z[1] - 1) ** 2))


def jr1(m: Mpcc) -> None:
    """State jr1 of the collection."""
    z = m.variable("z", 2, guess=[0.2, 0.8])
    m.complement("pair", z[1] - z[0], z[1])
    m.minimize((z[0] - 1) ** 2 + z[1] ** 2)


def ralph2(m: Mpcc) -> None:
    """State ralph2 of the collection."""
    z = m.variable("z", 2, guess=0.5)
    m.complement("pair", z[0], z[1])
    m.minimize(z[0] ** 2 + z[1] ** 2 - 4 * z[0] * z[1])


def bard1(m: Mpcc) -> None:
    """State a leader's x, a follower's y and the three multipliers of the follower."""
    x, y = m.variable("x", 1, lower=0, guess=2), m.variable("y", 1, lower=0, guess=1)
    lam = m.variable("lam", 3, lower=0, guess=1)
    m.equal("follower", 2 * (y - 1) - 1.5 * x + lam[0] - 0.5 * lam[1] + lam[2])
    limits = ca.vertcat(3 * x - y - 3, -x + 0.5 * y + 4, -x - y + 7)
    m.complement("limits", limits, lam)
    m.minimize((x - 5) ** 2 + (2 * y + 1) ** 2)


def rigid_block(m: Mpcc) -> None:
    """State the impulses of a rod on two posts that come to it at 1 m/s, as a complementarity."""
    lam = m.variable("lam", 2, lower=0, guess=0.3)
    delassus = ca.DM([[1.0, 0.25], [0.25, 0.5]])
    m.complement("posts", delassus @ lam - 1, lam)
    m.minimize(ca.sum1(lam))


def least(state: Callable[[Mpcc], None]) -> float:
    """Return the objective at the solution."""
    mpcc = Mpcc(state.__name__)
    state(mpcc)
    down = tuple(10.0**-k for k in range(11))
    return float(Solver(schedules=[down]).build(mpcc).solve().require().objective)


KNOWN = [
    (kth2, 0.0, MACMPEC),
    (kth3, 0.5, MACMPEC),
    (scholtes3, 0.5, MACMPEC),
    (jr1, 0.5, MACMPEC),
    (ralph2, 0.0, MACMPEC),
    (bard1, 17.0, MACMPEC),
    (rigid_block, 16 / 7, "2 by 2 equations, both posts press"),
]

SUBJECT = Subject(
    "Programs with complementarity",
    tuple(
        Figure(f"`{state.__name__}`, objective", "1", value, source, partial(least, state), 1e-4)
        for state, value, source in KNOWN
    ),
)
