"""A ball dropped on a floor without rebound, in engines with a floor: time a step, depth, height.

It falls from 1 m and rests after 0.45 s; each engine takes its defaults, and h = 1 ms for 2 s. What
is not installed is left out with a word; Siconos, of Debian's python3-siconos, runs in the Python
that has it: ``--siconos /usr/bin/python3``.
"""

import argparse
import json
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from common import in_turn, machine, ratio, run, solver_seconds, table

from nsopt import (
    GROUND,
    Body,
    Compiled,
    Frame,
    Mechanism,
    MoreauJean,
    PlaneContact,
    Problem,
    StepBounds,
    Variational,
    assemble,
)
from nsopt.schemes import Scheme

DROP, DURATION, STEP, GRAVITY = 1.0, 2.0, 1e-3, 9.81
COUNT = round(DURATION / STEP)
LANDED = (2 * DROP / GRAVITY) ** 0.5
RADIUS = 0.1  # m
BALL = f"""<mujoco><option timestep="{STEP}" gravity="0 0 {-GRAVITY}"/><worldbody>
<geom type="plane" size="5 5 1"/><body pos="0 0 {DROP + RADIUS}"><freejoint/>
<geom type="sphere" size="{RADIUS}" mass="1"/></body></worldbody></mujoco>"""


class Fall(NamedTuple):
    """Seconds a step, and the height above the floor at the end of each step [m]."""

    seconds: float
    heights: list[float]


def by_nsopt(scheme: Scheme) -> Callable[[], Fall]:
    """Return a run by a scheme, compiled."""
    ball = Body("ball", 1.0, position=(0.0, 0.0, DROP), point_mass=True)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball))
    dynamics = assemble(Mechanism([ball]), [floor], gravity=(0.0, 0.0, -GRAVITY))
    problem = Problem(dynamics, DURATION, StepBounds(STEP, STEP))

    def fall() -> Fall:
        with patch("nsopt.simulation.chain.perf_counter", process_time):  # not of the wall
            result = run(problem, problem.steps, scheme, Compiled())
        return Fall(solver_seconds(result) / COUNT, result["q"].values[1:, 2].tolist())

    return fall


def by_mujoco() -> Callable[[], Fall]:
    """Return a run by MuJoCo with its default contact."""
    mujoco: Any = import_module("mujoco")
    model = mujoco.MjModel.from_xml_string(BALL)

    def fall() -> Fall:
        data, heights = mujoco.MjData(model), []
        begin = process_time()
        mujoco.mj_step(model, data, nstep=COUNT)
        seconds = (process_time() - begin) / COUNT
        data = mujoco.MjData(model)
        for _ in range(COUNT):
            mujoco.mj_step(model, data)
            heights.append(float(data.qpos[2]) - RADIUS)
        return Fall(seconds, heights)

    return fall


def by_drake() -> Callable[[], Fall]:
    """Return a run by Drake's discrete contact, the default."""
    drake: Any = import_module("pydrake.all")

    def fall() -> Fall:
        builder = drake.DiagramBuilder()
        plant, _ = drake.AddMultibodyPlantSceneGraph(builder, STEP)
        rubbing = drake.CoulombFriction(0.0, 0.0)
        inertia = drake.SpatialInertia.SolidSphereWithMass(1.0, RADIUS)
        ball, place = plant.AddRigidBody("ball", inertia), drake.RigidTransform()
        plant.RegisterCollisionGeometry(ball, place, drake.Sphere(RADIUS), "ball", rubbing)
        world = plant.world_body()
        plant.RegisterCollisionGeometry(world, place, drake.HalfSpace(), "floor", rubbing)
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
        plant.Finalize()
        simulator = drake.Simulator(builder.Build())
        context = plant.GetMyContextFromRoot(simulator.get_mutable_context())
        plant.SetFreeBodyPose(context, ball, drake.RigidTransform([0.0, 0.0, DROP + RADIUS]))
        simulator.Initialize()
        heights, begin = [], process_time()
        for k in range(COUNT):
            simulator.AdvanceTo((k + 1) * STEP)
            heights.append(float(plant.GetPositions(context)[6]) - RADIUS)
        return Fall((process_time() - begin) / COUNT, heights)

    return fall


def by_siconos(python: str) -> Callable[[], Fall]:
    """Return a run by Siconos, its default Moreau-Jean step, called from Python step by step."""
    command = [python, str(Path(__file__).with_name("dropped_ball_siconos.py"))]
    numbers = [str(x) for x in (DROP, GRAVITY, STEP, DURATION)]

    def fall() -> Fall:
        done = subprocess.run([*command, *numbers], capture_output=True, text=True, check=True)
        return Fall(**json.loads(done.stdout.splitlines()[-1]))

    return fall


def installed(python: str) -> dict[str, Callable[[], Fall]]:
    """Return all ways that are installed."""
    ways = {f"nsopt {type(x).__name__}": by_nsopt(x) for x in (Variational(), MoreauJean())}
    makers = {"MuJoCo": by_mujoco, "Drake": by_drake}
    for name, make in makers.items():
        try:
            ways[name] = make()
        except ImportError as error:
            print(f"{name} is left out: {error}")
    if python:
        ways["Siconos Moreau-Jean"] = by_siconos(python)
    else:
        print("Siconos is left out: name a Python that has it by --siconos")
    return ways


def exact(t: np.ndarray) -> np.ndarray:
    """Return the height of a ball without rebound."""
    return np.where(t < LANDED, DROP - GRAVITY * t**2 / 2, 0.0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--siconos", default="", metavar="PYTHON")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(machine())
    runs = in_turn(installed(options.siconos), options.repeats)
    truth = exact(np.arange(1, COUNT + 1) * STEP)
    first = [x.seconds for x in next(iter(runs.values()))]
    rows = []
    for name, many in runs.items():
        seconds, heights = [x.seconds for x in many], np.array(many[-1].heights)
        rows.append(
            [
                name,
                f"{1e6 * median(seconds):.2f}",
                f"{ratio(seconds, first):.1f}",
                f"{max(0.0, -heights.min()):.1e}",
                f"{heights[-1]:+.1e}",
                f"{abs(heights - truth).max():.1e}",
            ]
        )
    head = ["h = 1 ms", "us a step", "ratio", "largest depth [m]", "height at the end [m]"]
    print("\n" + table([*head, "largest error of height [m]"], rows))


if __name__ == "__main__":
    main()
