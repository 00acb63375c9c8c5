"""Impacts and contacts that open: closed forms, published runs."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from scipy.optimize import brentq

from nsopt import (
    GROUND,
    Body,
    CompliantContact,
    ContactAligned,
    ContactLaw,
    Dynamics,
    Frame,
    Hertz,
    Mechanism,
    MoreauJean,
    NewtonImpact,
    Parameter,
    PlaneContact,
    PoissonImpact,
    Result,
    SphereContact,
    assemble,
)
from nsopt.schemes import Impact
from problems.slider_crank.slider_crank import with_play

from .figure import Figure, Subject
from .runs import G, at, events, run

SICONOS = "published result of Siconos, Moreau-Jean, θ = 1/2"
FLORES = "Flores, Leine, Glocker 2010, converged without friction"
UPRIGHT = np.column_stack([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])  # z of the frame along y

# A ball


@cache
def ball(restitution: float = 0.9) -> Dynamics:
    """Return a particle 1 m above a floor."""
    body = Body("ball", 1.0, position=(0, 0, 1.0), point_mass=True)
    law = ContactLaw(restitution=restitution)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=law)
    return assemble(Mechanism([body]), [floor], (0, 0, -G))


@cache
def aligned_ball() -> Result:
    """Return its run by steps that end at impacts."""
    return run(ball(), 9.0, 1e-2, ContactAligned(v_rest=1e-3))


def impact_time(k: int) -> float:
    """Return the time of an impact [s]."""
    result = aligned_ball()
    return float(result["time"].values[events(result)[k]])


@cache
def siconos_ball() -> Result:
    """Return its run by the scheme of the published one."""
    return run(ball(), 5.0, 5e-3, MoreauJean())


def ball_of_siconos(variable: str, t: float) -> float:
    """Return its height [m] or velocity [m/s]."""
    result = siconos_ball()
    return float(result[variable].values[at(result, t), 2])


FIRST = np.sqrt(2 / G)
IMPACTS = FIRST + np.concatenate([[0], np.cumsum(2 * FIRST * 0.9 ** np.arange(1, 20))])

# A stick


@cache
def stick() -> Result:
    """Return the fall of a rod on a floor with e = 1, mu = 0.01, in the plane."""
    angle = np.pi / 4
    rod = Body(
        "rod",
        1.0,
        (1 / 12,) * 3,
        position=(np.sin(angle) / 2, np.cos(angle) / 2 + 0.01, 0),
        orientation=(np.cos(angle / 2), 0, 0, np.sin(angle / 2)),
        velocity=(-0.5, 0.1, 0),
        angular_velocity=(0, 0, 0.1),
    )
    law = ContactLaw(restitution=1.0, friction=0.01)
    ends = Frame(GROUND, (0, 0, 0), UPRIGHT), Frame(rod, (0, -0.5, 0))
    floor = PlaneContact("floor", *ends, planar=True, law=law)
    return run(assemble(Mechanism([rod]), [floor], (0, -10, 0)), 0.2, 1e-4, MoreauJean())


def of_stick(variable: str, axis: int) -> float:
    """Return an entry of a variable of the stick at the end."""
    return float(stick()[variable].values[-1, axis])


def turn_of_stick() -> float:
    """Return the angle of the stick at the end [rad]."""
    q = stick()["q"].values[-1]
    return float(2 * np.arctan2(q[6], q[3]))


# A slider-crank whose slider has play in its guide


@cache
def slider_crank() -> Dynamics:
    """Return crank, rod and slider of the publication, in joint coordinates."""
    return with_play(Parameter("restitution", 0.0), "relative")


@cache
def crank_run(restitution: float) -> Result:
    """Return the run up to and just after the first impact."""
    values = {"restitution": restitution}
    return run(slider_crank(), 2.75e-3, 2e-6, ContactAligned(), parameters=values)


def crank(restitution: float, what: str) -> float:
    """Return a reading of the first impact, of both upper corners at once."""
    result = crank_run(restitution)
    k = events(result)[0]
    if what == "time":
        return float(result["time"].values[k])
    if what == "impulse":
        return float(result["impulse"].values[k, :2].mean())
    if what == "loss":
        return float(result["contact_loss"].values[k].sum())
    return float(result["v"].values[k, 0])


CRANK = [
    (0.0, "time", "s", 0.002692502752016642, 1e-8),
    (0.0, "speed", "rad/s", 109.012001, 1.1e-4),
    (0.0, "impulse", "N s", 0.03956787, 4e-8),
    (0.0, "loss", "J", 0.0333008026, 4e-8),
    (0.4, "speed", "rad/s", 108.793729, 1.1e-4),
    (0.4, "impulse", "N s", 0.05539501, 6e-8),
    (0.4, "loss", "J", 0.0279726742, 3e-8),
]

# Two contacts at once


@cache
def posts_run(impact: Impact) -> Result:
    """Return the landing of a rod on two posts of different restitution."""
    rod = Body("rod", 2.0, (0.01, 0.18, 0.18), position=(0, 0, 0.05))
    posts = [
        PlaneContact(name, Frame(GROUND), Frame(rod, (x, 0, 0)), law=ContactLaw(restitution=e))
        for name, x, e in (("left", -0.3, 0.0), ("right", 0.3, 0.8))
    ]
    dynamics = assemble(Mechanism([rod]), posts, (0, 0, -G))
    return run(dynamics, 0.11, 1e-3, ContactAligned(impact=impact))


def post(impact: Impact, k: int) -> float:
    """Return the impulse of a post as the rod lands [N s]."""
    impulse = posts_run(impact)["impulse"].values
    return float(impulse[int(np.nanargmax(np.sum(impulse, axis=1))), k])


def _blows(newton: bool) -> np.ndarray:
    near, far = 1 / 2 + 0.09 / 0.18, 1 / 2 - 0.09 / 0.18
    delassus, e = np.array([[near, far], [far, near]]), np.array([0.0, 0.8])
    speed = np.full(2, np.sqrt(2 * G * 0.05))
    if newton:
        return np.linalg.solve(delassus, (1 + e) * speed)
    return (1 + e) * np.linalg.solve(delassus, speed)


# Contacts that open


def leaves_the_sphere() -> float:
    """Return the cosine of the angle at which a particle leaves a smooth sphere."""
    lean = 0.05
    bead = Body("bead", 1.0, point_mass=True, position=(np.sin(lean), 0, np.cos(lean)))
    ball = SphereContact("ball", Frame(GROUND), Frame(bead), 1.0)
    dynamics = assemble(Mechanism([bead]), [ball], (0, 0, -G))
    result = run(dynamics, 1.6, 1e-3, ContactAligned())
    return float(result["q"].values[events(result, "opening")[0], 2])


def ladder() -> float:
    """Return the height of the top of a smooth ladder where it leaves the wall, over the first."""
    lean = np.radians(30)
    middle = (np.sin(lean) / 2, np.cos(lean) / 2, 0)
    rod = Body("ladder", 1.0, (1 / 12,) * 3, middle, (np.cos(lean / 2), 0, 0, np.sin(lean / 2)))
    across = np.column_stack([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])  # z along x
    contacts = [
        PlaneContact("floor", Frame(GROUND, axes=UPRIGHT), Frame(rod, (0, -0.5, 0)), planar=True),
        PlaneContact("wall", Frame(GROUND, axes=across), Frame(rod, (0, 0.5, 0)), planar=True),
    ]
    dynamics = assemble(Mechanism([rod]), contacts, (0, -G, 0))
    result = run(dynamics, 0.6, 1e-3, ContactAligned())
    q = result["q"].values[events(result, "opening")[0]]
    return float(2 * q[1] / np.cos(lean))


# A shaken floor: a ball leaves it and lands

AMPLITUDE, RATE = 0.01, 50.0


@cache
def shaken() -> Result:
    """Return the run of a ball that a floor at A sin(w t) throws."""
    body = Body("ball", 1.0, point_mass=True, velocity=(0, 0, AMPLITUDE * RATE))
    floor = PlaneContact(
        "floor",
        Frame(GROUND),
        Frame(body),
        offset=lambda t: (0, 0, AMPLITUDE * np.sin(RATE * t)),
        law=ContactLaw(),
    )
    return run(assemble(Mechanism([body]), [floor], (0, 0, -G)), 0.13, 1e-4, ContactAligned())


def event_of_shaken(kind: str) -> float:
    """Return when the ball leaves or lands [s]."""
    result = shaken()
    return float(result["time"].values[events(result, kind)[0]])


LEAVES = float(np.arcsin(G / (AMPLITUDE * RATE**2)) / RATE)


def _lands() -> float:
    up = AMPLITUDE * RATE * np.cos(RATE * LEAVES)
    begin = AMPLITUDE * np.sin(RATE * LEAVES)

    def gap(t: float) -> float:
        late = t - LEAVES
        return float(begin + up * late - G * late**2 / 2 - AMPLITUDE * np.sin(RATE * t))

    return float(brentq(gap, LEAVES + 0.2 / RATE, LEAVES + 6 / RATE, xtol=1e-14))


# A compliant contact

MASS, STIFFNESS, SPEED = 2.0, 1e7, 0.5


def deepest() -> float:
    """Return the largest penetration of a particle into an elastic wall [m]."""
    body = Body("ball", MASS, position=(0, 0, 1e-6), velocity=(0, 0, -SPEED), point_mass=True)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body))
    dynamics = assemble(Mechanism([body]), [CompliantContact("soft", floor, Hertz(STIFFNESS))])
    result = run(dynamics, 5e-3, 1e-6)
    return float(-result["q"].values[:, 2].min())


SUBJECT = Subject(
    "Impacts",
    (
        *(
            Figure(
                f"ball from 1 m, e = 0.9, impact {k + 1}, `ContactAligned`",
                "s",
                float(IMPACTS[k]),
                "√(2 h / g) (1 + 2 e + 2 e² + ...)",
                partial(impact_time, k),
                1e-9,
            )
            for k in (0, 1, 4, 19)
        ),
        *(
            Figure(
                f"ball from 1 m, e = 0.9, {name} at {t:g} s, `MoreauJean`, h = 5 ms",
                unit,
                value,
                SICONOS,
                partial(ball_of_siconos, name, t),
                1e-12,
            )
            for name, unit, t, value in (
                ("q", "m", 1.0, 0.7140385),
                ("q", "m", 5.0, 0.151353680262514),
                ("v", "m/s", 4.0, 0.499186264500001),
            )
        ),
        *(
            Figure(
                f"stick with friction, {what} at 0.2 s, `MoreauJean`, h = 0.1 ms",
                unit,
                value,
                SICONOS,
                ours,
                1e-12,
            )
            for what, unit, value, ours in (
                ("height", "m", 0.24716933008261, partial(of_stick, "q", 1)),
                ("angle", "rad", 1.08189149398836, turn_of_stick),
                ("velocity along the floor", "m/s", -0.50686726067093, partial(of_stick, "v", 0)),
                ("angular velocity", "rad/s", 3.21207057875369, partial(of_stick, "v", 5)),
            )
        ),
        *(
            Figure(
                f"slider-crank, play of 1 mm in its guide, first impact, e = {e:g}: "
                + ("speed of the crank after it" if what == "speed" else what),
                unit,
                value,
                FLORES,
                partial(crank, e, what),
                tolerance,
            )
            for e, what, unit, value, tolerance in CRANK
        ),
        *(
            Figure(
                f"rod on two posts, e = 0 and 0.8, {law} law, impulse of the {side}",
                "N s",
                float(_blows(law == "Newton's")[k]),
                "by hand, with the Delassus matrix",
                partial(post, impact, k),
                1e-8,
            )
            for law, impact in (("Newton's", NewtonImpact()), ("Poisson's", PoissonImpact()))
            for k, side in enumerate(("left", "right"))
        ),
        Figure(
            "particle on a smooth sphere, cos θ where it leaves",
            "1",
            2 / 3 * np.cos(0.05),
            "2/3 cos θ₀ (energy; no normal force)",
            leaves_the_sphere,
            1e-6,
        ),
        Figure(
            "smooth ladder, height of its top where it leaves the wall, over the first",
            "1",
            2 / 3,
            "2/3 (energy; no force of the wall)",
            ladder,
            1e-5,
        ),
        Figure(
            "ball on a shaken floor, time at which it leaves",
            "s",
            LEAVES,
            "arcsin(g / (A ω²)) / ω",
            partial(event_of_shaken, "opening"),
            1e-8,
        ),
        Figure(
            "ball on a shaken floor, time at which it lands",
            "s",
            _lands(),
            "root of the ballistic gap",
            partial(event_of_shaken, "closing"),
            1e-8,
        ),
        Figure(
            "particle on Hertz's wall, largest penetration, h = 1 μs",
            "m",
            float((1.25 * MASS * SPEED**2 / STIFFNESS) ** 0.4),
            "(5 m v² / (4 K))^(2/5)",
            deepest,
            1e-8,
        ),
    ),
)
