"""Least joint load of arms from their files, played back from a sampled file: where it ends.

Motions are those of least_load.py. Their forces are read as a controller does, linear between the
rows or held from each to the next, and moved is the arm of pinocchio, by SciPy, from row to row:
without a controller, and with one of 30 rad/s about the coordinates of the file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from common import machine, table
from least_load import STEPS, Arm
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline

from nsopt import FirstOrderHold, Result, ZeroOrderHold
from nsopt.trajectory import ActuatorLimits, EndAt, Horizon, JointLoad, Quintic, StartAt, optimize

Array = NDArray[np.float64]
Feed = Callable[[int, float], Array]

ARMS = ("ur5_robot", "ur3_robot", "ur10_robot", "kinova", "panda")
"""Without dry friction: it would hold joints for as long as what is off lets it."""
GAIN = 30.0  # rad/s
HEAD = ("arm", "Hz", "between rows", "forces", "angles", "pose", "with a controller", "pose")


@dataclass(frozen=True, eq=False)
class Playback:
    """A file of an arm's motion; arrays over its rows."""

    arm: Arm
    rows: pd.DataFrame

    @cached_property
    def t(self) -> Array:
        return self.rows["time"].to_numpy()

    def column(self, kind: str) -> Array:
        """Return q, v or tau, (rows, nv)."""
        found: Array = self.rows.filter(regex=rf"^{kind}\[").to_numpy()
        return found

    @cached_property
    def linear(self) -> Feed:
        """Forces in an interval at a time, linear between rows."""
        t, tau = self.t, self.column("tau")
        slope = np.diff(tau, axis=0) / np.diff(t)[:, None]
        return lambda k, now: tau[k] + (now - t[k]) * slope[k]

    @cached_property
    def held(self) -> Feed:
        """Those of the row at the start of an interval."""
        tau = self.column("tau")
        return lambda k, _: tau[k]

    def end(self, feed: Feed, gain: float) -> tuple[float, float]:
        """Return how far angles and the last frame end from the file's [rad; m, 1]."""
        q, v, t = self.column("q"), self.column("v"), self.t
        course = CubicHermiteSpline(t, q, v)
        rate, n = course.derivative(), q.shape[1]
        x = np.concatenate([q[0], v[0]])
        for k in range(len(t) - 1):

            def moved(now: float, x: Array, k: int = k) -> Array:
                want = (0, 0) if not gain else (course(now) - x[:n], rate(now) - x[n:])
                pull = gain**2 * want[0] + 2 * gain * want[1]
                return np.concatenate([x[n:], self.arm.rate(x[:n], x[n:], feed(k, now)) + pull])

            span = (t[k], t[k + 1])
            x = solve_ivp(moved, span, x, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
        off = self.arm.pose(x[:n]) - self.arm.pose(q[-1])
        return float(np.abs(x[:n] - q[-1]).max()), float(np.abs(off).max())


def least_load(arm: Arm, duration: float) -> Result:
    """Return the motion between the first postures of an arm."""
    a, b = next(arm.pairs(duration))
    rest = np.zeros(len(a))
    ends = [StartAt(a, rest, accelerations=rest), EndAt(b, rest, accelerations=rest)]
    horizon = Horizon(duration, STEPS)
    return optimize(arm.dynamics, horizon, [JointLoad()], [*ends, ActuatorLimits()], Quintic(a, b))


def rows(name: str, rates: list[float], duration: float) -> list[list[str]]:
    """Return the lines of an arm."""
    arm = Arm.of(name, lossy=False)
    best = least_load(arm, duration)
    if not best.completed:
        print(f"{name}: {best.stop_reason}")
    found = []
    with TemporaryDirectory() as folder:
        for rate in rates:
            for hold, forces in (
                (None, "at the rows"),
                (FirstOrderHold(), "FirstOrderHold"),
                (ZeroOrderHold(), "ZeroOrderHold"),
            ):
                file = best.to_csv(Path(folder) / "arm.csv", rate=rate, hold=hold)
                played = Playback(arm, pd.read_csv(file))
                held = isinstance(hold, ZeroOrderHold)
                feed = played.held if held else played.linear
                off = [x for gain in (0.0, GAIN) for x in played.end(feed, gain)]
                way = "held" if held else "linear"
                found.append([name, f"{rate:g}", way, forces, *(f"{x:.1e}" for x in off)])
                print(*found[-1], flush=True)
    return found


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", nargs="+", default=ARMS)
    parser.add_argument("--rates", nargs="+", type=float, default=[1000.0, 2000.0], help="[Hz]")
    parser.add_argument("--duration", type=float, default=2.0, help="[s]")
    chosen = parser.parse_args(arguments)
    lines = [x for name in chosen.arms for x in rows(name, chosen.rates, chosen.duration)]
    print(f"{machine()}\n{table(HEAD, lines)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
