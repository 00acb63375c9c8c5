"""Least time of arms along paths of their joints, against time-optimal parametrisations.

Errors of grids are told beside true ones, and an accuracy of a thousandth is asked for. Files are
those of example-robot-data. A path gives all joints by the share that the first one has of its way;
both programs have the same limits of speed and torque and the same ends at rest, so the least time
of the parametrisation (toppra [Pham, Pham 2018], links by pinocchio) is a bound of what polynomials
can do. Limits and the distance from the path are computed again by pinocchio and NumPy, every
millisecond of `Result.sample`.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from common import machine, table
from least_load import Arm
from numpy.typing import NDArray

from nsopt.mpcc import Bound
from nsopt.trajectory import (
    ActuatorLimits,
    Condition,
    Duration,
    EndAt,
    Horizon,
    NodeSample,
    Quintic,
    StartAt,
    optimize,
)

try:
    import toppra
    from toppra.algorithm import TOPPRA
    from toppra.constraint import DiscretizationType, JointTorqueConstraint, JointVelocityConstraint
    from toppra.interpolator import PolynomialPath
except ImportError:
    sys.exit("the bound is by toppra: pip install -e '.[bench]'")

Array = NDArray[np.float64]

HEAD = (
    *("path", "steps", "T [s]", "above the bound", "told", "grid-limited", "rounds"),
    *("iterations", "processor s"),
    *("largest use of a limit", "off the path [rad]"),
)
STEPS = 30, 60, 120
ACCURACY = 1e-3
GRIDS = 1000, 4000
"""Points of the parametrisation; its bound is taken from the finer one."""


@dataclass(frozen=True, eq=False)
class JointPath:
    """Joints as q = begin + (end - begin) s + bow s (1 - s), for s from zero to one.

    Parameters
    ----------
    begin, end, bow : (n,)
        The bow of the first joint is zero, so that it tells s.
    """

    begin: Array
    end: Array
    bow: Array

    def at(self, s: Array) -> Array:
        """Return postures (k, n) at shares (k,)."""
        now = s[:, None]
        return self.begin + (self.end - self.begin) * now + self.bow * now * (1 - now)

    def off(self, q: Array) -> float:
        """Return how far postures (k, n) are from the path at most."""
        s = (q[:, 0] - self.begin[0]) / (self.end[0] - self.begin[0])
        return float(np.abs(q - self.at(s)).max())

    def least_time(self, arm: Arm, points: int) -> float:
        """Return the time of the time-optimal parametrisation."""
        speed, effort = (
            np.array([[-getattr(x, name), getattr(x, name)] for x in arm.actuators])
            for name in ("velocity", "effort")
        )

        def forces(q: Array, v: Array, a: Array) -> Array:
            return arm.drives(q[None], v[None], a[None])[0]

        limits = [
            JointVelocityConstraint(speed),
            JointTorqueConstraint(
                forces,
                effort,
                np.zeros(len(effort)),
                discretization_scheme=DiscretizationType.Interpolation,
            ),
        ]
        way = self.end - self.begin + self.bow
        path = PolynomialPath(np.stack([self.begin, way, -self.bow], axis=1), 0.0, 1.0)
        grid = np.linspace(0, 1, points + 1)
        found = TOPPRA(limits, path, gridpoints=grid).compute_trajectory(0.0, 0.0)
        return float(found.duration)


BEGIN, END = np.array([0.0, -1.2, 1.0, -0.8, 0.4, 0]), np.array([1.8, -0.2, 0.5, 0.9, 0.9, 1.5])
BOW = np.array([0.0, -0.8, 1.2, 0.5, -0.6, 0.9])
SEVEN = (  # joints, and a finger
    np.array([-0.8, -0.6, 0.5, -2.0, -0.4, 1.2, 0.3, 0.01]),
    np.array([0.8, 0.4, -0.3, -1.2, 0.6, 2.2, -0.6, 0.03]),
)
PATHS = {
    "ur5_robot": {
        "straight": JointPath(BEGIN, END, 0 * BOW),
        "bowed": JointPath(BEGIN, END, BOW),
    },
    "panda": {"straight": JointPath(*SEVEN, 0 * SEVEN[0])},
}
"""Paths of each arm."""


@dataclass(frozen=True, eq=False)
class AlongPath(Condition):
    """Accelerations that keep a motion on a path, from a start that is on it."""

    path: JointPath

    def along(self, m: NodeSample) -> list[Bound]:
        x = self.path
        way = x.end[0] - x.begin[0]
        s, ds, dds = (m.q[0] - x.begin[0]) / way, m.v[0] / way, m.a[0] / way
        off = m.a[1:] - (x.end - x.begin + x.bow * (1 - 2 * s))[1:] * dds + 2 * x.bow[1:] * ds**2
        zero = np.zeros(len(x.begin) - 1)
        return [Bound("acceleration off the path", off, zero, zero)]


def row(
    arm: Arm, path: JointPath, name: str, steps: int, bound: float, accuracy: float | None = None
) -> tuple[list[str], int]:
    """Return one line of the table, and whether the motion is none; from so many steps on."""
    rest, others = np.zeros(len(path.begin)), np.full(len(path.begin) - 1, np.nan)
    # The path decides where the others end.
    end = EndAt(np.append(path.end[0], others), np.append(0.0, others))
    conditions = [StartAt(path.begin, rest), end, AlongPath(path), ActuatorLimits()]
    guess, begin = Quintic(path.begin, path.end), time.process_time()
    horizon = Horizon((0.2, 5.0), steps)
    result = optimize(arm.dynamics, horizon, [Duration()], conditions, guess, accuracy=accuracy)
    seconds = time.process_time() - begin
    if not result.completed:
        print(f"{name}, {steps} steps: {result.stop_reason.splitlines()[0]}")
    motion = result.sample(1e-3)
    q, v, a = (motion[x].values for x in "qva")
    attrs, limited = result.data.attrs, "grid-limited" in result.summary()
    told = f"{attrs.get('objective_error', np.nan) / result.objective:.2%}"
    figures = [
        *(f"{result.objective:.5f}", f"{result.objective / bound - 1:.2%}"),
        *(
            told,
            "yes" if limited else "no",
            f"{attrs['limits_tightened']}",
            f"{np.nansum(result['iterations']):.0f}",
        ),
        *(f"{seconds:.1f}", f"{arm.use(q, v, arm.drives(q, v, a)):.7f}", f"{path.off(q):.0e}"),
    ]
    asked = "" if accuracy is None else f"{accuracy:g} asked: "
    return [name, f"{asked}{attrs['steps']}", *figures], not result.completed


def main() -> int:
    """Print the table; the exit code counts motions that were not found."""
    toppra.setup_logging("ERROR")
    rows, failed = [], 0
    for name, paths in PATHS.items():
        arm = Arm.of(name, lossy=False)
        for kind, path in paths.items():
            coarse, bound = (path.least_time(arm, points) for points in GRIDS)
            label = f"{name}, {kind}"
            print(
                f"{label}: bound {bound:.5f} s ({coarse:.5f} s with {GRIDS[0]} points)", flush=True
            )
            calls = [*((steps, None) for steps in STEPS), (STEPS[0], ACCURACY)]
            for steps, accuracy in calls:
                line, fault = row(arm, path, label, steps, bound, accuracy)
                rows.append(line)
                failed += fault
    print(f"{machine()}\n{table(HEAD, rows)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
