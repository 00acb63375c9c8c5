"""The arm of seven joints from its URDF file, and pairs of poses for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
from _cones import limits
from arm_7dof import DRIVES
from numpy.typing import NDArray

from nsopt import Dynamics, Mechanism, assemble
from nsopt.robots import load_urdf
from nsopt.trajectory import (
    ActuatorLimits,
    EndAt,
    Horizon,
    JointResistance,
    NodeSample,
    Optimization,
    Quintic,
    Smoothness,
    StartAt,
)

Array = NDArray[np.float64]

DURATION = 2.5  # s
STILL = np.zeros(7)
SHARE = 0.6
"""Of each range, from which poses are drawn."""
TRAVEL = 1.0
"""The least that some joint must turn [rad]: no small motions."""
TRIES = 10_000


def urdf_arm() -> Mechanism:
    """Return the arm of the file; its motors' rotors, which URDF does not state, are added."""
    arm = load_urdf(Path(__file__).with_name("arm_7dof.urdf"))
    actuators = [
        replace(actuator, rotor_inertia=drive.rotor, gear_ratio=drive.ratio)
        for actuator, drive in zip(arm.actuators, DRIVES, strict=True)
    ]
    return Mechanism(arm.bodies, arm.joints, "relative", actuators)


def urdf_dynamics() -> Dynamics:
    """Return its dynamics with pads and cones."""
    arm = urdf_arm()
    return assemble(arm, limits(arm), gravity=(0.0, 0.0, -9.81))


def least_resistance(dynamics: Dynamics, seed: int) -> Optimization:
    """Return the optimization between a pair of poses at the duration of the quintic."""
    start, end = pair(dynamics, seed)
    return Optimization(
        dynamics,
        Horizon(DURATION, steps=100),
        # Evenest is best: without a cost accelerations would be as steep as torques allow.
        [JointResistance(), Smoothness(weight=0.02)],
        [StartAt(start, STILL), EndAt(end, STILL), ActuatorLimits()],
        Quintic(start, end),
    )


def pair(dynamics: Dynamics, seed: int) -> tuple[Array, Array]:
    """Return two poses whose quintic keeps all limits: the first drawn of which that is true."""
    random, use = np.random.default_rng(seed), LargestUse(dynamics)
    wide = SHARE * np.array([x.upper for x in dynamics.mechanism.actuators])
    for _ in range(TRIES):
        start, end = random.uniform(-wide, wide, (2, 7))
        trajectory = Quintic(start, end).trajectory(
            np.linspace(0, 1, 101), (DURATION, DURATION), ()
        )
        if (
            np.ptp([start, end], axis=0).max() > TRAVEL
            and use(trajectory.q, trajectory.v, trajectory.a) <= 1
        ):
            return start, end
    raise ValueError(f"seed {seed}: no pair of poses has a quintic that keeps all limits")


class LargestUse:
    """How much of the limits a motion uses: one is all of some range, speed, effort or cone.

    Of a cone, the latitude over that of the nearest edge.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        q, v, a = (ca.SX.sym(name, 7) for name in "qva")
        parameters = ca.DM(dynamics.values())
        m = NodeSample(dynamics, ca.SX(0), q, v, a, ca.SX(parameters))
        shares = []
        for k, x in enumerate(dynamics.mechanism.actuators):
            middle, half = (x.upper + x.lower) / 2, (x.upper - x.lower) / 2
            shares += [(q[k] - middle) / half, v[k] / x.velocity, m.drive[k] / x.effort]
        outputs = dynamics.outputs(0, q, v, parameters)
        for cone in ("shoulder", "wrist"):
            latitude, excess = (
                outputs[dynamics.output_names.index(f"{cone}.{what}")]
                for what in ("latitude", "excess")
            )
            shares.append(latitude / (latitude - excess))
        self._shares = ca.Function("shares", [q, v, a], [ca.vertcat(*shares)])

    def __call__(self, q: Array, v: Array, a: Array) -> float:
        """Return the largest share over a motion, each (n, 7)."""
        shares = self._shares.map(len(q))(q.T, v.T, a.T)
        return float(np.max(np.abs(np.asarray(shares))))
