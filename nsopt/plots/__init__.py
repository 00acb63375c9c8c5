"""Pictures of results: one call per figure of the paper's section 5, each from results alone.

Every function takes one or several results, overlaid unless it says otherwise, and returns a
`matplotlib.figure.Figure`. ``over`` is a joint whose angle is across, in place of the time. A
ValueError says what is missing: without results, for a result that has no step or nothing for the
picture, for a joint, component, angle or other name that no result has; a KeyError names an unknown
quantity.

A notebook shows a figure where it is the value of a cell. In a script that imports
`matplotlib.pyplot`, `plt.show()` shows it, and pyplot keeps it until `plt.close(figure)`; without
pyplot nothing keeps it. `FIGURES` lists them by name, `SWEEP_FIGURES` those of sweeps. `mobility`
draws a `Mobility`, `cones` ranges of motion.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from matplotlib.figure import Figure

from nsopt.checks import check_names
from nsopt.files import check_writable, create, replacing
from nsopt.plots.coordinates import coordinates
from nsopt.plots.curves import Curves, Recorded, Vector, draw_curves, draw_vectors
from nsopt.plots.figures.analysis import (
    contact_modes,
    orbits,
    phase_portrait,
    poincare_map,
    spectra,
)
from nsopt.plots.figures.cases import (
    joint_accelerations,
    joint_coordinates,
    joint_forces,
    joint_rms,
)
from nsopt.plots.figures.contact import contact_paths, gaps
from nsopt.plots.figures.energy import energies
from nsopt.plots.figures.mobility import mobility
from nsopt.plots.figures.motion import contact_forces, deviations, positions, velocities
from nsopt.plots.figures.programmed import link_shapes, programmed_paths, programmed_rates
from nsopt.plots.figures.range_of_motion import cones, range_of_motion
from nsopt.plots.figures.robot import base_force, joint_torques, tracked_points
from nsopt.plots.figures.run import effort, joint_closure, residuals, step_size
from nsopt.plots.figures.sweeps import bifurcation_diagram, measures
from nsopt.plots.pages.overview import overview
from nsopt.plots.scenes.browser import save_view
from nsopt.plots.scenes.film import Film, Pixels
from nsopt.plots.style import DPI, require_steps
from nsopt.result import Result

FIGURES: Mapping[str, Callable[..., Figure]] = MappingProxyType(
    {
        "overview": overview,
        "contact_paths": contact_paths,
        "contact_forces": contact_forces,
        "velocities": velocities,
        "deviations": deviations,
        "positions": positions,
        "coordinates": coordinates,
        "step_size": step_size,
        "residuals": residuals,
        "energies": energies,
        "gaps": gaps,
        "joint_closure": joint_closure,
        "effort": effort,
        "range_of_motion": range_of_motion,
        "joint_torques": joint_torques,
        "base_force": base_force,
        "tracked_points": tracked_points,
        "joint_coordinates": joint_coordinates,
        "joint_accelerations": joint_accelerations,
        "joint_forces": joint_forces,
        "joint_rms": joint_rms,
        "programmed_paths": programmed_paths,
        "programmed_rates": programmed_rates,
        "link_shapes": link_shapes,
        "orbits": orbits,
        "contact_modes": contact_modes,
        "phase_portrait": phase_portrait,
        "poincare_map": poincare_map,
        "spectra": spectra,
    }
)
"""All figures of results by name."""

SWEEP_FIGURES: Mapping[str, Callable[..., Figure]] = MappingProxyType(
    {"measures": measures, "bifurcation_diagram": bifurcation_diagram}
)
"""All figures of sweeps by name."""


def draw(name: str, *results: Result) -> Figure:
    """Return a figure by its name.

    Parameters
    ----------
    name : str
        One of `FIGURES`.
    *results : Result

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        For an unknown name, listing the names; or if the results have nothing for that figure.
    """
    check_names("unknown figure", [name], FIGURES)
    return FIGURES[name](*results)


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure in the format that the ending of ``path`` names; it appears whole or not.

    Parameters
    ----------
    figure : Figure
    path : str or Path
        Ending in .png, .pdf or .svg.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        For an ending that is no picture format; the message lists those there are.
    OSError
        Naming the path, if it cannot be written.
    """
    path = Path(path)
    known = figure.canvas.get_supported_filetypes()
    ending = path.suffix.lower().removeprefix(".")
    if ending not in known:
        raise ValueError(
            f"cannot save a picture as {path.name!r}: end it with one of "
            f"{', '.join('.' + name for name in sorted(known))}"
        )
    path = check_writable(path)
    # In memory, for on a full disk matplotlib fails to close the file too, by another error.
    picture = io.BytesIO()
    figure.savefig(picture, format=ending, dpi=DPI)
    with replacing(path) as new:
        create(new, picture.getvalue())
    return path


__all__ = [
    "FIGURES",
    "SWEEP_FIGURES",
    "Curves",
    "Film",
    "Pixels",
    "Recorded",
    "Vector",
    "base_force",
    "bifurcation_diagram",
    "cones",
    "contact_forces",
    "contact_modes",
    "contact_paths",
    "coordinates",
    "deviations",
    "draw",
    "draw_curves",
    "draw_vectors",
    "effort",
    "energies",
    "gaps",
    "joint_accelerations",
    "joint_closure",
    "joint_coordinates",
    "joint_forces",
    "joint_rms",
    "joint_torques",
    "link_shapes",
    "measures",
    "mobility",
    "orbits",
    "overview",
    "phase_portrait",
    "poincare_map",
    "positions",
    "programmed_paths",
    "programmed_rates",
    "range_of_motion",
    "require_steps",
    "residuals",
    "save",
    "save_view",
    "spectra",
    "step_size",
    "tracked_points",
    "velocities",
]
