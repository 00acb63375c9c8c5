"""Derivatives of case A beside its simulation, and fits from starts up to 50 % off.

First 2,000 variational steps in 2 s, compiled, in turn: the steps alone, with derivatives forward
by 1, 3 and 16 directions, with the gradient by adjoint. Then clearance and damping of case A with
a damped hinge from 200 noisy angles, from ten seeded starts; and how far off one may start when
all is fitted at once.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import casadi as ca
import numpy as np
from common import in_turn, machine, ratio, table

from nsopt import (
    GROUND,
    Body,
    Compiled,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    RevoluteClearance,
    StepBounds,
    TorsionSpringDamper,
    Variational,
    assemble,
    simulate,
)
from nsopt.trajectory.identification import Fit, FullWindow, Measured, Unknown, fit
from nsopt.trajectory.sensitivity.simulation import sensitivities

STEPS, DURATION = StepBounds(1e-6, 1e-3), 2.0  # s
TRUE, NOISE = np.array([1e-3, 0.05]), 2e-5  # m and N m s/rad; rad
LATE = 1.5  # s


def case_a(damped: bool) -> Dynamics:
    """Return case A, clearance, mass and gravity as parameters, or clearance and a damper."""
    mass, pull = (1.0, -9.81) if damped else (Parameter("mass", 1.0), Parameter("gravity", -9.81))
    body = Body("pendulum", mass, (0.01, 0.09, 0.09), (0.5, 0.0, 0.0))
    frames = Frame(GROUND), Frame.at(body, (0, 0, 0))
    sizes: dict[str, Any] = {"length": 0.1, "axial_clearance": 1e-3, "radius": 0.01}
    hinge = RevoluteClearance("hinge", *frames, clearance=Parameter("clearance", TRUE[0]), **sizes)
    damper = TorsionSpringDamper("damper", *frames, 0.0, damping=Parameter("damping", TRUE[1]))
    elements = [hinge, damper] if damped else [hinge]
    return assemble(Mechanism([body]), elements, gravity=(0.0, pull, 0.0))


def turn(t: ca.SX, q: ca.SX, v: ca.SX, p: ca.SX) -> ca.SX:
    """Return the rotation about z [rad]."""
    del t, v, p
    return 2 * ca.atan2(q[6], q[3])


def seconds(call: Callable[[], object]) -> float:
    """Return the wall time of a call [s]."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def speed(repeats: int) -> None:
    """Print the times of simulation and derivatives."""
    dynamics = case_a(damped=False)
    options: dict[str, Any] = {"steps": STEPS, "scheme": Variational()}

    def plain() -> float:
        result = simulate(
            dynamics, None, DURATION, solver=Compiled(), check=None, progress=False, **options
        )
        return float(np.nansum(result["solve_time"]))

    def derived(by: tuple[str, ...], by_start: bool, adjoint: bool) -> float:
        found = sensitivities(
            dynamics, None, DURATION, by=by, by_start=by_start, outputs=turn, **options
        )
        begin = time.perf_counter()
        if adjoint:
            found.adjoint(np.ones((1, 1)))
        else:
            found.forward()
        return found.simulation_seconds + found.linearisation_seconds + time.perf_counter() - begin

    three = ("clearance", "mass", "gravity")
    calls = {
        "simulation": plain,
        "forward, 1 parameter": lambda: derived(three[:1], False, False),
        "forward, 3 parameters": lambda: derived(three, False, False),
        "forward, 3 parameters and start": lambda: derived(three, True, False),
        "adjoint, 3 parameters and start": lambda: derived(three, True, True),
    }
    for _ in range(30):  # until the derivatives are compiled too
        for call in calls.values():
            call()
    found = in_turn(calls, repeats)
    rows = [
        [name, f"{1e3 * median(times):.1f}", f"{ratio(times, found['simulation']):.2f}"]
        for name, times in found.items()
    ]
    print(table([f"case A, {DURATION / STEPS.h_max:.0f} steps", "ms", "of a simulation"], rows))


def measured(dynamics: Dynamics, times: np.ndarray) -> Measured:
    """Return simulated angles with noise."""
    exact = sensitivities(
        dynamics, None, times, steps=STEPS, outputs=turn, by=(), by_start=False
    ).value
    noise = NOISE * np.random.default_rng(1).normal(size=exact.shape)
    return Measured(times, exact + noise, turn, NOISE)


def unknowns(guess: np.ndarray) -> list[Unknown]:
    """Return clearance and damping, to be found from a guess."""
    return [Unknown("clearance", guess[0], 1e-4, 3e-3), Unknown("damping", guess[1], 0.0, 0.2)]


def row(fitted: Fit, wall: float) -> list[str]:
    """Return one line of the table of fits."""
    outcome = fitted.outcomes[0]
    start, end = (100 * (x / TRUE - 1) for x in (outcome.start, outcome.end))
    return [
        f"{start[0]:+.1f}, {start[1]:+.1f}",
        f"{end[0]:+.3f}, {end[1]:+.4f}",
        f"{outcome.residual:.2f}",
        "yes" if fitted.converged else "no",
        str(outcome.evaluations),
        f"{wall:.1f}",
    ]


HEAD = ["start off [%]", "end off [%]", "residual / noise", "converged", "motions", "s"]


def fits(starts: int) -> None:
    """Print ten fits over growing windows, then the basin of fits to all at once."""
    dynamics = case_a(damped=True)
    whole = measured(dynamics, 0.01 * np.arange(1, 201))
    late = measured(dynamics, LATE + 0.01 * np.arange(1, 51))
    places = TRUE * np.random.default_rng(1).uniform(0.5, 1.5, (starts, 2))
    print("\nclearance and damping, 200 angles in 2 s, growing windows")
    print(table(HEAD, [_fitted(dynamics, whole, place) for place in places]))
    off = np.array([0.02, 0.05, 0.2, 0.5])
    for what, data in (("all 2 s", whole), (f"the angles after {LATE} s alone", late)):
        print(f"\nin one window, {what}")
        signed = np.sort(np.concatenate([-off, off]))
        rows = [_fitted(dynamics, data, TRUE * [1 + x, 1], window=FullWindow()) for x in signed]
        print(table(HEAD, rows))


def _fitted(dynamics: Dynamics, data: Measured, guess: np.ndarray, **options: Any) -> list[str]:
    begin = time.perf_counter()
    fitted = fit(dynamics, data, unknowns(guess), steps=STEPS, **options)
    return row(fitted, time.perf_counter() - begin)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--starts", type=int, default=10, help="of the fits; 0 for speed alone")
    options = parser.parse_args()
    print(machine())
    speed(options.repeats)
    if options.starts:
        fits(options.starts)


if __name__ == "__main__":
    main()
