"""Two published examples of nosnoc, as mechanisms: a disc that strikes another, a hopper.

Figures are those of its repositories: ``disc_manipulation.m`` of github.com/nosnoc/nosnoc,
``hopper_ocp.py`` of github.com/nosnoc/nosnoc_py. The discs are solved by nosnoc as well, if it is
installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from time import process_time
from typing import Any

import casadi as ca
import numpy as np
from common import machine, table

from nsopt import (
    GROUND,
    Actuator,
    AppliedForce,
    AppliedTorque,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlaneContact,
    Prismatic,
    SphereContact,
    assemble,
)
from nsopt.trajectory import (
    ActuatorLimits,
    Cost,
    Effort,
    EndAt,
    Horizon,
    InputEffort,
    NodeSample,
    Optimization,
    Quintic,
    StartAt,
    Straight,
    Within,
)


@dataclass(frozen=True, kw_only=True)
class Apart(Cost):
    """Weighted squares of how far coordinates, then velocities, are from a target.

    ``along`` are weights of the integral, ``at_end`` those at the end; (nq + nv,) each.
    """

    target: Sequence[float]
    along: Sequence[float]
    at_end: Sequence[float]

    def rate(self, m: NodeSample) -> ca.SX:
        return self._measure(m, self.along)

    def final(self, m: NodeSample) -> ca.SX:
        return self._measure(m, self.at_end)

    def _measure(self, m: NodeSample, weights: Sequence[float]) -> ca.SX:
        off = ca.vertcat(m.q, m.v) - ca.DM(self.target)
        return ca.dot(ca.DM(weights), off**2)


# A disc pushes another to its target, and goes to its own

MASSES, RADII, PUSH, SPEED = (2.0, 1.0), (0.3, 0.2), 20.0, 5.0  # kg, m, N, m/s
FIRST, TARGET = [-1.0, -2.0, -1.0, -1.0], [-1.0, 1.0, 0.0, 0.0]  # m, x and y of both
WEIGHTS, FORCE = [5.0, 5.0, 10.0, 10.0], 0.1
PARTING = 20.0  # N/m, of nosnoc's auxiliary force


def discs(steps: int) -> Optimization:
    """Return the discs, whose first is pushed; they touch without friction."""
    bodies = [Body(f"disc {k}", m, point_mass=True) for k, m in enumerate(MASSES, 1)]
    frames = [Frame(x) for x in bodies]
    contact = SphereContact("rims", *frames, *RADII)
    push = AppliedForce("push", frames[0], (Parameter("fx", 0.0), Parameter("fy", 0.0), 0.0))
    d = assemble(Mechanism(bodies, coordinates="relative"), [contact, push])

    def in_space(plane: Sequence[float]) -> list[float]:
        return [plane[0], plane[1], 0.0, plane[2], plane[3], 0.0]

    weights = [*in_space(WEIGHTS), *np.zeros(6)]
    far = Apart(
        target=[*in_space(TARGET), *np.zeros(6)],
        along=weights,
        at_end=[100 * x for x in weights],
    )
    forces = [InputEffort(input=x, weight=FORCE) for x in ("fx", "fy")]
    limits = [Within(x, lower=-PUSH, upper=PUSH) for x in ("fx", "fy")]
    limits += [Within(x, lower=-SPEED, upper=SPEED) for x in d.v_names]
    start = StartAt(in_space(FIRST), np.zeros(6))
    guess = Straight(in_space(FIRST), in_space(TARGET))
    return Optimization(
        d, Horizon(2.0, steps), [far, *forces], [start, *limits], guess, inputs=["fx", "fy"]
    )


def discs_by_nosnoc(stages: int) -> list[str]:
    """Return the row of the discs by nosnoc, three finite elements a stage, Radau of order 3.

    Impacts are those of frozen time: while rims press into each other time stands still, and an
    auxiliary force parts them. Costs run with time, as a state.
    """
    nosnoc: Any = import_module("nosnoc")
    begin = process_time()
    q, v, t, cost, u, pace = (ca.SX.sym("x", n) for n in (4, 4, 1, 1, 2, 1))
    masses = ca.DM(np.repeat(MASSES, 2))
    gap = ca.sumsqr(q[2:] - q[:2]) - sum(RADII) ** 2
    apart = ca.jacobian(gap, q)
    off = ca.dot(ca.DM(WEIGHTS), (q - ca.DM(TARGET)) ** 2)
    free = pace * ca.vertcat(v, u / MASSES[0], 0, 0, 1, off + FORCE * ca.sumsqr(u))
    frozen = ca.vertcat(ca.SX.zeros(4), PARTING * apart.T / masses, 0, 0)
    model = nosnoc.NosnocModel(
        x=ca.vertcat(q, v, t, cost),
        x0=np.array([*FIRST, *np.zeros(6)]),
        u=ca.vertcat(u, pace),
        F=[ca.horzcat(free, free, free, frozen)],
        S=[np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])],
        c=[ca.vertcat(gap, apart @ v)],
        t_var=t,
    )
    most = np.array([*[10.0] * 4, *[SPEED] * 4, np.inf, np.inf])
    ocp = nosnoc.NosnocOcp(
        lbu=np.array([-PUSH, -PUSH, 0.1]),
        ubu=np.array([PUSH, PUSH, 20.0]),
        u_guess=np.array([0.0, 0.0, 1.0]),
        f_terminal=cost + 100 * off,
        lbx=-most,
        ubx=most,
    )
    options = nosnoc.NosnocOpts(
        N_stages=stages,
        N_finite_elements=3,
        terminal_time=2.0,
        comp_tol=1e-6,
        time_freezing=True,
        initialization_strategy=nosnoc.InitializationStrategy.EXTERNAL,
    )
    options.nlp_max_iter, options.print_level = 1000, 0
    solver = nosnoc.NosnocSolver(options, model, ocp)
    share = np.arange(1, stages + 1)[:, None] / stages
    way = np.array(FIRST) + share * (np.array(TARGET) - np.array(FIRST))
    solver.set("x", np.hstack([way, np.zeros((stages, 4)), 2 * share, 0 * share]))
    found = solver.solve()
    end = np.array(found["x_traj"])[-1]
    least = float(end[9] + 100 * np.dot(WEIGHTS, (end[:4] - TARGET) ** 2))
    count = sum(k or 0 for k in found["nlp_iter"])
    seconds = process_time() - begin
    said = "solved" if found["status"].name == "SUCCESS" else found["status"].name
    return [f"discs, nosnoc, {stages} stages", f"{seconds:.1f}", str(count), f"{least:.5f}", said]


# A hopper on one leg

LEG, REACH, EFFORT, MU, G = (0.1, 0.5), 0.6, 50.0, 0.45, 9.81  # m, m, N and N m, 1, m/s^2
DOWN, UP = (0.0, -1.0, 0.0), (0.0, 1.0, 0.0)
FLOOR = Frame(GROUND, axes=np.column_stack([(1, 0, 0), (0, 0, -1), UP]))


def hopper(steps: int) -> Optimization:
    """Return the hopper, 0.6 m forwards in 1 s from rest to rest, with least effort.

    A body of 1 kg and 0.25 kg m^2 whose leg of 0.1 kg turns with it. nosnoc lumps the leg into
    the body and follows a spline in time; phases have no costs that depend on time.
    """
    hip, toe = (0.0, LEG[1], 0.0), (0.0, 0.0, 0.0)
    body = Body("body", 1.0, (0.25, 0.25, 0.25), position=hip)
    leg = Body("leg", 0.1, (0.025, 0.025, 0.025), position=toe)
    joints = [
        Planar("base", Frame(GROUND), Frame(body)),
        Prismatic("slide", Frame.at(body, hip, DOWN), Frame.at(leg, hip, DOWN)),
    ]
    drive = Actuator("slide", LEG[0] - LEG[1], 0.0, effort=EFFORT)
    turn = AppliedTorque("turn", Frame(body), (0.0, 0.0, Parameter("torque", 0.0)))
    foot = PlaneContact("foot", FLOOR, Frame(leg), law=ContactLaw(friction=MU), planar=True)
    mechanism = Mechanism([body, leg], joints, "relative", [drive])
    d = assemble(mechanism, [foot, turn], gravity=(0.0, -G, 0.0))
    here = np.array([0.0, LEG[1], 0.0, 0.0])
    there = np.add(here, [REACH, 0.0, 0.0, 0.0])
    still = np.zeros(4)
    limits = [ActuatorLimits(), Within("torque", lower=-EFFORT, upper=EFFORT)]
    return Optimization(
        d,
        Horizon(1.0, steps),
        [Effort(), InputEffort(input="torque")],
        [StartAt(here, still), EndAt(there, still), *limits],
        Quintic(here, there),
        inputs=["torque"],
    )


def by_nsopt(name: str, state: Callable[[int], Optimization], steps: int) -> list[str]:
    """Return the row of an example by the plain call."""
    begin = process_time()
    found = state(steps).solve()
    seconds, attrs = process_time() - begin, found.data.attrs
    told = attrs.get("contact_sequence") or f"in steps: {attrs.get('not_exact', '')}"
    borders = ", ".join(f"{x:.4f}" for x in attrs.get("borders", [])[1:-1])
    count = f"{float(found['iterations'].sum()):.0f}"
    said = f"{told} ({borders} s)" if found.completed else found.stop_reason.splitlines()[0]
    row = [f"{name}, nsopt, {steps} steps", f"{seconds:.1f}", count, f"{found.objective:.5f}"]
    return [*row, said]


def main() -> None:
    """Print the table."""
    print(machine())
    rows = [by_nsopt("discs", discs, n) for n in (10, 20, 40)]
    try:
        rows += [discs_by_nosnoc(n) for n in (10, 20, 40)]
    except ImportError as error:
        print(f"nosnoc is left out: {error}")
    rows += [by_nsopt("hopper", hopper, n) for n in (20, 40)]
    print(table(["", "processor s", "iterations", "cost", "contact"], rows))


if __name__ == "__main__":
    main()
