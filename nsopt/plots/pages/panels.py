"""Panels of the overview, each on axes of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from nsopt.contact_modes import contacts_of_joints
from nsopt.loads import find_impacts
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
from nsopt.plots.figures import contact, motion, run
from nsopt.plots.figures import energy as curves_of_energy
from nsopt.plots.impulses import impulses_apart
from nsopt.result import Result

Panel = Callable[[Axes, Result], None]
"""A function that draws one panel of a page."""

MOST_GAPS = 4
"""Number of gaps up to which each is a line."""


def bore_contacts(ax: Axes, result: Result) -> None:
    """Draw eccentricities in the bores of at most two joints; without bores, times of contact."""
    radial = list(contact.in_bores(result).items())
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
    columns, _ = split(result)
    columns = with_angles(columns, axes_of_turn(columns))
    q, names = np.column_stack([result["q"].values[:, :0], *columns.values()]), [*columns]
    slides = [k for k, name in enumerate(names) if is_length(name)]
    balls = [k for k, name in enumerate(names) if is_parameter(name)]
    turns = [k for k in range(len(names)) if k not in {*slides, *balls}]
    if turns:
        shown, unit, factor = turns, "deg", np.degrees(1.0)
    else:
        shown, unit, factor = (slides, "m", 1.0) if slides else (balls, "1", 1.0)
    most = sorted(shown, key=lambda k: -float(np.ptp(q[:, k])))[: style.MAX_OWN_LEGEND]
    errors, time = errors_of_coordinates(result), result["time"].values
    for i, k in enumerate(sorted(most)):
        color = style.look(i).color
        ax.plot(time, factor * q[:, k], color=color, linewidth=0.9, label=names[k])
        if names[k] in errors:
            draw_band(ax, time, factor * q[:, k], factor * errors[names[k]], color)
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


def _find_lasting(result: Result) -> dict[str, list[int]]:
    """Return the indices of the contacts of each joint of which it is known what lasts."""
    known = "lasting_force" in result.data and result.data.sizes["contact"]
    return contacts_of_joints(result.data) if known else {}


def joint_forces(ax: Axes, result: Result) -> None:
    """Draw the largest forces of joints, impacts left out; of contacts what lasts."""
    force, _ = impulses_apart(result, np.linalg.norm(motion.joint_force(result), axis=2))
    names = list(result["joint"].values)
    for name, contacts in _find_lasting(result).items():
        if name in names:
            lasting = result["lasting_force"].values[:, contacts].sum(axis=1)
            force[:, names.index(name)] = np.linalg.norm(lasting, axis=1)
    largest = np.argsort(-np.nan_to_num(force).max(axis=0))[: style.MAX_OWN_LEGEND]
    unit, most = style.unit_of("N", force), style.peak(force)
    time, error = result["time"].values, error_of_forces(result)
    for k, j in enumerate(sorted(largest)):
        ax.plot(
            result["time"],
            unit.factor * force[:, j],
            color=style.look(k).color,
            linewidth=0.9,
            label=str(result["joint"].values[j]),
        )
        off = None if error is None else unit.factor * np.linalg.norm(error[:, j], axis=1)
        draw_band(ax, time, unit.factor * force[:, j], off, style.look(k).color, 0.0)
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
    speed = np.linalg.norm(motion.body_velocity(result), axis=2)
    fastest = np.argsort(-speed.max(axis=0))[: style.MAX_OWN_LEGEND]
    for k, b in enumerate(sorted(fastest)):
        ax.plot(
            result["time"],
            speed[:, b],
            **style.look(k)._asdict(),
            label=str(result["body"].values[b]),
        )
    style.axis_labels(ax, "time [s]", "speed [m/s]")
    style.title(ax, "Speed of the centres of mass")
    if len(fastest) > 1:
        style.own_legend(ax)


def norm(ax: Axes, result: Result) -> None:
    """Draw the deviation of the Euler parameters from norm one."""
    run.residual_of(ax, result, "euler_norm_error", "error")
    style.title(ax, "Norm of the Euler parameters")


def equations(ax: Axes, result: Result) -> None:
    """Draw the residual of the equations of motion."""
    run.residual_of(ax, result, "motion_residual", "residual [N]")
    style.title(ax, "Residual of the equations of motion")


def steps(ax: Axes, result: Result) -> None:
    """Draw the step size."""
    run.steps_of(ax, result)
    style.axis_labels(ax, "time [s]", None)
    style.title(ax, "Step size")


def energy(ax: Axes, result: Result) -> None:
    """Draw kinetic and potential energy, and their balance."""
    curves = {
        "kinetic": curves_of_energy.kinetic,
        "potential − start": curves_of_energy.potential,
        "balance": curves_of_energy.balance,
    }
    values = {name: curve(result) for name, curve in curves.items()}
    unit, time = style.unit_of("J", *values.values()), result["time"].values
    for k, (name, curve) in enumerate(values.items()):
        ax.plot(time, unit.factor * curve, **style.look(k)._asdict(), label=name)
        if (error := error_of(result, curves_of_energy.ERRORS[curves[name]])) is not None:
            draw_band(ax, time, unit.factor * curve, unit.factor * error, style.look(k).color)
    shade_beyond([ax], [result])
    change = values["balance"][-1]
    small = style.unit_of("J", change)
    style.axis_labels(ax, "time [s]", f"energy [{unit.text}]")
    style.title(
        ax,
        "Energy; balance = total − external work − start,\n"
        f"{small.factor * change:+.3g} {small.text} at the end",
    )
    style.own_legend(ax)
