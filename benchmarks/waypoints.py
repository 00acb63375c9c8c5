"""Six arms along waypoints in least time, with limits of acceleration, against TOPP-RA.

Files are those of example-robot-data. Each arm passes three postures between two at rest, of which
the second and third are near each other; limits are those of its file (ranges, speeds, torques) and
one of acceleration. The motion is found by `optimize_phases`, the path too. How fast its own path
can be passed at best is found by toppra [Pham, Pham 2018], links by pinocchio: the motion may be
slower by the error of its grid. Beside it is the usual way, a cubic spline through the same
postures, passed as fast as toppra can. Limits are computed again by pinocchio, every millisecond.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np
from common import machine, table
from least_load import Arm
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from nsopt import Check
from nsopt.trajectory import (
    AccelerationLimits,
    ActuatorLimits,
    Duration,
    EndAt,
    Horizon,
    MotionPhase,
    PhasedResult,
    Quintic,
    StartAt,
    optimize_phases,
)

try:
    import toppra
    from toppra.algorithm import TOPPRA
    from toppra.constraint import JointVelocityConstraint
    from toppra.constraint.linear_constraint import (
        LinearConstraint,
        canlinear_colloc_to_interpolate,
    )
    from toppra.interpolator import AbstractGeometricPath
except ImportError:
    sys.exit("the bound is by toppra: pip install -e '.[bench]'")

Array = NDArray[np.float64]

ARMS = ("ur5_robot", "panda", "kinova", "z1", "xarm7", "talos_left_arm")
ACCELERATION = 10.0  # [rad/s^2, m/s^2]
STEPS = 20  # of each phase
CHECK = Check(seconds=60)
INNER = 0.7
"""Of the ranges of joints, where postures are drawn."""
WAYS = (0.5, 0.3, 0.02, 0.4)
"""Of the way to a posture drawn next, how far the next waypoint is."""
SETTLED = 1e-5
"""Change of a time, over itself, below which damping is not taken anew."""
SLOWEST = 0.02
"""Speed over the largest, at least, at which damping is taken."""
GRIDS = 2000, 8000
"""Points of toppra; its bound is that of the finer one."""

HEAD = (
    *("arm", "T [s]", "bound on its path [s]", "above", "told", "spline, by toppra [s]"),
    *("acceleration over its limit", "largest use of the others", "processor s"),
)


def choose_waypoints(arm: Arm) -> Array:
    """Return postures (5, n) that the motors hold at rest with half of what they give."""
    rng = np.random.default_rng(0)
    low, high = (
        np.clip([getattr(x, side) for x in arm.actuators], -np.pi, np.pi)
        for side in ("lower", "upper")
    )
    middle, half = (low + high) / 2, INNER * (high - low) / 2

    def draw() -> Array:
        while True:
            q = middle + half * rng.uniform(-1, 1, len(low))
            rest = np.zeros((1, len(q)))
            if arm.use(q[None], rest, 2 * arm.drives(q[None], rest, rest)) <= 1:
                return q

    points = [draw()]
    for way in WAYS:
        points.append(points[-1] + way * (draw() - points[-1]))
    return np.array(points)


def find_motion(arm: Arm, points: Array, steps: int) -> PhasedResult:
    """Return the motion of least time."""
    rest, free = np.zeros(points.shape[1]), np.full(points.shape[1], np.nan)
    phases = []
    for k in range(last := len(points) - 1):
        ends = [EndAt(points[k + 1], rest if k == last - 1 else free)]
        begin = [StartAt(points[0], rest)] if k == 0 else []
        phases.append(
            MotionPhase(
                arm.dynamics,
                Horizon((1e-3, 5.0), steps),
                [Duration()],
                [*begin, *ends, ActuatorLimits(), AccelerationLimits(ACCELERATION)],
                Quintic(points[k], points[k + 1]),
                name=f"to waypoint {k + 1}",
            )
        )
    return optimize_phases(phases, check=CHECK)


@dataclass(frozen=True, eq=False)
class KnownPath(AbstractGeometricPath):
    """A path that is known where toppra asks: q, q' and q'' (n, dof) at s (n,)."""

    s: Array
    by_order: tuple[Array, Array, Array]

    @property
    def path_interval(self) -> Array:
        return self.s[[0, -1]]

    @property
    def dof(self) -> int:
        return self.by_order[0].shape[1]

    def __call__(self, s: Array, order: int = 0) -> Array:
        del s  # these points
        return self.by_order[order]


class Within(LinearConstraint):
    """Limits -most <= a s'' + b s'^2 + c <= most, with a, b, c (n, m) at the points of a path."""

    def __init__(self, a: Array, b: Array, c: Array, most: Array) -> None:
        super().__init__()
        self.identical = True
        eye = np.eye(len(most))
        self.given = a, b, c, np.vstack([eye, -eye]), np.concatenate([most, most]), None, None

    def compute_constraint_params(self, path: KnownPath, gridpoints: Array) -> tuple[Array, ...]:
        """Return the limits at the points and at the ends of intervals between them."""
        del path
        return canlinear_colloc_to_interpolate(*self.given, gridpoints, identical=True)


