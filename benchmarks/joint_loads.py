"""Loads of joints: over the tolerance of a corridor; least along a path, against least rates."""

from __future__ import annotations

import argparse

import numpy as np
from common import Array, machine, table
from scipy.integrate import solve_ivp

from nsopt import (
    GROUND,
    Actuator,
    ArcPath,
    Body,
    Compiled,
    ContactLaw,
    Corridor,
    Dynamics,
    Frame,
    Mechanism,
    Programmed,
    Result,
    Revolute,
    Start,
    StepBounds,
    Variational,
    assemble,
    consistent,
    rms_loads,
    simulate,
)
from nsopt.trajectory import (
    Guess,
    Horizon,
    InCorridor,
    JointLoad,
    Smoothness,
    StartAt,
    Trajectory,
    optimize,
)

MASS, GRAVITY = 2.0, (0.0, -9.81, 0.0)  # kg of a link, m/s^2
CENTRE, RADIUS = np.array([0.5, 0.3]), 0.2  # m, of the circle that the tip runs along
TOLERANCES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4)  # m
FRICTION = 0.3  # of the tip against the corridor, in the second runs
POSTURE = np.array([-0.6, 1.3, 0.9])  # rad


class Arm:
    """An arm of hinges about z in a vertical plane, its tip along a circle."""

    def __init__(self, links: int, duration: float) -> None:
        self.length = 1.2 / links
        size, half = self.length, self.length / 2
        line = MASS * size**2 / 12
        self.bodies = [
            Body(f"link{k}", MASS, (2e-3, line, line), position=(k * size + half, 0, 0))
            for k in range(links)
        ]
        befores = [GROUND, *self.bodies]
        self.joints = [
            Revolute(f"hinge{k}", Frame.at(befores[k], at), Frame.at(body, at))
            for k, body in enumerate(self.bodies)
            for at in [(k * size, 0.0, 0.0)]
        ]
        self.names = [joint.name for joint in self.joints]
        self.tip = Frame.at(self.bodies[-1], (1.2, 0, 0))
        self.duration = duration
        self.path = ArcPath((*CENTRE, 0.0), RADIUS, 2 * np.pi, duration)

    def told(self) -> Dynamics:
        """Return the arm with its tip programmed."""
        tip = Programmed("tip", Frame(GROUND), self.tip, self.path, "xy")
        return assemble(self.mechanism([tip]), gravity=GRAVITY)

    def loose(self, tolerance: float, friction: float) -> Dynamics:
        """Return the arm with its tip in a corridor."""
        law = ContactLaw(friction=friction)
        tip = Corridor("tip", Frame(GROUND), self.tip, self.path, tolerance, law=law)
        return assemble(self.mechanism(), [tip], GRAVITY)

    def driven(self) -> Dynamics:
        """Return the arm with a drive in each joint."""
        return assemble(self.mechanism(drives=[Actuator(x) for x in self.names]), gravity=GRAVITY)

    def mechanism(self, told: list[Programmed] | None = None, drives: object = ()) -> Mechanism:
        """Return its parts, in coordinates of the hinges."""
        return Mechanism(self.bodies, [*self.joints, *(told or [])], "relative", drives)

    def place(self, q: Array) -> Array:
        """Return where its tip is, (2,) [m]."""
        sums = np.cumsum(q)
        return self.length * np.array([np.cos(sums).sum(), np.sin(sums).sum()])

    def jacobian(self, q: Array) -> Array:
        """Return its derivative, (2, links)."""
        sums = np.cumsum(q)
        columns = self.length * np.array([-np.sin(sums), np.cos(sums)])
        return np.array([columns[:, k:].sum(axis=1) for k in range(len(q))]).T


class LeastRates(Guess):
    """The motion of least rates at each time, by the pseudo-inverse."""

    def __init__(self, arm: Arm) -> None:
        self.arm, q = arm, POSTURE
        for _ in range(50):
            off = self.circle(0.0)[0] - arm.place(q)
            q = q + np.linalg.pinv(arm.jacobian(q)) @ off
        self.q0 = q
        span = (0.0, arm.duration)
        options = {"rtol": 1e-10, "atol": 1e-12, "dense_output": True}
        self.motion = solve_ivp(self.rate, span, q, "DOP853", **options).sol

    def circle(self, t: float) -> tuple[Array, Array]:
        """Return place and velocity of the path, at rest at both ends."""
        x, T = t / self.arm.duration, self.arm.duration
        angle = 2 * np.pi * (10 * x**3 - 15 * x**4 + 6 * x**5)
        speed = RADIUS * 2 * np.pi * (30 * x**2 - 60 * x**3 + 30 * x**4) / T
        c, s = np.cos(angle), np.sin(angle)
        return CENTRE + RADIUS * np.array([c, s]), speed * np.array([-s, c])

    def rate(self, t: float, q: Array) -> Array:
        """Return the least rates that keep the tip on the path, drawn back to it."""
        place, velocity = self.circle(t)
        return np.linalg.pinv(self.arm.jacobian(q)) @ (velocity + 20 * (place - self.arm.place(q)))

    def trajectory(self, share: Array, _: object, inputs: tuple[str, ...]) -> Trajectory:
        T, eps = self.arm.duration, 1e-5
        t = np.clip(T * share, eps, T - eps)
        before, now, after = (self.motion(t + x).T for x in (-eps, 0.0, eps))
        v, a = (after - before) / (2 * eps), (after - 2 * now + before) / eps**2
        q = self.motion(T * share).T
        return Trajectory(q, v, a, np.zeros((len(t), len(inputs))), T)


