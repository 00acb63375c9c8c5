"""Robots from the table of bodies of [CHARMIE 2023, section 3.2]."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nsopt.algebra import without_round_off
from nsopt.arrays import Array
from nsopt.elements import Fixed, Prismatic, Revolute
from nsopt.mechanics import Mechanism
from nsopt.parameter import Numbers, Scalar
from nsopt.robots.tree import Link, LinkJoint, Pose, axes_along, build_tree, check_plain

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
TableJoint = type[Prismatic] | type[Revolute] | type[Fixed]
JOINTS: dict[str, TableJoint] = {"P": Prismatic, "R": Revolute, "F": Fixed}
"""Joint types by their letters JT."""
AXES = {"x": X, "y": Y, "z": Z}
"""Unit vectors of joints by their letters JO [CHARMIE 2023, eq. 28]."""


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
    links = [Link(row.name, row.mass, _vector(row, "r_AC"), row.inertia) for row in rows]
    bodies, joints = build_tree(links, [_link_joint(row) for row in rows])
    return Mechanism(bodies, joints, coordinates="relative")


def _vector(row: BodyRow, what: str) -> Array:
    return check_plain(f"{what} of body {row.name!r}", getattr(row, what))


def _link_joint(row: BodyRow) -> LinkJoint:
    if row.joint not in JOINTS.values():
        raise TypeError(
            f"joint of body {row.name!r} must be Revolute, Prismatic or Fixed, the class itself, "
            f"got {row.joint!r}"
        )
    axis, angles = _vector(row, "axis"), _vector(row, "angles")
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
        Pose(zxz(*angles), _vector(row, "r_AB")),
        Pose(np.eye(3) if fixed else axes_along(axis), np.zeros(3)),
    )
