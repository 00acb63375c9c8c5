"""A cone's cost a step and its energy over a minute, on the pendulum of [RoM 2023, section 4].

The cost is that of the compiled variational step with and without the cone, in turn. The energy is
that of the conservative moment at three step sizes, and of the printed excess (eq. 33) at the
smallest, which drifts. With ``--evaluations`` it prints how many evaluations of accelerations an
adaptive integrator, RK45 of scipy, takes for each case, as Fig. 21 of the paper.
"""

import argparse
from dataclasses import replace

import numpy as np
from common import Array, in_turn, keep, machine, per_step, picture, ratio, table
from scipy.integrate import solve_ivp

from nsopt import (
    Compiled,
    Dynamics,
    Mechanism,
    PrintedExcess,
    RangeOfMotion,
    Result,
    StepBounds,
    Variational,
    assemble,
    consistent,
    load_problem,
    simulate,
)
from nsopt.mechanics import acceleration
from nsopt.plots.style import COLOURS, SMALL, axis_labels, title

SIZES = (4e-4, 2e-4, 1e-4)  # s
CASES = ("free", "elastic", "damped")
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


def printed() -> Dynamics:
    """Return the elastic pendulum with the excess as printed."""
    d = load_problem("rom_pendulum_elastic").dynamics
    cone = next(e for e in d.elements if isinstance(e, RangeOfMotion))
    return assemble(d.mechanism, [replace(cone, excess=PrintedExcess())], d.gravity)


def run(d: Dynamics, h: float, duration: float) -> Result:
    """Simulate by the compiled variational step."""
    return simulate(
        d,
        duration=duration,
        steps=StepBounds(h, h),
        scheme=Variational(),
        solver=Compiled(),
        check=None,
        progress=False,
    )


def cost(duration: float) -> None:
    """Print the time a step with and without the cone."""
    models = {name: load_problem(f"rom_pendulum_{name}").dynamics for name in ("elastic", "free")}
    for d in models.values():
        run(d, 5e-4, 0.1)  # compiled before
    times = in_turn(
        {name: lambda d=d: per_step(run(d, 5e-4, duration)) for name, d in models.items()}, 9
    )
    outside = float(np.mean(run(models["elastic"], 5e-4, duration)["cone.excess"].values > 0))
    rows = [[name, f"{1e6 * np.median(x):.2f}"] for name, x in times.items()]
    print(table(["h = 5e-4 s", "us per step"], rows))
    print(f"with over without: {ratio(times['elastic'], times['free']):.2f}; outside {outside:.1%}")


def drift(t: Array, energy: Array, inside: Array) -> float:
    """Return the mean of the last second less that of the first [J], inside the cone."""
    last, first = (t > t[-1] - 1) & inside, (t <= 1) & inside
    return float(np.mean(energy[last]) - np.mean(energy[first]))


def conservation(duration: float) -> None:
    """Print and draw the energy over a long run."""
    elastic = load_problem("rom_pendulum_elastic").dynamics
    runs = {f"angle, h = {h:g} s": run(elastic, h, duration) for h in SIZES}
    runs[f"eq. 33, h = {SIZES[-1]:g} s"] = run(printed(), SIZES[-1], duration)
    rows = []
    figure, axes = picture("Energy of the elastic pendulum", 2, (11.0, 4.2))
    for k, (name, result) in enumerate(runs.items()):
        t, energy = result.data["time"].values, result["total_energy"].values
        kinetic = float(np.ptp(result["kinetic_energy"].values))
        # Outside, the printed form has no potential to count.
        inside = result["cone.excess"].values <= 0 if "33" in name else np.full(t.size, True)
        off = drift(t, energy, inside)
        rows.append([name, f"{np.ptp(energy[inside]):.2e}", f"{off:.1e}", f"{off / kinetic:.1e}"])
        look = {"color": COLOURS[k], "linewidth": 0.7, "label": name}
        axes[0, 0].plot(t, np.where(inside, 1e3 * energy, np.nan), **look)
        if k < len(SIZES):
            axes[0, 1].plot(t, 1e3 * energy, **look)
    title(axes[0, 0], "With the printed excess, seen inside the cone")
    title(axes[0, 1], "By spherical angle")
    axis_labels(axes[0, 0], "time [s]", "[mJ]")
    axis_labels(axes[0, 1], "time [s]", "[mJ]")
    axes[0, 0].legend(fontsize=SMALL)
    print(table([f"{duration:g} s", "swing [J]", "drift [J]", "over kinetic range"], rows))
    keep(figure, "range_of_motion")


def count_evaluations(case: str, duration: float) -> list[str]:
    """Return how many evaluations a case takes, to each tolerance."""
    stated = load_problem(f"rom_pendulum_{case}").dynamics
    free = Mechanism(stated.mechanism.bodies, stated.mechanism.joints, "relative")
    d = assemble(free, stated.elements, stated.gravity)
    accelerate, start, p = acceleration(d), consistent(d), [x.value for x in d.parameters]
    y = np.concatenate([start.q, start.v])

    def rate(t: float, y: Array) -> Array:
        found = accelerate(t=t, q=y[: d.nq], v=y[d.nq :], p=p)
        return np.concatenate([np.asarray(found[x]).ravel() for x in ("qdot", "vdot")])

    runs = [solve_ivp(rate, (0, duration), y, rtol=x, atol=x / 10) for x in TOLERANCES]
    return [case, *(str(run.nfev) for run in runs)]


def evaluations(duration: float) -> None:
    """Print how many evaluations of accelerations each case takes."""
    head = [f"evaluations over {duration:g} s, rtol", *(f"{x:g}" for x in TOLERANCES)]
    print(table(head, [count_evaluations(case, duration) for case in CASES]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=float, default=60.0)
    parser.add_argument("--evaluations", type=float, metavar="SECONDS", help="count these instead")
    options = parser.parse_args()
    print(machine())
    if options.evaluations is not None:
        evaluations(options.evaluations)
    else:
        cost(10.0)
        conservation(options.duration)
