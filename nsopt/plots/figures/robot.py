"""Figures of robots: joint forces, force and torque of the ground, paths of points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.plots import style
from nsopt.plots.across import across
from nsopt.plots.curves import Curves, Recorded, Vector, draw_panel, draw_vectors
from nsopt.plots.impulses import impulses_apart
from nsopt.plots.scenes.scene import path_of_point
from nsopt.result import Result

WRENCH = (
    ("joint_reaction", "joint_resistance_force"),
    ("joint_reaction_torque", "joint_resistance"),
)
"""Variables whose sum is the force of a joint, and those whose sum is its torque."""


def joint_torques(
    *results: Result, joints: Sequence[str] | None = None, over: str | None = None
) -> Figure:
    """Draw the size of the reaction force and torque of joints, and the forces of elements.

    All are on the body of frame b; what elements record is positive along or about z of frame a,
    or a size where there is no such axis. Reactions leave out drives and resistance of the joint
    along its freedoms; that is in the lower panels, as far as elements record a force or a torque.
    Of many lines the eight that reach farthest are named. Of steps with impacts reactions are drawn
    as impulses, stems with an axis on the right.

    Parameters
    ----------
    *results : Result
        A column for each.
    joints : sequence of str, optional
        Which ones; all by default.
    """
    style.require_steps(results, "joint_torques")
    known = style.names(results, "joint")
    chosen = known if joints is None else list(joints)
    check_names("joint_torques: no joint", chosen, known)
    if not chosen:
        raise ValueError(f"joint_torques: no joint in {results[0].name}")
    results, text = across(results, over)
    columns = [_make_panels(result, chosen) for result in results]
    titles = [p.title for p in max(columns, key=len)]
    rows = [
        [next((p for p in column if p.title == title), Curves(title, "", {})) for column in columns]
        for title in titles
    ]
    size = (max(7.5, 5.5 * len(results)), 0.9 + 2.6 * len(rows))
    grid = len(rows), len(results)
    figure, axes = style.page("Joint reactions", results, *grid, size, sharex=True)
    for k, result in enumerate(results):
        for ax, row in zip(axes[:, k], rows, strict=True):
            draw_panel(ax, result["time"].values, row[k])
        if len(results) > 1:
            style.title(axes[0, k], f"{style.label(result)}\n{rows[0][k].title}")
        style.axis_labels(axes[-1, k], text, None)
    return figure


def base_force(*results: Result, over: str | None = None) -> Figure:
    """Draw force and torque that the ground gives a robot, as Figs. 12 and 13 of [CHARMIE 2023].

    Of all joints to the ground, their resistance included, in world axes. The torque is about the
    point where the first of them holds the robot; that point moves with the robot. Drives and
    springs between robot and ground are not in it. Of steps with impacts impulses are drawn, as
    stems with an axis on the right.
    """
    style.require_steps(results, "base_force")
    results, text = across(results, over)
    about = ", ".join(dict.fromkeys(list_grounded(result)[0].name for result in results))
    vectors = (Vector("force", "F", "N"), Vector(f"torque about {about}", "M", "N m"))
    recorded = [
        Recorded(style.label(r), r["time"].values, *impulses_apart(r, ground_wrench(r)))
        for r in results
    ]
    return draw_vectors("Force and torque of the ground", vectors, recorded, text)


def tracked_points(*results: Result) -> Figure:
    """Draw x, y and z of the points that a `Tracker` follows, as Fig. 12 of [CHARMIE 2023]."""
    style.require_steps(results, "tracked_points")
    paths = [read_followed_paths(result) for result in results]
    names = list(dict.fromkeys(name for known in paths for name in known))
    if not names:
        raise ValueError(
            f"tracked_points: no point is followed in {results[0].name}: give assemble a Tracker"
        )
    recorded = []
    for result, known in zip(results, paths, strict=True):
        gone = np.full((result.data.sizes["time"], 3), np.nan)
        values = np.stack([known.get(name, gone) for name in names], axis=1)
        recorded.append(Recorded(style.label(result), result["time"].values, values))
    vectors = [Vector(name, "", "m") for name in names]
    return draw_vectors("Points of the mechanism", vectors, recorded)


def read_followed_paths(result: Result) -> dict[str, Array]:
    """Return the paths of followed points by name, (time, 3) [m] in world axes.

    Every element that records x, y and z in metres counts.
    """
    data = result.data
    owners = [str(name)[:-2] for name in data.data_vars if str(name).endswith(".x")]
    paths = {}
    for owner in owners:
        parts = [data.get(f"{owner}.{axis}") for axis in "xyz"]
        if all(part is not None and part.attrs.get("units") == "m" for part in parts):
            paths[owner] = np.column_stack([data[f"{owner}.{axis}"].values for axis in "xyz"])
    return paths


class Grounded(NamedTuple):
    """A joint that holds the robot on the ground."""

    name: str
    sign: float  # of the recorded value, which acts on the body of frame b
    held: tuple[int, Array]  # body and origin of its frame on the robot
    at: tuple[int, Array]  # of its frame b


def list_grounded(result: Result) -> list[Grounded]:
    """Return the joints to the ground; ValueError without any."""
    points: dict[str, list[tuple[int, Array]]] = {}  # body and origin of each frame
    for frame in style.read_stored(result, "frames"):
        point = int(frame["body"]), np.asarray(frame["origin"], dtype=float)
        points.setdefault(str(frame["element"]), []).append(point)
    names = {str(name) for name in result["joint"].values}
    joints = []
    for name, own in points.items():
        a, b = own[0], own[-1]
        if name in names and (a[0] < 0) != (b[0] < 0):
            joints.append(Grounded(name, *((1.0, b) if a[0] < 0 else (-1.0, a)), at=b))
    if not joints:
        raise ValueError(f"base_force: no joint to the ground in {result.name}")
    return joints


def ground_wrench(result: Result) -> Array:
    """Return force and torque that joints to the ground give the rest, (time, 2, 3) [N, N m].

    The torque is about the point where the first of these joints holds the robot.
    """
    names = [str(name) for name in result["joint"].values]
    joints = list_grounded(result)
    about = path_of_point(result, *joints[0].held)
    total = np.zeros((result.data.sizes["time"], 2, 3))
    for joint in joints:
        k = names.index(joint.name)
        force, torque = (
            joint.sign * (result[one].values[:, k] + result[other].values[:, k])
            for one, other in WRENCH
        )
        total[:, 0] += force
        total[:, 1] += torque + np.cross(path_of_point(result, *joint.at) - about, force)
    return total


def _make_panels(result: Result, joints: Sequence[str]) -> list[Curves]:
    index = {str(name): k for k, name in enumerate(result["joint"].values)}
    shown = [name for name in joints if name in index]
    panels = []
    for text, unit, variable in (
        ("size of the reaction force on body b", "N", "joint_reaction"),
        ("size of the reaction torque on body b, about frame b", "N m", "joint_reaction_torque"),
    ):
        size = np.linalg.norm(result[variable].values, axis=-1)
        parts = ({x: y[:, index[x]] for x in shown} for y in impulses_apart(result, size))
        panels.append(Curves(text, unit, *parts))
    for what, unit in (("forces", "N"), ("torques", "N m")):
        outputs = {
            str(name): np.asarray(variable.values)
            for name, variable in result.data.data_vars.items()
            if "." in str(name) and variable.attrs.get("units") == unit
        }
        # Drives that keep joints take their part of an impact; springs, dampers and motors do not.
        driven = {x: y for x, y in outputs.items() if x.rpartition(".")[0] in index}
        apart = {x: impulses_apart(result, y) for x, y in driven.items()}
        outputs |= {x: force for x, (force, _) in apart.items()}
        if outputs:
            impulses = {x: y for x, (_, y) in apart.items()}
            panels.append(Curves(f"{what} of elements on body b", unit, outputs, impulses))
    return panels
