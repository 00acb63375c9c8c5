"""Until when chaotic motions are predictable: told, and by the same run in 1/64 of h.

Two pendulums one on the other, a slider-crank in space whose rod has clearance on the slider's
ball, and a four-bar that rattles in one of its pins. The true time is that from which a run is off
the finer one by 5 % of the size of the motion. Statistics beyond it are compared between h and
h/4, in units of what both tell that they may be off by.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from common import machine, table
from errors_judged import sample

from nsopt import (
    GROUND,
    Body,
    Check,
    ContactLaw,
    Dynamics,
    Frame,
    Mechanism,
    PlanarRevoluteClearance,
    Prismatic,
    Result,
    Revolute,
    Spherical,
    SphericalClearance,
    Start,
    StepBounds,
    assemble,
    consistent,
    simulate,
)
from nsopt.caveats import find_predictable_time
from nsopt.caveats.errors import PREDICTABLE
from nsopt.simulation.check.distances import (
    find_gyration_radii,
    measure_distance,
    measure_size,
)

G = 9.81
FINE = 64
LAW = ContactLaw(restitution=0.8, friction=0.0)
Made = tuple[Dynamics, Start, float, float]
"""Dynamics, start, duration and h [s]."""


def rod(name: str, a: tuple[float, ...], b: tuple[float, ...], **moves: object) -> Body:
    """Return a rod of 1 kg between two points."""
    across = float(np.sum(np.subtract(b, a) ** 2)) / 12
    middle = tuple(np.add(a, b) / 2)
    return Body(name, 1.0, (across,) * 3, middle, **moves)  # type: ignore[arg-type]


def double_pendulum() -> Made:
    """Two bars that start level, one a little bent."""
    points = (0.0, 0, 0), (1.0, 0, 0), (2.0, 0, 0)
    upper, lower = rod("upper", *points[:2]), rod("lower", *points[1:])
    joints = [
        Revolute("shoulder", Frame(GROUND), Frame.at(upper, points[0])),
        Revolute("elbow", Frame.at(upper, points[1]), Frame.at(lower, points[1])),
    ]
    dynamics = assemble(Mechanism([upper, lower], joints, "relative"), [], (0, -G, 0))
    return dynamics, Start.named(dynamics, {"shoulder": 1.5}), 20.0, 2e-3


def spatial_slider_crank() -> Made:
    """A crank that turns freely; its rod has 5 mm of clearance on the ball of the slider."""
    pin, ball, axis = (0.0, 0.1, 0.0), (0.3, 0.0, 0.0), (1.0, 0.0, 0.0)
    crank = rod("crank", (0, 0, 0), pin, velocity=(0, 0, 1.0), angular_velocity=(20.0, 0, 0))
    link, slider = rod("link", pin, ball), Body("slider", 1.0, (1e-3,) * 3, ball)
    joints = [
        Revolute("hub", Frame(GROUND, (0, 0, 0), axis), Frame.at(crank, (0, 0, 0), axis)),
        Spherical("pin", Frame.at(crank, pin), Frame.at(link, pin)),
        Prismatic("guide", Frame(GROUND, ball, axis), Frame.at(slider, ball, axis)),
    ]
    play = SphericalClearance("ball", Frame.at(link, ball), Frame.at(slider, ball), 5e-3, law=LAW)
    dynamics = assemble(Mechanism([crank, link, slider], joints), [play], (0, 0, -G))
    return dynamics, consistent(dynamics), 8.0, 1e-3


def rattling_four_bar() -> Made:
    """A crank that turns freely, and a pin with 5 mm of clearance between coupler and rocker."""
    at = [(0.0, 0, 0), (0.1, 0.1, 0), (0.45, 0.25, 0), (0.4, 0, 0)]
    spins = {"velocity": (-1.0, 1.0, 0), "angular_velocity": (0, 0, 20.0)}
    crank = rod("crank", *at[:2], **spins)
    coupler, rocker = rod("coupler", *at[1:3]), rod("rocker", *at[2:])
    joints = [
        Revolute("hub", Frame(GROUND), Frame.at(crank, at[0])),
        Revolute("pin", Frame.at(crank, at[1]), Frame.at(coupler, at[1])),
        Revolute("foot", Frame(GROUND, at[3]), Frame.at(rocker, at[3])),
    ]
    ends = Frame.at(coupler, at[2]), Frame.at(rocker, at[2])
    play = PlanarRevoluteClearance("play", *ends, 5e-3, law=LAW)
    dynamics = assemble(Mechanism([crank, coupler, rocker], joints), [play], (0, -G, 0))
    return dynamics, consistent(dynamics), 2.0, 1e-3


THREE: dict[str, Callable[[], Made]] = {
    "double pendulum": double_pendulum,
    "slider-crank in space, with clearance": spatial_slider_crank,
    "rattling four-bar": rattling_four_bar,
}


def run(made: Made, part: float, check: Check | None = None) -> Result:
    """Return the run in steps of a part of h."""
    dynamics, start, duration, h = made
    bounds = StepBounds(1e-3 * h, h).scale(part)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulate(dynamics, start, duration, steps=bounds, check=check, progress=False)


def find_true_time(made: Made, of: Result, fine: Result) -> float:
    """Return until when a run is off a finer one by no more than is predictable [s]."""
    dynamics, t = made[0], of["time"].values
    radii, true = find_gyration_radii(dynamics, dynamics.values(None)), sample(fine, t)
    off = measure_distance(of.data, true, radii).max(axis=1) / measure_size(true, radii)
    parted = np.flatnonzero(off > PREDICTABLE)
    return float(t[parted[0] - 1] if parted.size else t[-1])


def compare_statistics(a: Result, b: Result) -> str:
    """Return the largest difference of statistics over what both tell that they are off by."""
    found = {}
    for name in (str(x) for x in a.data.variables if str(x).startswith("beyond_")):
        if name in b.data:
            off = np.hypot(a.error[name].values, b.error[name].values)
            apart = np.abs(a[name].values - b[name].values)
            if known := [x / y for x, y in zip(apart, off, strict=True) if y > 0]:
                found[name.removeprefix("beyond_")] = max(known)
    return ", ".join(f"{name} {x:.2g}" for name, x in found.items()) or "-"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these")
    wanted = parser.parse_args().names
    print(machine())
    lines = []
    for name, make in THREE.items():
        if wanted and name not in wanted:
            continue
        made = make()
        fine, quarter = run(made, 1 / FINE), run(made, 1 / 4, Check(seconds=np.inf))
        of = run(made, 1, Check(seconds=np.inf))
        told, true = find_predictable_time(of.data), find_true_time(made, of, fine)
        cells = [f"{told:.4g}", f"{true:.4g}", f"{told / true - 1:+.1%}"]
        lines.append([name, f"{made[2]:g}", *cells, compare_statistics(of, quarter)])
        print("   ", *lines[-1], flush=True)
    head = [
        "motion",
        "duration [s]",
        "told [s]",
        "true [s]",
        "off by",
        "statistics: apart over off",
    ]
    print("\n" + table(head, lines))


if __name__ == "__main__":
    main()
