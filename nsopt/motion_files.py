"""A sampled motion in the forms that controllers read: ROS JointTrajectory, a table in C."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nsopt.arrays import Array

if TYPE_CHECKING:
    import xarray as xr

KINDS = ("q", "v", "a", "tau")  # variables of a sampled motion that a controller needs

UNQUOTABLE = re.compile(r'["\\\x00-\x1f\x7f]|\?(?=\?)')
"""What a string in C may not contain as it stands: quotes, ends of lines, starts of trigraphs."""

EULER, RATES = ("e0", "e1", "e2", "e3"), ("wx", "wy", "wz")
"""Names of the coordinates and velocities of bodies and joints that turn freely."""

DIGITS = 17  # digits with which a float is read back as it was


def joint_trajectory(motion: xr.Dataset) -> dict[str, Any]:
    """Return a sampled motion with the fields of a ROS trajectory_msgs/JointTrajectory.

    What turns freely is under ``multi_dof_joint_trajectory``, with the fields of a
    MultiDOFJointTrajectory, as in a moveit_msgs/RobotTrajectory.
    """
    turning = _list_turning(motion)
    owners = {x: [n.rpartition(".")[0] for n in motion[f"{x}_name"].values.tolist()] for x in "qv"}
    columns = {x: [k for k, own in enumerate(owners[x]) if own not in turning] for x in "qv"}
    values = [motion[x].values[:, columns["q" if x == "q" else "v"]].tolist() for x in KINDS]
    fields = ("positions", "velocities", "accelerations", "effort")
    points = [
        dict(zip(fields, row, strict=True)) | {"time_from_start": time}
        for *row, time in zip(*values, _write_times(motion), strict=True)
    ]
    names = _list_names(motion)
    found: dict[str, Any] = {"joint_names": [names[k] for k in columns["q"]], "points": points}
    if turning:
        found["multi_dof_joint_trajectory"] = _write_multi_dof(motion, turning)
    return found


def _write_multi_dof(motion: xr.Dataset, turning: Sequence[str]) -> dict[str, Any]:
    """Return poses and velocities of what turns freely, in world axes for bodies."""
    points: list[dict[str, Any]] = [
        {"transforms": [], "velocities": [], "time_from_start": x} for x in _write_times(motion)
    ]
    for name in turning:
        place, euler = (_take_columns(motion, "q", name, x) for x in ("xyz", EULER))
        speed, w = (_take_columns(motion, "v", name, x) for x in (("vx", "vy", "vz"), RATES))
        e0, e = euler[:, :1], euler[:, 1:]
        e_w = np.cross(e, w)
        w = w + 2 * (e0 * e_w + np.cross(e, e_w))  # turned from the axes of the body
        rotation = np.hstack([e, e0])  # ROS has the scalar last
        for k in range(len(points)):
            turn = dict(zip("xyzw", rotation[k].tolist(), strict=True))
            pose = {"translation": _write_vector(place[k]), "rotation": turn}
            points[k]["transforms"].append(pose)
            twist = {"linear": _write_vector(speed[k]), "angular": _write_vector(w[k])}
            points[k]["velocities"].append(twist)
    return {"joint_names": list(turning), "points": points}


def _write_vector(x: Array) -> dict[str, float]:
    return dict(zip("xyz", x.tolist(), strict=True))


def _take_columns(motion: xr.Dataset, kind: str, owner: str, names: Sequence[str]) -> Array:
    """Return coordinates or velocities of a body or joint by name, (n, k); zero for missing ones.

    ``kind`` is q or v.
    """
    known = motion[f"{kind}_name"].values.tolist()
    values, wanted = motion[kind].values, [f"{owner}.{x}" for x in names]
    none = np.zeros(len(values))
    return np.stack([values[:, known.index(x)] if x in known else none for x in wanted], axis=1)


def _list_turning(motion: xr.Dataset) -> list[str]:
    """Return the names of bodies and joints that turn freely."""
    names = motion["q_name"].values.tolist()
    return [x.rpartition(".")[0] for x in names if x.endswith(".e0")]


def _write_times(motion: xr.Dataset) -> list[dict[str, int]]:
    t = motion["time"].values
    nanoseconds = [round(float(x - t[0]) * 1e9) for x in t]
    return [{"sec": x // 10**9, "nanosec": x % 10**9} for x in nanoseconds]


def c_table(motion: xr.Dataset, name: str) -> str:
    """Return a sampled motion as a header in C: sizes, names of joints, arrays of doubles.

    The name must be one of C, else it is a ValueError.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f"name of a C table must be an identifier such as lift, got {name!r}")
    samples, joints = motion["q"].shape
    quoted = ", ".join(f'"{UNQUOTABLE.sub("_", x)}"' for x in _list_names(motion))
    arrays = [_write_array(f"{name}_time", motion["time"].values)]
    arrays += [_write_array(f"{name}_{x}", motion[x].values) for x in KINDS]
    upper, rates = name.upper(), motion["v_name"].values.tolist()
    if len(rates) != joints:  # Euler parameters have rates of another number
        names = ", ".join(f'"{UNQUOTABLE.sub("_", x)}"' for x in rates)
        arrays.insert(0, f"static const char *const {name}_rates[{len(rates)}] = {{{names}}};")
    title = " ".join(motion.attrs["title"].split())  # on one line, and no end of the comment
    title = title.replace("*/", "* /").replace("??/", "? ?/")
    head = f"{title}: time [s], q, v, a, tau of each joint, in SI"
    head += f", tau for {motion.attrs['hold']}" if "hold" in motion.attrs else ""
    return "\n".join(
        [
            f"/* {head}. */",
            f"#define {upper}_SAMPLES {samples}",
            f"#define {upper}_JOINTS {joints}",
            f"static const char *const {name}_joints[{joints}] = {{{quoted}}};",
            *arrays,
            "",
        ]
    )


def _write_array(name: str, values: Array) -> str:
    """Return the definition in C of an array (n,) or (n, m)."""
    size = "".join(f"[{n}]" for n in values.shape)
    rows = [", ".join(f"{x:.{DIGITS}g}" for x in row) for row in np.atleast_2d(values.T).T]
    braced = rows if values.ndim == 1 else [f"{{{row}}}" for row in rows]
    return f"static const double {name}{size} = {{\n  " + ",\n  ".join(braced) + "\n};"


def _list_names(motion: xr.Dataset) -> list[str]:
    """Return a name for each coordinate: that of its joint, ``shoulder`` of ``shoulder.angle``.

    What turns freely keeps the names of coordinates; so do all if a joint has several.
    """
    names, turning = [str(x) for x in motion["q_name"].values], _list_turning(motion)
    owners = [x.rpartition(".")[0] or x for x in names]
    short = [x for x in owners if x not in turning]
    if len(set(short)) != len(short):
        return names
    return [name if x in turning else x for name, x in zip(names, owners, strict=True)]
