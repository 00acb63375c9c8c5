"""Panels of the overview of an optimum: its motion, its forces and their costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from nsopt.arrays import Array
from nsopt.loads import bores_of_joints
from nsopt.plots import style
from nsopt.plots.coordinates import is_length, is_parameter, is_speed, name_columns, split
from nsopt.plots.curves import MOST_NAMED
from nsopt.plots.figures import contact
from nsopt.plots.lines import SMALL, Quantity, draw_lines, extent, quantity
from nsopt.plots.pages import panels
from nsopt.plots.pages.panels import Panel
from nsopt.result import Result

BAR = 0.36  # height of a bar, over the distance of costs
BETWEEN = 4  # number of panels between the mechanism and the costs
TINY = 1e-9  # size in SI units up to which something counts as zero that is compared with nothing
NOTABLE = 0.01  # change of a gap, over its clearance, from which it is worth drawing


def choose_panels(result: Result) -> list[Panel]:
    """Return the panels after that of the mechanism: the most informative ones, none twice."""
    contacts = result.data.sizes["contact"] > 0
    bores = bool(bores_of_joints(result))
    coordinates = _make_panel("Coordinates", _find_coordinates(result))
    velocities = _make_panel("Velocities", _find_velocities(result))
    contact_forces = _make_panel("Contact forces, means over a step", _find_contact_forces(result))
    in_order: list[list[Panel]] = [
        [panels.bore_contacts] if bores else [],
        [] if contacts else coordinates,
        [drives] if _has_drawn(_find_drives(result)) else [],
        _make_panel("Inputs", _find_inputs(result)),
        [gaps] if _has_drawn(_find_gaps(result)) else [],
        [] if contacts else velocities,
        _make_panel("Resistance of joints", _find_resistance(result)),
        [*contact_forces, *velocities] if contacts else [],
        [panels.energy],
        coordinates if contacts else [],
        [panels.steps],
    ]
    informative = [panel for several in in_order for panel in several]
    return [*informative[:BETWEEN], costs]


def _make_panel(title: str, quantities: list[Quantity]) -> list[Panel]:
    """Return the panel of those quantities that are worth drawing; none if none is."""

    def draw(ax: Axes, result: Result) -> None:
        more = draw_lines(ax, result["time"].values, quantities)
        style.title(ax, f"{title}{more}")

    return [draw] if _has_drawn(quantities) else []


def drives(ax: Axes, result: Result) -> None:
    """Draw the forces of the drives, as shares of their limits where all have one."""
    more = draw_lines(ax, result["time"].values, _find_drives(result))
    bounded = np.isfinite(_read_limits(result)[_find_working_drives(result)]).all()
    if bounded:
        for limit in (-100.0, 100.0):
            ax.axhline(limit, color="black", linewidth=0.8, linestyle="--", zorder=1)
    style.title(ax, f"Drives{' against their limits' if bounded else ''}{more}")


def gaps(ax: Axes, result: Result) -> None:
    """Draw the gaps, those of clearances over the clearance; of many clearances as shades."""
    within, free = _find_gaps(result)
    if len(within.values) > MOST_NAMED and not free.values:
        panels.gaps(ax, result)
        return
    ax.axhline(0, color="black", linewidth=0.8, zorder=1)
    more = draw_lines(ax, result["time"].values, [within, free])
    style.title(ax, f"Gaps{more}")


def costs(ax: Axes, result: Result) -> None:
    """Draw the share of each cost in the optimum, beside that in the guess if it has one."""
    best, guess = result.detailed_cost, result.guess_cost
    whole = abs(result.objective) or 1.0
    sizes = {
        name: (max(abs(value), abs(guess[name])) or 1.0) if guess else whole
        for name, value in best.items()
    }
    bars = [(guess, style.GREY, "guess")] if guess else []
    bars.append((best, style.COLOURS[0], "optimum"))
    for k, (shares, colour, text) in enumerate(bars):
        centres = np.arange(len(best)) + (k - (len(bars) - 1) / 2) * BAR
        widths = [shares[name] / sizes[name] for name in best]
        drawn = ax.barh(centres, widths, height=BAR, color=colour, label=text)
        numbers = [f"{shares[name]:.4g}" for name in best]
        ax.bar_label(drawn, numbers, padding=3, fontsize=style.SMALL)
    ax.set_yticks(range(len(best)), list(best))
    rows = max(len(best), 2)  # a single bar is not to fill the axes
    middle = (len(best) - 1) / 2
    ax.set_ylim(middle + rows / 2, middle - rows / 2)
    ax.set_xlim(min(0.0, 1.25 * ax.dataLim.x0), max(1.25, 1.25 * ax.dataLim.x1))
    ax.grid(False, axis="y")
    style.axis_labels(ax, "share of the " + ("larger of both" if guess else "objective"), None)
    style.title(ax, f"Costs, {result.objective:.4g} in all")
    if guess:
        style.own_legend(ax)


def _has_drawn(quantities: Sequence[Quantity]) -> bool:
    return any(x.drawn for x in quantities)


def _find_coordinates(result: Result) -> list[Quantity]:
    columns, _ = split(result)
    least = max(TINY, SMALL * max((float(np.ptp(x)) for x in columns.values()), default=0.0))
    norms = {name: x for name, x in columns.items() if is_parameter(name)}
    slides = {name: x for name, x in columns.items() if is_length(name)}
    turns = {n: np.degrees(x) for n, x in columns.items() if n not in norms and n not in slides}
    return [
        quantity("angle", "deg", turns, np.degrees(least), extent),
        quantity("length", "m", slides, least, extent),
        quantity("Euler parameter", "1", norms, least, extent),
    ]


def _find_velocities(result: Result) -> list[Quantity]:
    least = max(TINY, SMALL * style.peak(result["v"].values))
    return _split_by_kind(result, "v", least, (("velocity", "rad/s"), ("velocity", "m/s")))


def _find_drives(result: Result) -> list[Quantity]:
    force, most, used = result["drive"].values, _read_limits(result), _find_working_drives(result)
    if not np.isfinite(most[used]).all():
        kinds = (("torque", "N m"), ("force", "N"))
        return _split_by_kind(result, "drive", _find_noise(result), kinds)
    # Drives that are not used may have no limit; they are not drawn.
    shares = np.where(used, 100 * force / np.where(used, most, 1.0), 0.0)
    named = dict(zip(map(str, result["v_name"].values), shares.T, strict=True))
    return [quantity("force of drives", "% of the limit", named, 0.0)]


def _find_inputs(result: Result) -> list[Quantity]:
    names = map(str, result["input_name"].values)
    values = dict(zip(names, result["input"].values.T, strict=True))
    return [quantity("input", "SI unit", values, TINY)]


def _find_resistance(result: Result) -> list[Quantity]:
    names = [str(name) for name in result["joint"].values]
    moments, forces = (
        dict(zip(names, np.linalg.norm(result[name].values, axis=-1).T, strict=True))
        for name in ("joint_resistance", "joint_resistance_force")
    )
    for name, variable in result.data.data_vars.items():
        owner, _, output = str(name).rpartition(".")
        if output == "moment" and owner:
            moments[owner] = np.asarray(variable.values)
    return [
        quantity(*of, x, max(TINY, SMALL * max(map(style.peak, x.values()), default=0.0)))
        for of, x in ((("moment", "N m"), moments), (("force", "N"), forces))
    ]


def _find_contact_forces(result: Result) -> list[Quantity]:
    names = map(str, result["contact"].values)
    force = np.linalg.norm(result["contact_force"].values, axis=-1)
    return [quantity("force", "N", dict(zip(names, force.T, strict=True)), _find_noise(result))]


def _find_gaps(result: Result) -> tuple[Quantity, Quantity]:
    """Return gaps over their clearances, and those of walls, which have none.

    Only if one opens or closes: how contacts that stay closed move is in the clearance circle.
    """
    names, gap = [str(name) for name in result["contact"].values], result["gap"].values
    free, scales = contact.walls(result), contact.openings(result)
    unit = style.unit_of("m", gap[:, free])
    walls = {name: unit.factor * gap[:, k] for k, name in enumerate(names) if free[k]}
    within = {name: gap[:, k] / scales[k] for k, name in enumerate(names) if not free[k]}
    change = np.ptp(gap, axis=0) > NOTABLE * scales
    return (
        Quantity("gap / clearance", within, tuple(within) if change[~free].any() else ()),
        Quantity(f"gap [{unit.text}]", walls, tuple(walls) if change[free].any() else ()),
    )


def _split_by_kind(
    result: Result, variable: str, least: float, kinds: tuple[tuple[str, str], tuple[str, str]]
) -> list[Quantity]:
    """Return a variable with entries of v as two quantities: of turns, and of slides."""
    columns = name_columns(result, "v", variable)
    slides = {name: x for name, x in columns.items() if is_speed(name)}
    turns = {name: x for name, x in columns.items() if name not in slides}
    return [quantity(*kind, x, least) for kind, x in zip(kinds, (turns, slides), strict=True)]


def _find_working_drives(result: Result) -> Array:
    """Return a mask of the velocities that drives act on with more than round-off, (nv,)."""
    return np.asarray(np.abs(result["drive"].values).max(axis=0) > _find_noise(result))


def _read_limits(result: Result) -> Array:
    """Return the largest force of each drive, infinite where none is stated, (nv,)."""
    return np.asarray(result["drive_limit"].values, dtype=float)


def _find_noise(result: Result) -> float:
    """Return the size below which a force is noise: beside all forces and the bodies' inertia."""
    forces = ("drive", "joint_reaction", "contact_force")
    largest = max(style.peak(result[name].values) for name in forces)
    travel = float(np.ptp(result["body_position"].values, axis=0).max())
    mean = style.peak(result["kinetic_energy"].values) / travel if travel > 0 else 0.0
    return max(TINY, SMALL * max(largest, mean))
