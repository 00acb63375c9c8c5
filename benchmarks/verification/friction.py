"""Friction of contacts and joints, and what rolls: closed forms."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from nsopt import (
    GROUND,
    Body,
    ContactLaw,
    Dynamics,
    Frame,
    KnifeEdge,
    Mechanism,
    Planar,
    PlaneContact,
    Result,
    Revolute,
    StribeckLaw,
    TurnFriction,
    ViscousLaw,
    assemble,
)

from .figure import Figure, Subject
from .runs import G, run

MU, LEAN = 0.4, np.arctan(0.5)


@cache
def block(friction: float, lean: float = 0.0, speed: float = 0.0, viscous: float = 0.0) -> Dynamics:
    """Return a particle of 2 kg on a slope that rises along x; gravity is tilted instead."""
    body = Body("block", 2.0, velocity=(speed, 0, 0), point_mass=True)
    law = ContactLaw(friction=friction, viscous=viscous)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), planar=True, law=law)
    return assemble(Mechanism([body]), [floor], (-G * np.sin(lean), 0, -G * np.cos(lean)))


@cache
def sliding() -> Result:
    """Return the run of the block that slides to rest."""
    return run(block(MU, speed=1.0), 0.4, 1e-4)


def at_the_end(dynamics: Dynamics, variable: str, duration: float) -> float:
    """Return the first entry of a variable at the end of a run."""
    return float(run(dynamics, duration, 1e-3)[variable].values[-1, 0])


@cache
def bowled() -> Result:
    """Return a ball that is thrown along a rough floor without spin and ends rolling."""
    ball = Body("ball", 1.0, (0.4 * 0.01,) * 3, position=(0, 0, 0.1), velocity=(2.0, 0, 0))
    law = ContactLaw(friction=0.3)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball), 0.1, planar=True, law=law)
    return run(assemble(Mechanism([ball]), [floor], (0, 0, -G)), 0.4, 1e-4)


def begins_to_roll() -> float:
    """Return when the ball has the velocity of rolling, by its constant acceleration [s]."""
    t, v = bowled()["time"].values, bowled()["v"].values[:, 0]
    k = int(np.argmin(np.abs(t - 0.1)))
    slope = (v[k] - v[k // 2]) / (t[k] - t[k // 2])
    return float(t[k] + (v[-1] - v[k]) / slope)


@cache
def wheel(law: StribeckLaw | ViscousLaw) -> Dynamics:
    """Return a wheel on a level journal of 20 mm, 10 kg, 0.2 kg m^2, at 30 rad/s."""
    body = Body("wheel", 10.0, (0.1, 0.1, 0.2), angular_velocity=(0, 0, 30.0))
    ends = Frame(GROUND), Frame(body)
    friction = TurnFriction("journal", *ends, law, radius=0.02)
    journal = Revolute("axle", *ends)
    return assemble(Mechanism([body], [journal], "relative"), [friction], (0, -G, 0))


def spun(law: StribeckLaw | ViscousLaw) -> float:
    """Return the angular velocity of the wheel after 1 s [rad/s]."""
    return float(run(wheel(law), 1.0, 1e-3)["v"].values[-1, 0])


@cache
def skate() -> Result:
    """Return a skate on a slope of 20 deg that falls along x, turning at 2 rad/s."""
    slope = np.radians(20)
    body = Body("skate", 1.5, (0.1, 0.1, 0.1), angular_velocity=(0, 0, 2.0))
    ice = Frame(GROUND)
    mechanism = Mechanism([body], [Planar("plane", ice, Frame(body))], "relative")
    weight = (G * np.sin(slope), 0, -G * np.cos(slope))
    dynamics = assemble(mechanism, [KnifeEdge("edge", ice, Frame(body))], weight)
    return run(dynamics, 2.0, 1e-3)


CYCLOID = G * np.sin(np.radians(20)) / 8
PULL = G * (np.sin(LEAN) - 0.3 * np.cos(LEAN))

SUBJECT = Subject(
    "Friction and rolling",
    (
        Figure(
            "block at 1 m/s, μ = 0.4, way to rest, h = 0.1 ms",
            "m",
            1 / (2 * MU * G),
            "v² / (2 μ g)",
            lambda: float(sliding()["q"].values[-1, 0]),
            1e-4,
        ),
        Figure(
            "block at rest after it slid, creep in the last 0.1 s",
            "m",
            0.0,
            "Coulomb: it sticks",
            lambda: float(np.ptp(sliding()["q"].values[-1000:, 0])),
            1e-12,
        ),
        Figure(
            "block at 1 m/s, energy taken by friction until it rests",
            "J",
            1.0,
            "m v² / 2",
            lambda: float(np.nansum(sliding()["contact_loss"].values)),
            1e-3,
        ),
        Figure(
            "block on a slope of 1/2, μ = 0.3, velocity after 0.2 s",
            "m/s",
            -0.2 * PULL,
            "g (sin - μ cos) t",
            partial(at_the_end, block(0.3, LEAN), "v", 0.2),
            1e-9,
        ),
        Figure(
            "block on a slope of 1/2, μ = 0.51, way in 0.2 s",
            "m",
            0.0,
            "μ > tan: it sticks",
            partial(at_the_end, block(0.51, LEAN), "q", 0.2),
            1e-10,
        ),
        Figure(
            "block with viscous friction of 4 N s/m, velocity after 0.5 s",
            "m/s",
            float(np.exp(-1.0)),
            "v exp(-c t / m)",
            partial(at_the_end, block(0.0, speed=1.0, viscous=4.0), "v", 0.5),
            3e-3 * float(np.exp(-1.0)),
        ),
        Figure(
            "ball thrown without spin at 2 m/s, velocity once it rolls",
            "m/s",
            10 / 7,
            "5/7 v (angular momentum about the floor)",
            lambda: float(bowled()["v"].values[-1, 0]),
            1e-6,
        ),
        Figure(
            "ball thrown without spin at 2 m/s, μ = 0.3, time at which it rolls",
            "s",
            2 * 2.0 / (7 * 0.3 * G),
            "2 v / (7 μ g)",
            begins_to_roll,
            1e-5,
        ),
        Figure(
            "wheel on a rough journal, μ = 0.1, angular velocity after 1 s",
            "rad/s",
            30 - 0.1 * 0.02 * 10 * G / 0.2,
            "ω - μ r m g t / J",
            partial(spun, StribeckLaw(0.1)),
            1e-5,
        ),
        Figure(
            "wheel with viscous friction, angular velocity after 1 s",
            "rad/s",
            float(30 * np.exp(-10.0 * 0.02 / 0.2)),
            "ω exp(-c r t / J), c in N s/rad",
            partial(spun, ViscousLaw(10.0)),
            1e-4,
        ),
        Figure(
            "skate on a slope, turning, way down after 2 s, h = 1 ms",
            "m",
            float(CYCLOID * np.sin(4.0) ** 2),
            "cycloid, a sin² ω t",
            lambda: float(skate()["q"].values[-1, 0]),
            1e-5,
        ),
        Figure(
            "skate on a slope, turning, way across after 2 s, h = 1 ms",
            "m",
            float(CYCLOID * (4.0 - np.sin(8.0) / 2)),
            "cycloid, a (ω t - sin 2 ω t / 2)",
            lambda: float(skate()["q"].values[-1, 1]),
            1e-5,
        ),
    ),
)
