"""Case A in MuJoCo and Exudyn, ready to be timed.

MuJoCo has no gap of a bore: each bushing end hangs on a tendon no longer than the clearance, and
two long tendons hold it along the pin. Exudyn's hollow sphere about the pin takes each bushing end
by a penalty; along the pin nothing holds it, for in case A nothing moves there. Both in 3D, as
nsopt. Their numbers were tuned by hand for this case at h = 1e-3 s.
"""

from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from common import THETA, Array, off

DURATION = 2.0  # s
CLEARANCE, HALF, ARM, GRAVITY = 1e-3, 0.05, 0.5, 9.81
MASS, INERTIA = 1.0, np.array([0.01, 0.09, 0.09])
ENDS = np.array([[-ARM, 0.0, z] for z in (-HALF, HALF)])
FAR = 20.0  # m; over this length a tendon along the pin does not feel the radial clearance
MUJOCO: dict[
    str, tuple[str, Callable[[float], str]]
] = {  # integrator, solreflimit: the shortest time constant allowed, the stiffest
    "MuJoCo tendons, Euler": ("Euler", lambda h: f"{2 * h} 1"),
    "MuJoCo tendons, RK4": ("RK4", lambda h: f"{-1 / h**2} {-2 / h}"),
}
STIFFNESS, DAMPING, RADIUS = 1e8, 2e4, 0.01  # of Exudyn's penalty: N/m, N s/m, m


class Figures(NamedTuple):
    """Results of a run: depth in the wall [m], angle error [rad], energy gained [J]."""

    depth: float
    turn: float
    energy: float


class Peer(NamedTuple):
    """An engine ready to run: seconds a step of one run; what the motion came to."""

    seconds: Callable[[], float]
    figures: Callable[[], Figures]


def ended(position: Array, rotation: Array, v: Array, w: Array, depth: float) -> Figures:
    """Return the figures of a motion from its end; v in the world's axes, w in the body's."""
    energy = (MASS * v @ v + (INERTIA * w) @ w) / 2 + MASS * GRAVITY * position[1]
    turn = off(np.arctan2(rotation[1, 0], rotation[0, 0]), THETA)
    return Figures(depth, turn, float(energy))


def depth(position: Array, rotation: Array) -> float:
    """Return how deep the deeper bushing end is in its wall [m]."""
    ends = position + ENDS @ rotation.T
    return float(np.max(np.hypot(ends[:, 0], ends[:, 1])) - CLEARANCE)


def mujoco_model(mujoco: Any, h: float, integrator: str, solref: str) -> Any:
    """Return case A: on each bushing end a tendon for the bore and one for the collar."""
    limit = f'limited="true" solreflimit="{solref}" solimplimit="0.99 0.999 0.0001"'
    ground, sites, tendons = "", "", ""
    for k, (end, far) in enumerate(zip(ENDS, (FAR, -FAR), strict=True)):
        sites += f'<site name="end{k}" pos="{end[0]} 0 {end[2]}"/>'
        reach = FAR + HALF + CLEARANCE
        for name, z, most in (("bore", end[2], CLEARANCE), ("collar", far, reach)):
            ground += f'<site name="{name}{k}" pos="0 0 {z}"/>'
            through = f'<site site="{name}{k}"/><site site="end{k}"/>'
            tendons += f'<spatial range="0 {most}" {limit}>{through}</spatial>'
    inertia = " ".join(map(str, INERTIA))
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{h}" gravity="0 {-GRAVITY} 0" integrator="{integrator}">'
        f'<flag contact="disable"/></option><worldbody>{ground}<body pos="{ARM} 0 0"><freejoint/>'
        f'<inertial pos="0 0 0" mass="{MASS}" diaginertia="{inertia}"/>{sites}</body></worldbody>'
        f"<tendon>{tendons}</tendon></mujoco>"
    )


