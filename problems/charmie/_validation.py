"""The validation motion of [CHARMIE 2023, section 6]: path of the claw and force on the base.

``python problems/charmie/_validation.py`` draws both as Figs. 12 and 13, beside the closed form of
the path and the momentum of the whole, into results/.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from _closed_forms import end_effector, validation_lengths, validation_motion
from _geometry import D12A, LINK, SLIDE_ACCELERATION, TURN_ACCELERATION, Array
from _robot import ACTUATED, CUTS, LENGTHS, charmie

from nsopt import Frame, Mechanism, Relative, assemble
from nsopt.plots import Recorded, Vector, draw_vectors, save
from nsopt.robots import (
    ClosedLoops,
    EqualSharing,
    SharingRule,
    ToleranceOrder,
    forward_kinematics,
)

GRAVITY = np.array([0.0, 0.0, -9.81])
X, XY, YZ, Z, ALL = (1, 0, 0), (1, 1, 0), (0, 1, 1), (0, 0, 1), (1, 1, 1)


def rules(mechanism: Mechanism) -> list[SharingRule]:
    """Return how loads are shared on bodies 5 and 4, as the paper states it in section 5.2."""
    bodies = {body.name: body for body in mechanism.bodies}
    five, four = bodies["body_5"], bodies["body_4"]
    halves = ("joint_4slc", "joint_4src")
    by_tolerance = ("joint_4", *halves, "joint_4d_2")
    return [
        ToleranceOrder(("joint_5", "joint_5s_2"), five, force=ALL, torque=ALL),  # it only pulls
        EqualSharing(("joint_5", "joint_5d_2"), five, force=X),  # eq. 36
        EqualSharing(("joint_5", "joint_5d_2"), five, torque=YZ),  # eq. 38
        ToleranceOrder(by_tolerance, four, force=XY),  # eq. 42
        ToleranceOrder(by_tolerance, four, torque=XY),  # eq. 43
        ToleranceOrder((halves[0], "joint_4", "joint_4d_2"), four, torque=Z),
        EqualSharing(halves, four, torque=Z),
    ]


def driven(t: float) -> Array:
    """Return coordinates, rates and accelerations of the driven joints, (3, 21)."""
    slides = {"joint_1": SLIDE_ACCELERATION, "joint_2": SLIDE_ACCELERATION}
    return np.array(
        [
            validation_lengths(t)
            if name in LENGTHS
            else validation_motion(t, slides.get(name, TURN_ACCELERATION))
            for name in ACTUATED
        ]
    ).T


def study(times: Array) -> tuple[Array, Array, Array]:
    """Return path of D_12a, force on the base, and what the momentum takes, (n, 3) each."""
    robot = charmie(Relative(CUTS))
    mechanism, bodies = robot.mechanism, list(robot.mechanism.bodies)
    loops = ClosedLoops(assemble(mechanism, robot.elements, GRAVITY), ACTUATED)
    claw = next(body for body in bodies if body.name == "body_12a")
    tip = Frame(claw, D12A - np.array(LINK["12a"].centre))
    places = forward_kinematics(mechanism, [tip, *(Frame(body) for body in bodies)])
    masses = np.array([body.mass for body in bodies])
    base, near, rows = loops.dynamics.joint_names.index("joint_3"), None, []
    for t in times:
        values, rates, changes = driven(t)
        motion = loops.motion(values, rates, changes, near)
        near = motion.q
        loads = loops.loads(motion, rules(mechanism))
        position, _, _, acceleration = (np.asarray(x) for x in places(*motion[:3]))
        needed = (acceleration[:3, 1:].T - GRAVITY).T @ masses
        rows.append((position[:, 0], loads.reactions[:3, base], needed))
    path, force, needed = (np.array(x) for x in zip(*rows, strict=True))
    return path, force, needed


def main() -> None:
    """Draw both figures."""
    times = np.linspace(0, 5, 201)
    path, force, needed = study(times)
    exact = np.array([end_effector(t) for t in times])
    print(f"path: within {np.abs(path - exact).max():.1e} m of the closed form")
    print(f"force on the base: within {np.abs(force - needed).max():.1e} N of the momentum's")
    for name, vector, pair in (
        ("path", Vector("Point D_12a", "r", "m"), (path, exact)),
        ("base_force", Vector("Force of body 2 on body 3", "F", "N"), (force, needed)),
    ):
        labels = ("nsopt", "closed form" if name == "path" else "m a + weight")
        recorded = [
            Recorded(label, times, values[:, None])
            for label, values in zip(labels, pair, strict=True)
        ]
        Path("results").mkdir(exist_ok=True)
        figure = draw_vectors("CHARMIE, validation motion", [vector], recorded)
        print(save(figure, Path("results") / f"charmie_{name}.png"))


if __name__ == "__main__":
    main()
