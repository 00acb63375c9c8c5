"""Coordinates and velocities over time, as the mechanism counts them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from nsopt.arrays import Array
from nsopt.plots import style
from nsopt.plots.across import across
from nsopt.plots.bands import error_of, shade_beyond
from nsopt.plots.curves import Curves, draw_curves
from nsopt.result import Result
from nsopt.stored import ERROR

LENGTHS = ("distance", "x", "y", "z")
SPEEDS = ("speed", "vx", "vy", "vz")
PARAMETERS = ("e0", "e1", "e2", "e3")
"""Endings of the names of lengths, of their rates, and of Euler parameters."""

IDLE = 1e-9  # size of an Euler parameter up to which a body does not turn about its axis


def coordinates(result: Result, *others: Result, over: str | None = None) -> Figure:
    """Draw every coordinate and velocity over time: angles, lengths, rates, speeds.

    Bodies that turn about one axis of the world have an angle in place of Euler parameters, and the
    angular velocities about the others are left out.

    Parameters
    ----------
    *others : Result
        Not drawn: the curves of one run are many.
    """
    del others
    style.require_steps((result,), "coordinates")
    q, z = split(result)
    turning = axes_of_turn(q)
    q = with_angles(q, turning)
    idle = {f"{body}.w{x}" for body, axis in turning.items() for x in "xyz" if x != axis}
    v = {name: values for name, values in name_columns(result, "v").items() if name not in idle}
    angles = {k: x for k, x in q.items() if not _ends_with(k, (*LENGTHS, *PARAMETERS))}
    kinds = (
        ("Angles", "rad", angles),
        ("Lengths", "m", {k: x for k, x in q.items() if is_length(k)}),
        ("Euler parameters", "", {k: x for k, x in q.items() if is_parameter(k)}),
        ("Angular velocities", "rad/s", {k: x for k, x in v.items() if not is_speed(k)}),
        ("Speeds", "m/s", {k: x for k, x in v.items() if is_speed(k)}),
        ("Internal states of friction", "", z),
    )
    errors = errors_of_coordinates(result)
    panels = [Curves(title, unit, values, errors=errors) for title, unit, values in kinds if values]
    (moved,), text = across((result,), over)
    title = f"Coordinates: {style.label(result)}"
    figure = draw_curves(title, moved["time"].values, panels, text)
    shade_beyond(figure.axes, [moved])
    return figure


def errors_of_coordinates(result: Result) -> dict[str, Array]:
    """Return the errors of coordinates, of angles in their place, and of velocities, by name."""
    errors: dict[str, Array] = {}
    for name in ("q", "v"):
        if error_of(result, name) is not None:
            errors |= name_columns(result, name, ERROR + name)
    if errors:
        for body, axis in axes_of_turn(split(result)[0]).items():
            parts = (PARAMETERS[0], PARAMETERS[1 + "xyz".index(axis)])
            # Of the angle twice the way on the circle of both parameters.
            errors[f"{body}.angle"] = 2 * np.hypot(*(errors[f"{body}.{x}"] for x in parts))
    return errors


def split(result: Result) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the coordinates of bodies by name, and the internal states of friction."""
    named = list(name_columns(result, "q").items())
    moving = len(named) - int(result.data.attrs.get("internal_states", 0))
    return dict(named[:moving]), dict(named[moving:])


def bodies_with_parameters(q: Mapping[str, Array]) -> list[str]:
    """Return the bodies, or ball joints, whose turn is in Euler parameters."""
    return [name.rpartition(".")[0] for name in q if _ends_with(name, PARAMETERS[:1])]


def axes_of_turn(q: Mapping[str, Array]) -> dict[str, str]:
    """Return the bodies with Euler parameters that turn about one world axis alone, and which."""
    found = {}
    for body in bodies_with_parameters(q):
        sizes = [style.peak(q[f"{body}.{part}"]) for part in PARAMETERS[1:]]
        turned = [axis for axis, size in zip("xyz", sizes, strict=True) if size > IDLE]
        if len(turned) == 1:
            found[body] = turned[0]
    return found


def with_angles(q: Mapping[str, Array], turning: Mapping[str, str]) -> dict[str, Array]:
    """Return coordinates (time,) with angles of some bodies in place of their Euler parameters.

    ``turning`` has the axes of these bodies, as from `axes_of_turn`.
    """
    replaced: dict[str, Array] = {}
    for name, values in q.items():
        body, _, part = name.rpartition(".")
        if body not in turning or part not in PARAMETERS:
            replaced[name] = values
        elif part == PARAMETERS[0]:
            about = q[f"{body}.{PARAMETERS[1 + 'xyz'.index(turning[body])]}"]
            replaced[f"{body}.angle"] = np.unwrap(2 * np.arctan2(about, values))
    return replaced


def is_length(name: str) -> bool:
    """Return whether a coordinate is a length, by its name."""
    return _ends_with(name, LENGTHS)


def is_speed(name: str) -> bool:
    """Return whether a velocity is that of a length, by its name."""
    return _ends_with(name, SPEEDS)


def is_parameter(name: str) -> bool:
    """Return whether a coordinate is an Euler parameter, by its name."""
    return _ends_with(name, PARAMETERS)


def name_columns(result: Result, kind: str, variable: str = "") -> dict[str, Array]:
    """Return a variable, (time,) for each coordinate (``kind`` q) or velocity (v), by its name."""
    labels = map(str, result[f"{kind}_name"].values)
    return dict(zip(labels, result[variable or kind].values.T, strict=True))


def _ends_with(name: str, endings: tuple[str, ...]) -> bool:
    return name.rsplit(".", 1)[-1] in endings
