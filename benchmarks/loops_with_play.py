"""Closed loops with play in one joint, moved at least load: exact, and simulated by its drives.

A five-bar linkage with a loose pin at its tip, and a delta robot with a loose socket on its
platform.
python benchmarks/loops_with_play.py [five-bar | delta] [STEPS ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from time import process_time

import numpy as np
from common import machine, table
from scipy.optimize import brentq, least_squares

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Distance,
    Dynamics,
    Frame,
    Mechanism,
    PlanarRevoluteClearance,
    Result,
    Revolute,
    SphericalClearance,
    Universal,
    assemble,
)
from nsopt.trajectory import (
    EndAt,
    Horizon,
    JointLoad,
    Quintic,
    Smoothness,
    StartAt,
    Through,
    optimize,
)

# Five-bar linkage: driven links, links to the tip, distance of the motors; start, end of the tip.
INNER, OUTER, BASE = 0.2, 0.3, 0.2  # m
BEGIN, END, DURATION = (0.05, 0.32), (0.18, 0.28), 0.6  # m, m, s
CLEARANCE = 1e-3  # m, in both
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


def five_bar() -> Dynamics:
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


def move_five_bar(steps: int) -> Result:
    """Return the motion of least load from rest to rest, the elbows left free."""
    moved, rest = angles(END) - angles(BEGIN), np.zeros(4)
    free = [np.nan, np.nan]
    ends = [StartAt([0.0, 0.0, *free], rest), EndAt([*moved[:2], *free], rest)]
    guess, loads = Quintic(np.zeros(4), moved), JointLoad(force=20.0, moment=np.inf)
    return optimize(five_bar(), Horizon(DURATION, steps), [loads], ends, guess, verify=True)


# Delta robot: base and platform, driven arms, rods; start and end of the platform.
WIDE, NARROW, ARM, ROD = 0.12, 0.04, 0.15, 0.3  # m
HIGH, LOW, TIME = np.array([0.03, 0.02, -0.25]), np.array([-0.04, -0.02, -0.29]), 0.5  # m, m, s
OUT = [np.array([np.cos(x), np.sin(x), 0.0]) for x in np.radians([0, 120, 240])]
UP = np.array([0.0, 0.0, 1.0])


def elbow(side: int, angle: float) -> np.ndarray:
    """Return the end (3,) [m] of a driven arm that is lowered by an angle."""
    return OUT[side] * (WIDE + ARM * np.cos(angle)) - UP * ARM * np.sin(angle)


def lower_arms(platform: np.ndarray) -> np.ndarray:
    """Return the angles (3,) of the arms, with a pin in the middle of its socket."""

    def miss(side: int, angle: float) -> float:
        return float(np.linalg.norm(elbow(side, angle) - platform - NARROW * OUT[side])) - ROD

    return np.array([brentq(partial(miss, k), -0.8, 1.2, xtol=1e-14) for k in range(3)])


def delta() -> Dynamics:
    """Return the robot at its start; rods are lengths, but for the one that has the socket."""
    plate = Body("plate", 0.3, point_mass=True, position=tuple(HIGH))
    bodies, joints, motors, loose = [], [], [], []
    for k, angle in enumerate(lower_arms(HIGH)):
        knee, side = elbow(k, angle), np.cross(UP, OUT[k])
        root, end = WIDE * OUT[k], HIGH + NARROW * OUT[k]
        J = 0.2 * ARM**2 / 12
        arm = Body(f"arm {k}", 0.2, (J, J, J), position=tuple((root + knee) / 2))
        axis = (Frame.at(x, tuple(root), tuple(side)) for x in (GROUND, arm))
        joints.append(Revolute(f"motor {k}", *axis))
        motors.append(Actuator(f"motor {k}", effort=5.0))
        bodies.append(arm)
        socket = Frame.at(plate, tuple(end))
        if k:
            joints.append(Distance(f"rod {k}", Frame.at(arm, tuple(knee)), socket, ROD))
            continue
        along = (end - knee) / ROD
        across = side - along * (side @ along)
        across /= np.linalg.norm(across)
        axes = np.column_stack([across, np.cross(along, across), along])
        J = 0.1 * ROD**2 / 12
        rod = Body("rod", 0.1, (J, J, J), position=tuple((knee + end) / 2))
        wrist = (Frame.at(x, tuple(knee), axes) for x in (arm, rod))
        joints.append(Universal("wrist", *wrist))
        tip = Frame.at(rod, tuple(end))
        loose.append(SphericalClearance("socket", tip, socket, clearance=CLEARANCE))
        bodies.append(rod)
    mechanism = Mechanism([*bodies, plate], joints, "relative", motors)
    return assemble(mechanism, loose, gravity=(0.0, 0.0, -9.81))


def guess_delta(d: Dynamics) -> Through:
    """Return a motion of the plate along a line, its pin a little below the wall of its socket."""
    start, points, p = lower_arms(HIGH), [d.stated_start()[0]], d.values()
    shares = np.linspace(0, 1, 11)
    for s in (x**3 * (10 - 15 * x + 6 * x * x) for x in shares):
        turned = lower_arms(HIGH + s * (LOW - HIGH)) - start

        def miss(x: np.ndarray, turned: np.ndarray = turned) -> np.ndarray:
            q = np.array([*x[:3], turned[0], *x[3:], *turned[1:]])
            offset = np.asarray(d.contact_offsets(0, q, p)).ravel() - 0.9 * CLEARANCE * UP
            return np.append(offset, np.asarray(d.closure(0, q, p)).ravel())

        x = least_squares(miss, points[-1][[0, 1, 2, 4, 5]], xtol=1e-15, ftol=1e-15, gtol=1e-15).x
        points.append(np.array([*x[:3], turned[0], *x[3:], *turned[1:]]))
    return Through(np.array(points[1:]).tolist(), shares)


def move_delta(steps: int) -> Result:
    """Return the motion of least load from rest to rest, given by the motors at both ends.

    Without the small cost of accelerations the loose rod may swing in its socket at hardly any.
    """
    d, rest = delta(), np.zeros(8)
    is_motor = np.array([x.startswith("motor") for x in d.q_names])
    first, last = np.where(is_motor, 0.0, np.nan), np.full(8, np.nan)
    last[is_motor] = lower_arms(LOW) - lower_arms(HIGH)
    costs = [JointLoad(torque=5.0, force=20.0, moment=np.inf), Smoothness(weight=1e-5)]
    ends = [StartAt(first, rest), EndAt(last, rest)]
    return optimize(d, Horizon(TIME, steps), costs, ends, guess_delta(d), verify=True)


MOVES: dict[str, tuple[Callable[[int], Result], list[int]]] = {
    "five-bar": (move_five_bar, [80, 160]),
    "delta": (move_delta, [20, 40]),
}


def main(name: str, counts: list[int]) -> None:
    """Print a row for each number of steps."""
    rows, (move, usual) = [], MOVES[name]
    for steps in counts or usual:
        begin = process_time()
        best = move(steps)
        attrs, seconds = best.data.attrs, process_time() - begin
        rows.append(
            [
                str(steps),
                f"{attrs.get('objective_in_steps', best.objective):.6f}",
                f"{best.objective:.6f}" if not attrs.get("not_exact") else "stays in steps",
                f"{attrs.get('resimulated_defect', np.nan):.1e}",
                f"{seconds:.0f}",
            ]
        )
    head = (name, "in steps", "exact", "simulated, off by at most [m, rad]", "s of processor")
    print(f"{machine()}\n{table(head, rows)}")


if __name__ == "__main__":
    given = [x for x in sys.argv[1:] if x in MOVES] or list(MOVES)
    for name in given:
        main(name, [int(x) for x in sys.argv[1:] if x not in MOVES])
