"""Robots that fall freely, in joint coordinates, beside MuJoCo, in one run.

Both have the bodies and joints that nsopt reads from the file, links on fixed joints merged: MuJoCo
is given them one by one. Nothing drives, damps or touches. Times are of the thread that steps, the
least of several runs in turn, with code of LLVM's level 2.

(a) A step at h = 1 ms. (b) The steps until each rule is off by 1e-4 after the fall: of ever smaller
h the error of coordinates, against the rule of order four at the smallest, which both engines must
agree on; between the two h nearest to 1e-4 the error is h to a power. What counts is steps times
time a step; the start is left out. A dash is of a rule that is further off at the smallest h.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from importlib import import_module, metadata
from time import thread_time
from typing import Any, NamedTuple
from unittest.mock import patch
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
from common import Array, in_turn, machine, settle, table

from nsopt import (
    Compiled,
    Dynamics,
    ExplicitMidpoint,
    MoreauJean,
    Revolute,
    RungeKutta,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.mechanics import Start
from nsopt.mechanics.coordinates.spanning_tree import Branch
from nsopt.robots import load_urdf
from nsopt.schemes import Scheme

ROBOTS = {"ur5_robot": False, "go1": True, "a1": True}  # whether the base is free
STEP, COUNT = 1e-3, 2000  # s, steps of which a time is taken
DURATION, WANTED = 1.0, 1e-4  # s; rad or m
SIZES = [0.05 / 2**k for k in range(12)]  # s
AGREEMENT = 1e-2 * WANTED  # of both engines at the smallest h
BENT = 0.3  # rad, of every joint at the start
SPEED = 1.0  # rad/s of every joint and base at the start, m/s of the base
SCHEMES = {
    "Variational": Variational(),
    "MoreauJean": MoreauJean(),
    "ExplicitMidpoint": ExplicitMidpoint(),
    "RungeKutta": RungeKutta(),
}
PEERS = {"MuJoCo Euler": "Euler", "MuJoCo RK4": "RK4"}


class Engine(NamedTuple):
    """A rule of an engine.

    ``seconds`` returns the time of a step at ``STEP``, ``end`` the coordinates after ``DURATION``.
    """

    seconds: Callable[[], float]
    end: Callable[[float], Array]


def stated(name: str) -> Dynamics:
    """Return a robot of example-robot-data."""
    files = metadata.files("example-robot-data") or []
    (path,) = (str(x.locate()) for x in files if x.name == f"{name}.urdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of what a file states in vain
        robot = load_urdf(path, floating_base=ROBOTS[name], merge_fixed=True)
    return assemble(robot, gravity=(0.0, 0.0, -9.81))


def start_of(d: Dynamics) -> Start:
    """Return the stated pose, all joints bent a little, everything moving."""
    q, v = Start.stated(d).q, np.full(d.nv, SPEED)
    q[free_coordinates(d) :] += BENT
    return Start(q, v)


def free_coordinates(d: Dynamics) -> int:
    """Return how many coordinates a free base has, which come first."""
    return 7 if d.nq > d.nv else 0


def ours(d: Dynamics, start: Start, scheme: Scheme) -> Engine:
    """Return a scheme, whose code is made at once."""

    def run(duration: float, h: float) -> Any:
        with patch("nsopt.simulation.chain.perf_counter", thread_time):  # not of the wall
            how: dict[str, Any] = {"scheme": scheme, "solver": Compiled(), "check": None}
            result = simulate(d, start, duration, steps=StepBounds(h, h), progress=False, **how)
        if not result.completed:
            raise RuntimeError(f"{scheme} ended early: {result.data.attrs['stop_reason']}")
        return result.data

    def seconds() -> float:
        return float(run(COUNT * STEP, STEP)["solve_time"].values[1:].min())

    def end(h: float) -> Array:
        return np.array(run(DURATION, h)["q"].values[-1])

    settle(seconds)
    return Engine(seconds, end)


def numbers(x: Any) -> str:
    """Return numbers as an attribute of MJCF."""
    return " ".join(repr(float(a)) for a in np.ravel(np.asarray(x, dtype=float)))


def model(mujoco: Any, d: Dynamics, h: float, integrator: str) -> Any:
    """Return the tree of a mechanism of revolute joints as a model of MuJoCo."""
    root = Element("mujoco")
    SubElement(root, "compiler", fusestatic="true", angle="radian")
    option = SubElement(
        root, "option", timestep=repr(h), gravity="0 0 -9.81", integrator=integrator
    )
    SubElement(option, "flag", contact="disable", constraint="disable")
    elements: dict[str | None, Element] = {None: SubElement(root, "worldbody")}
    for branch in d.mechanism.tree.branches:
        above = branch.parent_frame.body
        elements[branch.body.name] = _add(elements[above.name if above else None], branch)
    return mujoco.MjModel.from_xml_string(tostring(root, encoding="unicode"))


def _add(above: Element, branch: Branch) -> Element:
    body, up, down = branch.body, branch.parent_frame, branch.child_frame
    A_up, A_down = (np.asarray(frame.axes, dtype=float) for frame in (up, down))
    A = A_up @ A_down.T
    c = np.asarray(up.origin, dtype=float) - A @ np.asarray(down.origin, dtype=float)
    if branch.joint is None:
        A, c = np.eye(3), np.asarray(body.position, dtype=float)
    axes = {"xyaxes": numbers(np.r_[A[:, 0], A[:, 1]])}
    element = SubElement(above, "body", pos=numbers(c), **axes)
    J = np.asarray(body.inertia, dtype=float)
    J = J if J.ndim == 2 else np.diag(J)
    entries = [J[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    inertia = {"mass": numbers(body.mass), "fullinertia": numbers(entries)}
    SubElement(element, "inertial", pos="0 0 0", **inertia)
    if branch.joint is None:
        SubElement(element, "freejoint")
    elif isinstance(branch.joint, Revolute):
        where = {"pos": numbers(down.origin), "axis": numbers(A_down[:, 2])}
        SubElement(element, "joint", type="hinge", name=branch.joint.name, **where)
    return element


def peer(d: Dynamics, start: Start, integrator: str) -> Engine:
    """Return a rule of MuJoCo; timed is one call that steps in C and keeps nothing."""
    mujoco = import_module("mujoco")
    free = free_coordinates(d)
    names = [name.rsplit(".", 1)[0] for name in d.q_names[free:]]

    def begin(h: float) -> tuple[Any, Any, Array]:
        m = model(mujoco, d, h, integrator)
        data = mujoco.MjData(m)
        joints = [m.joint(name).id for name in names]
        at_q, at_v = m.jnt_qposadr[joints], m.jnt_dofadr[joints]
        order_q = np.r_[np.arange(free), at_q]
        order_v = np.r_[np.arange(d.nv - len(names)), at_v]
        data.qpos[order_q], data.qvel[order_v] = start.q, start.v
        return m, data, order_q

    def seconds() -> float:
        m, data, _ = begin(STEP)
        since = thread_time()
        mujoco.mj_step(m, data, nstep=COUNT)
        return (thread_time() - since) / COUNT

    def end(h: float) -> Array:
        m, data, order = begin(h)
        mujoco.mj_step(m, data, nstep=round(DURATION / h))
        return np.array(data.qpos[order])

    return Engine(seconds, end)


def wanted_size(engine: Engine, exact: Array) -> tuple[float, float]:
    """Return the h [s] at which a rule is off by ``WANTED``, and its order there."""
    last: tuple[float, float] | None = None
    for h in SIZES:
        try:
            error = float(np.abs(engine.end(h) - exact).max())
        except RuntimeError:
            continue
        if error <= WANTED and last is not None:
            order = np.log(last[1] / error) / np.log(last[0] / h)
            return h * (WANTED / error) ** (1 / order), order
        last = h, error
    return np.nan, np.nan


def rows(name: str, repeats: int) -> list[list[str]]:
    """Return the lines of one robot."""
    d = stated(name)
    start = start_of(d)
    engines = {key: ours(d, start, scheme) for key, scheme in SCHEMES.items()}
    engines |= {key: peer(d, start, rule) for key, rule in PEERS.items()}
    times = in_turn({key: engine.seconds for key, engine in engines.items()}, repeats)
    exact = engines["RungeKutta"].end(SIZES[-1])
    apart = float(np.abs(engines["MuJoCo RK4"].end(SIZES[-1]) - exact).max())
    if not apart < AGREEMENT:
        raise ValueError(f"the engines' motions of {name} differ by {apart:.1e}")
    least = {key: min(found) for key, found in times.items()}
    sizes = {key: wanted_size(engine, exact) for key, engine in engines.items()}
    spent = {key: least[key] * DURATION / sizes[key][0] for key in engines}
    return [
        [
            f"{name}, {d.nv} freedoms" if k == 0 else "",
            key,
            f"{1e6 * least[key]:.2f}",
            f"{least[key] / least['MuJoCo Euler']:.2f}",
            *(
                ["-"] * 4
                if np.isnan(spent[key])
                else [
                    f"{1e3 * sizes[key][0]:.3g}",
                    f"{sizes[key][1]:.1f}",
                    f"{1e6 * spent[key]:.0f}",
                    f"{spent[key] / spent['MuJoCo RK4']:.2f}",
                ]
            ),
        ]
        for k, key in enumerate(engines)
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robots", nargs="+", default=[*ROBOTS])
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    print(machine())
    head = ["falling", "rule", "a step [us]", "over MuJoCo's Euler"]
    head += [f"h for {WANTED:g} [ms]", "order", "a fall at that [us]", "over MuJoCo's RK4"]
    print(table(head, [row for name in options.robots for row in rows(name, options.repeats)]))


if __name__ == "__main__":
    main()
