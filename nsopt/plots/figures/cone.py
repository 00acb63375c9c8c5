"""Circumduction cones [RoM 2023, Figs. 2 and 5]: from above, in space, and their law."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from nsopt.elements import RangeOfMotion
from nsopt.plots import style
from nsopt.plots.style import Array

EDGE = "#e0a500"
"""Colour of the edge of a cone."""
EVERY = 12
"""Number of points of the edge from one generator that is drawn to the next."""


def cones(*limits: RangeOfMotion) -> Figure:
    """Draw cones from above and in space, and their laws, without a run.

    Parameters
    ----------
    *limits : RangeOfMotion
        Overlaid, each in axes of its own frame a.
    """
    if not limits:
        raise ValueError("cones needs at least one RangeOfMotion")
    for limit in limits:
        if not isinstance(limit, RangeOfMotion):
            raise TypeError(
                f"cones draws elements RangeOfMotion, got {type(limit).__name__}: those of "
                "dynamics are among dynamics.elements"
            )
    single = len(limits) == 1
    title = f"Range of motion, {limits[0].name}" if single else "Ranges of motion"
    figure, axes = style.page(title, (), 1, 3, (12.0, 4.4))
    grid = axes[0, 0].get_gridspec()
    for ax in axes[0, :2]:
        ax.remove()
    polar, solid = views(figure, grid[0, 0], grid[0, 1])
    law, handles = axes[0, 2], []
    for k, limit in enumerate(limits):
        colour = EDGE if single else style.look(k).color
        data = {key: np.asarray(values) for key, values in limit.plot_data().items()}
        draw_edge(polar, solid, data["longitude"], data["latitude"], colour)
        law.plot(np.degrees(data["law_excess"]), data["law_moment"], color=colour)
        handles.append(Line2D([], [], color=colour, label=limit.name))
    style.title(law, "Law")
    style.axis_labels(law, "excess [deg]", "moment [N m]")
    if not single:
        style.share_legend(figure, handles)
    return figure


def views(figure: Figure, above: Any, in_space: Any) -> tuple[Any, Any]:
    """Return axes of latitude over longitude [deg], and of directions in space, at two places."""
    polar: Any = figure.add_subplot(above, projection="polar")
    polar.tick_params(labelsize=style.SMALL)
    polar.set_title("Latitude [deg] over longitude", fontsize=style.TEXT)
    polar.set_rlabel_position(22.5)
    solid: Any = figure.add_subplot(in_space, projection="3d")
    solid.set_box_aspect((1, 1, 1))
    for which in (solid.set_xlim, solid.set_ylim, solid.set_zlim):
        which(-1, 1)
    solid.invert_zaxis()
    for which in (solid.set_xticks, solid.set_yticks, solid.set_zticks):
        which([-1, 0, 1])
    solid.tick_params(labelsize=style.SMALL)
    solid.set_title("Pointer [1] in the axes of the cone", fontsize=style.TEXT)
    return polar, solid


def draw_edge(polar: Any, solid: Any, longitude: Array, latitude: Array, colour: str) -> None:
    """Draw the edge of a cone in both views, its generators in space.

    Parameters
    ----------
    polar, solid : Axes
        As from `views`.
    longitude, latitude : (n,) [rad]
    """
    polar.plot(longitude, np.degrees(latitude), color=colour, linewidth=1.8)
    tip = direction(longitude, latitude)
    solid.plot(*tip, color=colour, linewidth=1.8)
    for j in range(0, tip.shape[1], EVERY):
        solid.plot(*np.column_stack([np.zeros(3), tip[:, j]]), color=colour, linewidth=0.3)


def direction(longitude: Array, latitude: Array) -> Array:
    """Return the unit vectors (3, n) of longitudes about z and latitudes from z (n,) [rad]."""
    flat = np.sin(latitude)
    return np.array([flat * np.cos(longitude), flat * np.sin(longitude), np.cos(latitude)])
