"""A mass thrown at a wall and back with least effort, by nsopt, by nosnoc, and exactly.

A mass of 1 kg flies towards a wall 1 m away at 1 m/s. After 1.8 s it is to be back where it was, as
fast the other way; the integral of the squared force that drives it is least. The wall, at x = 0,
is a spring of 100 N/m that pushes alone; or it is rigid, with restitution 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from common import Array
from scipy.integrate import solve_ivp
from scipy.optimize import root

from nsopt import (
    GROUND,
    Actuator,
    Body,
    CompliantContact,
    ContactAligned,
    ContactLaw,
    Dynamics,
    Frame,
    Hertz,
    Mechanism,
    PlaneContact,
    Prismatic,
    Result,
    Solver,
    StepBounds,
    assemble,
)
from nsopt.trajectory import (
    IN_STEPS,
    STRAIGHT,
    During,
    Effort,
    EndAt,
    Guess,
    Horizon,
    StartAt,
    Touching,
    Trajectory,
    optimize,
)

STIFFNESS, DURATION = 100.0, 1.8  # N/m, s
START, END = np.array([1.0, -1.0]), np.array([1.0, 1.0])  # m, m/s
OURS = [50, 100, 200, 400]  # steps
RIGID = [50, 100, 200]  # steps
NOSNOC = [(20, 2, 2), (40, 2, 2), (40, 2, 3)]  # control stages, finite elements of each, n_s
TOLERANCE = 1e-8  # that of nsopt over a horizon
DEEP, SHORT = -0.2, 0.1
"""Where the guess turns [m]: in the wall, or before it."""
EXACT = {"rtol": 1e-11, "atol": 1e-12, "method": "DOP853"}

Force = Callable[[float], float]


class Answer(NamedTuple):
    """An optimum, what it took [s], and how far off its end it is when simulated anew [m, m/s]."""

    build: float
    solve: float
    iterations: int
    optimum: float
    end_error: float
    said: str

    @property
    def total(self) -> float:
        """Time for the optimum."""
        return self.build + self.solve


@dataclass(frozen=True)
class Vee(Guess):
    """To a turning point and back, at constant speed.

    Parameters
    ----------
    turn : float [m]
    """

    turn: float

    def trajectory(
        self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        del inputs
        s, way, duration = share[:, None], 1 - self.turn, bounds[0]
        speed = np.where(s < 0.5, -2, 2) * way / duration
        q = self.turn + way * np.abs(1 - 2 * s)
        return Trajectory(q, speed, 0 * s, np.zeros((len(share), 0)), duration)


def guess(touching: bool) -> Vee:
    """Return the start of an optimization."""
    return Vee(DEEP if touching else SHORT)


# nsopt


def thrown(rigid: bool = False) -> Dynamics:
    """Return the mass on its rail."""
    mass = Body("mass", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(mass))
    wall = PlaneContact("wall", Frame(GROUND), Frame(mass), law=ContactLaw(restitution=1.0))
    on_rail = Mechanism([mass], [rail], "relative", [Actuator("rail")])
    if rigid:
        return assemble(on_rail, [wall])
    soft = CompliantContact("spring", wall, Hertz(STIFFNESS, exponent=1.0))
    return assemble(on_rail, [soft])


def nsopt_way(steps: int, touching: bool) -> Answer:
    """Return the optimum by `nsopt.trajectory.optimize`."""
    result = optimize(
        thrown(),
        Horizon(DURATION, steps),
        [Effort()],
        [StartAt(START[:1], START[1:]), EndAt(END[:1], END[1:])],
        guess(touching),
    )
    return _answer(result, end_error(_force(result), result["time"].values))


def rigid_way(steps: int) -> Answer:
    """Return the optimum by steps of `ContactAligned`, with the wall rigid and the impact free.

    As many steps lie before the impact as after, and are alike on either side. The force is
    constant over a step.
    """
    result = optimize(
        thrown(rigid=True),
        Horizon(DURATION, steps, h=StepBounds(1e-4, 0.5), breaks=[0.5]),
        [Effort()],
        [
            StartAt(START[:1], START[1:]),
            EndAt(END[:1], END[1:]),
            During(Touching("wall"), 0.5, 0.5),
        ],
        Vee(0.0),
        scheme=ContactAligned(),
        plan=IN_STEPS,
        solver=Solver(schedules=(STRAIGHT,)),
    )
    t, u = result["time"].values, result["drive"].values[:, 0]

    def force(at: float) -> float:
        return float(u[int(np.searchsorted(t, at, side="right")) - 1])

    return _answer(result, end_error(force, t, rigid=True))


def _answer(result: Result, error: float) -> Answer:
    a = result.data.attrs
    return Answer(
        float(a["compile_time"]),
        float(result["solve_time"].sum()),
        round(float(result["iterations"].sum())),
        a["objective"],
        error,
        "solved" if result.completed else a["status"],
    )


def _force(result: Result) -> Force:
    """Return the driving force: acceleration is quadratic over a step, force is what it takes."""
    t, a = result["time"].values, result["acceleration"].values[:, 0]
    q, v, h = result["q"].values[:, 0], result["v"].values[:, 0], np.diff(t)
    am = (6 * np.diff(v) / h - a[:-1] - a[1:]) / 4
    qm = q[:-1] + h / 2 * v[:-1] + h**2 / 96 * (7 * a[:-1] + 6 * am - a[1:])
    u, um = a - _push(q), am - _push(qm)

    def force(at: float) -> float:
        k = min(int(np.searchsorted(t, at, side="right")) - 1, len(h) - 1)
        s = (at - t[k]) / h[k]
        ends = u[k] * (1 - s) * (1 - 2 * s) + u[k + 1] * s * (2 * s - 1)
        return float(ends + um[k] * 4 * s * (1 - s))

    return force


def _push(x: Array) -> Array:
    """Return the force of the wall [N]."""
    return STIFFNESS * np.maximum(0, -x)


# nosnoc


def nosnoc_way(stages: int, elements: int, points: int, touching: bool) -> Callable[[], Answer]:
    """Return a call for the optimum by nosnoc's finite elements with switch detection.

    Radau's formula with two or three points an element, of order 3 or 5; the force is constant over
    a control stage. Else its defaults, with tolerances as nsopt's.

    Raises
    ------
    ImportError
        If nosnoc is not installed.
    """
    nosnoc = import_module("nosnoc")
    return lambda: _nosnoc(nosnoc, stages, elements, points, touching)


def _nosnoc(nosnoc: Any, stages: int, elements: int, points: int, touching: bool) -> Answer:
    begin = perf_counter()
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u")
    free, pressed = ca.vertcat(x[1], u), ca.vertcat(x[1], u - STIFFNESS * x[0])
    options = nosnoc.NosnocOpts(
        N_stages=stages,
        N_finite_elements=elements,
        n_s=points,
        terminal_time=DURATION,
        comp_tol=TOLERANCE,
        initialization_strategy=nosnoc.InitializationStrategy.EXTERNAL,
    )
    options.tol_ipopt = TOLERANCE
    switched = {"F": [ca.horzcat(pressed, free)], "c": [x[0]], "S": [np.array([[-1], [1]])]}
    model = nosnoc.NosnocModel(x=x, x0=START, u=u, **switched)
    problem = nosnoc.NosnocOcp(
        f_q=u**2,
        g_terminal=x - ca.DM(END),
        lbu=np.array([-1e3]),  # nosnoc wants bounds; these are far off
        ubu=np.array([1e3]),
        u_guess=np.zeros(1),
    )
    solver = nosnoc.NosnocSolver(options, model, problem)
    trajectory = guess(touching).trajectory(
        np.arange(1, stages + 1) / stages, (DURATION, DURATION), ()
    )
    solver.set("x", np.hstack([trajectory.q, trajectory.v]))
    built = perf_counter()
    solution = solver.solve()
    done = perf_counter()
    u_all = np.ravel(solution["u_list"])
    times = np.linspace(0, DURATION, stages + 1)

    def force(at: float) -> float:
        return float(u_all[min(int(np.searchsorted(times, at, side="right")) - 1, stages - 1)])

    return Answer(
        built - begin,
        done - built,
        sum(n or 0 for n in solution["nlp_iter"]),
        float(solution["cost_val"]),
        end_error(force, times),
        "solved" if solution["status"].name == "SUCCESS" else solution["status"].name,
    )


# What is true


def end_error(force: Force, times: Array, rigid: bool = False) -> float:
    """Return how far from its end the mass is under a force, by SciPy with contact as an event.

    The force is smooth between ``times``.
    """
    state = START
    for begin, end in pairwise(times):
        state = _to(end, begin, state, lambda t, e=end: force(min(t, e - 1e-12)), rigid)
    return float(np.max(np.abs(state - END)))


def at_wall(direction: float = 0.0) -> Any:
    """Return the event that ends an integration by SciPy at the wall, reached in a direction."""

    def position(t: float, y: Array) -> float:
        del t
        return float(y[0])

    event: Any = position
    event.terminal, event.direction = True, direction
    return event


def _to(end: float, begin: float, state: Array, force: Force, rigid: bool) -> Array:
    """Return the state at a time; where the wall is touched or left, integration begins anew."""
    pressed = state[0] < 0 or (state[0] == 0 and state[1] < 0)
    while begin < end:
        stiffness, touch = STIFFNESS if pressed else 0.0, at_wall(1.0 if pressed else -1.0)

        def rate(t: float, y: Array, k: float = stiffness) -> list[float]:
            return [y[1], force(t) - k * y[0]]

        solution = solve_ivp(rate, (begin, end), state, events=touch, **EXACT)
        begin, state = float(solution.t[-1]), solution.y[:, -1]
        if solution.status == 1 and rigid:
            state = np.array([0.0, -state[1]])
        elif solution.status == 1:
            pressed ^= True
    return np.asarray(state)


def true_rigid_optimum() -> float:
    """Return the least effort with the wall rigid [N^2 s].

    The motion is its own mirror image in time. From (1, -1) to the wall in half the time T / 2 = s
    the force is linear in time, and as the speed of impact is free, zero at the impact:
    u = 3 (s - 1) (s - t) / s^3 [from x(s) = 0], both halves together 6 (s - 1)^2 / s^3.
    """
    s = DURATION / 2
    return float(START[0] * 6 * (s + START[1]) ** 2 / s**3)


def true_optimum() -> float:
    """Return the least effort by Pontryagin's conditions [N^2 s].

    With H = u^2 + a v + b (u + K max(0, -x)) the force is u = -b/2, da/dt = b K where pressed,
    db/dt = -a, both continuous, for the force of the wall is. The motion is its own mirror image in
    time, so at half time v = 0 and a = 0; the wall is touched once before.
    """

    def rate(pressed: bool) -> Callable[[float, Array], list[float]]:
        k = STIFFNESS if pressed else 0.0
        return lambda _, y: [y[1], -y[3] / 2 - k * y[0], k * y[3], -y[2], y[3] ** 2 / 4]

    def half(costates: Array) -> Array:
        start = [*START, *costates, 0.0]
        first = solve_ivp(rate(False), (0, DURATION / 2), start, events=at_wall(), **EXACT)
        if first.status != 1:
            return np.asarray(first.y[:, -1])
        return np.asarray(
            solve_ivp(rate(True), (first.t[-1], DURATION / 2), first.y[:, -1], **EXACT).y[:, -1]
        )

    solution = root(lambda x: half(x)[[1, 2]], np.array([4.0, 3.0]), tol=1e-12)
    end = half(solution.x)
    if not solution.success or end[0] >= 0:
        raise RuntimeError(f"no optimum that touches the wall: {solution.message}")
    return float(2 * end[4])
