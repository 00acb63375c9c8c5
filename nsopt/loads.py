"""Loads of joints over a motion: along and across their axes, and their root mean squares."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import rotate
from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.contact_modes import contacts_of_joints, count_rigid
from nsopt.result import Result

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

PARTS = ("axial", "normal", "force", "torque")  # loads of a joint; see `joint_loads`


def joint_loads(result: Result, joints: Sequence[str] | None = None) -> xr.Dataset:
    """Return the loads of joints over time, by the axis z of their frame a.

    Parameters
    ----------
    result : Result
    joints : sequence of str, optional
        Names of joints and contacts; by default `list_loaded_joints`.

    Returns
    -------
    xarray.Dataset
        Over (time, joint): ``axial`` [N], the reaction along the axis, on the body of frame b;
        ``normal`` [N], the size of that across it; ``force`` [N] and ``torque`` [N m], the sizes of
        the whole reaction, friction and drives of the joint left out.

    Raises
    ------
    ValueError
        If there is no joint of a name.
    """
    import xarray as xr

    known = list_loaded_joints(result)
    chosen = known if joints is None else list(joints)
    check_names("no joint", chosen, known, f" in {result.name!r}")
    data = result.data.sel(joint=chosen)
    axes = _find_axes(result)
    axis = np.stack([axes[name] for name in chosen], axis=1)  # (time, joint, 3)
    force, torque = (data[x].values for x in ("joint_reaction", "joint_reaction_torque"))
    axial = np.einsum("tji,tji->tj", force, axis)
    across = np.linalg.norm(force - axial[:, :, None] * axis, axis=2)
    parts = (axial, across, np.linalg.norm(force, axis=2), np.linalg.norm(torque, axis=2))
    units = ("N", "N", "N", "N m")
    return xr.Dataset(
        {
            name: (("time", "joint"), part, {"units": unit})
            for name, part, unit in zip(PARTS, parts, units, strict=True)
        },
        coords={"time": data["time"], "joint": data["joint"]},
        attrs={"title": result.name},
    )


def find_impacts(result: Result) -> NDArray[np.bool_]:
    """Return whether the step that ends at each time has an impact of rigid contacts, (time,).

    Impacts of compliant contacts are left out: they last, with forces that are known. A KeyError
    tells where impulses of contacts were not recorded.
    """
    if not result.data.sizes["contact"]:
        return np.zeros(result.data.sizes["time"], dtype=bool)
    rigid = count_rigid(result.data)
    return np.asarray(np.any(result["impact_impulse"].values[:, :rigid] > 0, axis=1))


def rms_loads(results: Mapping[str, Result], joints: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the root mean squares of joint loads over time [CoPCoD 2023, eq. 34], in one table.

        RMS = sqrt(1/t_k integral_0^t_k F(t)^2 dt)

    Steps with impacts of rigid contacts are left out: the square of impulses over h has no limit as
    h falls.

    Parameters
    ----------
    results : mapping of label to Result
        The cases to compare.
    joints : sequence of str, optional
        By default all that every result has, in the order of the first.

    Returns
    -------
    pandas.DataFrame
        A row for each label, columns (joint, part) with the parts of `joint_loads` [N, N m].

    Raises
    ------
    ValueError
        If there are no results, or no joint of a name.
    """
    import pandas as pd

    if not results:
        raise ValueError("rms_loads needs at least one result: rms_loads({'label': result})")
    known = [list_loaded_joints(result) for result in results.values()]
    alike = [name for name in known[0] if all(name in names for names in known)]
    rows = {}
    for label, result in results.items():
        loads = joint_loads(result, alike if joints is None else joints)
        lasting = np.where(find_impacts(result), np.nan, 1.0)
        rows[label] = {
            (str(joint), part): _find_rms(loads["time"].values, lasting * loads[part].values[:, k])
            for k, joint in enumerate(loads["joint"].values)
            for part in PARTS
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.columns.names = ["joint", "part"]
    return table


def list_loaded_joints(result: Result) -> list[str]:
    """Return the joints, contacts and forces that press surfaces, whose frames are on record."""
    placed = {frame["element"] for frame in read_frames(result)}
    return [str(name) for name in result["joint"].values if name in placed]


def bores_of_joints(result: Result) -> dict[str, list[int]]:
    """Return the contacts in bores, of each joint that has any."""
    known = np.isfinite(result["contact_offset"].values).all(axis=(0, 2))
    of_all = contacts_of_joints(result.data)
    inner = {joint: [k for k in ks if known[k]] for joint, ks in of_all.items()}
    return {joint: ks for joint, ks in inner.items() if ks}


def read_frames(result: Result) -> list[dict[str, Any]]:
    """Return the frames of joints, contacts and forces that press surfaces, as they are stored."""
    names = ("frames", "pressed_frames")
    return [frame for name in names for frame in json.loads(result.data.attrs[name])]


def _find_rms(t: Array, values: Array) -> float:
    """Return the root mean square over the times at which values are known."""
    known = np.isfinite(values)
    t, values = t[known], values[known]
    if len(t) < 2:
        return float("nan")
    return float(np.sqrt(np.trapezoid(values**2, t) / (t[-1] - t[0])))


def _find_axes(result: Result) -> dict[str, Array]:
    """Return z of frame a of each joint over time, (time, 3) in world axes."""
    axes: dict[str, Array] = {}
    for frame in read_frames(result):
        if frame["element"] in axes:  # this is frame b
            continue
        z, n = np.asarray(frame["z"]), result.data.sizes["time"]
        if frame["body"] < 0:
            axes[frame["element"]] = np.tile(z, (n, 1))
            continue
        axes[frame["element"]] = rotate(result["body_quaternion"].values[:, frame["body"]], z)
    return axes
