"""Drawings of random mechanisms, any joints of which may be worn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from common import Array

from nsopt import (
    GROUND,
    Body,
    ContactLaw,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlanarPrismaticClearance,
    PlanarRevoluteClearance,
    PointOnLine,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Spherical,
    SphericalClearance,
    assemble,
    consistent,
)

X = (1.0, 0.0, 0.0)
CLEARANCE = 1e-3  # m, by default


@dataclass(frozen=True)
class Wear:
    """How many joints have clearance, and whether their contacts are rough."""

    joints: int
    rough: bool

    def law(self) -> ContactLaw:
        """Return the law of all contacts."""
        e = Parameter("e", 0.0)
        return ContactLaw(e, Parameter("mu", 0.1)) if self.rough else ContactLaw(e)


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of a drawing: between bodies by name (None: the ground), at a point, on an axis."""

    name: str
    kind: str  # pin or guide, of the plane; hinge or ball, in space
    a: str | None
    b: str
    point: Array
    axis: Array


@dataclass(frozen=True, eq=False)
class Drawing:
    """Bodies in their places, all axes those of the world, and the joints between them."""

    planar: bool
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    turns: tuple[str, float]  # the body that turns at the start, and how fast [rad/s]

    def model(self, wear: Wear, coordinates: str, rng: np.random.Generator) -> Dynamics:
        """Return the mechanism with some joints worn, moving at the start as if none were."""
        order = rng.permutation(len(self.joints))[: wear.joints]
        worn = {self.joints[k].name for k in order}
        return self._assembled(self._moving(), worn, wear, coordinates)

    def _moving(self) -> tuple[Body, ...]:
        """Return the bodies with the velocities of ideal joints."""
        name, speed = self.turns
        joint = next(j for j in self.joints if j.b == name)
        w = speed * joint.axis
        pushed = tuple(
            replace(body, velocity=np.cross(w, body.position - joint.point), angular_velocity=w)
            if body.name == name
            else body
            for body in self.bodies
        )
        ideal = self._assembled(pushed, set(), Wear(0, False), "absolute")
        v = consistent(ideal).v.reshape(-1, 6)
        return tuple(
            replace(body, velocity=u[:3], angular_velocity=u[3:])
            for body, u in zip(pushed, v, strict=True)
        )

    def _assembled(
        self, bodies: Sequence[Body], worn: set[str], wear: Wear, coordinates: str
    ) -> Dynamics:
        by_name: dict[str | None, Body | None] = {None: GROUND, **{x.name: x for x in bodies}}
        ideal = [j for j in self.joints if j.name not in worn]
        joints, held = [], {None} if self.planar else {None, *by_name}
        while self.planar and len(held) <= len(bodies):
            edge = [j for j in ideal if (j.a in held) != (j.b in held)]
            name = (edge[0].b if edge[0].a in held else edge[0].a) if edge else self._free(held)
            held.add(name)
            if edge:
                joints.append(_ideal(edge[0], by_name, "tree"))
                ideal.remove(edge[0])
            else:
                frame = Frame.at(by_name[name], by_name[name].position)
                joints.append(Planar(f"plane of {name}", Frame(GROUND), frame))
        joints += [_ideal(j, by_name, "loop" if self.planar else "space") for j in ideal]
        contacts = [_worn(j, by_name, wear) for j in self.joints if j.name in worn]
        gravity = [Parameter(f"g_{k}", 0.0) for k in "xy"] + [0.0]
        mechanism = Mechanism(list(bodies), joints, coordinates=coordinates)
        return assemble(mechanism, contacts, gravity)

    def _free(self, held: set[str | None]) -> str:
        return next(body.name for body in self.bodies if body.name not in held)


def _frames(joint: Joint, by_name: dict[str | None, Body | None]) -> tuple[Frame, Frame]:
    A = np.eye(3) if joint.kind in ("pin", "guide") else _axes(joint.axis)
    return tuple(Frame.at(by_name[name], joint.point, A) for name in (joint.a, joint.b))


def _ideal(joint: Joint, by_name: dict[str | None, Body | None], place: str) -> object:
    """Return the joint without clearance; in a loop of the plane only what the plane leaves."""
    a, b = _frames(joint, by_name)
    if joint.kind == "guide":
        return Prismatic(joint.name, *(replace(f, axes=X) for f in (a, b)))
    if joint.kind == "pin":
        return (PointOnLine if place == "loop" else Revolute)(joint.name, a, b)
    return (Spherical if joint.kind == "ball" else Revolute)(joint.name, a, b)


def _worn(joint: Joint, by_name: dict[str | None, Body | None], wear: Wear) -> object:
    a, b = _frames(joint, by_name)
    c, law, r = Parameter(f"c_{_word(joint.name)}", CLEARANCE), wear.law(), 0.01
    if joint.kind == "pin":
        return PlanarRevoluteClearance(joint.name, a, b, clearance=c, radius=r, law=law)
    if joint.kind == "guide":
        sizes = {"length": 0.05, "height": 0.05}
        return PlanarPrismaticClearance(joint.name, a, b, **sizes, clearance=c, law=law)
    if joint.kind == "ball":
        return SphericalClearance(joint.name, a, b, clearance=c, radius=r, law=law)
    return RevoluteClearance(
        joint.name, a, b, length=0.05, clearance=c, axial_clearance=c, radius=r, law=law
    )


