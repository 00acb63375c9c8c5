"""Ten pose pairs of each of eight arms from their files: least joint load, a table.

The files are those of example-robot-data. Postures are drawn within the inner nine tenths of the
ranges of the joints, such that the motors hold both at rest and the quintic between them keeps all
limits in the time given; how many draws that excludes is told. Joints whose friction takes nearly
all that their motor gives, by the file, cannot move: they are fixed, and named. Motions start and
end at rest, without acceleration. Limits are computed again by pinocchio, every millisecond of
`Result.sample`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from common import machine, table
from numpy.typing import NDArray

from nsopt import Actuator, Dynamics, Result, assemble
from nsopt.robots import load_urdf, resistances, typical_resistance
from nsopt.trajectory import (
    ActuatorLimits,
    Cost,
    Effort,
    EndAt,
    Horizon,
    JointLoad,
    Quintic,
    StartAt,
    optimize,
)

Array = NDArray[np.float64]

ARMS = (*("panda", "ur5_robot", "ur3_robot", "kinova", "so101", "z1", "xarm7", "talos_left_arm"),)
G = (0.0, 0.0, -9.81)
STEPS, GRID = 100, np.linspace(0, 1, 101)
INNER, LARGEST_USE = 0.9, 0.9
"""Of the ranges of joints, where postures are drawn; of the limits, what the quintic uses."""

HEAD = (
    *("arm", "solved", "iterations, median", "most", "processor s, median", "most"),
    *("load saved over the quintic", "over least effort", "largest use of a limit"),
)


def file_of(name: str) -> Path:
    """Return the URDF file of an arm."""
    files = metadata.files("example-robot-data") or ()
    return Path(str(next(x for x in files if x.name == f"{name}.urdf").locate()))


def without_stuck_joints(path: Path, folder: Path) -> Path:
    """Return a file like another in which joints that their motors cannot move are fixed."""
    tree = ElementTree.parse(path)
    stuck = []
    for joint in tree.iter("joint"):
        limit, dynamics = joint.find("limit"), joint.find("dynamics")
        if limit is None or dynamics is None or joint.get("type") == "fixed":
            continue
        effort, friction = float(limit.get("effort", "inf")), float(dynamics.get("friction", 0))
        if friction > 0 and friction >= LARGEST_USE * effort:
            stuck.append(f"{joint.get('name')} ({friction:g} of {effort:g} N m)")
            joint.set("type", "fixed")
    if not stuck:
        return path
    print(f"{path.stem}: fixed, for friction takes what the motor gives: {', '.join(stuck)}")
    tree.write(other := folder / path.name)
    return other


@dataclass(frozen=True, eq=False)
class Arm:
    """An arm for nsopt, and its links for pinocchio; arrays in the order of its coordinates."""

    name: str
    dynamics: Dynamics
    model: pin.Model

    @classmethod
    def of(cls, name: str, lossy: bool) -> Arm:
        """Return an arm; ``lossy`` gives typical resistance to joints whose file states none."""
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = without_stuck_joints(file_of(name), Path(folder))
            robot, model = load_urdf(path), pin.buildModelFromUrdf(str(path))
            robot = typical_resistance(robot) if lossy else robot
            losses = any(x.damping or x.friction for x in robot.actuators)
            elements = resistances(robot) if losses else ()
        return cls(name, assemble(robot, elements, gravity=G), model)

    @cached_property
    def actuators(self) -> list[Actuator]:
        """Those of the coordinates."""
        by_joint = {x.joint: x for x in self.dynamics.mechanism.actuators}
        return [by_joint[joint] for joint in self.dynamics.v_owners]

    @cached_property
    def ratios(self) -> Array:
        """Motion of pinocchio's joints by that of the coordinates (joints, nv)."""
        follows = {x.joint: x for x in self.dynamics.mechanism.mimics}
        owners = list(self.dynamics.v_owners)
        R = np.zeros((self.model.njoints - 1, len(owners)))
        for k, name in enumerate(self.model.names[1:]):
            mimic = follows.get(name)
            R[k, owners.index(mimic.of if mimic else name)] = mimic.ratio if mimic else 1.0
        return R

    @cached_property
    def losses(self) -> tuple[Array, Array]:
        """Damping and friction of the coordinates (nv,), with those of joints that follow them."""
        own = {x.joint: x for x in self.dynamics.mechanism.actuators}
        of = [own.get(name) for name in self.model.names[1:]]
        damping = np.array([float(x.damping) if x else 0.0 for x in of])
        friction = np.array([float(x.friction) if x else 0.0 for x in of])
        return damping @ self.ratios**2, friction @ np.abs(self.ratios)

    def drives(self, q: Array, v: Array, a: Array) -> Array:
        """Return the forces of the motors (n, nv) [N m, N]: links by pinocchio, and losses."""
        data, R = self.model.createData(), self.ratios
        rows = zip(q @ R.T, v @ R.T, a @ R.T, strict=True)
        tau = np.array([pin.rnea(self.model, data, self._turned(x), y, z) for x, y, z in rows]) @ R
        damping, friction = self.losses
        return tau + damping * v + friction * np.sign(v)

    def rate(self, q: Array, v: Array, tau: Array) -> Array:
        """Return the accelerations (nv,) under forces of the motors, without dry friction."""
        R, data, x = self.ratios, self.data, self._turned(self.ratios @ q)
        M = pin.crba(self.model, data, x)
        M = np.triu(M) + np.triu(M, 1).T
        bias = R.T @ pin.nle(self.model, data, x, R @ v) + self.losses[0] * v
        found: Array = np.linalg.solve(R.T @ M @ R, tau - bias)
        return found

    def pose(self, q: Array) -> Array:
        """Return position [m] and rotation of the last joint's frame, (4, 4)."""
        pin.forwardKinematics(self.model, self.data, self._turned(self.ratios @ q))
        found: Array = self.data.oMi[-1].homogeneous.copy()
        return found

    @cached_property
    def data(self) -> pin.Data:
        return self.model.createData()

    def _turned(self, q: Array) -> Array:
        """Return angles as pinocchio has them: of joints without end by cosine and sine."""
        return np.concatenate(
            [
                [x] if joint.nq == 1 else [np.cos(x), np.sin(x)]
                for joint, x in zip(self.model.joints[1:], q, strict=True)
            ]
        )

    def use(self, q: Array, v: Array, drives: Array) -> float:
        """Return the largest part that is used of a range, a speed or a force."""
        low, high, speed, effort = (
            np.array([getattr(x, name) for x in self.actuators])
            for name in ("lower", "upper", "velocity", "effort")
        )
        ranged = np.isfinite(high - low)
        low, high = low[ranged], high[ranged]
        middle, half = (low + high) / 2, (high - low) / 2
        parts = np.abs(q[:, ranged] - middle) / half, np.abs(v) / speed, np.abs(drives) / effort
        return max(float(part.max(initial=0.0)) for part in parts)

    def pairs(self, duration: float) -> Iterator[tuple[Array, Array]]:
        """Yield pairs of postures; the second is as far as a quintic can go within the limits."""
        rng = np.random.default_rng(0)
        low, high = (
            INNER * np.array([np.clip(getattr(x, side), -np.pi, np.pi) for x in self.actuators])
            for side in ("lower", "upper")
        )
        drawn, kept = 0, 0
        while True:
            a, b = rng.uniform(low, high, (2, len(low)))
            drawn += 1
            for part in np.linspace(1, 0.2, 33):
                path = Quintic(a, c := a + part * (b - a)).trajectory(
                    GRID, (duration, duration), ()
                )
                if self.use(path.q, path.v, self.drives(path.q, path.v, path.a)) <= LARGEST_USE:
                    kept += 1
                    print(f"{self.name}: {kept} of {drawn} drawn pairs within limits", flush=True)
                    yield a, c
                    break


