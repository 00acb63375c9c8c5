"""Motions whose contacts close, open, slip, stop and stick, and how they end.

By closed forms, and DOP853 from event to event. Springs are there so that motions between events
are not exact in steps of any size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from nsopt import (
    GROUND,
    Body,
    Compiled,
    ContactLaw,
    Dynamics,
    FollowContacts,
    Frame,
    LargestStep,
    Mechanism,
    Planar,
    PlanarRevoluteClearance,
    PlaneContact,
    Result,
    SpringDamper,
    StepBounds,
    assemble,
    simulate,
)
from nsopt.schemes import Scheme
from tests.schemes.event_driven import WornPins
from tests.schemes.models import G, Shaken
from tests.schemes.test_changes_of_contact import on_belt, on_floor, sway
from tests.schemes.test_driven_tables import ball_on_table
from tests.schemes.test_event_driven import FourBar
from tests.schemes.test_impact_times import worn

Array = NDArray[np.float64]
STIFFNESS, MU = 100.0, 0.3  # N/m
ROUND_OFF = 1e-12  # of the place in meters or of the energy, at least of 1 J: no order below it
PLACED = LargestStep(contacts=FollowContacts(placed=1e-7, overdue=1e-8))
"""Changes of contact placed so exactly that what is left is the error of steps between."""


class End(NamedTuple):
    """How a motion ends."""

    place: Array  # (2,) [m]
    energy: float  # [J]


@dataclass(frozen=True)
class Motion:
    """A motion, the largest steps that show its order, and where it ends, if that is known."""

    name: str
    dynamics: Dynamics
    body: str
    duration: float  # s
    largest: float  # s
    exact: End | None = None

    def find_end(self, result: Result) -> End:
        """Return how a run ended: x and y, of bodies on a floor x and z."""
        place = result["body_position"].sel(body=self.body).values[-1]
        flat = abs(place[1]) >= abs(place[2])
        return End(place[:2] if flat else place[[0, 2]], float(result["total_energy"].values[-1]))


def run(motion: Motion, scheme: Scheme, h: float) -> Result:
    """Simulate a motion in steps of at most h."""
    result = simulate(
        motion.dynamics,
        duration=motion.duration,
        steps=StepBounds(1e-6 * h, h),
        scheme=scheme,
        control=PLACED,
        solver=Compiled(),
        check=None,
        progress=False,
    )
    assert result.completed, f"{motion.name}: {result.stop_reason}"
    return result


def find_errors(ends: list[End], exact: End) -> Array:
    """Return by how much place [m] and energy [J] are off, (2, number of ends)."""
    off = [[np.linalg.norm(x.place - exact.place), abs(x.energy - exact.energy)] for x in ends]
    return np.transpose(off)


def fit_orders(sizes: Array, errors: Array, energy: float) -> list[float]:
    """Return the orders of place and energy as far as above round-off; infinite where all are not.

    ``energy`` [J] is the one at the end.
    """
    orders = []
    for off, unit in zip(errors, (1.0, max(1.0, abs(energy))), strict=True):
        seen = off > ROUND_OFF * unit
        fits = np.count_nonzero(seen) > 1
        orders.append(np.polyfit(np.log(sizes[seen]), np.log(off[seen]), 1)[0] if fits else np.inf)
    return orders


class Swing(NamedTuple):
    """A harmonic motion about a place, from x with v at t = 0."""

    rate: float
    middle: float
    x: float
    v: float

    def at(self, t: float) -> tuple[float, float]:
        """Return place and velocity."""
        c, s, far = np.cos(self.rate * t), np.sin(self.rate * t), self.x - self.middle
        place = self.middle + far * c + self.v / self.rate * s
        return float(place), float(self.v * c - far * self.rate * s)


def make_ball(
    radius: float, law: ContactLaw, z: float, vx: float, stiffness: float = STIFFNESS
) -> Dynamics:
    """Return a sphere over a floor, a spring from its centre to the origin."""
    J = 0.4 * radius**2 or 1.0
    ball = Body("ball", 1.0, (J,) * 3, position=(0, 0, z), velocity=(vx, 0, 0))
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball), radius=radius, law=law)
    spring = SpringDamper("spring", Frame(GROUND), Frame(ball), stiffness)
    return assemble(Mechanism([ball]), [floor, spring], (0, 0, -G))


def bounce(e: float, duration: float, vx: float = 0.0, mu: float = 0.0) -> Motion:
    """Return a ball that falls, thrown along the floor at vx: each impact slides all the time."""
    radius, height, w = 0.05, 0.5, np.sqrt(STIFFNESS)
    z, x = Swing(w, -G / STIFFNESS, height, 0.0), Swing(w, 0.0, 0.0, vx)
    t, spin = 0.0, 0.0
    while True:
        times = np.linspace(1e-4, 2 * np.pi / w, 400)
        below = np.flatnonzero([z.at(s)[0] < radius for s in times])
        hit = brentq(
            lambda s, z=z: z.at(s)[0] - radius, times[below[0] - 1], times[below[0]], xtol=1e-15
        )
        if t + hit > duration:
            break
        t, (_, down), (place, along) = t + hit, z.at(hit), x.at(hit)
        push = mu * (1 + e) * -down
        slip = along - radius * spin
        push = min(push, abs(slip) * 2 / 7) * np.sign(slip)
        spin += push * radius / (0.4 * radius**2)
        z, x = Swing(w, z.middle, radius, -e * down), Swing(w, 0.0, place, along - push)
        if e == 0:
            break
    (up, vz), (place, along) = z.at(duration - t), x.at(duration - t)
    if e == 0:
        up, vz = radius, 0.0
    energy = (along**2 + vz**2 + 0.4 * (radius * spin) ** 2 + STIFFNESS * (up**2 + place**2)) / 2
    end = End(np.array([place, up]), energy + G * up)
    name = f"ball thrown with friction, e = {e:g}" if vx else f"ball on a floor, e = {e:g}"
    dynamics = make_ball(radius, ContactLaw(e, mu), height, vx)
    return Motion(name, dynamics, "ball", duration, 8e-3, end)


def stop() -> Motion:
    """Return a block on a spring that turns round twice and sticks."""
    start, w, T = 0.31, np.sqrt(STIFFNESS), 3.0
    place = sway(T, start, w, 0.25 * G / STIFFNESS)
    end = End(np.array([place, 0.0]), STIFFNESS * place**2 / 2)
    dynamics = on_floor(0.25, STIFFNESS, position=(start, 0, 0))
    return Motion("block that slides to rest and sticks", dynamics, "block", T, 8e-3, end)


def turn() -> Motion:
    """Return a block on a spring, thrown across it."""

    def rates(_: float, x: Array) -> Array:
        u = x[2:] / np.linalg.norm(x[2:])
        return np.concatenate([x[2:], -STIFFNESS * x[:2] - 0.1 * G * u])

    y = integrate(rates, 0.5, [0.3, 0, 0, 2.0])
    energy = (y[2:] @ y[2:] + STIFFNESS * y[:2] @ y[:2]) / 2
    dynamics = on_floor(0.1, STIFFNESS, position=(0.3, 0, 0), velocity=(0, 2.0, 0))
    return Motion("slip that turns", dynamics, "block", 0.5, 8e-3, End(y[:2], energy))


def integrate(rates: Callable[[float, Array], Array], duration: float, start: list[float]) -> Array:
    """Return the end of a smooth motion."""
    y: Array = solve_ivp(rates, (0, duration), start, "DOP853", rtol=1e-13, atol=1e-14).y
    return y[:, -1]


def belt() -> Motion:
    """Return a block on a belt: it slides, is carried, slides again."""
    speed, beyond, w, held = 0.2, 0.05, np.sqrt(STIFFNESS), MU * G / STIFFNESS
    sticks = brentq(lambda t: -beyond * w * np.sin(w * t) - speed, 1.01 * np.pi / w, 0.45)
    slides = sticks - beyond * np.cos(w * sticks) / speed
    place, rate = Swing(float(w), held, held, speed).at(0.2)
    energy = (rate**2 + STIFFNESS * place**2 + 50 * speed**2) / 2
    dynamics = on_belt(MU, STIFFNESS, speed, held + beyond)
    end = End(np.array([place, 0.0]), energy)
    return Motion("stick-slip on a belt", dynamics, "block", slides + 0.2, 8e-3, end)


def bowl() -> Motion:
    """Return a ball that slides, then rolls, on a spring."""
    radius, v, T, k = 0.05, 3.0, 0.5, 10.0
    w, push = float(np.sqrt(k)), G + k * radius  # the spring is of no length, and pulls down too
    slides = Swing(w, -MU * push / k, 0.0, v)
    rolls = brentq(lambda t: slides.at(t)[1] - MU * push / 0.4 * t, 0.01, 0.4, xtol=1e-15)
    place, rate = Swing(float(w * np.sqrt(5 / 7)), 0.0, *slides.at(rolls)).at(T - rolls)
    energy = (1.4 * rate**2 + k * (place**2 + radius**2)) / 2 + G * radius
    dynamics = make_ball(radius, ContactLaw(friction=MU), radius, v, k)
    end = End(np.array([place, radius]), energy)
    return Motion("bowling ball", dynamics, "ball", T, 8e-3, end)


def roll() -> Motion:
    """Return a disc that rolls in a bore."""
    hole, radius, angle, T = 0.1, 0.05, 0.8, 0.7
    arm = hole - radius
    start = (arm * np.sin(angle), -arm * np.cos(angle), 0)
    disc = Body("disc", 1.0, (1.0, 1.0, 0.5 * radius**2), position=start)
    frames, law = (Frame(disc), Frame(GROUND)), ContactLaw(friction=0.5)
    bore = PlanarRevoluteClearance("bore", *frames, clearance=arm, radius=radius, law=law)
    mechanism = Mechanism([disc], [Planar("plane", *frames[::-1])], "relative")
    end, rate = integrate(
        lambda _, x: np.array([x[1], -2 * G / (3 * arm) * np.sin(x[0])]), T, [angle, 0.0]
    )
    place = arm * np.array([np.sin(end), -np.cos(end)])
    energy = 0.75 * (arm * rate) ** 2 + G * place[1]
    return Motion(
        "rolling in a bore",
        assemble(mechanism, [bore], (0, -G, 0)),
        "disc",
        T,
        8e-3,
        End(place, energy),
    )


def rod() -> Motion:
    """Return a rod let go in its worn hinge at 200 rad/s, from the middle of the bore."""
    w, arm, J, T = 200.0, 0.5, 0.09, 0.01
    body = Body(
        "rod",
        1.0,
        (0.01, J, J),
        position=(arm, 0, 0),
        velocity=(0, arm * w, 0),
        angular_velocity=(0, 0, w),
    )
    hinge = PlanarRevoluteClearance(
        "hinge", Frame(GROUND), Frame.at(body, (0, 0, 0)), clearance=1e-3
    )
    mass = np.array([1.0, 1.0, J])
    pins = WornPins(
        mass,
        lambda q: [q[:2] - arm * ca.vertcat(ca.cos(q[2]), ca.sin(q[2]))],
        np.array([1e-3]),
    )
    motion = pins.run(np.array([arm, 0, 0]), np.array([0, arm * w, w]), T)
    energy = float(mass @ motion.v**2) / 2
    dynamics = assemble(Mechanism([body]), [hinge])
    end = End(motion.q[:2], energy)
    return Motion("rod in a worn hinge, 200 rad/s", dynamics, "rod", T, 4e-5, end)


def bar() -> Motion:
    """Return a four-bar both pins of whose coupler are worn."""
    model = FourBar(1e-3, 2.0)
    q, energy, _ = model.exact(0.2)
    end = End(q[:2], energy)
    return Motion("four-bar, two worn pins", model.dynamics, "coupler", 0.2, 8e-4, end)


def shake() -> Motion:
    """Return a ball that a table throws, in its second flight."""
    shaken, period = Shaken(0.01, 50.0), 2 * np.pi / 50.0
    t = (shaken.left + shaken.landed) / 2
    place, late = float(shaken.height(np.array(t))), t - shaken.left
    rate = shaken.amplitude * shaken.rate * np.cos(shaken.rate * shaken.left) - G * late
    table_place = shaken.floor(t)
    table_rate = shaken.amplitude * shaken.rate * np.cos(shaken.rate * t)
    energy = rate**2 / 2 + G * place + 5 * (table_rate**2 / 2 + G * table_place)
    end = End(np.array([0.0, place]), float(energy))
    return Motion("vibrating table", ball_on_table(), "ball", t + period, 2e-3, end)


def crank(duration: float) -> Motion:
    """Return a slider-crank whose wrist pin is worn, let go at 150 rad/s."""
    return Motion(f"slider-crank, worn pin, {duration:g} s", worn(), "slider", duration, 1e-4)


MOTIONS: dict[str, Callable[[], Motion]] = {
    "ball-0": lambda: bounce(0.0, 0.5, 1.0),
    "ball-0.5": lambda: bounce(0.5, 0.35),
    "ball-0.9": lambda: bounce(0.9, 1.2),
    "thrown": lambda: bounce(0.6, 0.7, 2.0, 0.2),
    "stop": stop,
    "turn": turn,
    "belt": belt,
    "bowl": bowl,
    "roll": roll,
    "rod": rod,
    "bar": bar,
    "shake": shake,
}
"""Each by a name."""
