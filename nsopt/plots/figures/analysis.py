"""Figures of `nsopt.analysis`: phase portraits, sections, spectra, orbits, modes of contact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from nsopt.analysis import (
    Impacts,
    Orbit,
    PoincareSection,
    journals,
    orbit,
    poincare,
    quantity,
    spectrum,
    unit,
)
from nsopt.arrays import Array
from nsopt.contact_modes import FREE, IMPACT, LASTING, joint_of, spans, step_modes
from nsopt.plots import style
from nsopt.plots.across import across
from nsopt.plots.coordinates import is_length, is_speed
from nsopt.result import Result

MODES = {
    FREE: ("free flight", "#4fa3d1"),
    LASTING: ("lasting contact", "#16325c"),
    IMPACT: ("impact", "#d1651a"),
}
"""Name and colour of each mode of a contact."""

MANY = 100  # number of points of a section from which they are drawn small
LEAST = 1e-6  # change of a velocity, over the largest, from which it moves
WEAKEST = 1e-6  # lowest amplitude that a spectrum shows, over the largest


def phase_portrait(*results: Result, x: str | None = None, y: str | None = None) -> Figure:
    """Draw one quantity over another, such as the rate of a joint over its angle.

    Parameters
    ----------
    x, y : str, optional
        Names as `nsopt.analysis.quantity` takes them; by default the first velocity of the first
        result that changes, and its coordinate.
    """
    style.require_steps(results, "phase_portrait")
    moving = _find_moving(results[0])
    x, y = x or moving[0], y or moving[1]
    figure, axes = style.page("Phase portrait", results, 1, 1, (6.4, 5.0))
    for k, result in enumerate(results):
        axes[0, 0].plot(quantity(result, x), quantity(result, y), **style.look(k)._asdict())
    axes[0, 0].locator_params(axis="x", nbins=5)
    style.axis_labels(axes[0, 0], _add_unit(results[0], x), _add_unit(results[0], y))
    style.results_legend(figure, results)
    return figure


def poincare_map(
    *results: Result,
    section: PoincareSection | None = None,
    x: str | None = None,
    y: str | None = None,
) -> Figure:
    """Draw the points of a phase plane in which runs meet a section, see `nsopt.analysis.poincare`.

    Parameters
    ----------
    section : PoincareSection, optional
        `Impacts` of any contact by default.
    x, y : str, optional
        As for `phase_portrait`.
    """
    style.require_steps(results, "poincare_map")
    section = section or Impacts()
    moving = _find_moving(results[0])
    x, y = x or moving[0], y or moving[1]
    figure, axes = style.page("Poincaré section", results, 1, 1, (6.4, 5.2))
    for k, result in enumerate(results):
        points = poincare(result, section, [x, y])
        if points.empty:
            raise ValueError(f"poincare_map: {result.name} never meets {section!r}")
        size = 4.0 if len(points) < MANY else 2.2
        axes[0, 0].plot(points[x], points[y], **style.dot(k, size))
    style.title(axes[0, 0], f"{section}")
    axes[0, 0].locator_params(axis="x", nbins=5)
    style.axis_labels(axes[0, 0], _add_unit(results[0], x), _add_unit(results[0], y))
    style.results_legend(figure, results, dots=True)
    return figure


def spectra(*results: Result, of: str | None = None) -> Figure:
    """Draw the amplitudes of a quantity over frequency, see `nsopt.analysis.spectrum`.

    Parameters
    ----------
    of : str, optional
        A name as `nsopt.analysis.quantity` takes it; by default the first velocity of the first
        result that changes.
    """
    style.require_steps(results, "spectra")
    of = of or _find_moving(results[0])[1]
    figure, axes = style.page("Spectrum", results, 1, 1, (7.0, 4.2))
    for k, result in enumerate(results):
        found = spectrum(result, of)
        axes[0, 0].plot(found["frequency"], found, **style.look(k)._asdict())
    axes[0, 0].set(xscale="log", yscale="log")
    peaks = [style.peak(line.get_ydata()) for line in axes[0, 0].lines]
    axes[0, 0].set_ylim(bottom=WEAKEST * max(peaks) or None)
    style.axis_labels(axes[0, 0], "frequency [Hz]", f"amplitude of {_add_unit(results[0], of)}")
    style.results_legend(figure, results)
    return figure


def _find_moving(result: Result) -> tuple[str, str]:
    """Return the first coordinate that moves unevenly, and its rate: freedoms of joints first.

    Nothing is to be learnt of a crank that turns evenly, nor of what only round-off moves. Euler
    parameters have no rates by name.
    """
    q, v = ([str(x) for x in result[f"{kind}_name"].values] for kind in "qv")
    pairs = [(x, _name_rate(x, v)) for x in map(str, result["freedom"].values)]
    lengths = {x.rpartition("."): x for x in q if is_length(x)}
    for speed in filter(is_speed, v):
        owner, dot, last = speed.rpartition(".")
        if length := lengths.get((owner, dot, last.removeprefix("v"))):
            pairs.append((length, speed))
    changes = [float(np.ptp(quantity(result, rate))) for _, rate in pairs]
    largest = max(changes, default=0.0)
    moving = (pair for pair, x in zip(pairs, changes, strict=True) if x > LEAST * largest)
    return next(moving, (q[0], v[0]))


def _name_rate(freedom: str, v: Sequence[str]) -> str:
    """Return a name of the rate of a freedom: of a coordinate its velocity."""
    joint, _, kind = freedom.rpartition(".")
    own = f"{joint}.{'rate' if kind == 'angle' else 'speed'}"
    return own if own in v else f"joint_rate[{freedom}]"


def _add_unit(result: Result, name: str) -> str:
    """Return a name with its unit."""
    if name in result["v_name"].values:
        return f"{name} [{'m/s' if is_speed(name) else 'rad/s'}]"
    symbol = unit(result, name)
    if name.startswith("joint_rate["):
        symbol = f"{unit(result, name[len('joint_rate[') : -1])}/s"
    return f"{name} [{symbol}]" if symbol else name


def orbits(*results: Result, joint: str | None = None) -> Figure:
    """Draw the orbit of each journal within its clearance, coloured by the mode of its contact.

    In the plane that the offset lives in. Of a ball that moves in space, its distance and its
    elevation above the xy plane of frame a, over its direction about z. Of a slider the corners of
    each end, within the walls of the guide; of a `PlanarPrismaticClearance` how far its two ends
    are across the guide, one over the other.

    Parameters
    ----------
    joint : str, optional
        Name of a joint with clearance; the first with a bore or a guide by default.
    """
    style.require_steps(results, "orbits")
    found: dict[tuple[int, str], list[Orbit]] = {}
    for k, result in enumerate(results):
        for each in orbit(result, joint) if joint or journals(result) else ():
            found.setdefault((k, each.part), []).append(each)
    if not found:
        who = ", ".join(r.name for r in results)
        raise ValueError(f"orbits shows joints with a bore or a guide; {who} has none")
    rows = 2 if any(len(each.axes) == 3 for shared in found.values() for each in shared) else 1
    size = (4.4 * len(found) + 0.4, 1.2 + 3.8 * rows)
    figure, axes = style.page("Orbit", results, rows, len(found), size)
    for column, ((k, part), shared) in zip(axes.T, found.items(), strict=True):
        if len(shared[0].axes) == 3:
            _draw_in_space(column[0], column[1], shared[0])
        else:
            _draw_in_plane(column[0], shared)
            for ax in column[1:]:
                ax.remove()
        several = f", {style.label(results[k])}" if len(results) > 1 else ""
        style.title(column[0], f"{part}{several}")
    _show_modes(figure)
    return figure


def _draw_in_plane(ax: Axes, shared: list[Orbit]) -> None:
    ax.plot(*shared[0].walls.T, color="black", linewidth=0.8, label="_wall")
    for each in shared:
        ax.plot(*each.offset.T, color=style.GREY, linewidth=0.3, zorder=2)
        _draw_modes(ax, each, *each.offset.T)
    ax.set_aspect("equal")
    across, upwards = shared[0].axes
    style.axis_labels(ax, f"{across} / clearance", f"{upwards} / clearance")


def _draw_in_space(distance: Axes, elevation: Axes, each: Orbit) -> None:
    _draw_modes(distance, each, each.angle, each.eccentricity)
    distance.axhline(1.0, color="black", linewidth=0.8, label="_wall")
    style.axis_labels(distance, None, "distance / clearance")
    up = np.arctan2(each.offset[:, 2], np.hypot(each.offset[:, 0], each.offset[:, 1]))
    _draw_modes(elevation, each, each.angle, up)
    for ax in (distance, elevation):
        ax.set_xlim(-np.pi, np.pi)
    elevation.set_ylim(-np.pi / 2, np.pi / 2)
    style.axis_labels(elevation, "direction about z [rad]", "elevation [rad]")


def _draw_modes(ax: Axes, each: Orbit, x: Array, y: Array) -> None:
    for mode, (name, colour) in MODES.items():
        at = each.mode == mode
        ax.plot(x[at], y[at], **{**style.dot(0), "color": colour}, label=name, zorder=3 + mode)


def contact_modes(*results: Result, joint: str | None = None, over: str | None = None) -> Figure:
    """Draw for each contact when it flies freely, meets its wall, and presses lastingly.

    Parameters
    ----------
    joint : str, optional
        Show only the contacts of this joint; all by default.
    """
    style.require_steps(results, "contact_modes")
    chosen = [_choose_contacts(result, joint) for result in results]
    results, text = across(results, over, one_way=True)
    heights = [1.0 + 0.22 * len(ks) for ks in chosen]
    size = (7.4, 1.2 + sum(heights))
    rows: dict[str, Any] = {"sharex": True, "height_ratios": heights}
    figure, axes = style.page("Modes of contact", results, len(results), 1, size, **rows)
    for ax, result, ks in zip(axes[:, 0], results, chosen, strict=True):
        _draw_bars(ax, result, ks)
        style.title(ax, style.label(result) if len(results) > 1 else "")
    style.axis_labels(axes[-1, 0], text, None)
    _show_modes(figure)
    return figure


def _choose_contacts(result: Result, joint: str | None) -> list[int]:
    names = [str(name) for name in result["contact"].values]
    chosen = [k for k, name in enumerate(names) if joint is None or joint_of(name) == joint]
    if not names:
        raise ValueError(f"contact_modes shows contacts; {result.name} has none")
    if not chosen or "contact_mode" not in result.data:
        have = ", ".join(dict.fromkeys(map(joint_of, names))) or "none"
        wanted = "a contact" if joint is None else repr(joint)
        raise ValueError(
            f"contact_modes: no modes of {wanted} on record in {result.name}; contacts are in "
            f"{have}"
        )
    return chosen


def _draw_bars(ax: Axes, result: Result, contacts: list[int]) -> None:
    time, modes = result["time"].values, step_modes(result.data)[:, contacts]
    least = 2e-3 * abs(time[-1] - time[0])  # an impact lasts one step, which nobody would see
    for row in range(len(contacts)):
        for mode, (_, colour) in MODES.items():
            steps = spans(modes[:, row] == mode)
            shortest = least if mode == IMPACT else 0.0
            shown = [(min(time[[a, b]]), max(abs(time[b] - time[a]), shortest)) for a, b in steps]
            ax.broken_barh(shown, (row - 0.35, 0.7), color=colour, linewidth=0, zorder=2 + mode)
    ax.set_yticks(range(len(contacts)), [str(x) for x in result["contact"].values[contacts]])
    ax.set(ylim=(len(contacts) - 0.4, -0.6), xlim=(time[0], time[-1]))


def _show_modes(figure: Figure) -> None:
    handles = [Line2D([], [], color=c, linewidth=4, label=name) for name, c in MODES.values()]
    style.share_legend(figure, handles)
