"""Programmed motion: paths of programmed frames, and shapes of flexible links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.plots import style
from nsopt.plots.curves import Recorded, Vector, draw_vectors
from nsopt.plots.scenes.scene import Scene, path_of_point
from nsopt.result import Result

VIEWS = ((0, 1), (1, 2), (0, 2))  # axes across and up in each view
KINDS = ("Programmed", "Corridor")  # elements that lead a frame along a programme


def programmed_paths(*results: Result, name: str | None = None) -> Figure:
    """Draw the path of a programmed frame, as Figs. 7, 14 and 15 of [CoPCoD 2023].

    Three views, with the programme dashed, and x, y, z over time; cases are overlaid.

    Parameters
    ----------
    name : str, optional
        Of a `Programmed` or `Corridor`; by default the first of each result.
    """
    style.require_steps(results, "programmed_paths")
    paths = [_find_path(result, name) for result in results]
    programme = Scene(results[0]).ground
    figure, axes = style.page("Programmed path", results, 2, 3, (10.5, 6.6))
    for ax, (x, y) in zip(axes[0], VIEWS, strict=True):
        for line in programme:
            ax.plot(line[:, x], line[:, y], color="black", lw=0.8, ls="--", label="_programme")
        for k, path in enumerate(paths):
            ax.plot(path[:, x], path[:, y], **style.look(k)._asdict())
            ax.plot(*path[0, [x, y]], "*", color=style.look(k).color, label="_start")
        ax.set_aspect("equal", adjustable="datalim")
        style.axis_labels(ax, f"{'xyz'[x]} [m]", f"{'xyz'[y]} [m]")
    for c, ax in enumerate(axes[1]):
        for k, (result, path) in enumerate(zip(results, paths, strict=True)):
            ax.plot(result["time"].values, path[:, c], **style.look(k)._asdict())
        known = np.concatenate([path[:, c] for path in paths])
        if np.ptp(known) <= style.MOST_ROUNDING * style.peak(known):
            ax.set_ylim(known[0] - 0.1, known[0] + 0.1)
        style.axis_labels(ax, "time [s]", f"{'xyz'[c]} [m]")
    style.results_legend(figure, results)
    return figure


def programmed_rates(*results: Result, name: str | None = None) -> Figure:
    """Draw velocity and acceleration of a programmed frame, as Fig. 16 of [CoPCoD 2023].

    Arguments as for `programmed_paths`; both in world axes.
    """
    style.require_steps(results, "programmed_rates")
    vectors = [Vector("velocity", "v", "m/s"), Vector("acceleration", "a", "m/s²")]
    recorded = [
        Recorded(style.label(r), r["time"].values, rates_of_point(r, _find_frame(r, name)))
        for r in results
    ]
    return draw_vectors("Programmed frame", vectors, recorded)


def rates_of_point(result: Result, frame: Mapping[str, Any]) -> Array:
    """Return velocity and acceleration of the origin of a frame of a body, (time, 2, 3)."""
    body = int(frame["body"])
    kinds = "velocity", "angular_velocity", "acceleration", "angular_acceleration"
    v, w, a, alpha = (result[f"body_{kind}"].values[:, body] for kind in kinds)
    path = path_of_point(result, body, np.asarray(frame["origin"]))
    r = path - result["body_position"].values[:, body]
    turning = np.cross(w, r)
    return np.stack([v + turning, a + np.cross(alpha, r) + np.cross(w, turning)], axis=1)


def link_shapes(
    *results: Result, link: str | None = None, times: Sequence[float] | None = None
) -> Figure:
    """Draw how far a flexible link is off its chord, as Fig. 19 of [CoPCoD 2023].

    Parameters
    ----------
    link : str, optional
        The name given to `robots.flexible_link`; by default the first there is.
    times : sequence of float [s], optional
        By default four, evenly over the motion.
    """
    style.require_steps(results, "link_shapes")
    frames = [x for result in results for x in style.read_stored(result, "frames")]
    names = [x["link"] for x in frames if x.get("link")]
    if not names:
        who = ", ".join(result.name for result in results)
        raise ValueError(f"link_shapes shows flexible links; {who} has none")
    link = link or names[0]
    shapes = {k: x for k, r in enumerate(results) if (x := link_points(r, link)) is not None}
    check_names("link_shapes: no flexible link", [link], names)
    end = min(float(results[k]["time"].values[-1]) for k in shapes)
    at = np.linspace(0, end, 5)[1:] if times is None else np.asarray(times, dtype=float)
    size = (3.2 * len(at), 3.6)
    figure, axes = style.page(f"Shape of {link!r}", results, 1, len(at), size, sharey=True)
    for ax, t in zip(axes[0], at, strict=True):
        _draw_shapes(ax, results, shapes, float(t))
    style.axis_labels(axes[0, 0], None, "off the chord [m]")
    style.results_legend(figure, results)
    return figure


def _draw_shapes(ax: Axes, results: Sequence[Result], shapes: dict[int, Array], t: float) -> None:
    for k, points in shapes.items():
        now = points[int(np.argmin(np.abs(results[k]["time"].values - t)))]
        along, off = off_chord(now)
        ax.plot(along, off, marker=".", **style.look(k)._asdict())
    style.title(ax, f"t = {t:.3g} s")
    style.axis_labels(ax, "along the chord [m]", None)


def off_chord(points: Array) -> tuple[Array, Array]:
    """Return how far points (n, 3) are along the line of the first to the last, and off it."""
    way = points - points[0]
    chord = way[-1] / np.linalg.norm(way[-1])
    along = way @ chord
    return along, np.linalg.norm(way - along[:, None] * chord, axis=1)


def link_points(result: Result, link: str) -> Array | None:
    """Return the ends and joints of a flexible link over time, (time, n + 2, 3) [m], or None."""
    bends = [x for x in style.read_stored(result, "frames") if x.get("link") == link]
    pairs = list(zip(bends[::2], bends[1::2], strict=True))  # of frames a and b of each joint
    if not pairs:
        return None
    inner = [path_of_point(result, a["body"], np.asarray(a["origin"])) for a, _ in pairs]
    # Elements begin and end as far from their centres of mass as their joints are.
    first, last = pairs[0][0], pairs[-1][1]
    begin, end = (path_of_point(result, x["body"], -np.asarray(x["origin"])) for x in (first, last))
    return np.stack([begin, *inner, end], axis=1)


def _find_path(result: Result, name: str | None) -> Array:
    """Return the positions (time, 3) [m] of frame b of a programmed element."""
    frame = _find_frame(result, name)
    return path_of_point(result, int(frame["body"]), np.asarray(frame["origin"]))


def _find_frame(result: Result, name: str | None) -> Mapping[str, Any]:
    """Return what is stored of frame b of a programmed element; a ValueError where none is."""
    found = [
        x
        for x in style.read_stored(result, "frames")
        if x["kind"] in KINDS and name in (None, x["element"])
    ]
    if not found:
        what = " or ".join(KINDS) + (f" {name!r}" if name else "")
        raise ValueError(f"no {what} in {result.name}")
    last: Mapping[str, Any] = [x for x in found if x["element"] == found[0]["element"]][-1]
    return last