@dataclass(frozen=True, eq=False)
class Pair:
    """The least load between two postures."""

    why: str  # it is no solution
    iterations: float
    seconds: float
    saved: float  # of the load of the quintic
    spared: float  # of the load of the motion of least effort
    use: float


def measured(result: Result) -> tuple[float, float]:
    """Return the load of a motion and of its guess; dry friction with its exact sign."""
    attrs = result.data.attrs
    if "exact_cost" in attrs:
        costs = (json.loads(attrs[x]) for x in ("exact_cost", "guess_exact_cost"))
    else:
        costs = iter((result.detailed_cost, result.guess_cost))
    load, quintic = (float(x["JointLoad"]) for x in costs)
    return load, quintic


def processor() -> float:
    """Return the processor's time of this process and of the compilers that it has run [s]."""
    return sum(os.times()[:4])


def least_load(arm: Arm, a: Array, b: Array, duration: float) -> Pair:
    """Return the figures of the best motion between two postures."""
    rest = np.zeros(len(a))
    ends = [StartAt(a, rest, accelerations=rest), EndAt(b, rest, accelerations=rest)]

    def best(*costs: Cost) -> Result:
        horizon = Horizon(duration, STEPS)
        return optimize(arm.dynamics, horizon, costs, [*ends, ActuatorLimits()], Quintic(a, b))

    begin = processor()
    result = best(JointLoad())
    seconds = processor() - begin
    load, quintic = measured(result)
    # Without weight, so that it is only measured.
    least_effort = best(Effort(), JointLoad(weight=1e-12))
    other = measured(least_effort)[0] * 1e12 if least_effort.completed else np.nan
    motion = result.sample(1e-3)
    q, v, acceleration = (motion[x].values for x in "qva")
    use = arm.use(q, v, arm.drives(q, v, acceleration))
    iterations = float(np.nansum(result["iterations"].values))
    return Pair(result.stop_reason, iterations, seconds, 1 - load / quintic, 1 - load / other, use)


def row(name: str, pairs: list[Pair]) -> list[str]:
    """Return one line of the table."""
    kept = [x for x in pairs if not x.why]
    middle = median(x.iterations for x in pairs), median(x.seconds for x in pairs)
    most = max(x.iterations for x in pairs), max(x.seconds for x in pairs)
    return [
        *(name, f"{len(kept)} of {len(pairs)}", f"{middle[0]:.0f}", f"{most[0]:.0f}"),
        *(f"{middle[1]:.1f}", f"{most[1]:.1f}"),
        f"{median([x.saved for x in kept] or [np.nan]):.1%}",
        f"{np.nanmedian([x.spared for x in kept] or [np.nan]):.1%}",
        f"{max([x.use for x in kept] or [np.nan]):.7f}",
    ]


def main(arguments: list[str]) -> int:
    """Print the table; the exit code counts pairs that were not solved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--duration", type=float, default=2.0, help="[s]")
    parser.add_argument("--lossy", action="store_true", help="typical friction and damping")
    chosen = parser.parse_args(arguments)
    rows, failed = [], 0
    for name in chosen.arms:
        arm = Arm.of(name, chosen.lossy)
        postures = zip(range(chosen.pairs), arm.pairs(chosen.duration), strict=False)
        pairs = [least_load(arm, a, b, chosen.duration) for _, (a, b) in postures]
        for k, pair in enumerate(pairs):
            if pair.why:
                failed += 1
                print(f"{name}, pair {k}: {pair.why.splitlines()[0]}", flush=True)
        rows.append(row(name, pairs))
    print(f"{machine()}\n{table(HEAD, rows)}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
