"""A five-bar linkage with play in the pin of its tip, moved at least load: exact, simulated.

python benchmarks/five_bar_play.py [STEPS ...]
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
from common import machine, table

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Dynamics,
    Frame,
    Mechanism,
    PlanarRevoluteClearance,
    Result,
    Revolute,
    Variational,
    assemble,
)
from nsopt.trajectory import EndAt, Horizon, JointLoad, Quintic, StartAt, optimize

INNER, OUTER, BASE = 0.2, 0.3, 0.2  # m: driven links, links to the tip, distance of the motors
BEGIN, END, DURATION, CLEARANCE = (0.05, 0.32), (0.18, 0.28), 0.6, 1e-3  # m, m, s, m
MOTORS = np.array([[0.0, 0.0], [BASE, 0.0]])


def elbows(tip: tuple[float, float]) -> np.ndarray:
    """Return both elbows (2, 2) [m] of a tip, bent outwards."""
    found = []
    for motor, side in zip(MOTORS, (1.0, -1.0), strict=True):
        reach = np.asarray(tip) - motor
        r = np.linalg.norm(reach)
        bend = np.arccos((INNER**2 + r**2 - OUTER**2) / (2 * INNER * r))
        angle = np.arctan2(reach[1], reach[0]) + side * bend
        found.append(motor + INNER * np.array([np.cos(angle), np.sin(angle)]))
    return np.array(found)


def angles(tip: tuple[float, float]) -> np.ndarray:
    """Return the angles of the motors, then of the elbows [rad]."""
    knees = elbows(tip)
    inner, outer = (np.arctan2(*x.T[::-1]) for x in (knees - MOTORS, np.asarray(tip) - knees))
    return np.concatenate([inner, outer - inner])


def rod(name: str, a: np.ndarray, b: np.ndarray, mass: float) -> Body:
    """Return a thin rod between two points of the plane."""
    angle, J = np.arctan2(*(b - a)[::-1]), mass * np.sum((b - a) ** 2) / 12
    turned = (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
    return Body(name, mass, (J / 50, J, J), position=(*(a + b) / 2, 0.0), orientation=turned)


def linkage() -> Dynamics:
    """Return the linkage, at its start."""
    knees, tip = elbows(BEGIN), np.array(BEGIN)
    sides = ("left", "right")
    inner = [rod(f"{x} arm", *y, 0.4) for x, *y in zip(sides, MOTORS, knees, strict=True)]
    outer = [rod(f"{x} rod", y, tip, 0.3) for x, y in zip(sides, knees, strict=True)]

    def pin(kind: type, name: str, a: Body | None, b: Body, x: np.ndarray, **more: float):
        return kind(name, Frame.at(a, (*x, 0.0)), Frame.at(b, (*x, 0.0)), **more)

    joints = [
        *(pin(Revolute, *x) for x in zip(sides, [GROUND] * 2, inner, MOTORS, strict=True)),
        pin(Revolute, "left elbow", inner[0], outer[0], knees[0]),
        pin(Revolute, "right elbow", inner[1], outer[1], knees[1]),
    ]
    loose = pin(PlanarRevoluteClearance, "tip", outer[0], outer[1], tip, clearance=CLEARANCE)
    motors = [Actuator(x, effort=10.0) for x in sides]
    mechanism = Mechanism([*inner, *outer], joints, "relative", motors)
    return assemble(mechanism, [loose], gravity=(0.0, -9.81, 0.0))


def solve(steps: int) -> Result:
    """Return the motion of least load from rest to rest, the elbows left free."""
    moved, rest = angles(END) - angles(BEGIN), np.zeros(4)
    free = [np.nan, np.nan]
    ends = [StartAt([0.0, 0.0, *free], rest), EndAt([*moved[:2], *free], rest)]
    return optimize(
        linkage(),
        Horizon(DURATION, steps),
        [JointLoad(force=20.0, moment=np.inf)],
        ends,
        Quintic(np.zeros(4), moved),
        scheme=Variational(normal_implicitness=0.5),
        verify=True,
    )


def main(counts: list[int]) -> None:
    """Print a row for each number of steps."""
    rows = []
    for steps in counts:
        begin = perf_counter()
        best = solve(steps)
        attrs, seconds = best.data.attrs, perf_counter() - begin
        rows.append(
            [
                str(steps),
                f"{attrs.get('objective_in_steps', best.objective):.6f}",
                f"{best.objective:.6f}" if not attrs.get("not_exact") else "stays in steps",
                f"{attrs.get('resimulated_defect', np.nan):.1e}",
                f"{seconds:.0f}",
            ]
        )
    head = ("steps", "in steps", "exact", "simulated, off by at most [m, rad]", "s")
    print(f"{machine()}\n{table(head, rows)}")


if __name__ == "__main__":
    main([int(x) for x in sys.argv[1:]] or [160, 200])
