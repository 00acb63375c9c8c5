"""Poincare section, bifurcation diagram and Lyapunov exponents: times, and figures to compare.

``.venv/bin/python benchmarks/analysis.py section``: 300 turns of a worn slider-crank, a state a
turn. ``... diagram``: 200 speeds of it on two workers, stopped half way and resumed.
``... exponents --periods 10000``: a driven pendulum in chaos against the variation of its equation
by SciPy.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import xarray as xr
from common import machine
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from nsopt import (
    GROUND,
    AppliedTorque,
    Body,
    Compiled,
    Composition,
    Dynamics,
    Frame,
    Grid,
    Mechanism,
    Parameter,
    Problem,
    Result,
    Revolute,
    Start,
    StepBounds,
    TorsionSpringDamper,
    Variants,
    Variational,
    assemble,
    simulate,
    sweep,
)
from nsopt.analysis import SectionValues, Strobe, bifurcation, lyapunov, poincare

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "problems" / "slider_crank"))
import slider_crank_5000rpm as crank

TURN = 2 * np.pi
DRAG, PUSH, RATE = 0.5, 1.5, 2 / 3
PERIOD = TURN / RATE


def section() -> None:
    """Print the time of 300 turns and of their section."""
    period = TURN / float(crank.SPEED.value)
    turns, h = 300, StepBounds(1e-5, 1e-5)
    begin = time.perf_counter()
    result = simulate(
        crank.dynamics,
        crank.start(crank.dynamics),
        turns * period,
        steps=h,
        scheme=Variational(),
        solver=Compiled(),
        times=period * np.arange(1, turns + 1),
        check=None,
        progress=False,
    )
    points = poincare(result, Strobe(period), ["crank pin.angle", "crank pin.rate"], skip=1)
    taken = time.perf_counter() - begin
    print(f"{len(points)} turns, {result.data.attrs['steps']} steps: {taken:.1f} s")
    print(points.tail(5))


def at_speed(rpm: float = 5000.0) -> Problem:
    """Return 40 turns of the slider-crank at a speed."""
    speed = Parameter("speed", rpm * TURN / 60)
    dynamics = crank.model(speed)
    period = TURN / float(speed.value)
    return Problem(
        dynamics,
        40 * period,
        StepBounds(period / 1000, period / 1000),
        crank.start(dynamics, float(speed.value)),
    )


def rates(result: Result) -> NDArray[np.float64]:
    """Return the rate of the crank pin over the speed of the crank."""
    v = result["v"].values
    return np.asarray(v[:, 1] / v[0, 0])


class OnceATurn(Strobe):
    """A section at each turn, whatever the speed of a run."""

    def times(self, result: Result) -> NDArray[np.float64]:
        """Return the times of the dead centre."""
        period = TURN / float(result["v"].values[0, 0])
        return Strobe(period).times(result)


def diagram(count: int) -> None:
    """Print the times of a sweep, whole and resumed."""
    speeds = np.linspace(500, 5000, count)

    def run(over: NDArray[np.float64], folder: str) -> tuple[float, xr.Dataset]:
        begin = time.perf_counter()
        data = sweep(
            Variants(at_speed),
            Grid({"rpm": over}),
            measure={"points": SectionValues(rates, OnceATurn(1.0), last=20)},
            scheme=Variational(),
            solver=Compiled(),
            workers=2,
            folder=folder,
            progress=False,
        )
        return time.perf_counter() - begin, data

    with TemporaryDirectory() as folder:
        half, _ = run(speeds[: count // 2], folder)
        rest, data = run(speeds, folder)
        again, _ = run(speeds, folder)
    points = bifurcation(data)
    print(f"{count // 2} speeds {half:.1f} s, the others {rest:.1f} s, all again {again:.1f} s")
    spread = points.groupby("rpm")["points"].agg(lambda x: len(set(np.round(x, 3))))
    print(f"{len(spread)} of {count} complete; points a section: {spread.values[:: count // 20]}")


def pendulum() -> Dynamics:
    """Return th'' + DRAG th' + sin(th) = PUSH cos(RATE t)."""
    bob = Body("bob", 1.0, (1e-9,) * 3, position=(0, -1.0, 0))
    at = Frame(GROUND), Frame.at(bob, (0, 0, 0))
    damper = TorsionSpringDamper("damper", *at, 0.0, damping=DRAG)
    drive = AppliedTorque("drive", Frame(bob), lambda t: (0, 0, PUSH * np.cos(RATE * t)))
    return assemble(
        Mechanism([bob], [Revolute("pivot", *at)], "relative"), [damper, drive], (0, -1.0, 0)
    )


def by_variation(periods: int, settle: int) -> NDArray[np.float64]:
    """Return the exponents by an integrator of the equation and of its variation."""

    def rate(t: float, y: NDArray[np.float64]) -> list[float]:
        th, v, a, b, c, e = y
        force = -DRAG * v - np.sin(th) + PUSH * np.cos(RATE * t)
        return [v, force, b, -DRAG * b - np.cos(th) * a, e, -DRAG * e - np.cos(th) * c]

    y, vectors, grown = np.array([0.2, 0.0]), np.eye(2), np.zeros(2)
    for k in range(settle + periods):
        begin, times = [*y, *vectors.T.ravel()], (k * PERIOD, (k + 1) * PERIOD)
        end = solve_ivp(rate, times, begin, "DOP853", rtol=1e-8, atol=1e-8).y[:, -1]
        y, (vectors, sizes) = end[:2], np.linalg.qr(end[2:].reshape(2, 2).T)
        if k >= settle:
            grown += np.log(np.abs(np.diag(sizes)))
    return np.asarray(grown / (periods * PERIOD))


def exponents(periods: int, steps: int) -> None:
    """Print both exponents by the derivatives of so many steps a period, and by SciPy."""
    begin, h = time.perf_counter(), PERIOD / steps
    found = lyapunov(
        pendulum(),
        Start(np.array([0.2]), np.array([0.0])),
        periods * PERIOD,
        interval=PERIOD,
        settle=50 * PERIOD,
        steps=StepBounds(h, h),
        count=2,
        scheme=Composition(),
    )
    print(f"steps: {found.exponents}, sum {found.exponents.sum():.6f}", end="")
    print(f" ({time.perf_counter() - begin:.0f} s)")
    begin = time.perf_counter()
    print(f"SciPy: {by_variation(periods, 50)} ({time.perf_counter() - begin:.0f} s)")


def main() -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["section", "diagram", "exponents"])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--periods", type=int, default=10000)
    parser.add_argument("--steps", type=int, default=200, help="a period, of exponents")
    args = parser.parse_args()
    print(machine())
    if args.what == "section":
        section()
    elif args.what == "diagram":
        diagram(args.count)
    else:
        exponents(args.periods, args.steps)


if __name__ == "__main__":
    main()
