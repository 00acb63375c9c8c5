"""A sampled motion in the forms that controllers read: ROS JointTrajectory, a table in C."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr

KINDS = ("q", "v", "a", "tau")
"""Variables of a sampled motion that a controller needs."""

UNQUOTABLE = re.compile(r'["\\\x00-\x1f\x7f]|\?(?=\?)')
"""What a string in C may not have as it stands: quotes, ends of lines, starts of trigraphs."""

DIGITS = 17
"""With which a float is read back as it was."""


def joint_trajectory(motion: xr.Dataset) -> dict[str, Any]:
    """Return a sampled motion with the fields of a ROS trajectory_msgs/JointTrajectory."""
    begin = float(motion["time"][0])
    points = [
        {
            "positions": q.tolist(),
            "velocities": v.tolist(),
            "accelerations": a.tolist(),
            "effort": tau.tolist(),
            "time_from_start": _duration(float(t) - begin),
        }
        for t, q, v, a, tau in zip(
            motion["time"].values, *(motion[x].values for x in KINDS), strict=True
        )
    ]
    return {"joint_names": _joints(motion), "points": points}


def c_table(motion: xr.Dataset, name: str) -> str:
    """Return a sampled motion as a header in C: sizes, names of joints, arrays of doubles.

    Raises
    ------
    ValueError
        If the name is none of C.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f"name of a C table must be an identifier such as lift, got {name!r}")
    samples, joints = motion["q"].shape
    quoted = ", ".join(f'"{UNQUOTABLE.sub("_", x)}"' for x in _joints(motion))
    arrays = [_array(f"{name}_time", motion["time"].values)]
    arrays += [_array(f"{name}_{x}", motion[x].values) for x in KINDS]
    upper = name.upper()
    head = f"{_plain(motion.attrs['title'])}: time [s], q, v, a, tau of each joint, in SI"
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


def _array(name: str, values: NDArray[np.float64]) -> str:
    size = "".join(f"[{n}]" for n in values.shape)
    rows = [", ".join(f"{x:.{DIGITS}g}" for x in row) for row in np.atleast_2d(values.T).T]
    braced = rows if values.ndim == 1 else [f"{{{row}}}" for row in rows]
    return f"static const double {name}{size} = {{\n  " + ",\n  ".join(braced) + "\n};"


def _joints(motion: xr.Dataset) -> list[str]:
    """Return the names of joints, ``shoulder`` of ``shoulder.angle``; of others the coordinates."""
    names = [str(x) for x in motion["q_name"].values]
    short = [x.rpartition(".")[0] or x for x in names]
    return short if len(set(short)) == len(short) else names


def _duration(seconds: float) -> dict[str, int]:
    nanoseconds = round(seconds * 1e9)
    return {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("*/", "* /").replace("??/", "? ?/")
