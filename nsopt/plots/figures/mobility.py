"""Pictures of a mobility: the graph, the joint screws, freedom over order, the motions."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from nsopt.arrays import Array
from nsopt.mobility import Finding, Mobility, MotionBranch
from nsopt.plots import style
from nsopt.plots.figures.linkage import Sticks, draw_sticks

STEP, COUNT = 0.12, 6
"""Way between postures that are drawn of a motion, as for `Mobility.motions`, and their number."""

SHOWN = 3
"""Number of motions that are drawn, one panel each."""

RED = "#b03030"
"""Colour of the axes of joints."""
ARROW = 0.35
"""Length of a joint's axis over the size of the mechanism."""

GROUND = "ground"


def mobility(x: Mobility) -> Figure:
    """Draw the graph with its loops, the joint screws, freedom over order and the motions."""
    found = [b for b in x.branches if b.finding is Finding.CONFIRMED][:SHOWN]
    columns = 3 + len(found)
    grid = (1, columns) if columns <= 3 else (2, 2 if columns == 4 else 3)
    figure, axes = style.page("", (), *grid, (4.2 * grid[1], 3.9 * grid[0]))
    local = "undecided" if x.local_freedom is None else x.local_freedom
    freedoms = f"by counting {x.gruebler}, to first order {x.differential_freedom}, finite {local}"
    figure.suptitle(f"freedom {freedoms}", fontsize=style.TITLE, fontweight="bold")
    flat = list(axes.flat)
    draw_graph(flat[0], x)
    draw_screws(flat[1], x)
    draw_orders(flat[2], x)
    for ax, branch in zip(flat[3:], found, strict=False):
        draw_motions(ax, x, branch)
    for ax in flat[columns:]:
        ax.set_axis_off()
    return figure


def draw_graph(ax: Axes, x: Mobility) -> None:
    """Draw bodies as vertices and joints as edges, those that are cut dashed, one colour a loop.

    As Fig. 5 of [mobility 2016].
    """
    names = [GROUND, *x.topology.bodies]
    angles = -np.pi / 2 + 2 * np.pi * np.arange(len(names)) / len(names)
    around = np.column_stack([np.cos(angles), np.sin(angles)])
    places = dict(zip(names, around, strict=True))
    cut = {cycle.cut: k for k, cycle in enumerate(x.topology.cycles)}
    seen: dict[frozenset[str], int] = {}
    for name, ends in x.topology.edges.items():
        a, b = (GROUND if end is None else end for end in ends)
        parallel = seen[frozenset((a, b))] = seen.get(frozenset((a, b)), -1) + 1
        line = _bend_line(places[a], places[b], 0.25 * parallel)
        colour = style.look(cut[name]).color if name in cut else "black"
        ax.plot(*line.T, "--" if name in cut else "-", color=colour, linewidth=1.2, label=name)
        middle = line[len(line) // 2]
        _write_text(ax, name, middle, colour, {"boxstyle": "round", "fc": "white", "ec": "none"})
    for name, place in places.items():
        fill = "#e8e8e8" if name == GROUND else "white"
        _write_text(ax, name, place, "black", {"boxstyle": "square", "fc": fill, "ec": "black"})
    ax.set_axis_off()
    ax.margins(0.2)
    loops = "1 loop" if x.topology.gamma == 1 else f"{x.topology.gamma} loops"
    style.title(ax, f"Bodies and joints, {loops}, cut joints dashed")


def _write_text(ax: Axes, text: str, place: Array, colour: str, box: dict[str, Any]) -> None:
    where, centred = (float(place[0]), float(place[1])), {"ha": "center", "va": "center"}
    look: dict[str, Any] = {"fontsize": style.SMALL, "color": colour, **centred}
    ax.annotate(text, where, bbox=box | {"pad": 0.15}, **look)


def _bend_line(a: Array, b: Array, bend: float) -> Array:
    """Return a curve from a to b that bends aside."""
    t = np.linspace(0, 1, 21)[:, None]
    normal = np.array([-(b - a)[1], (b - a)[0]])
    return np.asarray(a + t * (b - a) + 4 * bend * t * (1 - t) * normal)


def draw_screws(ax: Axes, x: Mobility) -> None:
    """Draw the mechanism and the axes of its joints; rings where one looks along, dots for slides.

    Cut joints have theirs too, if they have coordinates of their own.
    """
    loops = x.reduction.constraints
    sticks = Sticks(loops)
    view, still = sticks.view(), np.zeros(loops.n)
    draw_sticks(ax, sticks, view, [still], [0.6])
    axes = [
        (joint, screw)
        for joint, screws in loops.joint_screws().items()
        if joint in x.topology.joints  # a free body has no axes
        for screw in screws
    ]
    for joint, screw in axes:
        e, foot = _find_axis(screw, sticks.joint(joint, still))
        line = view(foot + np.outer([-ARROW / 2, ARROW / 2], loops.size * e))
        if np.ptp(line, axis=0).max() < 1e-6 * loops.size:
            ax.plot(*view(foot), "o", color=RED, markersize=11, fillstyle="none", zorder=8)
        ax.plot(*line.T, "-" if screw[:3].any() else ":", color=RED, linewidth=1.2, zorder=8)
    style.title(ax, "Axes of joints (red), dotted of slides")


def _find_axis(screw: Array, place: Array) -> tuple[Array, Array]:
    """Return direction and point of an axis; of one that slides the place of its joint."""
    e, v = screw[:3], screw[3:]
    if not e.any():
        return v / np.linalg.norm(v), place
    r = np.cross(e, v)
    return e, r + ((place - r) @ e) * e


def draw_orders(ax: Axes, x: Mobility) -> None:
    """Draw the dimension of the cones over their order, and the local freedom."""
    orders = np.arange(1, x.order + 1)
    ax.step(orders, x.cone_dimensions, "o-", where="mid", color=style.look(0).color)
    if x.local_freedom is not None:
        ax.axhline(x.local_freedom, color=style.look(1).color, linestyle="--", linewidth=1.0)
        handles = [
            Line2D([], [], color=style.look(0).color, marker="o", label="of each order"),
            Line2D([], [], color=style.look(1).color, linestyle="--", label="finite, by tracing"),
        ]
        style.own_legend(ax, 2, handles)
    ax.set_xticks(orders)
    ax.set_yticks(range(max(*x.cone_dimensions, x.local_freedom or 0) + 2))
    style.axis_labels(ax, "order of the constraints", "freedom")
    style.title(ax, "Freedom over order")


def draw_motions(ax: Axes, x: Mobility, branch: MotionBranch) -> None:
    """Draw the mechanism at postures along a branch, farther ones lighter."""
    sticks = Sticks(x.reduction.constraints)
    postures = [(k, u) for way in x.motions(branch, STEP, COUNT) for k, u in enumerate(way)]
    postures.sort(key=lambda posture: -posture[0])
    strengths = [1 - 0.8 * k / COUNT for k, _ in postures]
    draw_sticks(ax, sticks, sticks.view(), [u for _, u in postures], strengths)
    number = x.branches.index(branch) + 1
    style.title(ax, f"Motions along direction {number}")
