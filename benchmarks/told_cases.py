"""Four motions whose errors are known, for `errors_judged.py`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from common import Array
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from nsopt import (
    GROUND,
    Body,
    CompliantContact,
    ContactLaw,
    Driven,
    Dynamics,
    Flores,
    Frame,
    Hertz,
    HuntCrossley,
    JointDrives,
    Mechanism,
    PlaneContact,
    Prismatic,
    Result,
    Revolute,
    Slide,
    StepBounds,
    assemble,
    simulate,
)

G = 9.81


class Told(NamedTuple):
    """The largest error that a run tells of a figure, the true one, and the order it saw."""

    steps: str
    told: float
    true: float
    order: float
    warned: bool


def run(dynamics: Dynamics, duration: float, steps: StepBounds) -> Result:
    """Return the default run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulate(dynamics, duration=duration, steps=steps, progress=False)


def tell_of_position(steps: str, result: Result, body: int, true: Array) -> Told:
    """Compare what a run tells of the position of a body with the true one, (time, axis) [m]."""
    off = np.abs(result["body_position"].values[:, body, : true.shape[1]] - true)
    error = result.error["body_position"]
    told = float(error.values[:, body, : true.shape[1]].max())
    return Told(steps, told, float(off.max()), error.attrs["order"], bool(result.warnings))


def fast_hinge() -> Iterator[Told]:
    """A rod on an ideal hinge at 100 rad/s, ten turns, in n steps a turn."""
    w, length = 100.0, 0.3
    inertia = 0.02
    duration = 20 * np.pi / w
    rod = Body(
        *("rod", 1.0, (0.01, inertia, inertia), (length, 0, 0)),
        velocity=(0, length * w, 0),
        angular_velocity=(0, 0, w),
    )
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(rod, (0, 0, 0)))
    dynamics = assemble(Mechanism([rod], [hinge]), gravity=(0, -G, 0))

    def rate(_: float, y: Array) -> list[float]:
        return [y[1], -G * length * np.cos(y[0]) / (inertia + length**2)]

    tight: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12, "dense_output": True}
    exact = solve_ivp(rate, (0, duration), [0, w], method="DOP853", **tight).sol
    for n in (7, 15, 30, 60, 120):
        h = 2 * np.pi / w / n
        result = run(dynamics, duration, StepBounds(h / 1000, h))
        angle = exact(result["time"].values)[0]
        true = length * np.column_stack([np.cos(angle), np.sin(angle)])
        yield tell_of_position(f"{n} a turn", result, 0, true)


def short_compliant_contact() -> Iterator[Told]:
    """A ball that falls 5 cm on a compliant floor, in n steps a contact: its energy at the end."""
    speed, stiffness = np.sqrt(2 * G * 0.05), 1e8
    contact = 2.94 * (5 * speed**2 / (4 * stiffness)) ** 0.4 / speed
    for law in (Flores(stiffness, 1.5), HuntCrossley(stiffness, 1.5), Hertz(stiffness, 1.5)):
        ball = Body("ball", 1.0, (0.004,) * 3, position=(0, 0, 0.15))
        rigid = PlaneContact(
            *("floor", Frame(GROUND), Frame(ball)), radius=0.1, law=ContactLaw(restitution=0.7)
        )
        floor = CompliantContact("floor", rigid, law)
        dynamics = assemble(Mechanism([ball]), [floor], (0, 0, -G))
        right = 0.0
        for n in (1000, 30, 10, 4, 2, 1):
            steps = StepBounds(contact / n / 1000, contact / n)
            result = run(dynamics, 0.16, steps)
            energy = float(result["total_energy"][-1])
            if n == 1000:
                right = energy
                continue
            error = result.error["total_energy"]
            told, order = float(error.values[-1]), error.attrs["order"]
            name = f"{type(law).__name__}, {n} a contact"
            yield Told(name, told, abs(energy - right), order, bool(result.warnings))


