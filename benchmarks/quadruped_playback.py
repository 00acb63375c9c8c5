"""Motions of quadrupeds played back by MuJoCo: forces fed forward, and a controller of joints.

The robot is that of the same file; each foot is a small sphere on its own level floor, with the
friction of the motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

import mujoco
import numpy as np

from nsopt import ZeroOrderHold
from nsopt.trajectory import PhasedResult

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LIGHT = 1e-5  # [kg] links below have an inertia for form's sake, which MuJoCo refuses
RADIUS = 1e-3  # [m] of feet, which are points in the motion
STEP = 2.5e-4  # [s] of MuJoCo
RATE = 1000.0  # [Hz] of the controller
SOLREF = (1e-3, 1.0)  # time constant [s] and damping ratio of contacts
SOLIMP = (0.99, 0.999, 1e-3, 0.5, 2.0)  # they yield by hundredths of a millimetre under the weight
STIFFNESS = 6.0  # [1/rad] of joints, over the largest torque of their drive
DAMPING = 0.02  # [s] over stiffness


class Played(NamedTuple):
    """How far a motion that is played back is off [m]."""

    apex: float  # of the base, its height
    base: float  # where it ends
    feet: float  # where they end, the farthest


@dataclass(frozen=True, eq=False)
class Playback:
    """A quadruped in MuJoCo.

    Attributes
    ----------
    model : MjModel
    feet : sequence of str
    offset : (3,) [m]
        Of the base of the motion in that of the file.
    """

    model: mujoco.MjModel
    feet: tuple[str, ...]
    offset: Array

    @classmethod
    def of(
        cls, urdf: str, heights: Mapping[str, float], friction: float, offset: Array
    ) -> Playback:
        """Return the robot of a file above the ``heights`` [m] of the floors of its feet."""
        tree = ElementTree.parse(urdf).getroot()
        for link in tree.findall("link"):
            mass = link.find("inertial/mass")
            light = mass is None or float(mass.get("value", "0")) < LIGHT
            for part in [*link]:
                if part.tag in ("visual", "collision") or (part.tag == "inertial" and light):
                    link.remove(part)
        children = {x.get("link") for x in tree.findall("joint/child")}
        names = [x.get("name") for x in tree.findall("link")]
        root = next(x for x in names if x not in children)
        extension = ElementTree.SubElement(tree, "mujoco")
        ElementTree.SubElement(extension, "compiler", fusestatic="false")
        spec = mujoco.MjSpec.from_string(ElementTree.tostring(tree, encoding="unicode"))
        spec.body(root).add_freejoint()
        for name, height in heights.items():
            foot = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [RADIUS, 0, 0]}
            floor = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "size": [0, 0, 1]}
            alone = {"contype": 0, "conaffinity": 0}
            spec.body(name).add_geom(name=f"{name} tip", **foot, **alone, mass=0)
            place = [0, 0, height - RADIUS]
            spec.worldbody.add_geom(name=f"{name} floor", pos=place, **floor, **alone)
            pair = spec.add_pair(geomname1=f"{name} floor", geomname2=f"{name} tip", condim=3)
            pair.friction = [friction, friction, 0, 0, 0]
            pair.solref, pair.solimp = SOLREF, SOLIMP
        spec.option.timestep = STEP
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 100.0
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        return cls(spec.compile(), tuple(heights), offset)

    def play(self, best: PhasedResult) -> Played:
        """Return how far the motion is off."""
        plan = best.sample(1 / RATE, hold=ZeroOrderHold())
        model, data = self.model, mujoco.MjData(self.model)
        q, joints = self._read_postures(plan)
        v = plan["v"].values[:, 6:]
        columns = [model.joint(x).qposadr[0] for x in joints]
        rates = [model.joint(x).dofadr[0] for x in joints]
        tau = plan["tau"].values[:, 6:]
        largest = np.abs(np.array([model.jnt_actfrcrange[model.joint(x).id] for x in joints])).max(
            axis=1
        )
        stiffness = STIFFNESS * np.where(largest > 0, largest, np.abs(tau).max())
        data.qpos[:] = q[0]
        heights, t = [q[0, 2]], plan["time"].values
        for k in range(len(t) - 1):
            while data.time < t[k + 1] - STEP / 2:
                # The plan between its rows, which are one period of the controller apart.
                s = (data.time - t[k]) / (t[k + 1] - t[k])
                want, rate = ((1 - s) * x[k] + s * x[k + 1] for x in (q[:, columns], v))
                held = want - data.qpos[columns] + DAMPING * (rate - data.qvel[rates])
                data.qfrc_applied[rates] = tau[k] + stiffness * held
                mujoco.mj_step(model, data)
                heights.append(data.qpos[2])
        mujoco.mj_kinematics(model, data)
        base, feet = data.qpos[:3].copy(), self._find_feet(data)
        data.qpos[:] = q[-1]
        mujoco.mj_kinematics(model, data)
        return Played(
            apex=abs(max(heights) - q[:, 2].max()),
            base=float(np.linalg.norm(base - q[-1, :3])),
            feet=float(np.linalg.norm(feet - self._find_feet(data), axis=1).max()),
        )

    def _find_feet(self, data: mujoco.MjData) -> Array:
        """Return the places of the feet (feet, 3) [m]."""
        return np.array([data.geom(f"{x} tip").xpos for x in self.feet])

    def _read_postures(self, plan: xr.Dataset) -> tuple[Array, list[str]]:
        """Return the coordinates of MuJoCo (rows, nq), and the names of the joints of the plan."""
        given = plan["q"].values
        joints = [str(x).removesuffix(".angle") for x in plan["q_name"].values[7:]]
        q = np.zeros((len(given), self.model.nq))
        for row, own in zip(q, given, strict=True):
            turned = np.zeros(3)
            mujoco.mju_rotVecQuat(turned, self.offset, own[3:7])
            row[:3], row[3:7] = own[:3] - turned, own[3:7]
        for k, name in enumerate(joints):
            q[:, self.model.joint(name).qposadr[0]] = given[:, 7 + k]
        return q, joints
