"""Robots from tables: of Denavit and Hartenberg, standard and modified, and of bodies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nsopt.algebra import without_round_off
from nsopt.arrays import Array
from nsopt.elements import Fixed, Prismatic, Revolute
from nsopt.mechanics import Actuator, Frame, Mechanism
from nsopt.parameter import Numbers, Scalar
from nsopt.robots.tree import (
    IDENTITY,
    Link,
    LinkJoint,
    Pose,
    axes_along,
    build_tree,
    check_plain,
    turn_x,
    turn_z,
)

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
TableJoint = type[Prismatic] | type[Revolute] | type[Fixed]
JOINTS: dict[str, TableJoint] = {"P": Prismatic, "R": Revolute, "F": Fixed}
"""Joint types by their letters JT."""
AXES = {"x": X, "y": Y, "z": Z}
"""Unit vectors of joints by their letters JO [CHARMIE 2023, eq. 28]."""


@dataclass(frozen=True)
class DHRow:
    """A joint and the link after it, in the parameters of Denavit and Hartenberg.

    Parameters
    ----------
    a, d : float [m]
        Length along x and offset along z. A prismatic joint adds its coordinate to ``d``.
    alpha, theta : float [rad]
        Twist about x and angle about z. A revolute joint adds its coordinate to ``theta``, which is
        thus the offset between its zero and that of the table.
    joint : Revolute or Prismatic
        The class.
    mass : float or Parameter [kg]
    com : (3,) [m]
        Centre of mass in link frame i.
    inertia : (3,) or (3, 3) [kg m^2]
        About the centre of mass, in the axes of link frame i.
    rotor_inertia, gear_ratio : float or Parameter
        As in `Actuator`.
    physical : bool
        As in `Body`; published tables have inertias that no body has.
    """

    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    joint: type[Revolute] | type[Prismatic] = Revolute
    mass: Scalar = 0.0
    com: Numbers = (0.0, 0.0, 0.0)
    inertia: Numbers = (0.0, 0.0, 0.0)
    rotor_inertia: Scalar = 0.0
    gear_ratio: Scalar = 1.0
    physical: bool = True


class DHConvention(ABC):
    """The convention for the frames of links."""

    @abstractmethod
    def link(self, row: DHRow) -> Pose:
        """Return the pose of link frame i in frame i - 1, at zero joint coordinate."""

    @abstractmethod
    def joint(self, row: DHRow) -> Pose:
        """Return the pose of the joint, along z, in link frame i at zero joint coordinate."""


@dataclass(frozen=True)
class StandardDH(DHConvention):
    """Frame i at the far end of link i: T = Rz(theta) Tz(d) Tx(a) Rx(alpha).

    [Denavit, Hartenberg 1955; Siciliano et al., Robotics, 2009, eq. 2.52]. Joint i turns about z of
    frame i - 1.
    """

    def link(self, row: DHRow) -> Pose:
        Z = turn_z(row.theta)
        return Pose(
            without_round_off(Z @ turn_x(row.alpha)),
            Z @ np.array([row.a, 0, 0]) + np.array([0, 0, row.d]),
        )

    def joint(self, row: DHRow) -> Pose:
        return self.link(row).inverse()


@dataclass(frozen=True)
class ModifiedDH(DHConvention):
    """Frame i at joint i: T = Rx(alpha) Tx(a) Rz(theta) Tz(d).

    [Craig, Introduction to Robotics, 3rd ed., eq. 3.6]. Row i holds a and alpha of the link before
    joint i, as printed in Craig's tables. Joint i turns about z of frame i.
    """

    def link(self, row: DHRow) -> Pose:
        X = turn_x(row.alpha)
        return Pose(
            without_round_off(X @ turn_z(row.theta)),
            np.array([row.a, 0, 0]) + X @ np.array([0, 0, row.d]),
        )

    def joint(self, row: DHRow) -> Pose:
        del row
        return IDENTITY


def serial_from_dh(
    rows: Iterable[DHRow],
    name: str = "",
    convention: DHConvention = StandardDH(),
    base: Frame = Frame(None),  # noqa: B008
) -> Mechanism:
    """Return the serial robot of a Denavit-Hartenberg table, in relative coordinates.

    Bodies are named link1, link2, ..., joints joint1, joint2, ...; body axes are those of the link
    frames, and the bodies are posed at zero joint coordinates.

    Parameters
    ----------
    rows : sequence of DHRow
        From the base to the hand.
    name : str
        Put before the names, with an underscore, where there are several robots.
    convention : StandardDH or ModifiedDH
    base : Frame
        Frame 0, on the ground.

    Raises
    ------
    ValueError
        If there is no row, a number is not finite or not that of a body, or the base is not on the
        ground.
    TypeError
        If a joint is neither Revolute nor Prismatic, or the convention is none.
    """
    rows, prefix = tuple(rows), f"{name}_" if name else ""
    for row in rows:
        if not isinstance(row, DHRow):
            raise TypeError(f"rows must be DHRow(a=..., alpha=..., ...), got {row!r}")
    if not isinstance(convention, DHConvention):
        raise TypeError(f"convention must be StandardDH() or ModifiedDH(), got {convention!r}")
    if not rows:
        raise ValueError("a robot needs at least one row")
    if base.body is not None:
        raise ValueError(f"base must be a frame on the ground, got one on {base.label}")
    links, link_joints, actuators = [], [], []
    pose = Pose(np.asarray(base.axes), check_plain("origin of the base", base.origin))
    for i, row in enumerate(rows, 1):
        link, joint = f"{prefix}link{i}", f"{prefix}joint{i}"
        for what in ("a", "alpha", "d", "theta"):
            check_plain(f"{what} of joint {joint!r}", getattr(row, what), ())
        if row.joint not in (Revolute, Prismatic):
            raise TypeError(
                f"joint {joint!r} must be Revolute or Prismatic, the class itself, got "
                f"{row.joint!r}"
            )
        com = check_plain(f"com of body {link!r}", row.com)
        links.append(Link(link, row.mass, com, row.inertia, row.physical))
        parent = f"{prefix}link{i - 1}" if i > 1 else None
        offset = pose.then(convention.link(row)) if i == 1 else convention.link(row)
        link_joints.append(LinkJoint(joint, row.joint, parent, link, offset, convention.joint(row)))
        actuators.append(
            Actuator(joint, rotor_inertia=row.rotor_inertia, gear_ratio=row.gear_ratio)
        )
    bodies, joints = build_tree(links, link_joints)
    return Mechanism(bodies, joints, coordinates="relative", actuators=actuators)


@dataclass(frozen=True)
class BodyRow:
    """A body and the joint to its predecessor.

    Parameters
    ----------
    name : str
        Unique; the joint gets the name ``<name>_joint``.
    predecessor : str or None
        Name of its predecessor; None is the ground.
    joint : Revolute, Prismatic or Fixed
        The class.
    axis : (3,)
        Of the joint, in local axes, any length; of no meaning to a fixed joint.
    r_AB : (3,) [m]
        From point A of the predecessor to this joint, in the predecessor's axes; world axes and
        origin on the ground. A is the origin of its joint on the predecessor, at zero coordinate.
    r_AC : (3,) [m]
        From this body's own A to its centre of mass, in its axes.
    mass : float or Parameter [kg]
    inertia : (3,) or (3, 3) [kg m^2]
        About the centre of mass, in local axes.
    angles : (3,) [rad]
        Intrinsic ZXZ Euler angles of a fixed joint, see `zxz`.
    """

    name: str
    predecessor: str | None
    joint: TableJoint = Revolute
    axis: Numbers = Z
    r_AB: Numbers = (0.0, 0.0, 0.0)  # noqa: N815
    r_AC: Numbers = (0.0, 0.0, 0.0)  # noqa: N815
    mass: Scalar = 0.0
    inertia: Numbers = (0.0, 0.0, 0.0)
    angles: Numbers = (0.0, 0.0, 0.0)


def row_from_letters(
    name: str, predecessor: str | None, joint: str, axis: str = "z", **rest: Any
) -> BodyRow:
    """Return a row from the letters JT (P, R, F) and JO (x, y, z) of printed tables.

    Raises
    ------
    ValueError
        If a letter is another.
    """
    for what, letter, legal in (("joint", joint, JOINTS), ("axis", axis, AXES)):
        if letter not in legal:
            raise ValueError(
                f"{what} of body {name!r} must be one of {', '.join(legal)}, got {letter!r}"
            )
    return BodyRow(name, predecessor, JOINTS[joint], AXES[axis], **rest)


def zxz(z1: float, x2: float, z3: float) -> Array:
    """Return the rotation matrix (3, 3) of intrinsic ZXZ Euler angles [rad].

    Body axes to those of the predecessor [CHARMIE 2023, eq. 17]; entry (1, 3) is s1 s2, where s1 s3
    is printed.
    """
    (c1, c2, c3), (s1, s2, s3) = np.cos([z1, x2, z3]), np.sin([z1, x2, z3])
    return without_round_off(
        np.array(
            [
                [c1 * c3 - s1 * c2 * s3, -c1 * s3 - s1 * c2 * c3, s1 * s2],
                [s1 * c3 + c1 * c2 * s3, c1 * c2 * c3 - s1 * s3, -c1 * s2],
                [s2 * s3, s2 * c3, c2],
            ]
        )
    )


def mechanism_from_table(rows: Iterable[BodyRow]) -> Mechanism:
    """Return the tree of a table of bodies, in relative coordinates [CHARMIE 2023, section 3.2].

    Body axes are the local axes of the table, bodies are posed at zero joint coordinates.

    Parameters
    ----------
    rows : sequence of BodyRow
        In any order; joints keep it.

    Raises
    ------
    ValueError
        If there is no row, a name is used twice, a predecessor is unknown, bodies hang on each
        other in a cycle, or a number is bad.
    TypeError
        If a joint is none of the three.

    Notes
    -----
    A prismatic coordinate is the body's motion along the axis. The paper's eq. 1 moves point A
    along the body instead, A' = O' + d z, which moves the body along -z: its d is minus ours.
    """
    rows = tuple(rows)
    if not rows:
        raise ValueError("a robot needs at least one row")
    links = [Link(row.name, row.mass, _read_vector(row, "r_AC"), row.inertia) for row in rows]
    bodies, joints = build_tree(links, [_make_link_joint(row) for row in rows])
    return Mechanism(bodies, joints, coordinates="relative")


def _read_vector(row: BodyRow, what: str) -> Array:
    return check_plain(f"{what} of body {row.name!r}", getattr(row, what))


def _make_link_joint(row: BodyRow) -> LinkJoint:
    if row.joint not in JOINTS.values():
        raise TypeError(
            f"joint of body {row.name!r} must be Revolute, Prismatic or Fixed, the class itself, "
            f"got {row.joint!r}"
        )
    axis, angles = _read_vector(row, "axis"), _read_vector(row, "angles")
    if not np.any(axis):
        raise ValueError(f"axis of body {row.name!r} has no length: give a direction")
    if np.any(angles) and row.joint is not Fixed:
        raise ValueError(
            f"angles of body {row.name!r} belong to a fixed joint: turn the axes by a massless "
            "Fixed row before it"
        )
    fixed = row.joint is Fixed
    return LinkJoint(
        f"{row.name}_joint",
        row.joint,
        row.predecessor,
        row.name,
        Pose(zxz(*angles), _read_vector(row, "r_AB")),
        Pose(np.eye(3) if fixed else axes_along(axis), np.zeros(3)),
    )
