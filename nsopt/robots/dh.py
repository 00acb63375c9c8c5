"""Serial robots from Denavit-Hartenberg tables, standard and modified."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from nsopt.algebra import without_round_off
from nsopt.elements import Prismatic, Revolute
from nsopt.mechanics import Actuator, Frame, Mechanism
from nsopt.parameter import Numbers, Scalar
from nsopt.robots.tree import (
    IDENTITY,
    Link,
    LinkJoint,
    Pose,
    build_tree,
    check_plain,
    turn_x,
    turn_z,
)


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
