"""One page on one run, to be read at a glance."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from nsopt.plots import style
from nsopt.plots.pages import optimum, panels
from nsopt.plots.pages.panels import Panel
from nsopt.plots.scenes.mechanism import mechanism
from nsopt.result import Result


def overview(*results: Result) -> Figure:
    """Draw mechanism, contacts, forces, gaps, step size and energy of exactly one run on a page.

    Of an optimum: mechanism, costs, and of coordinates, drives, inputs, velocities, resistance,
    contacts and energy the four most informative ones.
    """
    style.require_steps(results, "overview")
    if len(results) > 1:
        raise ValueError(
            f"overview shows one result at a time, got {len(results)}: to compare, choose another "
            "picture, such as energies"
        )
    result = results[0]
    figure, axes = style.page("", (), 2, 3, (12.5, 7.6))
    figure.suptitle(style.label(result), fontsize=style.TITLE + 2, fontweight="bold")
    chosen = optimum.choose_panels(result) if result.is_optimum else _choose_panels(result)
    for ax, panel in zip(axes.flat, (mechanism, *chosen), strict=True):
        panel(ax, result)
    figure.supxlabel(_write_footer(result), fontsize=style.SMALL, color="#555555")
    return figure


def _choose_panels(result: Result) -> tuple[Panel, ...]:
    """Return the panels; without contacts or joints they are replaced by others."""
    contacts, joints = (result.data.sizes[name] > 0 for name in ("contact", "joint"))
    closing = bool(np.any(result["constraint_violation"].values))
    ideal = panels.closure if closing else panels.coordinates if joints else panels.norm
    return (
        panels.bore_contacts if contacts else ideal,
        panels.joint_forces if joints else panels.speeds,
        panels.gaps if contacts else panels.equations,
        panels.steps,
        panels.energy,
    )


def _write_footer(result: Result) -> str:
    d, attrs = result.data, result.data.attrs
    seconds, steps = float(np.nansum(d["solve_time"])), attrs["steps"]
    count = int(np.sum(d["retries"] > 0))
    retried = "" if result.is_optimum else f", {count} step{'s' * (count != 1)} retried"
    return (
        f"{attrs['scheme_name']}, {attrs['solver_name']}: {steps} steps to "
        f"{float(d['time'].values[-1]):.4g} s, {seconds:.3g} s in the solver{retried}"
    )