def turntable_stick() -> Iterator[Told]:
    """A block that friction holds on a table at 2 rad/s for 10 s."""
    radius, w = 0.4, 2.0
    for h in (1.6e-2, 8e-3, 4e-3, 2e-3, 1e-3):
        plate = Body("plate", 5.0, (1, 1, 1.0), angular_velocity=(0, 0, w))
        moves: dict[str, Any] = {"position": (radius, 0, 0), "velocity": (0, w * radius, 0)}
        block = Body("block", 0.5, point_mass=True, **moves)
        hub = Revolute("hub", Frame(GROUND), Frame(plate))
        top = PlaneContact("top", Frame(plate), Frame(block), law=ContactLaw(friction=0.5))
        mechanism = Mechanism([plate, block], [hub, Driven("motor", hub, w)], "relative")
        result = run(assemble(mechanism, [top], (0, 0, -G)), 10.0, StepBounds(1e-6, h))
        t = result["time"].values
        true = radius * np.column_stack([np.cos(w * t), np.sin(w * t)])
        yield tell_of_position(f"h {h:g} s", result, 1, true)


def driven_impact() -> Iterator[Told]:
    """A mass on a driven spring that strikes a stop once a period, 80 periods."""
    e, w, wall, phase, speed = 0.6, 2.2, 0.1, 2.713175414699495, -0.714023071494247 * 1.02
    duration = 80 * 2 * np.pi / w
    mass = Body("mass", 1.0, (1, 1, 1), position=(wall - 1e-9, 0, 0), velocity=(speed, 0, 0))
    rail = Prismatic("rail", Frame(GROUND, (0, 0, 0), (1.0, 0, 0)), Frame(mass, axes=(1.0, 0, 0)))
    slide = Slide(rail.a, rail.b)
    drive = JointDrives("drive", [slide], lambda t, q, _: ca.cos(w * t + phase) - q[0])
    stop = PlaneContact(
        *("stop", Frame(GROUND, (wall, 0, 0), (-1.0, 0, 0)), Frame(mass)),
        law=ContactLaw(restitution=e),
    )
    dynamics = assemble(Mechanism([mass], [rail], "relative"), [stop, drive])
    flights = list(_fly(e, w, wall, phase, (wall - 1e-9, speed), duration))
    for h in (2e-2, 1e-2, 5e-3, 2.5e-3, 1.25e-3):
        result = run(dynamics, duration, StepBounds(1e-6, h))
        t = result["time"].values
        k = np.searchsorted([begin for begin, _ in flights], t, "right") - 1
        true = np.array([flights[i][1](x)[0] for i, x in zip(k, t, strict=True)])
        yield tell_of_position(f"h {h:g} s", result, 0, true[:, None])


def _fly(
    e: float, w: float, wall: float, phase: float, state: tuple[float, float], duration: float
) -> Iterator[tuple[float, Callable[[float], tuple[float, float]]]]:
    """Yield the flights between impacts in closed form: when each begins, and (t) -> (x, v)."""
    begin, (x, v), gain = 0.0, state, 1 / (1 - w**2)
    while begin < duration:
        a = x - gain * np.cos(w * begin + phase)
        b = v + w * gain * np.sin(w * begin + phase)

        def fly(t: float, begin: float = begin, a: float = a, b: float = b) -> tuple[float, float]:
            s, drive = t - begin, w * t + phase
            x = a * np.cos(s) + b * np.sin(s) + gain * np.cos(drive)
            return x, b * np.cos(s) - a * np.sin(s) - w * gain * np.sin(drive)

        yield begin, fly
        t = begin + 1e-3
        while fly(t)[0] < wall:
            t += 1e-3
        begin = brentq(lambda t, fly=fly: fly(t)[0] - wall, t - 1e-3, t, xtol=1e-14)
        x, v = wall, -e * fly(begin)[1]


CASES = {
    "fast_hinge": fast_hinge,
    "short_compliant_contact": short_compliant_contact,
    "turntable_stick": turntable_stick,
    "driven_impact": driven_impact,
}
