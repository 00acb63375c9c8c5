"""Robots from URDF files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nsopt.elements import Fixed
from nsopt.mechanics import Mechanism
from nsopt.robots.tree import IDENTITY, Link, LinkJoint, build, placed
from nsopt.robots.urdf_merge import merged
from nsopt.robots.urdf_model import (
    actuators_of,
    link_joints_of,
    links_of,
    mimics_of,
    warn_of_unphysical,
)
from nsopt.robots.urdf_xml import ignored, parse


def load_urdf(
    path: str | os.PathLike[str], floating_base: bool = False, merge_fixed: bool = False
) -> Mechanism:
    """Return the robot of a URDF file, in relative coordinates, posed at zero joint coordinates.

    Bodies have the axes of their links and the origin at the centre of mass: a point r of a link is
    ``Frame(body, r - com)``. Names are those of the file, but a link that shares its name with a
    joint becomes body ``<name>_link``. Joints have the order of the file, bodies that of the tree
    from its root. Meshes need not exist.

    Parameters
    ----------
    path : path
        Of the file.
    floating_base : bool
        Leaves the root link free. Otherwise a `Fixed` joint ``ground_<root>`` holds it.
    merge_fixed : bool
        Makes one body of links joined by fixed joints, with the name and axes of the one nearest
        the root.

    Returns
    -------
    Mechanism
        With a `Revolute`, `Prismatic`, `Fixed` or `Planar` for each joint, but none for a floating
        one, whose link is free; an `Actuator` for each joint of one freedom, without limits of
        range if the file gives neither; a `Mimic` for each mimic tag, of a joint that itself is
        free.

    Warns
    -----
    UserWarning
        Once for each link whose inertia no body can have (it is taken as stated), and once for all
        that is ignored, such as transmissions, safety controllers, sensors, simulator tags, mimic
        tags of fixed joints, a floating joint's coordinates. Shapes, for collision or to look at,
        are ignored without a word (`link_vertices` reads them).

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is broken XML or declares a document type, links and joints are no tree, or one of
        them lacks something or has a bad number. The message names it.
    """
    path = Path(path)
    try:
        robot = parse(path)
        links, link_joints = links_of(robot), link_joints_of(robot)
        placed([link.name for link in links], _rooted(links, link_joints, floating_base))  # a tree?
        warn_of_unphysical(links, stacklevel=2)
        if merge_fixed:
            links, link_joints = merged(links, link_joints)
        bodies, joints = build(*_renamed(links, _rooted(links, link_joints, floating_base)))
        mechanism = Mechanism(
            bodies,
            joints,
            coordinates="relative",
            actuators=actuators_of(robot),
            mimics=mimics_of(robot),
        )
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    if count := ignored(robot):
        what = ", ".join(f"{n} {name}" for name, n in sorted(count.items()))
        warnings.warn(f"{path.name}: ignored {what}", UserWarning, stacklevel=2)
    return mechanism


def _rooted(
    links: Sequence[Link], link_joints: Sequence[LinkJoint], floating: bool
) -> list[LinkJoint]:
    """Return the joints with that of the root first, to the ground or none."""
    children = {link_joint.child for link_joint in link_joints}
    root = [link.name for link in links if link.name not in children]
    taken = {link_joint.name for link_joint in link_joints} | {link.name for link in links}
    kind = None if floating else Fixed
    return [
        *(LinkJoint(_free(f"ground_{x}", taken), kind, None, x, IDENTITY) for x in root),
        *link_joints,
    ]


def _renamed(
    links: Sequence[Link], link_joints: Sequence[LinkJoint]
) -> tuple[list[Link], list[LinkJoint]]:
    """Return both with links renamed that share a name with a joint."""
    joints = {link_joint.name for link_joint in link_joints}
    taken = joints | {link.name for link in links}
    names = {x.name: _free(f"{x.name}_link", taken) for x in links if x.name in joints}
    return (
        [replace(link, name=names.get(link.name, link.name)) for link in links],
        [
            replace(
                h, parent=names.get(h.parent or "", h.parent), child=names.get(h.child, h.child)
            )
            for h in link_joints
        ],
    )


def _free(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, with underscores if it must be."""
    while name in taken:
        name += "_"
    return name
