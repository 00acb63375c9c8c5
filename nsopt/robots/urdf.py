"""Robots from URDF files, with links that fixed joints connect merged on demand."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from nsopt.elements import Fixed
from nsopt.mechanics import Frame, Mechanism
from nsopt.parameter import number
from nsopt.robots.tree import IDENTITY, Link, LinkJoint, Pose, build_tree, place_links
from nsopt.robots.urdf_model import (
    actuators_of,
    is_physical,
    leave_out_ranges,
    mimics_of,
    read_joint,
    read_link,
    warn_of_unphysical,
)
from nsopt.robots.urdf_xml import count_foreign_tags, parse


def load_urdf(
    path: str | os.PathLike[str], floating_base: bool = False, merge_fixed: bool = False
) -> Mechanism:
    """Return the robot of a URDF file, in relative coordinates, posed at zero joint coordinates.

    Joints that follow others are at their offsets.

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
        the root. The frames of the others remain, by name: `Mechanism.frame`.

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
        Once for each link whose inertia no body can have (it is taken as stated); for each mimic
        joint whose stated range it never comes into (the range is left out); and for all that is
        ignored, such as transmissions, safety controllers, sensors, simulator tags, mimic tags of
        fixed joints, a floating joint's coordinates, what xacro left. Shapes, for collision or to
        look at, are ignored without a word (`link_vertices` reads them).

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
        links = [read_link(x) for x in robot.findall("link")]
        link_joints = [read_joint(x) for x in robot.findall("joint")]
        # Refuses links that are no tree, before they are merged.
        place_links(
            [link.name for link in links], _add_root_joint(links, link_joints, floating_base)
        )
        warn_of_unphysical(links, stacklevel=2)
        homes = homes_of(links, link_joints) if merge_fixed else {}
        if merge_fixed:
            links, link_joints = merge(links, link_joints, homes)
        mimics = mimics_of(robot)
        offsets = {mimic.joint: float(mimic.offset) for mimic in mimics}
        link_joints = [replace(h, coordinate=offsets.get(h.name, 0.0)) for h in link_joints]
        taken = {h.name for h in link_joints}
        shared = [link.name for link in links if link.name in taken]  # with a joint
        taken |= {link.name for link in links} | {*homes}
        names = {name: _find_free_name(f"{name}_link", taken) for name in shared}
        com = {link.name: link.com for link in links}
        bodies, joints = build_tree(
            *_rename(links, _add_root_joint(links, link_joints, floating_base), names)
        )
        by_name = {body.name: body for body in bodies}
        mechanism = Mechanism(
            bodies,
            joints,
            coordinates="relative",
            actuators=leave_out_ranges(actuators_of(robot), mimics, stacklevel=2),
            mimics=mimics,
            frames={  # of merged links, on the body of the home
                name: Frame(by_name[names.get(home, home)], pose.origin - com[home], pose.axes)
                for name, (home, pose) in homes.items()
                if home != name
            },
            name=robot.get("name", ""),
        )
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    if count := count_foreign_tags(robot):
        what = ", ".join(f"{n} {name}" for name, n in sorted(count.items()))
        warnings.warn(f"{path.name}: ignored {what}", UserWarning, stacklevel=2)
    return mechanism


def _add_root_joint(
    links: Sequence[Link], link_joints: Sequence[LinkJoint], floating: bool
) -> list[LinkJoint]:
    """Return the joints, before them one that holds the root on the ground or leaves it free."""
    children = {link_joint.child for link_joint in link_joints}
    root = [link.name for link in links if link.name not in children]
    taken = {link_joint.name for link_joint in link_joints} | {link.name for link in links}
    kind = None if floating else Fixed
    return [
        *(LinkJoint(_find_free_name(f"ground_{x}", taken), kind, None, x, IDENTITY) for x in root),
        *link_joints,
    ]


def _rename(
    links: Sequence[Link], link_joints: Sequence[LinkJoint], names: Mapping[str, str]
) -> tuple[list[Link], list[LinkJoint]]:
    return (
        [replace(link, name=names.get(link.name, link.name)) for link in links],
        [
            replace(
                h, parent=names.get(h.parent or "", h.parent), child=names.get(h.child, h.child)
            )
            for h in link_joints
        ],
    )


def _find_free_name(name: str, taken: set[str]) -> str:
    """Return the name with as many underscores behind it as make it one that is not taken."""
    while name in taken:
        name += "_"
    return name


def homes_of(
    links: Sequence[Link], link_joints: Sequence[LinkJoint]
) -> dict[str, tuple[str, Pose]]:
    """Return the home of each link, by name: the link it becomes part of, and its pose in there.

    That is the one nearest the root of those joined to it by fixed joints, maybe itself. Links must
    be a tree.
    """
    fixed = {h.child: h for h in link_joints if h.kind is Fixed and h.parent is not None}
    homes = {}
    for link in links:
        name, pose = link.name, IDENTITY
        while name in fixed:
            pose, name = fixed[name].pose.then(pose), str(fixed[name].parent)
        homes[link.name] = name, pose
    return homes


def merge(
    links: Sequence[Link], link_joints: Sequence[LinkJoint], homes: Mapping[str, tuple[str, Pose]]
) -> tuple[list[Link], list[LinkJoint]]:
    """Return one link for each home, with its name and frame, and the joints between them."""
    parts: dict[str, list[tuple[Link, Pose]]] = {}
    for link in links:
        home, pose = homes[link.name]
        parts.setdefault(home, []).append((link, pose))
    joints = []
    for h in link_joints:
        if h.parent is not None and homes[h.child][0] == h.child:
            home, pose = homes[h.parent]
            joints.append(replace(h, parent=home, pose=pose.then(h.pose)))
    return [_sum_inertia(x, parts[x.name]) for x in links if x.name in parts], joints


def _sum_inertia(link: Link, parts: list[tuple[Link, Pose]]) -> Link:
    """Return a link with the masses of its parts, each a link and its pose in this one."""
    if len(parts) == 1:
        return link
    masses = np.array([float(number(part.mass)) for part, _ in parts])
    points = np.array([pose.point(part.com) for part, pose in parts])
    com = masses @ points / masses.sum() if masses.any() else link.com
    J = np.zeros((3, 3))
    for (part, pose), mass, point in zip(parts, masses, points, strict=True):
        own, arm = np.asarray(part.inertia, dtype=float), point - com
        own = own if own.ndim == 2 else np.diag(own)
        of_point = (arm @ arm) * np.eye(3) - np.outer(arm, arm)  # of a unit mass (Huygens, Steiner)
        J += pose.axes @ own @ pose.axes.T + mass * of_point
    J = (J + J.T) / 2  # rotating leaves round-off
    return Link(link.name, float(masses.sum()), com, J, is_physical(J))
