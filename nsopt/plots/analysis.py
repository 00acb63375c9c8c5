"""Figures of `nsopt.analysis`: phase portraits, sections, spectra, orbits, modes of contact."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from nsopt.analysis import (
    Impacts,
    Orbit,
    PoincareSection,
    orbit,
    poincare,
    quantity,
    spectrum,
    unit,
)
from nsopt.contact_modes import FREE, IMPACT, LASTING, joint_of, spans, step_modes
from nsopt.plots import style
from nsopt.plots.across import across
from nsopt.plots.contact import in_bores
from nsopt.plots.coordinates import is_speed
from nsopt.result import Result

MODES = {FREE: ("free flight", "#4fa3d1"), LASTING: ("lasting contact", "#16325c")}
MODES |= {IMPACT: ("impact", "#d1651a")}

MANY = 100
"""Points of a section that are drawn small."""


def phase_portrait(*results: Result, x: str | None = None, y: str | None = None) -> Figure:
    """Draw one quantity over another, such as the rate of a joint over its angle.

    Parameters
    ----------
    *results : Result
    x, y : str, optional
        Names as `nsopt.analysis.quantity` takes them; the first coordinate and the first velocity
        of the first result by default.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        Without results, or for a result that has no step.
    KeyError
        For an unknown name.
    """
    style.require_steps(results, "phase_portrait")
    x = x or str(results[0]["q_name"].values[0])
    y = y or str(results[0]["v_name"].values[0])
    figure, axes = style.page("Phase portrait", results, 1, 1, (6.4, 5.0))
    for k, result in enumerate(results):
        axes[0, 0].plot(quantity(result, x), quantity(result, y), **style.look(k)._asdict())
    style.axis_labels(axes[0, 0], _text(results[0], x), _text(results[0], y))
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
    *results : Result
    section : PoincareSection, optional
        `Impacts` of any contact by default.
    x, y : str, optional
        As for `phase_portrait`.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        Without results, or for a result that has no step or does not meet the section.
    KeyError
        For an unknown name.
    """
    style.require_steps(results, "poincare_map")
    section = section or Impacts()
    x = x or str(results[0]["q_name"].values[0])
    y = y or str(results[0]["v_name"].values[0])
    figure, axes = style.page("Poincaré section", results, 1, 1, (6.4, 5.2))
    for k, result in enumerate(results):
        points = poincare(result, section, [x, y])
        if points.empty:
            raise ValueError(f"poincare_map: {result.name} never meets {section}")
        size = 4.0 if len(points) < MANY else 2.2
        axes[0, 0].plot(points[x], points[y], **style.dot(k, size))
    style.title(axes[0, 0], f"{section}")
    style.axis_labels(axes[0, 0], _text(results[0], x), _text(results[0], y))
    style.results_legend(figure, results, dots=True)
    return figure


def spectra(*results: Result, of: str | None = None) -> Figure:
    """Draw the amplitudes of a quantity over frequency, see `nsopt.analysis.spectrum`.

    Parameters
    ----------
    *results : Result
    of : str, optional
        A name as `nsopt.analysis.quantity` takes it; the first velocity of the first result by
        default.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        Without results, or for a result of fewer than four steps.
    KeyError
        For an unknown name.
    """
    style.require_steps(results, "spectra")
    of = of or str(results[0]["v_name"].values[0])
    figure, axes = style.page("Spectrum", results, 1, 1, (7.0, 4.2))
    for k, result in enumerate(results):
        found = spectrum(result, of)
        axes[0, 0].plot(found["frequency"], found, **style.look(k)._asdict())
    style.axis_labels(axes[0, 0], "frequency [Hz]", f"amplitude of {_text(results[0], of)}")
    style.results_legend(figure, results)
    return figure


def _text(result: Result, name: str) -> str:
    """Return a name with its unit."""
    if name in result["v_name"].values:
        return f"{name} [{'m/s' if is_speed(name) else 'rad/s'}]"
    symbol = unit(result, name)
    return f"{name} [{symbol}]" if symbol else name


