"""Figures over time: forces, velocities, positions, and by how much one run is off another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.loads import joint_loads
from nsopt.plots import style
from nsopt.plots.across import across
from nsopt.plots.bands import draw_band, error_of, error_of_forces, shade_beyond
from nsopt.plots.curves import Recorded, Vector, draw_vectors
from nsopt.plots.impulses import Stems, impulses_apart
from nsopt.result import Result

AXES = ("x", "y", "z")
SIZE, RADIAL = "size", "radial"
LOADS = MappingProxyType({"axial": "axial", RADIAL: "normal"})
"""Components of forces beside those along axes and the size, by their names in `joint_loads`."""


class _Quantity(NamedTuple):
    title: str
    coordinate: str  # its components are over (time, coordinate, axis)
    symbol: str
    unit: str
    variable: str  # of the result
    error: Callable[[Result], Array | None]  # of its components, as the variable
    loads: Mapping[str, str] = MappingProxyType({})  # more components, as in `joint_loads`
    impulsive: bool = False  # impulses of impacts are apart


def contact_forces(
    *results: Result,
    joint: str | None = None,
    component: str | None = None,
    over: str | None = None,
) -> Figure:
    """Draw the X, Y and Z components of the force of each joint, as Figs. 11, 18, 25 and 35.

    Forces are means over the step that ends at each time, in world axes. Of a step with an impact
    the impulse is drawn, as a stem with an axis on the right: over h it would depend on h.
    A component that is zero in all joints, as across the plane of a planar mechanism, has no axes
    but a word in the title. A joint with clearance and an ideal one of the same name are overlaid.

    Parameters
    ----------
    joint : str, optional
        Show only this joint.
    component : str, optional
        Show only this one: ``x``, ``y``, ``z``; ``size``; ``axial`` along z of frame a of the
        joint, ``radial`` the size of what is across it.
    """
    names = "Joint forces", "joint", "F", "N", "joint_reaction"
    force = _Quantity(*names, error_of_forces, LOADS, impulsive=True)
    return _draw_quantity(results, force, joint, component, over)


def velocities(*results: Result, component: str | None = None, over: str | None = None) -> Figure:
    """Draw the velocity of each body's centre of mass, as Figs. 12, 19, 20, 26 and 33.

    Parameters
    ----------
    component : str, optional
        Show only this one: ``x``, ``y``, ``z`` or ``size``.
    """
    names = "Velocity of the centres of mass", "body", "v", "m/s", "body_velocity"
    velocity = _Quantity(*names, lambda result: error_of(result, "body_velocity"))
    return _draw_quantity(results, velocity, None, component, over)


def _draw_quantity(
    results: tuple[Result, ...],
    quantity: _Quantity,
    only: str | None,
    component: str | None,
    over: str | None,
) -> Figure:
    """Draw components below each other, a column for each joint or body, results overlaid."""
    style.require_steps(results, quantity.title)
    names = _list_names(results, quantity, only)
    parts, title = _list_components(quantity, component), quantity.title
    if quantity.impulsive and component is None:
        parts, title = _list_nonzero(results, quantity, names)
    results, text = across(results, over)
    size = (max(7.0, 3.6 * len(names)), 6.6 if len(parts) > 1 else 4.0)
    figure, axes = style.page(title, results, len(parts), len(names), size, sharex=True)
    values = [_read_values(result, quantity, names, parts) for result in results]
    errors = [_read_errors(result, quantity, names, parts) for result in results]
    stems = [np.full_like(value, np.nan) for value in values]
    if quantity.impulsive:
        apart = map(impulses_apart, results, values)
        values, stems = map(list, zip(*apart, strict=True))
    drawn_apart = Stems([result["time"].values for result in results], stems)
    scale, unit = max(map(style.peak, values)), style.unit_of(quantity.unit, *values)
    for column, name in enumerate(names):
        for row, part in enumerate(parts):
            ax, drawn = axes[row, column], []
            for k, (result, value) in enumerate(zip(results, values, strict=True)):
                if name in result[quantity.coordinate].values:
                    drawn.append(unit.factor * value[:, row, column])
                    ax.plot(result["time"], drawn[-1], **style.look(k)._asdict())
                    off = unit.factor * errors[k][:, row, column]
                    least = 0.0 if part in (SIZE, RADIAL) else -np.inf
                    draw_band(ax, result["time"].values, drawn[-1], off, style.look(k).color, least)
            flat = np.concatenate(drawn) if drawn else 0.0
            style.flatten_round_off(ax, flat, unit.factor * scale)
            drawn_apart.draw(ax, row, column)
            index = part if part in AXES else rf"\mathrm{{{part}}}"
            symbol = quantity.symbol + (f"$_{{{index}}}$" if part != SIZE else "")
            across_text = text if row == len(parts) - 1 else None
            style.axis_labels(ax, across_text, f"{symbol} [{unit.text}]" if column == 0 else None)
        alone = len(names) == len(results) == 1 and only is None
        style.title(axes[0, column], "" if alone else name)
    shade_beyond(axes.flat, results)
    style.results_legend(figure, results)
    return figure


def _list_names(results: Sequence[Result], quantity: _Quantity, only: str | None) -> list[str]:
    """Return the joints or bodies to draw."""
    names, what = style.names(results, quantity.coordinate), quantity.coordinate
    if not names:
        raise ValueError(f"{quantity.title}: no {what} in {results[0].name}")
    chosen = names if only is None else [only]
    check_names(f"{quantity.title}: no {what}", chosen, names)
    return chosen


def _list_components(quantity: _Quantity, component: str | None) -> Sequence[str]:
    """Return the components to draw."""
    chosen = AXES if component is None else [component]
    check_names(f"{quantity.title}: no component", chosen, (*AXES, SIZE, *quantity.loads))
    return chosen


def _list_nonzero(
    results: Sequence[Result], quantity: _Quantity, names: Sequence[str]
) -> tuple[list[str], str]:
    """Return the components that are not zero, and a title that names the zero ones."""
    values = [_read_values(result, quantity, names, AXES) for result in results]
    peaks = [max(style.peak(x[:, k]) for x in values) for k in range(len(AXES))]
    least = style.MOST_ROUNDING * max(peaks)
    drawn = [part for part, peak in zip(AXES, peaks, strict=True) if peak > least]
    zero = [x.upper() for x in AXES if x not in drawn]
    if not drawn or not zero:
        return [*AXES], quantity.title
    return drawn, f"{quantity.title}; zero along {' and '.join(zero)}"


def _read_values(
    result: Result, quantity: _Quantity, names: Sequence[str], parts: Sequence[str]
) -> Array:
    """Return components over (time, part, name), NaN of what a result has not."""
    vectors = result[quantity.variable].values
    own = [str(n) for n in result[quantity.coordinate].values]
    values = np.full((len(vectors), len(parts), len(names)), np.nan)
    for column, name in enumerate(names):
        for row, part in enumerate(parts):
            if name not in own:
                continue
            if part in quantity.loads:
                loads = joint_loads(result, [name])
                values[:, row, column] = loads[quantity.loads[part]].values[:, 0]
            elif part == SIZE:
                values[:, row, column] = np.linalg.norm(vectors[:, own.index(name)], axis=1)
            else:
                values[:, row, column] = vectors[:, own.index(name), AXES.index(part)]
    return values


def _read_errors(
    result: Result, quantity: _Quantity, names: Sequence[str], parts: Sequence[str]
) -> Array:
    """Return errors over (time, part, name), NaN where none are known."""
    own = [str(n) for n in result[quantity.coordinate].values]
    errors = np.full((result.data.sizes["time"], len(parts), len(names)), np.nan)
    if (vectors := quantity.error(result)) is not None:
        for column, k in ((names.index(name), own.index(name)) for name in names if name in own):
            for row, part in enumerate(parts):
                each = vectors[:, k]
                one = each[:, AXES.index(part)] if part in AXES else np.linalg.norm(each, axis=1)
                errors[:, row, column] = one
    return errors


def positions(*results: Result) -> Figure:
    """Draw the XY path of centres of mass and their Z over time (Figs. 13, 14, 21, 27, 28, 32)."""
    style.require_steps(results, "positions")
    bodies = style.names(results, "body")
    size = (9.0, 0.8 + 3.4 * len(bodies))
    figure, axes = style.page("Position of the centres of mass", results, len(bodies), 2, size)
    for (path, height), body in zip(axes, bodies, strict=True):
        paths = {
            k: r["body_position"].sel(body=body).values
            for k, r in enumerate(results)
            if body in r["body"].values
        }
        _draw_path(path, paths)
        _draw_height(height, paths, results, body)
        style.title(path, f"path of {body}")
        style.title(height, f"axial position of {body}")
    shade_beyond(axes[:, 1], results)
    style.results_legend(figure, results)
    return figure


def _draw_path(ax: Axes, paths: dict[int, Array]) -> None:
    unit = style.unit_of("m", *(p[:, :2] for p in paths.values()))
    for k, path in paths.items():
        ax.plot(*(unit.factor * path[:, :2].T), **style.look(k)._asdict())
        edge: dict[str, Any] = {"markeredgecolor": style.look(k).color, "markersize": 5}
        ax.plot(*(unit.factor * path[0, :2]), "o", color="white", zorder=9, label="_start", **edge)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    style.axis_labels(ax, f"x [{unit.text}]  (o start)", f"y [{unit.text}]")


def _draw_height(ax: Axes, paths: dict[int, Array], results: Sequence[Result], body: str) -> None:
    z = [p[:, 2] for p in paths.values()]
    size = max(style.peak(p) for p in paths.values())
    start = float(z[0][0])
    shifted = abs(start) > 5 * max(style.peak(part - start) for part in z) > 0
    base, text = (start, f"z − {start:.4g} m") if shifted else (0.0, "z")
    unit = style.unit_of("m", *(part - base for part in z))
    for k, part in zip(paths, z, strict=True):
        time, values = results[k]["time"].values, unit.factor * (part - base)
        ax.plot(time, values, **style.look(k)._asdict())
        if (error := error_of(results[k], "body_position")) is not None:
            own = [str(n) for n in results[k]["body"].values].index(body)
            draw_band(ax, time, values, unit.factor * error[:, own, 2], style.look(k).color)
    shown = np.concatenate([unit.factor * (part - base) for part in z])
    style.flatten_round_off(ax, shown, unit.factor * size)
    style.axis_labels(ax, "time [s]", f"{text} [{unit.text}]")


def deviations(*results: Result) -> Figure:
    """Draw how far bodies are off the last result, and turned from it, as angles over the axes.

    Of a joint with clearance beside its ideal twin: what the clearance changes. The last result is
    taken between its times by cubics through poses and velocities.
    """
    style.require_steps(results, "deviations")
    if len(results) < 2:
        raise ValueError("deviations needs two results or more: the last is the reference")
    *others, reference = results
    known = [[str(name) for name in result["body"].values] for result in results]
    bodies = [name for name in known[-1] if all(name in names for names in known)]
    if not bodies:
        raise ValueError(f"deviations: {reference.name} shares no body with the other results")
    pairs = ((Vector(f"{x} off", "", "m"), Vector(f"{x} turned", "φ", "rad")) for x in bodies)
    vectors = [vector for pair in pairs for vector in pair]
    recorded = [_compare(result, reference, bodies) for result in others]
    title = f"Deviations from {style.label(reference)}"
    return draw_vectors(title + (",\nof" if len(recorded) == 1 else ""), vectors, recorded)


def _compare(result: Result, reference: Result, bodies: list[str]) -> Recorded:
    """Return positions less those of the reference, and turns from it, in world axes."""
    t, known = result["time"].values, reference["time"].values
    shared = (t >= known[0]) & (t <= known[-1])
    if np.count_nonzero(shared) < 2:
        raise ValueError(f"deviations: {result.name} and {reference.name} share no time")
    parts = []
    for body in bodies:
        r, turn = (x[shared] for x in _read_poses(result, body))
        r0, turn0 = _interpolate_pose(reference, body, t[shared])
        parts += [r - r0, (Rotation.from_matrix(turn) * turn0.inv()).as_rotvec()]
    return Recorded(style.label(result), t[shared], np.stack(parts, axis=1))


def _read_poses(result: Result, body: str) -> tuple[Array, Array]:
    """Return positions (time, 3) [m] and rotation matrices (time, 3, 3) of a body."""
    r, e = (result[f"body_{x}"].sel(body=body).values for x in ("position", "quaternion"))
    return r, Rotation.from_quat(np.roll(e, -1, axis=1)).as_matrix()


def _interpolate_pose(result: Result, body: str, times: Array) -> tuple[Array, Rotation]:
    """Return position and orientation of a body at times in between."""
    known, (r, A) = result["time"].values, _read_poses(result, body)
    v, w = (result[f"body_{x}"].sel(body=body).values for x in ("velocity", "angular_velocity"))
    columns = CubicHermiteSpline(known, A, np.cross(w[:, None], A, axisb=1, axisc=1))(times)
    return CubicHermiteSpline(known, r, v)(times), Rotation.from_matrix(columns)
