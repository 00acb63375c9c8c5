"""Tasks of arms from their files: phases, a weld seam, a waypoint, obstacles, self-collision.

The files are those of example-robot-data. What each motion is to keep is computed again every
millisecond, or every ten of them, from forward kinematics by pinocchio; distances from the hull of
a mesh are those of coal.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from common import machine, table
from least_load import file_of
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from nsopt import GROUND, Body, Fixed, Frame, Mechanism, Result, assemble
from nsopt.robots import link_vertices, load_urdf
from nsopt.trajectory import (
    ActuatorLimits,
    Box,
    Capsule,
    ClearOf,
    Condition,
    ConvexHull,
    Duration,
    During,
    Effort,
    EndAt,
    Horizon,
    LinksApart,
    MotionPhase,
    OnPath,
    Orient,
    PhasedResult,
    Quintic,
    Reach,
    Shape,
    Smoothness,
    StartAt,
    find_posture,
    link_capsule,
    optimize,
    optimize_phases,
)

Array = NDArray[np.float64]

G = (0.0, 0.0, -9.81)
DOWN = np.diag([1.0, -1.0, -1.0])
REST = np.zeros(6)
HOME = np.array([0.0, -1.4, 1.6, -1.8, -1.57, 0.0])
HEAD = ("task", "solved", "iterations", "s", "what is kept", "by pinocchio")


def loaded(name: str) -> Mechanism:
    """Return an arm from its file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_urdf(file_of(name))


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Places of frames of an arm by pinocchio."""

    model: pin.Model

    @classmethod
    def of(cls, name: str) -> Kinematics:
        """Return those of an arm."""
        return cls(pin.buildModelFromUrdf(str(file_of(name))))

    def places(self, q: Array, frame: str) -> tuple[Array, Array]:
        """Return origins (n, 3) and axes (n, 3, 3) of a frame in postures (n, nq)."""
        data, k = self.model.createData(), self.model.getFrameId(frame)
        turning = [joint.nq == 2 for joint in self.model.joints[1:]]
        origins, axes = [], []
        for posture in q:
            parts = [
                [np.cos(x), np.sin(x)] if free else [x]
                for x, free in zip(posture, turning, strict=True)
            ]
            pin.framesForwardKinematics(self.model, data, np.concatenate(parts))
            origins.append(data.oMf[k].translation.copy())
            axes.append(data.oMf[k].rotation.copy())
        return np.array(origins), np.array(axes)


@dataclass(frozen=True, eq=False)
class Outcome:
    """A motion, and what it keeps."""

    result: Result | PhasedResult
    seconds: float
    kept: str
    found: str

    def row(self, name: str) -> list[str]:
        """Return its line of the table."""
        first = self.result.phases[0] if isinstance(self.result, PhasedResult) else self.result
        iterations = float(np.nansum(first["iterations"].values))
        if not self.result.completed:
            print(f"{name}: {self.result.stop_reason}")
        solved = "yes" if self.result.completed else "no"
        return [name, solved, f"{iterations:.0f}", f"{self.seconds:.1f}", self.kept, self.found]


def timed(call: Callable[[], Result | PhasedResult]) -> tuple[Result | PhasedResult, float]:
    """Return what a call returns, and how long it took."""
    begin = time.perf_counter()
    result = call()
    return result, time.perf_counter() - begin


ARM = loaded("ur5_robot")
TOOL = ARM.frame("tool0")
BY_PINOCCHIO = Kinematics.of("ur5_robot")


def above(x: float, y: float, z: float) -> list[Condition]:
    """Return the task that the tool is at a point and looks down."""
    # The tool's frame of this file looks along its z.
    return [
        Reach(TOOL, (x, y, z)),
        Orient(TOOL, DOWN, about_z=True),
        EndAt(v=REST, accelerations=REST),
    ]


def pick_and_place() -> Outcome:
    """Empty, with 2 kg, empty: least effort and time, three durations to choose."""
    load = Body("load", 2.0, (5e-3, 5e-3, 5e-3))
    grip = Fixed("grip", Frame(ARM.frame("tool0").body, (0, 0, 0.08)), Frame(load))
    carrying = Mechanism([*ARM.bodies, load], [*ARM.joints, grip], "relative", ARM.actuators)
    empty, full = (assemble(x, gravity=G) for x in (ARM, carrying))
    pick, place = above(0.5, 0.25, 0.1), above(0.1, -0.55, 0.3)
    costs, within = [Effort(scale=50.0), Duration(weight=2.0)], Horizon((0.4, 3.0), 30)
    start = StartAt(HOME, REST, accelerations=REST)
    home = EndAt(HOME, REST, accelerations=REST)
    parts = [
        (empty, [start, *pick], "reach"),
        (full, place, "carry"),
        (empty, [home], "return"),
    ]
    phases = [
        MotionPhase(d, within, costs, [*task, ActuatorLimits()], Quintic(), name=name)
        for d, task, name in parts
    ]
    result, seconds = timed(lambda: optimize_phases(phases))
    return Outcome(result, seconds, "2 kg picked and placed", places_of(result))


def places_of(result: Result | PhasedResult) -> str:
    """Return how far the tool is off where the load is picked and placed."""
    assert isinstance(result, PhasedResult)
    ends = [x["q"].values[-1] for x in result.phases[:2]]
    r = BY_PINOCCHIO.places(np.array(ends), "tool0")[0]
    off = np.abs(r - [[0.5, 0.25, 0.1], [0.1, -0.55, 0.3]]).max()
    lengths = ", ".join(f"{x:.2f}" for x in np.diff(result.borders))
    return f"{off:.0e} m off; {lengths} s"


def weld_seam() -> Outcome:
    """A seam of 0.4 m at 0.2 m/s, the tool within 2 degrees of straight down, from and to home."""
    most = np.deg2rad(2.0)

    def seam(t: Any) -> tuple[Any, Any, float]:
        return 0.5 + 0.05 * np.sin(4 * (t - 1)), -0.2 + 0.2 * (t - 1), 0.15

    conditions = [
        StartAt(HOME, REST, accelerations=REST),
        EndAt(HOME, REST, accelerations=REST),
        # From a little before the seam to a little after it, so that it is left as fast.
        During(OnPath(TOOL, seam), 0.225, 0.775),
        During(Orient(TOOL, DOWN, about_z=True, within=most), 0.225, 0.775),
        ActuatorLimits(),
    ]
    costs = [Effort(scale=50.0), Smoothness(weight=1e-2)]
    d = assemble(ARM, gravity=G)
    result, seconds = timed(lambda: optimize(d, Horizon(4.0, 80), costs, conditions, Quintic()))
    assert isinstance(result, Result)
    t = np.arange(1.0, 3.0005, 1e-3)
    r, A = BY_PINOCCHIO.places(result.sample(times=t)["q"].values, "tool0")
    off = np.abs(r - np.column_stack(np.broadcast_arrays(*seam(t)))).max()
    angle = np.rad2deg(np.arccos(np.clip(-A[:, 2, 2], -1, 1)).max())
    return Outcome(result, seconds, "on the seam, 2 deg", f"{off:.1e} m, {angle:.4f} deg off")


def waypoint_at_a_free_time() -> Outcome:
    """Two phases of one arm, 2 s in all: the point between is passed when it costs least."""
    d, point = assemble(ARM, gravity=G), (0.3, 0.4, 0.5)
    end = find_posture(d, above(0.1, -0.55, 0.3), HOME)
    costs, within = [Effort(scale=50.0), Smoothness(weight=1e-2)], Horizon((0.3, 1.7), 30)
    parts = [
        ([StartAt(HOME, REST), Reach(TOOL, point)], "there"),
        ([EndAt(end, REST)], "on"),
    ]
    phases = [
        MotionPhase(d, within, costs, [*x, ActuatorLimits()], Quintic(), name=name)
        for x, name in parts
    ]
    result, seconds = timed(lambda: optimize_phases(phases, duration=2.0))
    assert isinstance(result, PhasedResult)
    r = BY_PINOCCHIO.places(result.phases[0]["q"].values[-1:], "tool0")[0]
    speed = np.linalg.norm(result.phases[0]["v"].values[-1])
    off = np.abs(r - point).max()
    found = f"{off:.0e} m off at {result.borders[1]:.3f} s, {speed:.2f} rad/s"
    return Outcome(result, seconds, "through a point", found)


BOX = Box(Frame(GROUND, (0.5, 0.0, 0.15)), (0.4, 0.1, 0.5))
POST = Frame(GROUND, (0.45, 0.0, 0.06))
"""Of the link of the other arm, whose mesh stands along z."""


def round_a_box() -> Outcome:
    """Upper arm, forearm and hand keep 1 cm off a box between start and end."""
    return round_an_obstacle(BOX, box_distance, "a box")


def round_a_hull() -> Outcome:
    """They keep 1 cm off the hull of the upper arm of another ur5, which stands there."""
    post = ConvexHull(POST, link_vertices(file_of("ur5_robot"), "upper_arm_link"))
    return round_an_obstacle(post, hull_distance, f"a hull of {len(post.solid.normals)} facets")


def round_an_obstacle(obstacle: Shape, distance: Callable[[Result], float], what: str) -> Outcome:
    """Move from one side of an obstacle to the other."""
    hand = Capsule(
        ARM.frame("wrist_1_link"), Frame(ARM.frame("wrist_1_link").body, (0, 0.093, 0)), 0.05
    )
    tool = Capsule(
        ARM.frame("wrist_3_link"), Frame(ARM.frame("wrist_3_link").body, (0, 0.12, 0)), 0.05
    )
    radii = {"upper_arm_link": 0.07, "forearm_link": 0.06}
    links = [*(link_capsule(ARM, name, r) for name, r in radii.items()), hand, tool]
    d = assemble(ARM, gravity=G)
    ends = [find_posture(d, above(0.45, y, 0.2), HOME) for y in (-0.3, 0.3)]
    stay = [StartAt(ends[0], REST), EndAt(ends[1], REST), ActuatorLimits()]
    costs = [Effort(scale=50.0), Smoothness(weight=1e-2)]

    def moved(conditions: Sequence[Condition]) -> Result:
        return optimize(d, Horizon(2.0, 60), costs, conditions, Quintic())

    clear = [ClearOf(link, obstacle, by=0.01) for link in links]
    free = moved(stay)
    result, seconds = timed(lambda: moved([*stay, *clear]))
    assert isinstance(result, Result)
    found = f"{distance(free):.4f} m without, {distance(result):.6f} m with"
    return Outcome(result, seconds, f"0.01 m off {what}", found)


def link_axes(result: Result) -> list[tuple[Array, Array, float]]:
    """Return both ends (n, 3) of the axis of each link every 5 ms, and its radius [m]."""
    q = result.sample(5e-3)["q"].values
    ends = {"upper_arm_link": "forearm_link", "forearm_link": "wrist_1_link"}
    ways = [
        (BY_PINOCCHIO.places(q, a)[0], BY_PINOCCHIO.places(q, b)[0], radius)
        for (a, b), radius in zip(ends.items(), (0.07, 0.06), strict=True)
    ]
    for frame, length in (("wrist_1_link", 0.093), ("wrist_3_link", 0.12)):
        r, A = BY_PINOCCHIO.places(q, frame)
        ways.append((r, r + length * A[:, :, 1], 0.05))
    return ways


def hull_distance(result: Result) -> float:
    """Return the least distance of the links from the hull of the mesh, by coal."""
    mesh = file_of("ur5_robot").parents[1] / "meshes" / "ur5" / "collision" / "upperarm.stl"
    shape = coal.MeshLoader().load(str(mesh))
    shape.buildConvexHull(True, "Qt")
    post = shape.convex, coal.Transform3s(np.eye(3), np.asarray(POST.origin, dtype=float))
    least = np.inf
    for ends in link_axes(result):
        for a, b in zip(*ends[:2], strict=True):
            along = b - a
            turned, _ = Rotation.align_vectors(along[None], [[0.0, 0.0, 1.0]])
            link = coal.Capsule(ends[2], float(np.linalg.norm(along)))
            placed = coal.Transform3s(turned.as_matrix(), (a + b) / 2)
            found = coal.DistanceResult()
            least = min(least, coal.distance(link, placed, *post, coal.DistanceRequest(), found))
    return least


def box_distance(result: Result) -> float:
    """Return the least distance of the links from the box, by points along them."""
    centre, half = np.array([0.5, 0.0, 0.15]), np.array([0.2, 0.05, 0.25])
    least = np.inf
    for a, b, radius in link_axes(result):
        for s in np.linspace(0, 1, 101):
            beyond = np.abs(a + s * (b - a) - centre) - half
            outside = np.linalg.norm(np.maximum(beyond, 0), axis=1)
            inside = np.minimum(beyond.max(axis=1), 0)
            least = min(least, float((outside + inside).min()) - radius)
    return least


def without_self_collision() -> Outcome:
    """The hand of xarm7 passes its own upper arm and base, which the quintic would hit."""
    robot, kinematics = loaded("xarm7"), Kinematics.of("xarm7")
    d, still = assemble(robot, gravity=G), np.zeros(7)
    base = Capsule(Frame(GROUND), Frame(GROUND, (0, 0, 0.2)), 0.08)
    upper, hand = link_capsule(robot, "link2", 0.07), link_capsule(robot, "link6", 0.06)
    apart = [LinksApart([x, hand], by=0.01) for x in (base, upper)]
    start, end = folded_pair(kinematics)
    stay = [StartAt(start, still), EndAt(end, still), ActuatorLimits()]
    costs = [Effort(scale=20.0), Smoothness(weight=1e-2)]

    def moved(conditions: Sequence[Condition]) -> Result:
        return optimize(d, Horizon(2.0, 60), costs, conditions, Quintic())

    free = moved(stay)
    result, seconds = timed(lambda: moved([*stay, *apart]))
    assert isinstance(result, Result)
    with_, without = (
        self_distance(kinematics, x.sample(5e-3)["q"].values).min() for x in (result, free)
    )
    found = f"{without:.4f} m without, {with_:.6f} m with"
    return Outcome(result, seconds, "0.01 m off itself", found)


def self_distance(kinematics: Kinematics, q: Array) -> Array:
    """Return the distance of the hand from base and upper arm, (n,), by points along both."""
    places = {k: kinematics.places(q, f"link{k}")[0] for k in (2, 3, 6, 7)}
    foot, top = np.zeros_like(places[2]), np.tile([0.0, 0.0, 0.2], (len(q), 1))
    s = np.linspace(0, 1, 61)[:, None, None]
    along = [
        a + s * (b - a) for a, b in ((places[6], places[7]), (foot, top), (places[2], places[3]))
    ]
    off = [
        np.linalg.norm(along[0][:, None] - x[None], axis=3).min(axis=(0, 1)) - radius
        for x, radius in zip(along[1:], (0.14, 0.13), strict=True)
    ]
    return np.minimum(*off)


def folded_pair(kinematics: Kinematics) -> tuple[Array, Array]:
    """Return the first pair of postures that are clear while the quintic between them is not."""
    rng, s = np.random.default_rng(0), np.linspace(0, 1, 21)[:, None]
    low = np.array([-2.0, -2.0, -2.0, -0.1, -2.0, -1.6, -1.0])
    high = np.array([2.0, 2.0, 2.0, 3.9, 2.0, 3.1, 1.0])
    while True:
        a, b = rng.uniform(low, high, (2, 7))
        way = self_distance(kinematics, a + s * (b - a))
        if min(way[0], way[-1]) > 0.04 and -0.08 < way.min() < -0.02:
            return a, b


TASKS = {
    "ur5: pick and place": pick_and_place,
    "ur5: weld": weld_seam,
    "ur5: waypoint at a free time": waypoint_at_a_free_time,
    "ur5: box": round_a_box,
    "ur5: hull of a mesh": round_a_hull,
    "xarm7: self-collision": without_self_collision,
}


def main(chosen: Sequence[str]) -> int:
    """Print the table; the exit code counts tasks that were not solved."""
    outcomes = {name: call() for name, call in TASKS.items() if not chosen or name in chosen}
    print(f"{machine()}\n{table(HEAD, [x.row(name) for name, x in outcomes.items()])}")
    return sum(not x.result.completed for x in outcomes.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