def orbits(*results: Result, joint: str | None = None) -> Figure:
    """Draw the orbit of each journal within its clearance, coloured by the mode of its contact.

    In the plane that the offset lives in; of a ball that moves in space, its distance over its
    direction about z of frame a.

    Parameters
    ----------
    *results : Result
    joint : str, optional
        Name of a joint with clearance; the first with a bore by default.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If no result has such a joint.
    """
    style.require_steps(results, "orbits")
    found = [(r, each) for r in results if joint or in_bores(r) for each in orbit(r, joint)]
    if not found:
        who = ", ".join(r.name for r in results)
        raise ValueError(f"orbits shows joints with a bore; {who} has none")
    size = (4.4 * len(found) + 0.4, 5.0)
    figure, axes = style.page("Orbit", results, 1, len(found), size)
    for ax, (result, each) in zip(axes[0], found, strict=True):
        (_in_plane if len(each.axes) == 2 else _in_space)(ax, each)
        several = f", {style.label(result)}" if len(results) > 1 else ""
        style.title(ax, f"{each.contact}{several}")
    _modes_legend(figure)
    return figure


def _in_plane(ax: Axes, each: Orbit) -> None:
    turn = np.linspace(0, 2 * np.pi, 181)
    ax.plot(np.cos(turn), np.sin(turn), color="black", linewidth=0.8, label="_wall")
    ax.plot(*each.offset.T, color=style.GREY, linewidth=0.3, zorder=2)
    _dots(ax, each, *each.offset.T)
    ax.set_aspect("equal")
    style.axis_labels(ax, f"{each.axes[0]} / clearance", f"{each.axes[1]} / clearance")


def _in_space(ax: Axes, each: Orbit) -> None:
    _dots(ax, each, each.angle, each.eccentricity)
    ax.axhline(1.0, color="black", linewidth=0.8, label="_wall")
    style.axis_labels(ax, "direction in the xy plane [rad]", "distance / clearance")


def _dots(ax: Axes, each: Orbit, x: style.Array, y: style.Array) -> None:
    for mode, (name, colour) in MODES.items():
        at = each.mode == mode
        ax.plot(x[at], y[at], **{**style.dot(0), "color": colour}, label=name, zorder=3 + mode)


def contact_modes(*results: Result, joint: str | None = None, over: str | None = None) -> Figure:
    """Draw for each contact when it flies freely, meets its wall, and presses lastingly.

    Parameters
    ----------
    *results : Result
    joint : str, optional
        Show only the contacts of this joint; all by default.
    over : str, optional
        A joint whose angle is across, in place of the time.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a result has no such contact, or no such angle that goes one way.
    """
    style.require_steps(results, "contact_modes")
    chosen = [_contacts(result, joint) for result in results]
    results, text = across(results, over, one_way=True)
    heights = [1.0 + 0.22 * len(ks) for ks in chosen]
    figure, axes = style.page(
        "Modes of contact",
        results,
        len(results),
        1,
        (7.4, 1.2 + sum(heights)),
        sharex=True,
        height_ratios=heights,
    )
    for ax, result, ks in zip(axes[:, 0], results, chosen, strict=True):
        _bars(ax, result, ks)
        style.title(ax, style.label(result) if len(results) > 1 else "")
    style.axis_labels(axes[-1, 0], text, None)
    _modes_legend(figure)
    return figure


def _contacts(result: Result, joint: str | None) -> list[int]:
    names = [str(name) for name in result["contact"].values]
    chosen = [k for k, name in enumerate(names) if joint is None or joint_of(name) == joint]
    if not chosen or "contact_mode" not in result.data:
        have = ", ".join(dict.fromkeys(map(joint_of, names))) or "none"
        wanted = "a contact" if joint is None else repr(joint)
        raise ValueError(
            f"contact_modes: no modes of {wanted} on record in {result.name}; contacts are in "
            f"{have}"
        )
    return chosen


def _bars(ax: Axes, result: Result, contacts: list[int]) -> None:
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


def _modes_legend(figure: Figure) -> None:
    style.shared_legend(
        figure, [Line2D([], [], color=c, linewidth=4, label=name) for name, c in MODES.values()]
    )
