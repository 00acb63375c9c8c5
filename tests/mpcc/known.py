"""Programs with known solutions: from MacMPEC, or solved by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from nsopt.mpcc import Mpcc


@dataclass(frozen=True)
class Known:
    """A program whose best objective is known; ``points`` are all its global solutions."""

    name: str
    state: Callable[[Mpcc], None]
    objective: float
    points: tuple[tuple[float, ...], ...]

    def program(self) -> Mpcc:
        mpcc = Mpcc(self.name)
        self.state(mpcc)
        return mpcc


def _kth1(m: Mpcc) -> None:
    z = m.variable("z", 2, guess=0.7)
    m.complement("pair", z[0], z[1])
    m.minimize(z[0] + z[1])


def _kth2(m: Mpcc) -> None:
    z = m.variable("z", 2, guess=[0.3, 0.9])
    m.complement("pair", z[0], z[1])
    m.minimize(z[0] + (1 - z[1]) ** 2)


def _kth3(m: Mpcc) -> None:
    z = m.variable("z", 2, guess=[0.3, 0.9])
    m.complement("pair", z[0], z[1])
    m.minimize(0.5 * (z[0] - 1) ** 2 + (z[1] - 1) ** 2)


def _scholtes3(m: Mpcc) -> None:
    z = m.variable("z", 2, guess=[0.9, 0.4])
    m.complement("pair", z[0], z[1])
    m.minimize(0.5 * ((z[0] - 1) ** 2 + (z[1] - 1) ** 2))


def _jr1(m: Mpcc) -> None:
    z = m.variable("z", 2, guess=[0.2, 0.8])
    m.complement("pair", z[1] - z[0], z[1])
    m.minimize((z[0] - 1) ** 2 + z[1] ** 2)


def _ralph2(m: Mpcc) -> None:
    z = m.variable("z", 2, guess=0.5)
    m.complement("pair", z[0], z[1])
    m.minimize(z[0] ** 2 + z[1] ** 2 - 4 * z[0] * z[1])


def _bard1(m: Mpcc) -> None:
    # a leader's x, a follower's y with his three multipliers
    x, y = m.variable("x", 1, lower=0, guess=2), m.variable("y", 1, lower=0, guess=1)
    lam = m.variable("lam", 3, lower=0, guess=1)
    m.equal("follower", 2 * (y - 1) - 1.5 * x + lam[0] - 0.5 * lam[1] + lam[2])
    limits = ca.vertcat(3 * x - y - 3, -x + 0.5 * y + 4, -x - y + 7)
    m.complement("limits", limits, lam, labels=("first", "second", "third"))
    m.minimize((x - 5) ** 2 + (2 * y + 1) ** 2)


KNOWN = (
    Known("kth1", _kth1, 0.0, ((0.0, 0.0),)),
    Known("kth2", _kth2, 0.0, ((0.0, 1.0),)),
    Known("kth3", _kth3, 0.5, ((0.0, 1.0),)),
    Known("scholtes3", _scholtes3, 0.5, ((1.0, 0.0), (0.0, 1.0))),
    Known("jr1", _jr1, 0.5, ((0.5, 0.5),)),
    Known("ralph2", _ralph2, 0.0, ((0.0, 0.0),)),
    Known("bard1", _bard1, 17.0, ((1.0, 0.0, 3.5, 0.0, 0.0),)),
)
