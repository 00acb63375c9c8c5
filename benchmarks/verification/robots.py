"""Dynamics of robots: published values of the Puma 560, closed forms, pinocchio."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from nsopt import Fixed, Mechanism
from nsopt.problem import find_problem
from nsopt.robots import (
    bias_force,
    forward_dynamics,
    inverse_dynamics,
    load_urdf,
    mass_matrix,
)

from .figure import Figure, Subject

CORKE = "Robotics Toolbox, Puma 560 at qn (Corke)"
PINOCCHIO = "pinocchio"


@cache
def problem(name: str) -> Any:
    """Return the module of a named problem."""
    spec = importlib.util.spec_from_file_location(name, find_problem(name))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def puma(kind: Callable[[Mechanism], ca.Function], rotors: bool) -> ca.Function:
    """Return a function of the Puma 560."""
    return kind(problem("puma560").puma560(rotors))


def of_puma(kind: Any, arguments: tuple[Any, ...], entry: Any, rotors: bool = False) -> float:
    """Return an entry of a function of the Puma 560 in its nominal posture."""
    q = np.array(problem("puma560").NOMINAL)
    return float(np.array(puma(kind, rotors)(q, *arguments)).squeeze()[entry])


REST, ONES = (0.0,) * 6, (1.0,) * 6
TORQUES = [
    *((REST, k, x) for k, x in ((1, 31.6399), (2, 6.0351), (4, 0.0283))),
    *((ONES, k, x) for k, x in ((0, 2.56908), (1, 33.6777), (2, 6.84909), (4, 0.03273))),
]
MASSES = {(0, 0): 3.6594, (1, 1): 4.4137, (0, 1): -0.4044, (1, 2): 0.3509, (5, 5): 0.1941}

# Two uniform links in a vertical plane


def planar(what: str) -> float:
    """Return the largest difference from the closed form over random states."""
    module = problem("planar_2r")
    arm, down, worst = module.planar_2r(), module.DOWN, 0.0
    inverse, mass = inverse_dynamics(arm, down), mass_matrix(arm)
    for q, v, a in np.random.default_rng(0).uniform(-3, 3, (20, 3, 2)):
        M, coriolis, weight = module.closed_form(q, v)
        bias = coriolis + weight
        pairs = {
            "torque": (inverse(q, v, a), M @ a + bias),
            "mass": (mass(q), M),
            "acceleration": (forward_dynamics(arm, down)(q, v, M @ a + bias), a),
        }
        mine, known = pairs[what]
        worst = max(worst, float(np.max(np.abs(np.array(mine).squeeze() - known))))
    return worst


# Robots of other people's files, against pinocchio


def robot_file(name: str) -> Path:
    """Return the file of a robot of example-robot-data."""
    files = metadata.files("example-robot-data") or []
    return next(Path(str(f.locate())) for f in files if str(f).endswith(f"/{name}.urdf"))


@cache
def robot(name: str) -> Mechanism:
    """Return the mechanism of a robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of what is ignored in the file
        return load_urdf(robot_file(name))


def against_pinocchio(name: str, what: str) -> float:
    """Return the largest difference from pinocchio over ten random states, over the size."""
    import pinocchio as pin

    mechanism = robot(name)
    model = pin.buildModelFromUrdf(str(robot_file(name)))
    data = model.createData()
    joints = [x for x in mechanism.joints if not isinstance(x, Fixed)]
    at = [model.idx_vs[model.getJointId(x.name)] for x in joints]
    mine = {"torque": inverse_dynamics, "mass": mass_matrix, "acceleration": forward_dynamics}
    function, worst = mine[what](mechanism), 0.0
    for q, v, a in np.random.default_rng(0).uniform(-1, 1, (10, 3, len(joints))):
        own = [np.zeros(model.nv) for _ in range(3)]
        for full, part in zip(own, (q, v, a), strict=True):
            full[at] = part
        Q = pin.integrate(model, pin.neutral(model), own[0])
        if what == "mass":
            M = np.triu(pin.crba(model, data, Q))
            known, found = (M + np.triu(M, 1).T)[np.ix_(at, at)], function(q)
        elif what == "torque":
            known, found = pin.rnea(model, data, Q, own[1], own[2])[at], function(q, v, a)
        else:
            known, found = pin.aba(model, data, Q, own[1], own[2])[at], function(q, v, a)
        off = np.max(np.abs(np.array(found).squeeze() - known))
        worst = max(worst, float(off / np.max(np.abs(known))))
    return worst


ROBOTS = [("ur5_robot", "UR5"), ("xarm7", "xArm 7"), ("kinova", "Kinova"), ("z1", "Z1")]
QUANTITIES = {
    "torque": "inverse dynamics",
    "mass": "mass matrix",
    "acceleration": "forward dynamics",
}

SUBJECT = Subject(
    "Dynamics of robots",
    (
        *(
            Figure(
                f"Puma 560, torque {k + 1} "
                + ("at rest" if a == REST else "with all accelerations 1 rad/s²"),
                "N m",
                value,
                CORKE,
                partial(of_puma, inverse_dynamics, (REST, a), k),
                5e-5,
            )
            for a, k, value in TORQUES
        ),
        *(
            Figure(
                f"Puma 560 with its rotors, entry {i + 1}, {j + 1} of its mass matrix",
                "kg m²",
                value,
                CORKE,
                partial(of_puma, mass_matrix, (), (i, j), True),
                5e-5,
            )
            for (i, j), value in MASSES.items()
        ),
        Figure(
            "Puma 560, Coriolis torque 1 at v = (1, 2, 3, 1, 2, 3) rad/s",
            "N m",
            float(
                np.dot([-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001], [1, 2, 3, 1, 2, 3])
            ),
            CORKE + ", matrix of four decimals",
            partial(of_puma, partial(bias_force, gravity=(0, 0, 0)), ((1, 2, 3, 1, 2, 3),), 0),
            5e-5 * 12,
        ),
        *(
            Figure(
                f"arm of two links, {text}, largest difference in 20 states",
                {"torque": "N m", "mass": "kg m²", "acceleration": "rad/s²"}[what],
                0.0,
                "closed form, Siciliano 2009, eq. 7.82",
                partial(planar, what),
                1e-10,
            )
            for what, text in QUANTITIES.items()
        ),
        *(
            Figure(
                f"{label}, {text}, largest difference in ten states over the largest entry",
                "1",
                0.0,
                PINOCCHIO,
                partial(against_pinocchio, name, what),
                1e-9,
                needs="pinocchio",
            )
            for name, label in ROBOTS
            for what, text in QUANTITIES.items()
        ),
    ),
)