def find_least_time(arm: Arm, path: KnownPath, speeds: Array, ends: float) -> float:
    """Return the least time along a path, by toppra, that begins and ends with s' = ``ends``.

    Damping is linear in s', toppra knows s'^2: it is taken as its tangent at a speed that limits
    allow, ``speeds`` (n,), which is more than it is; then at those found, until they stay.
    """
    q, slope, bend = path.by_order
    velocity, effort = (
        np.array([getattr(x, name) for x in arm.actuators]) for name in ("velocity", "effort")
    )
    damping, friction = (x * y for x, y in zip(arm.losses, (slope, np.sign(slope)), strict=True))
    still = np.zeros_like(q)
    weight = arm.drives(q, still, still)
    by_acceleration = arm.drives(q, still, slope) - weight
    by_square = arm.drives(q, slope, bend) - weight - damping - friction
    limits = [
        JointVelocityConstraint(np.column_stack([-velocity, velocity])),
        Within(slope, bend, still, np.full(path.dof, ACCELERATION)),
    ]
    total, before = np.inf, np.nan
    while not abs(total - before) < SETTLED * total:
        tangent = np.maximum(speeds, SLOWEST * speeds.max())[:, None]
        of_square, of_rest = damping / (2 * tangent), damping * tangent / 2
        torques = by_acceleration, by_square + of_square, weight + of_rest + friction
        found = TOPPRA([*limits, Within(*torques, effort)], path, gridpoints=path.s)
        _, speeds, _ = found.compute_parameterization(ends, ends)
        if speeds is None:
            return np.nan
        times = 2 * np.diff(path.s) / (speeds[1:] + speeds[:-1])
        before, total = total, float(times.sum())
    return total


def bound_motion(arm: Arm, motion: PhasedResult, points: int) -> float:
    """Return the least time on the path of a motion, whose parameter is the motion's own time.

    So the motion is s' = 1. Points are within steps, as accelerations jump at nodes.
    """
    begins = zip(motion.phases, motion.borders[:-1], strict=True)
    t = np.concatenate([*(y + x["time"].values[:-1] for x, y in begins), motion.borders[-1:]])
    inside = max(round(points / (len(t) - 1)), 1)
    shares = (np.arange(inside) + 0.5) / inside
    s = np.concatenate([t[:1], (t[:-1, None] + np.diff(t)[:, None] * shares).ravel(), t[-1:]])
    found = motion.sample(times=s)
    path = KnownPath(s, tuple(found[x].values for x in "qva"))
    return find_least_time(arm, path, np.ones(len(s)), 1.0)


def time_spline(arm: Arm, waypoints: Array, points: int) -> float:
    """Return the least time along the natural cubic spline through waypoints, by chord length."""
    chords = np.linalg.norm(np.diff(waypoints, axis=0), axis=1)
    knots = np.concatenate([[0.0], np.cumsum(chords)])
    spline, s = CubicSpline(knots, waypoints), np.linspace(0, knots[-1], points)
    path = KnownPath(s, tuple(spline(s, k) for k in range(3)))
    return find_least_time(arm, path, np.full(points, knots[-1] / 30), 0.0)


def row(name: str, steps: int) -> tuple[list[str], int]:
    """Return one line of the table, and whether there is no motion."""
    arm = Arm.of(name, lossy=False)
    waypoints = choose_waypoints(arm)
    begin = time.process_time()
    motion = find_motion(arm, waypoints, steps)
    seconds = time.process_time() - begin
    if not motion.completed:
        print(f"{name}: {motion.stop_reason.splitlines()[0]}", flush=True)
    sampled, total = motion.sample(1e-3), motion.borders[-1]
    q, v, a = (sampled[x].values for x in "qva")
    coarse, bound = (bound_motion(arm, motion, points) for points in GRIDS)
    print(f"{name}: bound {bound:.6f} s ({coarse:.6f} s with {GRIDS[0]} points)", flush=True)
    figures = [
        *(f"{total:.5f}", f"{bound:.5f}", f"{total / bound - 1:.2%}"),
        f"{motion.objective_error / total:.2%}",
        f"{time_spline(arm, waypoints, GRIDS[0]):.3f}",
        f"{np.abs(a).max() / ACCELERATION:.7f}",
        *(f"{arm.use(q, v, arm.drives(q, v, a)):.7f}", f"{seconds:.1f}"),
    ]
    return [name, *figures], not motion.completed


def main(arguments: list[str]) -> int:
    """Print the table; the exit code counts arms without a motion."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    parser.add_argument("--steps", type=int, default=STEPS, help="of each phase")
    chosen = parser.parse_args(arguments)
    toppra.setup_logging("ERROR")
    rows, failed = [], 0
    for name in chosen.arms:
        line, fault = row(name, chosen.steps)
        rows.append(line)
        failed += fault
    print(f"{machine()}\n{table(HEAD, rows)}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
