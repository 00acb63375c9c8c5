"""A link of ten rigid elements falls about a hinge: time a step and a second, against MuJoCo."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from statistics import median
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from common import in_turn, machine, per_step, ratio, settle, table
from scipy.linalg import eigh

from nsopt import (
    GROUND,
    Compiled,
    Dynamics,
    Frame,
    Mechanism,
    Revolute,
    RungeKutta,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.robots import CrossSection, FlexibleLink, LinkMaterial, flexible_link
from nsopt.schemes import Scheme

LENGTH, RADIUS, GRAVITY = 1.0, 6e-3, 9.81  # m, m, m/s^2
STEEL = LinkMaterial(density=7850.0, young=2.1e11, shear=8.0e10, damping=1e-6)
STABLE = 2.8
"""h times the highest frequency must stay below it."""
SHARE = 0.8  # of it
VARIATIONAL = 1e-4  # s
BESIDE = {"nsopt RungeKutta": "MuJoCo RK4", "nsopt Variational": "MuJoCo implicit"}


class Run(NamedTuple):
    """A timed motion: seconds a step, and the sag of the tip below the line of the hinge [m]."""

    seconds: float
    tip: float


def link(elements: int) -> tuple[FlexibleLink, Dynamics]:
    """Return the link, horizontal at rest, and its equations."""
    rod = flexible_link(
        "link", (0, 0, 0), (1, 0, 0), LENGTH, CrossSection.circle(RADIUS), STEEL, elements
    )
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(rod.bodies[0], (0, 0, 0)))
    mechanism = Mechanism(rod.bodies, [hinge, *rod.joints], "relative")
    return rod, assemble(mechanism, rod.forces, (0, -GRAVITY, 0))


def highest(d: Dynamics) -> float:
    """Return the highest of the link's angular frequencies [rad/s]."""
    q, still, p = ca.SX.sym("q", d.nq), np.zeros(d.nv), d.values()
    stiffness = ca.Function("K", [q], [-ca.jacobian(d.applied(0, q, still, p), q)])
    straight = np.zeros(d.nq)
    K, M = (np.asarray(x) for x in (stiffness(straight), d.mass(straight, p)))
    return float(np.sqrt(eigh(K, M, eigvals_only=True)[-1]))


def ours(d: Dynamics, scheme: Scheme, h: float, end: float) -> Run:
    """Return a run of nsopt, its time that of the compiled chain."""
    result = simulate(
        d,
        None,
        end,
        steps=StepBounds(h, h),
        scheme=scheme,
        solver=Compiled(),
        store_every=100,
        check=None,
        progress=False,
    )
    if not result.completed:
        raise RuntimeError(result.stop_reason)
    seconds = per_step(result) * (result.data.sizes["time"] - 1) / round(end / h)
    r, e = (result[f"body_{x}"].values[-1, -1] for x in ("position", "quaternion"))
    way = 2 * (e[1] * e[2] + e[0] * e[3])  # of y, along the last element
    return Run(seconds, float(r[1] + LENGTH / (4 * (d.nv - 1) / 3) * way))


def mujoco_model(rod: FlexibleLink, integrator: str, h: float) -> Any:
    """Return the same bodies and springs in MuJoCo, each `Bend` as three hinges."""
    at = np.array([body.position[0] for body in rod.bodies])
    places = np.array([0.0, *(body.position[0] + j.a.origin[0] for body, j in pairs(rod))])
    text = ""
    for k, body in enumerate(rod.bodies):
        begin = places[k - 1] if k else 0.0
        text += f'<body name="e{k}" pos="{places[k] - begin:.17g} 0 0">'
        if k == 0:
            text += '<joint type="hinge" axis="0 0 1"/>'
        else:
            spring = rod.forces[k - 1]
            both = (np.asarray(x) for x in (spring.turning_stiffness, spring.turning_damping))
            for axis, stiff, damp in zip(np.eye(3), *both, strict=True):
                along = " ".join(map(str, axis))
                text += f'<joint axis="{along}" stiffness="{stiff!s}" damping="{damp!s}"/>'
        inertia = " ".join(map(str, body.inertia))
        offset = f"{at[k] - places[k]:.17g} 0 0"
        text += f'<inertial pos="{offset}" mass="{body.mass!s}" diaginertia="{inertia}"/>'
    text += f'<site name="tip" pos="{LENGTH - places[-1]:.17g} 0 0"/>' + "</body>" * len(rod.bodies)
    return import_module("mujoco").MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian" boundmass="0" boundinertia="0"/>'
        f'<option timestep="{h:.17g}" integrator="{integrator}" gravity="0 {-GRAVITY} 0">'
        f'<flag contact="disable"/></option><worldbody>{text}</worldbody></mujoco>'
    )