def mujoco_peer(name: str, h: float) -> Peer:
    """Return MuJoCo's tendon model; timed is one call that steps in C and keeps nothing."""
    mujoco = import_module("mujoco")
    integrator, solref = MUJOCO[name]
    model, count = mujoco_model(mujoco, h, integrator, solref(h)), round(DURATION / h)

    def seconds() -> float:
        data = mujoco.MjData(model)
        begin = perf_counter()
        mujoco.mj_step(model, data, nstep=count)
        return (perf_counter() - begin) / count

    def figures() -> Figures:
        data, deepest, rotation = mujoco.MjData(model), 0.0, np.zeros(9)
        for _ in range(count):
            mujoco.mj_step(model, data)
            mujoco.mju_quat2Mat(rotation, data.qpos[3:])
            deepest = max(deepest, depth(data.qpos[:3], rotation.reshape(3, 3)))
        end = (data.qpos[:3], rotation.reshape(3, 3), data.qvel[:3], data.qvel[3:])
        return ended(*end, deepest)

    return Peer(seconds, figures)


def exudyn_bushing(item: Any, system: Any, end: tuple[int, Any], pin: tuple[int, Any]) -> None:
    """Hold a bushing end in a sphere of penalty about a pin; each is a body and a place on it."""
    markers = [
        system.AddMarker(item.MarkerBodyRigid(bodyNumber=body, localPosition=place))
        for body, place in (end, pin)
    ]
    memory = item.NodeGenericData(initialCoordinates=[0] * 4, numberOfDataCoordinates=4)
    system.AddObject(
        item.ObjectContactSphereSphere(
            markerNumbers=markers,
            nodeNumber=system.AddNode(memory),
            spheresRadii=[RADIUS, RADIUS + CLEARANCE],
            isHollowSphere1=True,
            contactStiffness=STIFFNESS,
            contactDamping=DAMPING,
        )
    )


def exudyn_body(item: Any, system: Any, place: list[float]) -> tuple[int, int]:
    """Return the node and the body of a pendulum under gravity at a place [m]."""
    node = system.AddNode(item.NodeRigidBodyEP(referenceCoordinates=[*place, 1, 0, 0, 0]))
    inertia = [*INERTIA, 0, 0, 0]
    body = system.AddObject(item.ObjectRigidBody(mass=MASS, inertia=inertia, nodeNumber=node))
    whole = system.AddMarker(item.MarkerBodyMass(bodyNumber=body))
    system.AddLoad(item.LoadMassProportional(markerNumber=whole, loadVector=[0, -GRAVITY, 0]))
    return node, body


def exudyn_settings(exu: Any, count: int, duration: float) -> Any:
    """Return settings of the generalized-alpha integrator, without output."""
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = count
    settings.timeIntegration.endTime = duration
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.verboseMode = 0
    settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
    settings.solution.file.write = False
    return settings


def exudyn_system(exu: Any) -> tuple[Any, int, Any]:
    """Return case A with a hollow sphere of penalty about each bushing end; its node and owner."""
    item = import_module("exudyn.itemInterface")
    container = exu.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(item.ObjectGround())
    node, body = exudyn_body(item, system, [ARM, 0, 0])
    for end in ENDS:
        exudyn_bushing(item, system, (body, end), (ground, [0, 0, end[2]]))
    system.Assemble()
    return system, node, container


def exudyn_peer(h: float) -> Peer:
    """Return Exudyn's penalty with the generalized-alpha integrator; timed without output."""
    exu, count = import_module("exudyn"), round(DURATION / h)
    settings = exudyn_settings(exu, count, DURATION)

    def seconds() -> float:
        system, _, _owner = exudyn_system(exu)
        begin = perf_counter()
        system.SolveDynamic(settings)
        return (perf_counter() - begin) / count

    def figures() -> Figures:
        system, node, _owner = exudyn_system(exu)
        deepest = [0.0]

        def pose() -> tuple[Array, Array]:
            kinds = exu.OutputVariableType
            rotation = system.GetNodeOutput(node, kinds.RotationMatrix).reshape(3, 3)
            return system.GetNodeOutput(node, kinds.Position), rotation

        def watch(*_: object) -> bool:
            deepest[0] = max(deepest[0], depth(*pose()))
            return True

        system.SetPreStepUserFunction(watch)
        system.SolveDynamic(settings)
        kinds = exu.OutputVariableType
        v, w = (system.GetNodeOutput(node, k) for k in (kinds.Velocity, kinds.AngularVelocityLocal))
        return ended(*pose(), v, w, deepest[0])

    return Peer(seconds, figures)
