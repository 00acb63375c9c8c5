"""Quadrupeds rise, jump and trot in given sequences of contact: costs, iterations and seconds.

Of example-robot-data, their stand as in its files, places of feet by pinocchio. With ``--playback``
each motion is then played back by MuJoCo.
python benchmarks/quadrupeds.py [robot ...] [--tasks TASK ...] [--playback]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from time import perf_counter, process_time

import numpy as np
import pinocchio
from common import Array, machine, table

from nsopt import GROUND, ContactLaw, Dynamics, Frame, PlaneContact, Solver, assemble
from nsopt.mpcc import Ipopt, Ldlt
from nsopt.robots import load_urdf
from nsopt.trajectory import (
    ActuatorLimits,
    ClearOf,
    Condition,
    ContactMode,
    During,
    Effort,
    EndAt,
    HalfSpace,
    Horizon,
    MotionPhase,
    Open,
    PhasedResult,
    Smoothness,
    StartAt,
    Sticking,
    Straight,
    optimize_phases,
)


@dataclass(frozen=True)
class Robot:
    """A quadruped of example-robot-data.

    Parameters
    ----------
    urdf, srdf : str
        Ends of the paths of its files.
    feet : sequence of str
        Links, front left, front right, hind left, hind right.
    on_feet, lifted : int
        Steps of each phase on all feet, and of each other one.
    """

    urdf: str
    srdf: str
    feet: Sequence[str]
    on_feet: int = 8
    lifted: int = 8


FRICTION = 0.7
UNITREE = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
ROBOTS = {
    "a1": Robot("urdf/a1.urdf", "srdf/a1.srdf", UNITREE),
    "go1": Robot("urdf/go1.urdf", "srdf/go1.srdf", UNITREE),
    "anymal": Robot(
        "anymal_b_simple_description/robots/anymal.urdf",
        "anymal_b_simple_description/srdf/anymal.srdf",
        ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
        lifted=12,
    ),
    "hyq": Robot(
        "hyq_no_sensors.urdf", "hyq.srdf", ("lf_foot", "rf_foot", "lh_foot", "rh_foot"), on_feet=13
    ),
}


def find_file(end: str) -> str:
    """Return the file of example-robot-data whose path ends so."""
    files = metadata.files("example-robot-data") or []
    return next(str(x.locate()) for x in files if str(x).endswith("/" + end))


@dataclass(frozen=True, eq=False)
class Standing:
    """A quadruped that stands.

    Attributes
    ----------
    dynamics : Dynamics
        With a contact for each foot, by the name of its link.
    feet : mapping of name to Frame
    posture : (nq,)
    steps : (int, int)
        Of each phase on all feet, and of each other one.
    """

    dynamics: Dynamics
    feet: Mapping[str, Frame]
    posture: Array
    steps: tuple[int, int]

    @classmethod
    def load(cls, robot: Robot) -> Standing:
        """Return the robot as it stands by its files, with friction at its feet."""
        urdf = find_file(robot.urdf)
        model = pinocchio.buildModelFromUrdf(urdf, pinocchio.JointModelFreeFlyer())
        pinocchio.loadReferenceConfigurations(model, find_file(robot.srdf))
        stand, data = model.referenceConfigurations["standing"], model.createData()

        def place(q: Array) -> list[Array]:
            pinocchio.framesForwardKinematics(model, data, q)
            return [data.oMf[model.getFrameId(x)].translation.copy() for x in robot.feet]

        at_zero, standing = place(pinocchio.neutral(model)), place(stand)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what their files have beside bodies and joints
            mechanism = load_urdf(urdf, floating_base=True, merge_fixed=True)
        joints = {x.name: x for x in mechanism.joints}
        parents = [model.frames[model.getFrameId(x)].parentJoint for x in robot.feet]
        feet = {
            name: Frame.at(joints[model.names[k]].b.body, tuple(x))
            for name, k, x in zip(robot.feet, parents, at_zero, strict=True)
        }
        law, low = ContactLaw(friction=FRICTION), min(x[2] for x in standing)
        ground = [  # level but for half a millimetre, by which feet of these files stand apart
            PlaneContact(name, Frame(GROUND, (0, 0, x[2] - low)), foot, law=law, scale=0.01)
            for (name, foot), x in zip(feet.items(), standing, strict=True)
        ]
        d = assemble(mechanism, ground, (0.0, 0.0, -9.81))
        columns = [model.joints[model.getJointId(x)].idx_q for x in d.q_owners[7:]]
        base = np.add(mechanism.bodies[0].position, (0.0, 0.0, stand[2] - low))
        posture = np.concatenate([base, [1.0, 0.0, 0.0, 0.0], stand[columns]])
        return cls(d, feet, posture, (robot.on_feet, robot.lifted))

    def move(self, x: float, z: float = 0.0) -> Array:
        """Return the standing posture, its base moved by x and z."""
        moved = self.posture.copy()
        moved[[0, 2]] += x, z
        return moved

    def state_phase(
        self,
        lifted: Sequence[str],
        ends: tuple[Array, Array],
        conditions: Sequence[Condition] = (),
    ) -> MotionPhase:
        """Return a phase in which some feet are lifted and the others stick."""
        modes: dict[str, ContactMode] = {
            x: Open() if x in lifted else Sticking() for x in self.feet
        }
        return MotionPhase(
            self.dynamics,
            Horizon((0.1, 0.4), self.steps[bool(lifted)]),
            [Effort(), Smoothness(weight=1e-2)],
            [ActuatorLimits(), *conditions],
            Straight(*ends),
            modes=modes,
            name=f"{', '.join(lifted) or 'none'} lifted",
        )


def rest(robot: Standing) -> Array:
    """Return no velocity."""
    return np.zeros(robot.dynamics.nv)


def rise(robot: Standing) -> list[MotionPhase]:
    """Return a rise of the base by 2 cm."""
    low, high = robot.posture, robot.move(0.0, 0.02)
    end = high.copy()
    end[7:] = np.nan  # the legs follow
    return [
        robot.state_phase((), (low, high), [StartAt(low, rest(robot)), EndAt(end, rest(robot))])
    ]


def jump(robot: Standing) -> list[MotionPhase]:
    """Return a jump by 0.1 m, from rest to rest."""
    begin, end = robot.posture, robot.move(0.1)
    return [
        robot.state_phase((), (begin, robot.move(0.0, 0.03)), [StartAt(begin, rest(robot))]),
        robot.state_phase(tuple(robot.feet), (begin, end)),
        robot.state_phase((), (end, end), [EndAt(end, rest(robot))]),
    ]


def trot(robot: Standing) -> list[MotionPhase]:
    """Return two steps of 5 cm, the feet across from each other lifted by 3 cm."""
    names, begin, half, end = [*robot.feet], robot.posture, robot.move(0.025), robot.move(0.05)
    first, second = (names[0], names[3]), (names[1], names[2])

    def clear(lifted: Sequence[str]) -> list[Condition]:
        floor = HalfSpace(Frame(GROUND))
        return [During(ClearOf(robot.feet[x], floor, by=0.03), 0.5, 0.5) for x in lifted]

    return [
        robot.state_phase((), (begin, begin), [StartAt(begin, rest(robot))]),
        robot.state_phase(first, (begin, half), clear(first)),
        robot.state_phase((), (half, half)),
        robot.state_phase(second, (half, end), clear(second)),
        robot.state_phase((), (end, end), [EndAt(end, rest(robot))]),
    ]


TASKS: dict[str, tuple[Callable[[Standing], list[MotionPhase]], float]] = {
    "rise": (rise, 0.3),
    "jump": (jump, 0.6),
    "trot": (trot, 1.2),
}
"""The phases of each task, and the duration of all [s]."""

HEAD = ("robot", "task", "cost", "iterations", "s", "s of processor", "phases [s]", "solved")
PLAYED = ("apex off [mm]", "end of base", "of feet")


def measure(name: str, task: str, playback: bool) -> list[str]:
    """Return a row of the table: all from the file on, but for the playback."""
    state, duration = TASKS[task]
    clock, processor = perf_counter(), process_time()
    robot = Standing.load(ROBOTS[name])
    solver = Solver(Ipopt(linear_solver=Ldlt()))
    best = optimize_phases(state(robot), duration=duration, solver=solver)
    seconds = perf_counter() - clock, process_time() - processor
    iterations = int(np.nansum(best.phases[0]["iterations"].values))  # of all phases
    lengths = ", ".join(f"{x:.3f}" for x in np.diff(best.borders))
    said = f"{best.stop_reason:.90}" if best.stop_reason else "yes"
    figures = f"{best.objective:.6g}", str(iterations), *(f"{x:.1f}" for x in seconds)
    row = [name, task, *figures, lengths, said]
    if playback:
        row += [f"{1e3 * x:.2g}" for x in play(best, robot, find_file(ROBOTS[name].urdf))]
    print(*row, file=sys.stderr, flush=True)
    return row


def play(best: PhasedResult, robot: Standing, urdf: str) -> Sequence[float]:
    """Return how far a motion is off in MuJoCo, see `Played`."""
    from quadruped_playback import Playback

    d = robot.dynamics
    heights = {x.name: float(x.frames[0].origin[2]) for x in d.contacts}
    base = np.array(d.mechanism.bodies[0].position)
    return Playback.of(urdf, heights, FRICTION, base).play(best)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=[*ROBOTS])
    parser.add_argument("--tasks", nargs="+", default=[*TASKS])
    parser.add_argument("--playback", action="store_true")
    chosen = parser.parse_args()
    print(machine())
    pairs = [(name, task) for name in chosen.robots for task in chosen.tasks]
    head = (*HEAD, *PLAYED) if chosen.playback else HEAD
    print(table(head, [measure(*pair, chosen.playback) for pair in pairs]))


if __name__ == "__main__":
    main()