def pairs(rod: FlexibleLink) -> list[tuple[Any, Any]]:
    """Return each joint with the element before it."""
    return list(zip(rod.bodies[:-1], rod.joints, strict=True))


def theirs(model: Any, h: float, end: float) -> Run:
    """Return a run of MuJoCo, its time that of its own loop."""
    mujoco = import_module("mujoco")
    data, count = mujoco.MjData(model), round(end / h)
    begin = time.process_time()
    mujoco.mj_step(model, data, count)
    seconds = (time.process_time() - begin) / count
    mujoco.mj_forward(model, data)
    return Run(seconds, float(data.site("tip").xpos[1]))


def row(name: str, h: float, runs: list[Run], pair: float | None, exact: float) -> list[str]:
    """Return one line of the table."""
    step = median(x.seconds for x in runs)
    return [
        name,
        f"{h:.2g}",
        f"{1e6 * step:.1f}",
        f"{step / h:.2f}",
        "" if pair is None else f"{pair:.2f}",
        f"{1e3 * (runs[0].tip - exact):+.2g}",
    ]


def main() -> None:
    """Time all in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=10)
    parser.add_argument("--end", type=float, default=0.3, help="until when [s]")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    rod, d = link(options.elements)
    top = highest(d)
    limit = SHARE * STABLE / top
    h_rk = options.end / np.ceil(options.end / limit)
    print(machine(), f"\n{d.nv} coordinates, highest frequency {top:.3g} rad/s", flush=True)
    known: dict[str, tuple[float, Callable[[float], Run]]] = {
        "nsopt RungeKutta": (h_rk, lambda h: ours(d, RungeKutta(), h, options.end)),
        "nsopt Variational": (VARIATIONAL, lambda h: ours(d, Variational(), h, options.end)),
    }
    try:
        for name, integrator, h in (
            ("MuJoCo RK4", "RK4", h_rk),
            ("MuJoCo implicit", "implicit", VARIATIONAL),
        ):
            model = mujoco_model(rod, integrator, h)
            known[name] = (h, lambda h, model=model: theirs(model, h, options.end))
    except ImportError as error:
        print(f"MuJoCo is left out: {error}")
    for scheme, h in ((RungeKutta(), h_rk), (Variational(), VARIATIONAL)):
        settle(lambda s=scheme, h=h: ours(d, s, h, options.end / 10).seconds, pause=30.0)
    exact = known["nsopt RungeKutta"][1](h_rk / 2).tip
    found = in_turn({name: (lambda x=x: x[1](x[0])) for name, x in known.items()}, options.repeats)
    rows = []
    for name, (h, _) in known.items():
        beside = {"nsopt RungeKutta": "MuJoCo RK4", "nsopt Variational": "MuJoCo implicit"}.get(
            name
        )
        times = [[x.seconds for x in found[y]] for y in (name, beside) if y in found]
        pair = ratio(*times) if beside in found else None
        rows.append(row(name, h, found[name], pair, exact))
    print(table(["", "h [s]", "us a step", "s a second", "over MuJoCo", "tip off [mm]"], rows))


if __name__ == "__main__":
    main()