def _word(name: str) -> str:
    return name.replace(" ", "")


def _axes(z: Array) -> Array:
    """Return right-handed axes of which the third is z."""
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _direction(rng: np.random.Generator) -> Array:
    d = rng.normal(size=3)
    return d / np.linalg.norm(d)


def _link(name: str, ends: Sequence[Array], rng: np.random.Generator) -> Body:
    """Return a body between two points, of random mass and moments of inertia."""
    a, b = ends
    length = max(float(np.linalg.norm(b - a)), 0.05)
    moments = length**2 / 12 * rng.uniform(0.7, 1.3, 3)
    return Body(name, Parameter(f"m_{_word(name)}", 1.0), moments, position=(a + b) / 2)


def four_bar(rng: np.random.Generator) -> Drawing:
    """Return a four-bar in the xy plane, a crank that can turn over."""
    crank, ground = rng.uniform(0.05, 0.15), rng.uniform(0.3, 0.4)
    coupler, rocker = rng.uniform(0.3, 0.4), rng.uniform(0.25, 0.35)
    angle = rng.uniform(0, 2 * np.pi)
    A, B = np.zeros(3), crank * np.array([np.cos(angle), np.sin(angle), 0])
    D = np.array([ground, 0, 0])
    span = float(np.linalg.norm(D - B))
    along = (span**2 + coupler**2 - rocker**2) / (2 * span)
    x = (D - B) / span
    C = B + along * x + np.sqrt(coupler**2 - along**2) * np.cross([0, 0, 1.0], x)
    return _loop("pin", [A, B, C, D], [np.array([0, 0, 1.0])] * 4, True, rng)


def four_bar_in_space(rng: np.random.Generator) -> Drawing:
    """Return an RSSR linkage: crank and rocker in hinges of any directions."""
    axes = [_direction(rng), _direction(rng)]
    A, D = np.zeros(3), rng.uniform(0.3, 0.4) * _direction(rng)
    B, C = (
        at + size * _axes(z)[:, 0] for at, size, z in zip((A, D), (0.1, 0.25), axes, strict=True)
    )
    kinds = ["hinge", "ball", "ball", "hinge"]
    return _loop(kinds, [A, B, C, D], [axes[0], axes[0], axes[1], axes[1]], False, rng)


def _loop(
    kinds: str | list[str],
    points: list[Array],
    axes: list[Array],
    planar: bool,
    rng: np.random.Generator,
) -> Drawing:
    kinds = [kinds] * 4 if isinstance(kinds, str) else kinds
    names = ["crank", "coupler", "rocker"]
    bodies = [_link(name, ends, rng) for name, ends in zip(names, pairwise(points), strict=True)]
    # The last joint is the rocker's on the ground.
    between = [(None, "crank"), ("crank", "coupler"), ("coupler", "rocker"), (None, "rocker")]
    joints = [
        Joint(f"joint {k}", kinds[k], *between[k], points[k], axes[k]) for k in range(len(points))
    ]
    return Drawing(planar, tuple(bodies), tuple(joints), ("crank", rng.uniform(-20, 20)))


def slider_crank(rng: np.random.Generator) -> Drawing:
    """Return a slider-crank in the xy plane."""
    crank, rod, angle = rng.uniform(0.05, 0.12), rng.uniform(0.25, 0.4), rng.uniform(0, 2 * np.pi)
    B = crank * np.array([np.cos(angle), np.sin(angle), 0])
    C = np.array([B[0] + np.sqrt(rod**2 - B[1] ** 2), 0, 0])
    z = np.array([0, 0, 1.0])
    bodies = [
        _link("crank", (np.zeros(3), B), rng),
        _link("rod", (B, C), rng),
        replace(_link("slider", (C, C), rng), position=C),
    ]
    joints = [
        Joint("crank bearing", "pin", None, "crank", np.zeros(3), z),
        Joint("crank pin", "pin", "crank", "rod", B, z),
        Joint("wrist pin", "pin", "rod", "slider", C, z),
        Joint("guide", "guide", None, "slider", C, z),
    ]
    return Drawing(True, tuple(bodies), tuple(joints), ("crank", rng.uniform(-20, 20)))


def chain(rng: np.random.Generator) -> Drawing:
    """Return two to four links that hang from one another by hinges and balls."""
    at, before, bodies, joints = np.zeros(3), None, [], []
    for k in range(rng.integers(2, 5)):
        end, axis = at + rng.uniform(0.1, 0.3) * _direction(rng), _direction(rng)
        bodies.append(_link(f"link {k}", (at, end), rng))
        kind = str(rng.choice(["hinge", "ball"]))
        joints.append(Joint(f"joint {k}", kind, before, f"link {k}", at, axis))
        at, before = end, f"link {k}"
    return Drawing(False, tuple(bodies), tuple(joints), ("link 0", rng.uniform(-10, 10)))


DRAWN: dict[str, Callable[[np.random.Generator], Drawing]] = {
    "planar four-bar": four_bar,
    "slider-crank": slider_crank,
    "spatial four-bar": four_bar_in_space,
    "chain": chain,
}
"""Kinds of mechanisms, each drawn at random."""


def drawn(kind: str, rng: np.random.Generator) -> Drawing:
    """Return a random mechanism of a kind."""
    return DRAWN[kind](rng)