def corridors(duration: float, h: float) -> str:
    """Return RMS of joint forces over the tolerance, without and with friction, the programme last.

    All start in the middle of the corridor.
    """
    arm = Arm(2, duration)
    told = arm.told()
    start = consistent(told, Start(np.array([-0.3, 1.2]), np.zeros(2)))

    def moved(d: Dynamics) -> Result:
        steps = StepBounds(h, h)
        how = {"scheme": Variational(), "solver": Compiled(), "progress": False, "check": None}
        result = simulate(d, start, duration, steps=steps, **how)
        if not result.completed:
            raise RuntimeError(result.stop_reason)
        return result

    def line(label: str, results: list[Result]) -> list[str]:
        apart = np.max(np.abs(results[0]["q"].values - exact["q"].values))
        loads = rms_loads({str(k): x for k, x in enumerate(results)}, arm.names)
        forces = [float(x[(joint, "force")]) for _, x in loads.iterrows() for joint in arm.names]
        return [label, f"{1e3 * apart:.3g}", *(f"{x:.4g}" for x in forces)]

    exact = moved(told)
    rows = [
        line(f"{x:g}", [moved(arm.loose(x, friction)) for friction in (0.0, FRICTION)])
        for x in TOLERANCES
    ]
    rms = [f"RMS {x} [N]" for x in arm.names]
    head = ["tolerance [m]", "angles off [mrad]", *rms, *(f"{x}, mu = {FRICTION:g}" for x in rms)]
    return table(head, [*rows, line("programmed", [exact, exact])])


def rms_forces(d: Dynamics, q: Array, v: Array, a: Array) -> Array:
    """Return RMS of joint forces over evenly spaced times, from Newton's and Euler's equations."""
    none = [np.zeros(0)] * 3
    moved = zip(q, v, a, strict=True)
    wrenches = np.array([d.reactions(0, *x, [], 1, y, *none) for *x, y in moved])
    squares = np.sum(wrenches[:, :3] ** 2, axis=1)  # (times, joints)
    return np.sqrt(np.trapezoid(squares, axis=0) / (len(q) - 1))


def least(duration: float) -> list[list[str]]:
    """Return RMS of joint forces of least rates, and of least loads on the same path."""
    arm = Arm(3, duration)
    d, guess = arm.driven(), LeastRates(arm)
    costs = [
        JointLoad(joints=arm.names, torque=np.inf, force=100.0, moment=np.inf),
        Smoothness(weight=1e-4),
    ]
    conditions = [StartAt(guess.q0, np.zeros(3)), InCorridor(arm.tip, arm.path, 1e-3)]
    result = optimize(d, Horizon(duration, steps=40), costs, conditions, guess)
    if not result.completed:
        raise RuntimeError(result.stop_reason)
    plain = guess.trajectory(np.linspace(0, 1, 401), None, ())
    both = (
        rms_forces(d, plain.q, plain.v, plain.a),
        rms_forces(d, *(result[x].values for x in ("q", "v", "acceleration"))),
    )
    whole = [float(np.linalg.norm(x)) for x in both]
    names = ("least rates", "least loads")
    return [
        [
            f"{duration:g}",
            name,
            *(f"{y:.4g}" for y in x),
            f"{all_:.4g}",
            f"{1 - all_ / whole[0]:.1%}",
        ]
        for name, x, all_ in zip(names, both, whole, strict=True)
    ]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=float, nargs="+", default=[2.0, 1.0], help="[s]")
    parser.add_argument("--h", type=float, default=1e-4, help="step in a corridor [s]")
    options = parser.parse_args()
    print(machine(), flush=True)
    print(corridors(0.8, options.h), flush=True)
    rows = [line for duration in options.duration for line in least(duration)]
    joints = [f"RMS hinge{k} [N]" for k in range(3)]
    print(table(["T [s]", "motion", *joints, "all [N]", "saved"], rows))


if __name__ == "__main__":
    main()
