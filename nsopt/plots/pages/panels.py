"""Panels of the overview, each on axes of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from nsopt.contact_modes import contacts_of_joints
from nsopt.loads import bores_of_joints, find_impacts
from nsopt.plots import style
from nsopt.plots.bands import draw_band, error_of, error_of_forces, shade_beyond
from nsopt.plots.coordinates import (
    axes_of_turn,
    errors_of_coordinates,
    is_length,
    is_parameter,
    split,
    with_angles,
)
from nsopt.plots.figures import contact, run
from nsopt.plots.figures.energy import BALANCE, KINETIC, POTENTIAL
from nsopt.plots.impulses import impulses_apart
from nsopt.result import Result

Panel = Callable[[Axes, Result], None]
"""A function that draws one panel of a page."""

MOST_GAPS = 4  # number of gaps up to which each is a line


def bore_contacts(ax: Axes, result: Result) -> None:
    """Draw eccentricities in the bores of at most two joints; without bores, times of contact."""
    radial = list(bores_of_joints(result).items())
    if not radial:
        contact.touching(ax, result)
        style.title(ax, "When contacts press")
    elif len(radial) == 1:
        joint, contacts = radial[0]
        contact.clearance_circle(ax, result, contacts)
        style.title(ax, f"Bushing ends in the clearance of {joint}")
    else:
        _draw_two_circles(ax, result, radial[:2])


def _draw_two_circles(ax: Axes, result: Result, shown: list[tuple[str, list[int]]]) -> None:
    """Draw the clearance circles of two joints side by side, replacing ``ax``."""
    cell = ax.get_subplotspec()
    assert cell is not None
    parts = cell.subgridspec(1, 2)
    for k, (joint, contacts) in enumerate(shown):
        side = ax.figure.add_subplot(parts[0, k])
        style.plain(side)
        contact.clearance_circle(side, result, contacts)
        side.set(xticks=[-1, 0, 1])
        style.own_legend(side, columns=1)
        style.title(side, f"Bushing ends in {joint}")
        style.axis_labels(side, "x / clearance", "y / clearance" if k == 0 else "")
    ax.remove()


def coordinates(ax: Axes, result: Result) -> None:
    """Draw angles, or lengths if there are none, of the bodies that move most."""
    q, _ = split(result)
    q = with_angles(q, axes_of_turn(q))
    slides, balls = ([x for x in q if is_one(x)] for is_one in (is_length, is_parameter))
    shown, unit, factor = [x for x in q if x not in {*slides, *balls}], "deg", np.degrees(1.0)
    if not shown:
        shown, unit, factor = (slides, "m", 1.0) if slides else (balls, "1", 1.0)
    most = sorted(shown, key=lambda name: -float(np.ptp(q[name])))[: style.MAX_OWN_LEGEND]
    errors, time = errors_of_coordinates(result), result["time"].values
    for i, name in enumerate(x for x in shown if x in most):
        color = style.look(i).color
        ax.plot(time, factor * q[name], color=color, linewidth=0.9, label=name)
        if name in errors:
            draw_band(ax, time, factor * q[name], factor * errors[name], color)
    shade_beyond([ax], [result])
    style.axis_labels(ax, "time [s]", f"coordinate [{unit}]")
    style.title(ax, "Coordinates")
    style.own_legend(ax)


def closure(ax: Axes, result: Result) -> None:
    """Draw the closure errors of the ideal joints."""
    for j in range(result.data.sizes["joint"]):
        run.closure_of(ax, result, j, j)
    style.axis_labels(ax, "time [s]", None)
    style.title(ax, "Joint closure")


def joint_forces(ax: Axes, result: Result) -> None:
    """Draw the largest forces of joints, impacts left out; of contacts what lasts."""
    force, _ = impulses_apart(result, np.linalg.norm(result["joint_reaction"].values, axis=2))
    names = list(result["joint"].values)
    lasts = "lasting_force" in result.data and result.data.sizes["contact"]
    for name, contacts in contacts_of_joints(result.data).items() if lasts else ():
        if name in names:
            lasting = result["lasting_force"].values[:, contacts].sum(axis=1)
            force[:, names.index(name)] = np.linalg.norm(lasting, axis=1)
    largest = np.argsort(-np.nan_to_num(force).max(axis=0))[: style.MAX_OWN_LEGEND]
    unit, most = style.unit_of("N", force), style.peak(force)
    time, error = result["time"].values, error_of_forces(result)
    for k, j in enumerate(sorted(largest)):
        values, color = unit.factor * force[:, j], style.look(k).color
        ax.plot(time, values, color=color, linewidth=0.9, label=str(result["joint"].values[j]))
        off = None if error is None else unit.factor * np.linalg.norm(error[:, j], axis=1)
        draw_band(ax, time, values, off, color, 0.0)
    shade_beyond([ax], [result])
    style.axis_labels(ax, "time [s]", f"force [{unit.text}]")
    apart = " without impacts" if np.any(find_impacts(result)) else ""
    style.title(ax, f"Joint force{apart}, largest {unit.factor * most:.3g} {unit.text}")
    if len(largest) > 1:
        style.own_legend(ax)


def gaps(ax: Axes, result: Result) -> None:
    """Draw all gaps over their clearances; many as shades."""
    count = result.data.sizes["contact"]
    if count <= MOST_GAPS:
        contact.gaps_of_joint(ax, result, list(range(count)))
        shade_beyond([ax], [result])
        style.title(ax, "Gaps")
        style.own_legend(ax, columns=4)
    else:
        contact.gap_map(ax, result, list(range(count)))
        style.title(ax, "Gaps: dark where closed")
    style.axis_labels(ax, "time [s]", None)


def speeds(ax: Axes, result: Result) -> None:
    """Draw the speeds of the fastest bodies."""
    speed = np.linalg.norm(result["body_velocity"].values, axis=2)
    fastest = np.argsort(-speed.max(axis=0))[: style.MAX_OWN_LEGEND]
    for k, b in enumerate(sorted(fastest)):
        name = str(result["body"].values[b])
        ax.plot(result["time"], speed[:, b], **style.look(k)._asdict(), label=name)
    style.axis_labels(ax, "time [s]", "speed [m/s]")
    style.title(ax, "Speed of the centres of mass")
    if len(fastest) > 1:
        style.own_legend(ax)


def norm(ax: Axes, result: Result) -> None:
    """Draw the deviation of the Euler parameters from norm one."""
    run.draw_dots(ax, result, run.worst(result, "euler_norm_error"), 0)
    style.axis_labels(ax, "time [s]", "error")
    style.title(ax, "Norm of the Euler parameters")


def equations(ax: Axes, result: Result) -> None:
    """Draw the residual of the equations of motion."""
    run.draw_dots(ax, result, run.worst(result, "motion_residual"), 0)
    style.axis_labels(ax, "time [s]", "residual [N]")
    style.title(ax, "Residual of the equations of motion")


def steps(ax: Axes, result: Result) -> None:
    """Draw the step size."""
    run.steps_of(ax, result)
    style.axis_labels(ax, "time [s]", None)
    style.title(ax, "Step size")


def energy(ax: Axes, result: Result) -> None:
    """Draw kinetic and potential energy, and their balance."""
    curves = (KINETIC, POTENTIAL, BALANCE)
    values = [curve(result) for curve in curves]
    unit, time = style.unit_of("J", *values), result["time"].values
    for k, (curve, value) in enumerate(zip(curves, values, strict=True)):
        name = curve.name.partition(":")[0]
        ax.plot(time, unit.factor * value, **style.look(k)._asdict(), label=name)
        if (error := error_of(result, curve.variable)) is not None:
            draw_band(ax, time, unit.factor * value, unit.factor * error, style.look(k).color)
    shade_beyond([ax], [result])
    change = values[-1][-1]
    small = style.unit_of("J", change)
    style.axis_labels(ax, "time [s]", f"energy [{unit.text}]")
    end = f"{small.factor * change:+.3g} {small.text} at the end"
    style.title(ax, f"Energy; balance = total − external work − start,\n{end}")
    style.own_legend(ax)
