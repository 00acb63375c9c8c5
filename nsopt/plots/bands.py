"""Bands of errors about lines over time, and shades over what is beyond the predictable time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from nsopt.arrays import Array
from nsopt.caveats import cover_all, find_predictable_time, has_errors
from nsopt.plots import style
from nsopt.result import Result
from nsopt.stored import ERROR

STRENGTH = 0.35  # strength of the colour of a band, over that of its line

MOST = 0.5
"""How far a band goes beyond its line, over the extent of the line: errors do not scale axes."""

SHADE, COVERS = "#ececec", 0.75
"""Colour of what is beyond the predictable time, and its opacity."""


def error_of(result: Result, name: str) -> Array | None:
    """Return the error of a variable, of its shape; None where none is known."""
    data = result.data
    return None if ERROR + name not in data.variables else np.asarray(data[ERROR + name].values)


def error_of_forces(result: Result) -> Array | None:
    """Return the error of what joints carry, (time, joint, 3) [N]; None where none is known.

    Of contacts it is the same along each axis.
    """
    of_ideal, of_contacts = (error_of(result, x) for x in ("joint_reaction", "force"))
    if of_ideal is None and of_contacts is None:
        return None
    joints = [str(x) for x in result["joint"].values]
    error = np.full((result.data.sizes["time"], len(joints), 3), np.nan)
    if of_ideal is not None:
        error = of_ideal.copy()
    if of_contacts is not None:
        for k, name in enumerate(map(str, result["contact_joint"].values)):
            if name in joints:
                error[:, joints.index(name)] = of_contacts[:, k, None]
    return error


def draw_band(
    ax: Axes, time: Array, values: Array, error: Array | None, color: str, least: float = -np.inf
) -> None:
    """Draw the error (time,) of a line (time,) as a band about it, which ends at a least value.

    None is drawn where no error is known, nor over an angle that turns back.
    """
    if error is None or np.any(np.diff(time) < 0) or not np.any(np.isfinite(values)):
        return
    room = MOST * float(np.nanmax(values) - np.nanmin(values))
    low = np.maximum(values - error, max(np.nanmin(values) - room, least))
    high = np.minimum(values + error, np.nanmax(values) + room)
    drawn = style.tint(color, STRENGTH)
    ax.fill_between(time, low, high, color=drawn, linewidth=0, zorder=1.5)


def shade_beyond(axes: Iterable[Axes], results: Sequence[Result]) -> None:
    """Shade what is beyond the time until which all results are predictable, and name it.

    In axes over an angle that turns back nothing is shaded.
    """
    known = [result for result in results if has_errors(result.data)]
    if not known or any(np.any(np.diff(x["time"].values) < 0) for x in results):
        return
    until, first = min(((find_predictable_time(x.data), x) for x in known), key=lambda x: x[0])
    end = max(float(x["time"].values[-1]) for x in results)
    if until >= float(first["time"].values[-1]):
        return
    text = " not predictable" if cover_all(first.data) else " error unknown"
    for ax in axes:
        ax.axvspan(until, end, color=SHADE, alpha=COVERS, linewidth=0, zorder=1.6)
        look: dict[str, Any] = {"fontsize": style.SMALL, "color": "#707070", "zorder": 1.7}
        ax.text(until, 1.0, text, transform=ax.get_xaxis_transform(), va="top", **look)
