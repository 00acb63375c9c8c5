"""Coordinates and velocities over time, as the mechanism counts them."""

from __future__ import annotations

from matplotlib.figure import Figure

from nsopt.plots import style
from nsopt.plots.curves import Curves, draw_curves
from nsopt.plots.style import Array
from nsopt.result import Result

LENGTHS = ("distance", "x", "y", "z")
SPEEDS = ("speed", "vx", "vy", "vz")
PARAMETERS = ("e0", "e1", "e2", "e3")


def coordinates(result: Result, *others: Result) -> Figure:
    """Draw every coordinate and velocity over time: angles, lengths, rates, speeds.

    Parameters
    ----------
    result : Result
    *others : Result
        Not drawn: the curves of one run are many.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        For a result that has no step.
    """
    del others
    style.require_steps((result,), "coordinates")
    q, z = split(result)
    v = _columns(result, "v")
    kinds = (
        ("Angles", "rad", {k: x for k, x in q.items() if not _is(k, (*LENGTHS, *PARAMETERS))}),
        ("Lengths", "m", {k: x for k, x in q.items() if is_length(k)}),
        ("Euler parameters", "", {k: x for k, x in q.items() if _is(k, PARAMETERS)}),
        ("Angular velocities", "rad/s", {k: x for k, x in v.items() if not is_speed(k)}),
        ("Speeds", "m/s", {k: x for k, x in v.items() if is_speed(k)}),
        ("Internal states of friction", "", z),
    )
    panels = [Curves(title, unit, values) for title, unit, values in kinds if values]
    return draw_curves(f"{result.name}: coordinates", result["time"].values, panels)


def split(result: Result) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the coordinates of bodies by name, and the internal states of friction."""
    named = list(_columns(result, "q").items())
    moving = len(named) - int(result.data.attrs.get("internal_states", 0))
    return dict(named[:moving]), dict(named[moving:])


def is_length(name: str) -> bool:
    """Return whether a coordinate is a length, by its name."""
    return _is(name, LENGTHS)


def is_speed(name: str) -> bool:
    """Return whether a velocity is that of a length, by its name."""
    return _is(name, SPEEDS)


def is_parameter(name: str) -> bool:
    """Return whether a coordinate is an Euler parameter, by its name."""
    return _is(name, PARAMETERS)


def _columns(result: Result, name: str) -> dict[str, Array]:
    labels = result[f"{name}_name"].values
    return dict(zip(map(str, labels), result[name].values.T, strict=True))


def _is(name: str, tags: tuple[str, ...]) -> bool:
    return name.rsplit(".", 1)[-1] in tags
