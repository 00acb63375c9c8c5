"""The mechanism of CHARMIE: 40 bodies, 47 joints, 21 degrees of freedom.

[CHARMIE 2023]; topology as we read section 3.1 and Fig. 3, numbers chosen here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from _geometry import (
    BAR,
    BAR_TO_SPRING,
    D3,
    D12A,
    E4,
    F4,
    G5,
    H4,
    LEFT,
    LINK,
    LINKS,
    RIGHT,
    ROD,
    ROD_AXIS,
    S4,
    S5,
    SPRING_4S,
    SPRING_5S,
    Array,
    Half,
    Link,
    Spring,
)
from scipy.spatial.transform import Rotation

from nsopt import (
    GROUND,
    Body,
    ExtensionSpring,
    Fixed,
    Frame,
    Mechanism,
    Prismatic,
    Revolute,
    Tracker,
)
from nsopt.mechanics import Actuator, Constraint, Force, Relative

# Columns of a frame whose z is the named axis.
ALONG = {
    "": np.eye(3),
    "x": np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    "y": np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "z": np.eye(3),
}
KINDS: dict[str, Callable[[str, Frame, Frame], Constraint]] = {
    "P": Prismatic,
    "R": Revolute,
    "F": Fixed,
}

LENGTHS = ("length_4d", "length_5d")
ACTUATED = (
    *(f"joint_{link.label}" for link in LINKS if link.kind != "F" and link.label not in "45"),
    *LENGTHS,
)
"""The 21 joints with actuators: three of the base, both linear ones, both necks, both arms."""

CUTS = (
    *("joint_4d_2", "joint_5d_2", "joint_5s_2"),
    *(f"joint_{half.label}{which}" for half in (LEFT, RIGHT) for which in ("b_2", "a_rod")),
)
"""One joint of each of the seven loops; without them the joints are a tree."""


class Robot(NamedTuple):
    """The mechanism and what acts on it but for actuators."""

    mechanism: Mechanism
    elements: tuple[Force, ...]


def charmie(coordinates: str | Relative = "absolute") -> Robot:
    """Return the robot in its reference position, at rest.

    Bodies are called ``body_<label>`` and ``aux_<label>``. The joint before main body i is
    ``joint_<i>``, so that ``joint_4`` counts upward, against d_4 of the paper; that between both
    bodies of actuator or spring s is ``length_<s>``, its coordinate the length.

    Parameters
    ----------
    coordinates : "absolute", "relative" or Relative
        Of `Mechanism`; with ``Relative(CUTS)`` the joints of the main tree are coordinates.
    """
    build = _Build()
    for link in LINKS:
        build.link(link)
    build.telescope("4d", "x", ("body_3", build.world("3", D3)), ("body_4", build.world("4", E4)))
    build.telescope("5d", "x", ("body_4", build.world("4", F4)), ("body_5", build.world("5", G5)))
    ends = ("body_4", build.world("4", S4)), ("body_5", build.world("5", S5))
    build.telescope("5s", "x", *ends)
    build.spring("5s", *ends, SPRING_5S)
    for half in (LEFT, RIGHT):
        build.half(half)
    body = build.bodies["body_12a"]
    tracker = Tracker("D_12a", Frame(body, D12A - LINK["12a"].centre))
    mechanism = Mechanism(
        build.bodies.values(), build.joints, coordinates, [_actuator(name) for name in ACTUATED]
    )
    return Robot(mechanism, (*build.springs, tracker))


def _actuator(joint: str) -> Actuator:
    """Return an actuator; speeds and efforts chosen here, rotors left out as in the paper."""
    if joint in LENGTHS:
        return Actuator(joint, lower=0.3, upper=0.5, velocity=0.05, effort=1500.0)
    if joint in ("joint_1", "joint_2"):
        return Actuator(joint, velocity=1.0, effort=200.0)
    if joint == "joint_3":
        return Actuator(joint, velocity=2.0, effort=60.0)
    return Actuator(joint, velocity=3.0, effort=40.0)


Point = tuple[str, Array]
"""A body and a point of the world in the reference position."""


class _Build:
    """Bodies, joints and springs, collected one after another."""

    def __init__(self) -> None:
        self.bodies: dict[str, Body] = {}
        self.joints: list[Constraint] = []
        self.springs: list[Force] = []
        self._places: dict[str, tuple[Array, Array]] = {"": (np.zeros(3), np.eye(3))}

    def world(self, label: str, point: Sequence[float] | Array) -> Array:
        """Return a point of a main body, from its origin, in the world."""
        origin, R = self._places[label]
        return np.asarray(origin + R @ np.asarray(point))

    def link(self, link: Link) -> None:
        """Add a main body and the joint before it."""
        turn = Rotation.from_euler("ZXZ", link.turn).as_matrix()
        R = self._places[link.before][1] @ turn
        origin = self.world(link.before, link.at)
        self._places[link.label] = origin, R
        name, before = f"body_{link.label}", f"body_{link.before}" if link.before else ""
        self._body(name, self.world(link.label, link.centre), R, link)
        self._joint(f"joint_{link.label}", link.kind, (before, name), origin, R @ ALONG[link.axis])

    def telescope(self, label: str, axis: str, start: Point, end: Point) -> None:
        """Add two bodies that slide in each other, and turn at both ends about an axis."""
        (a, p), (b, q) = start, end
        first, second = f"aux_{label}_1", f"aux_{label}_2"
        R = _along(q - p, axis)
        self._body(first, p, R)
        self._body(second, q, R)
        self._joint(f"joint_{label}_1", "R", (a, first), p, ALONG[axis])
        # Its frames are at both ends: the coordinate is the length.
        self.joints.append(
            Prismatic(f"length_{label}", Frame(self.bodies[first]), Frame(self.bodies[second]))
        )
        self._joint(f"joint_{label}_2", "R", (second, b), q, ALONG[axis])

    def spring(self, label: str, start: Point, end: Point, spring: Spring) -> None:
        """Add the force of a spring."""
        a, b = (Frame.at(self.bodies[body], point) for body, point in (start, end))
        self.springs.append(
            ExtensionSpring(
                f"spring_{label}",
                a,
                b,
                spring.stiffness,
                free_length=spring.free_length,
                pretension=spring.pretension,
            )
        )

    def half(self, half: Half) -> None:
        """Add one half of the static balancing."""
        bar, slider, rod = (f"aux_{half.label}{x}" for x in ("a", "c", "c_rod"))
        pivot, anchor = self.world("3", half.pivot), self.world("3", half.anchor)
        slider_z = self.world("4", (0, 0, H4))[2]
        rise = slider_z - ROD - pivot[2]
        end = pivot + np.array([half.side * np.sqrt(BAR**2 - rise**2), 0, rise])
        top, on_bar = end + np.array([0, 0, ROD]), pivot + BAR_TO_SPRING / BAR * (end - pivot)
        self._body(bar, pivot, _along(end - pivot, "y"))
        self._body(slider, top, np.eye(3))
        self._body(rod, top, np.eye(3))
        self._joint(f"joint_{half.label}a", "R", ("body_3", bar), pivot, ALONG["y"])
        self._joint(f"joint_{half.label}c", "P", ("body_4", slider), top, ALONG["x"])
        self._joint(f"joint_{half.label}c_rod", "R", (slider, rod), top, ALONG[ROD_AXIS])
        self._joint(f"joint_{half.label}a_rod", "R", (rod, bar), end, ALONG["y"])
        self.telescope(f"{half.label}b", "y", (bar, on_bar), ("body_3", anchor))
        self.spring(f"{half.label}b", (bar, on_bar), ("body_3", anchor), SPRING_4S)

    def _body(self, name: str, position: Array, R: Array, link: Link | None = None) -> None:
        mass, inertia = (link.mass, link.inertia) if link else (0.0, (0.0, 0.0, 0.0))
        self.bodies[name] = Body(name, mass, inertia, position=position, orientation=R)

    def _joint(
        self, name: str, kind: str, between: tuple[str, str], point: Array, axes: Array
    ) -> None:
        a, b = (Frame.at(self.bodies[x] if x else GROUND, point, axes) for x in between)
        self.joints.append(KINDS[kind](name, a, b))


def _along(direction: Array, axis: str) -> Array:
    """Return axes with z along a direction and x along an axis across it."""
    z, x = direction / np.linalg.norm(direction), np.eye(3)["xyz".index(axis)]
    return np.column_stack([x, np.cross(z, x), z])
