"""Small mechanisms drawn at random, by a seed: structures, and numbers for each of them.

In the plane and in space, in both coordinates: chains and a loop on ideal joints, hinges with
clearance, bodies that fall, slide and roll, arms that strike a floor, balls one above the other,
driven stops, tables that turn, compliant floors, springs and dampers from soft to stiff. Structures
are assembled (and compiled) once; the numbers are Parameters, starts and steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import casadi as ca
import numpy as np
from draws import G, Numbered, Structure, between, fallen

from nsopt import (
    GROUND,
    Body,
    CompliantContact,
    ContactLaw,
    Driven,
    Flores,
    Frame,
    Hertz,
    HuntCrossley,
    JointDrives,
    Mechanism,
    MoreauJean,
    Parameter,
    Planar,
    PlanarRevoluteClearance,
    PlaneContact,
    Prismatic,
    Revolute,
    Slide,
    SphereContact,
    Spherical,
    SpringDamper,
    TorsionSpringDamper,
    TurnFriction,
    Universal,
    assemble,
)
from nsopt import StribeckLaw as Stribeck

X = (1.0, 0.0, 0.0)
UP = (0.0, 1.0, 0.0)
"""Normal of floors of mechanisms that move in the plane."""


def floor(
    body: Body, height: float, law: ContactLaw, normal: tuple[float, ...] = UP
) -> PlaneContact:
    """Return a contact of a ball of 2 cm radius with a floor."""
    at = tuple(height * x for x in normal)
    plane = Frame(GROUND, at, normal)
    return PlaneContact(f"floor {body.name}", plane, Frame(body), 0.02, law=law)


def law() -> ContactLaw:
    """Return a law of Parameters."""
    return ContactLaw(restitution=Parameter("e", 0.5), friction=Parameter("mu", 0.3))


def frictionless() -> ContactLaw:
    """Return the same without friction."""
    return ContactLaw(restitution=Parameter("e", 0.5))


def chain(links: int, coordinates: str, extras: str, speed: float) -> Structure:
    """Return a chain on hinges in the plane; with springs, a stop on the floor, or friction."""
    length, bodies, joints, elements = 0.3, [], [], []
    for k in range(links):
        body = Body(f"b{k}", 1.0, (0.002, 0.01, 0.01), position=((k + 0.5) * length, 0, 0))
        before = Frame(GROUND) if k == 0 else Frame.at(bodies[-1], (k * length, 0, 0))
        joint = Revolute(f"j{k}", before, Frame.at(body, (k * length, 0, 0)))
        bodies.append(body)
        joints.append(joint)
        if extras == "springs":
            elements.append(
                TorsionSpringDamper(
                    *(f"s{k}", *joint.frames, Parameter("k", 1.0)),
                    damping=Parameter("c", 0.0),
                )
            )
        if extras == "friction":
            rub = TurnFriction(f"r{k}", *joint.frames, Stribeck(kinetic=0.2), radius=0.02)
            elements.append(rub)
    if extras == "floor":
        plane = Frame(GROUND, (0, Parameter("y", -0.1), 0), UP)
        tip = Frame(bodies[-1], (length / 2, 0, 0))
        elements.append(PlaneContact("floor", plane, tip, 0.01, law=law()))
    d = assemble(Mechanism(bodies, joints, coordinates), elements, (0, -G, 0))

    def numbers(rng: np.random.Generator) -> Numbered:
        w = speed * between(rng, 0.3, 3) * rng.choice([-1, 1])
        k = between(rng, 0.1, 1e4)
        values = {"k": k, "c": rng.choice([0.0, 1e-3, 0.05]), "y": rng.uniform(-0.25, -0.05)}
        values |= {"e": rng.choice([0.0, rng.uniform(0, 1)]), "mu": rng.choice([0.0, 0.3, 0.8])}
        period = 2 * np.pi / max(abs(w), np.sqrt(G / length))
        if extras == "springs":
            period = min(period, 2 * np.pi * np.sqrt(0.03 / k))
        if coordinates == "relative":
            v = {0: w}
        else:
            v = {}
            for b in range(links):
                v |= {6 * b + 1: w * (b + 0.5) * length, 6 * b + 5: w}
        named = {x.name for x in d.parameters}
        used = {x: float(y) for x, y in values.items() if x in named}
        sticks = links == 1 and used.get("mu", 0.0) > 0  # the hinge leaves one way to move
        return Numbered(used, v, min(10 * period, 1.0), period, determined=not sticks)

    label = f"chain of {links}, {coordinates}, {extras or 'plain'}, {speed:g} rad/s"
    smooth = extras in ("", "springs")
    schemes = (None, None, None, MoreauJean()) if links == 1 and smooth else (None,)
    return Structure(label, d, numbers, smooth, schemes)


def spatial(kind: str, coordinates: str) -> Structure:
    """Return a body on a ball joint, a universal joint or a tilted hinge, that spins."""
    body = Body("b", 1.0, (0.004, 0.006, 0.009), position=(0.1, 0.15, 0.05))
    axes = np.linalg.qr(np.array([[1.0, 2, 0.3], [0.2, 1, 3], [2, 0.1, 1]]))[0]
    axes *= np.sign(np.linalg.det(axes))
    a, b = Frame(GROUND, (0, 0, 0), axes), Frame.at(body, (0, 0, 0), axes)
    joint = {"ball": Spherical, "universal": Universal, "hinge": Revolute}[kind]
    spring = SpringDamper("s", Frame(GROUND, (0, 0, 0.5)), Frame(body), Parameter("k", 10.0))
    d = assemble(Mechanism([body], [joint("j", a, b)], coordinates), [spring], (0, 0, -G))

    def numbers(rng: np.random.Generator) -> Numbered:
        k, w = between(rng, 0.1, 1e3), between(rng, 1, 60)
        period = 2 * np.pi / max(w, np.sqrt(k), 5.0)
        if coordinates == "absolute":
            spin = w * axes[:, 2]
            v = np.append(np.cross(spin, [0.1, 0.15, 0.05]), spin)
            return Numbered({"k": k}, dict(enumerate(v)), min(10 * period, 0.8), period)
        return Numbered({"k": k}, {d.nv - 1: w}, min(10 * period, 0.8), period)

    return Structure(f"{kind} in space, {coordinates}", d, numbers, True)


def loop(coordinates: str, driven: bool) -> Structure:
    """Return a four-bar, free or with a driven crank."""
    at = np.array([[0, 0, 0], [0.1, 0.1, 0], [0.45, 0.25, 0], [0.4, 0, 0]])
    bodies, joints = [], []
    for k in range(3):
        middle, along = (at[k] + at[k + 1]) / 2, at[k + 1] - at[k]
        inertia = float(along @ along) / 12
        bodies.append(Body(f"b{k}", 1.0, (inertia / 10, inertia, inertia), position=middle))
    ends = [None, *bodies, None]
    for k in range(4):
        pair = [Frame(x, at[k]) if x is None else Frame.at(x, at[k]) for x in ends[k : k + 2]]
        joints.append(Revolute(f"j{k}", *pair))
    spin = Parameter("w", 5.0)
    drive = [Driven("motor", joints[0], spin)] if driven else []
    d = assemble(Mechanism(bodies, [*joints, *drive], coordinates), [], (0, -G, 0))

    def numbers(rng: np.random.Generator) -> Numbered:
        w = between(rng, 2, 30)
        period = 2 * np.pi / (w if driven else 6.0)
        return Numbered({"w": w} if driven else {}, {}, min(3 * period, 1.0), period)

    label = f"four-bar, {coordinates}, {'driven' if driven else 'free'}"
    return Structure(label, d, numbers, closes=driven)


def thrown(kind: str) -> Structure:
    """Return a particle, or a ball that may roll, over a rough floor."""
    point = kind == "particle"
    body = Body("b", 1.0, (1.6e-4,) * 3, position=(0, 0, 0.3))
    if point:
        body = Body("b", 1.0, point_mass=True, position=(0, 0, 0.3))
    contact = floor(body, 0.0, law(), (0.0, 0.0, 1.0))
    d = assemble(Mechanism([body], [], "relative"), [contact], (0, 0, -G))

    def numbers(rng: np.random.Generator) -> Numbered:
        values = {"e": rng.choice([0.0, rng.uniform(0, 0.9)]), "mu": rng.choice([0.0, 0.1, 0.6])}
        v = {0: rng.uniform(-2, 2), 2: rng.uniform(-2, 1)}
        q = {2: rng.choice([0.02, rng.uniform(0.05, 0.6)])}
        return Numbered({k: float(x) for k, x in values.items()}, v, 0.6, 0.5, q)

    return Structure(f"{kind} over a floor", d, numbers)


def column(count: int) -> Structure:
    """Return balls one above the other on rails over a floor."""
    masses = [Parameter(f"m{k}", 1.0) for k in range(count)]
    bodies = [Body(f"b{k}", m, (0.01,) * 3, position=(0, 0, 0.5 + k)) for k, m in enumerate(masses)]
    rails = [
        Prismatic(f"rail{k}", Frame(GROUND), Frame.at(b, (0, 0, 0))) for k, b in enumerate(bodies)
    ]
    contacts = [floor(bodies[0], 0.0, frictionless(), (0.0, 0.0, 1.0))]
    for k in range(count - 1):
        a, b = Frame(bodies[k]), Frame(bodies[k + 1])
        contacts.append(SphereContact(f"c{k}", a, b, 0.02, 0.02, law=frictionless()))
    d = assemble(Mechanism(bodies, rails, "relative"), contacts, (0, 0, -G))

    def numbers(rng: np.random.Generator) -> Numbered:
        values = {"e": float(rng.choice([1.0, rng.uniform(0.3, 1)]))}
        values |= {f"m{k}": between(rng, 0.2, 5) for k in range(count)}
        high, q, u = rng.uniform(0.05, 0.4), {}, []
        for k in range(count):
            q[k] = high + 0.02 + 0.04 * k - (0.5 + k)
            u.append(high)
            high += between(rng, 1e-5, 0.1)
        m = np.array([values[f"m{k}"] for k in range(count)])
        exact = partial(fallen, m, np.array(u), values["e"])
        return Numbered(values, {}, 0.45, 0.3, q, exact)

    return Structure(f"column of {count}", d, numbers)


def stop() -> Structure:
    """Return a mass on a spring that a force drives against a stop."""
    body = Body("b", 1.0, (1.0,) * 3)
    rail = Prismatic("rail", Frame(GROUND, (0, 0, 0), X), Frame(body, (0, 0, 0), X))
    drive = JointDrives(
        *("drive", [Slide(rail.a, rail.b)]),
        lambda t, q, _, x: x[0] * ca.cos(x[1] * t) - x[2] * q[0],
        [Parameter("f", 1.0), Parameter("w", 3.0), Parameter("k", 1.0)],
    )
    wall = Frame(GROUND, (0.1, 0, 0), (-1.0, 0, 0))
    contact = PlaneContact("stop", wall, Frame(body), law=frictionless())
    d = assemble(Mechanism([body], [rail], "relative"), [contact, drive])

    def numbers(rng: np.random.Generator) -> Numbered:
        k, w = between(rng, 0.3, 100), between(rng, 1, 20)
        values = {"f": between(rng, 0.3, 10), "w": w, "k": k, "e": float(rng.uniform(0.2, 0.95))}
        period = 2 * np.pi / max(w, np.sqrt(k))
        return Numbered(values, {0: float(rng.uniform(-1, 1))}, 8 * period, period)

    return Structure("driven against a stop", d, numbers)


def table() -> Structure:
    """Return a block on a table that turns at a rate."""
    plate = Body("plate", 5.0, (1, 1, 1.0))
    block = Body("block", 0.5, point_mass=True, position=(0.4, 0, 0))
    hub = Revolute("hub", Frame(GROUND), Frame(plate))
    turns = Driven("motor", hub, Parameter("w", 2.0))
    top = PlaneContact(
        "top", Frame(plate), Frame(block), law=ContactLaw(friction=Parameter("mu", 0.5))
    )
    d = assemble(Mechanism([plate, block], [hub, turns], "relative"), [top], (0, 0, -G))
    tangential = d.v_names.index(next(x for x in d.v_names if x.startswith("block") and "y" in x))

    def numbers(rng: np.random.Generator) -> Numbered:
        w = between(rng, 0.5, 8)
        values = {"w": w, "mu": 0.4 * w**2 / G * between(rng, 0.5, 4)}
        return Numbered(values, {0: w, tangential: 0.4 * w}, min(15 / w, 4.0), 2 * np.pi / w)

    return Structure("block on a table", d, numbers, closes=True)


def compliant(kind: str) -> Structure:
    """Return a ball that falls on a compliant floor."""
    laws = {"Hertz": Hertz, "Flores": Flores, "Hunt": HuntCrossley}
    ball = Body("b", 1.0, (1.6e-4,) * 3, position=(0, 0, 0.1))
    contact = floor(ball, 0.0, ContactLaw(restitution=0.7), (0.0, 0.0, 1.0))
    soft = CompliantContact("floor", contact, laws[kind](Parameter("K", 1e6), 1.5))
    d = assemble(Mechanism([ball], [], "relative"), [soft], (0, 0, -G))

    def numbers(rng: np.random.Generator) -> Numbered:
        K, high = between(rng, 1e4, 1e9), rng.uniform(0.02, 0.1)
        speed = np.sqrt(2 * G * high)
        period = 10 * 2.94 * (5 * speed**2 / (4 * K)) ** 0.4 / speed
        return Numbered({"K": K}, {}, 4.2 * speed / G, period, {2: 0.02 + high})

    return Structure(f"ball on a {kind} floor", d, numbers, True)


def worn(coordinates: str) -> Structure:
    """Return a pendulum on a hinge with clearance."""
    body = Body("b", 1.0, (0.002, 0.01, 0.01), position=(0.2, 0, 0))
    hinge = PlanarRevoluteClearance(
        *("hinge", Frame(GROUND), Frame.at(body, (0, 0, 0))),
        Parameter("c", 1e-3),
        law=law(),
    )
    plane = Planar("plane", Frame(GROUND), Frame(body))
    d = assemble(Mechanism([body], [plane], coordinates), [hinge], (0, -G, 0))

    def numbers(rng: np.random.Generator) -> Numbered:
        c = between(rng, 1e-4, 5e-3)
        values = {"c": c, "e": float(rng.uniform(0, 0.8)), "mu": float(rng.choice([0.0, 0.2]))}
        return Numbered(values, {}, 0.4, 30 * np.sqrt(c * 0.1 / G))

    return Structure(f"worn pendulum, {coordinates}", d, numbers)


def structures() -> list[Callable[[], Structure]]:
    """Return all structures, each to be assembled when it is drawn from."""
    made: list[Callable[[], Structure]] = []
    for coordinates in ("absolute", "relative"):
        for speed in (3.0, 60.0):
            made.append(lambda c=coordinates, s=speed: chain(1, c, "", s))
        made.append(lambda c=coordinates: chain(2, c, "springs", 5.0))
        made.append(lambda c=coordinates: chain(1, c, "floor", 5.0))
        made.append(lambda c=coordinates: spatial("hinge", c))
    made += [lambda k=kind: spatial(k, "relative") for kind in ("ball", "universal")]
    made += [lambda: chain(3, "relative", "", 5.0), lambda: chain(2, "relative", "floor", 5.0)]
    made += [lambda: chain(1, "relative", "friction", 10.0), lambda: spatial("ball", "absolute")]
    made += [lambda: loop("relative", False), lambda: loop("relative", True)]
    made += [lambda: thrown("particle"), lambda: thrown("ball"), stop, table]
    made += [lambda: column(2), lambda: column(3), lambda: worn("relative")]
    made += [lambda k=kind: compliant(k) for kind in ("Hertz", "Flores", "Hunt")]
    return made
