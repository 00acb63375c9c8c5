"""Pictures of a mobility: the graph, the joint screws, freedom over order, the motions.

Mechanisms are drawn as sticks between their joints, from the constraints of their loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from nsopt.arrays import Array
from nsopt.mobility import Finding, LoopConstraints, Mobility, MotionBranch
from nsopt.plots import style
from nsopt.plots.scenes.scene import VIEWS, View

FLAT = 1e-6  # distance, over the size of a mechanism, that counts as none

FEW = 4
"""Number of joints of a body up to which all are connected; more are connected to their middle."""


class Sticks:
    """The joints of a mechanism, by the bodies that they are on."""

    def __init__(self, loops: LoopConstraints) -> None:
        self._loops, self.size = loops, loops.size
        owners = [f.body.name if f.body else None for j in loops.mechanism.joints for f in j.frames]
        self._columns = {
            name: [k for k, owner in enumerate(owners) if owner == name]
            for name in (None, *loops.topology.bodies)
        }
        names = [j.name for j in loops.mechanism.joints for _ in j.frames]
        self._owned = {
            name: [k for k, owner in enumerate(names) if owner == name]
            for name in loops.topology.joints
        }

    def places(self, u: Array) -> Array:
        """Return where the frames of the joints are at u (n,), (number, 3) [m]."""
        return np.asarray(self._loops.joint_places(u)).T

    def joint(self, name: str, u: Array) -> Array:
        """Return where frame a of a joint is, (3,) [m]."""
        return np.asarray(self.places(u)[self._owned[name][0]])

    def rods(self, places: Array) -> list[Array]:
        """Return the lines (2, 3) of joints whose frames are apart, as rods and slides are."""
        lines = [places[columns[-2:]] for columns in self._owned.values()]
        return [x for x in lines if np.linalg.norm(x[1] - x[0]) > FLAT * self.size]

    def bodies(self, places: Array) -> list[list[Array]]:
        """Return the sticks of each body, (2, 3) each, joints being at given places."""
        owned = [columns for name, columns in self._columns.items() if name is not None]
        return [_join(places[columns]) for columns in owned]

    def ground(self, places: Array) -> Array:
        """Return the joints on the ground, (number, 3)."""
        return np.asarray(places[self._columns[None]])

    def view(self) -> View:
        """Return the view at right angles to the plane of world axes that the joints are in.

        An oblique one if they are in none; joints on a line are seen along the last axis across it.
        """
        places = self.places(np.zeros(self._loops.n))
        spread = np.ptp(places, axis=0)
        flat = [k for k in range(3) if spread[k] < FLAT * self.size]
        if len(flat) == 3 or not flat:
            return VIEWS["oblique"](np.array([0.0, 0.0, -1.0]))  # z up
        name = ("yz", "xz", "xy")[flat[-1]]
        return VIEWS[name](np.zeros(3))  # without gravity


def _join(points: Array) -> list[Array]:
    if len(points) <= FEW:
        return [points[[a, b]] for a, b in combinations(range(len(points)), 2)]
    return [np.stack([points.mean(axis=0), point]) for point in points]


def draw_sticks(
    ax: Axes, sticks: Sticks, view: View, postures: Sequence[Array], strengths: Sequence[float]
) -> None:
    """Draw a mechanism at postures u (n,) each, the strongest last."""
    for k, (u, strength) in enumerate(zip(postures, strengths, strict=True)):
        places = sticks.places(u)
        rods = [view(line) for line in sticks.rods(places)]
        grey = style.tint("black", 0.5 * strength)
        ax.add_collection(LineCollection(rods, colors=[grey], linewidths=0.8, zorder=2))
        for b, lines in enumerate(sticks.bodies(places)):
            colour = style.tint(style.look(b).color, strength)
            seen = [view(line) for line in lines]
            ax.add_collection(LineCollection(seen, colors=[colour], linewidths=1.8, zorder=3 + k))
            ends = view(np.concatenate([*lines, np.zeros((0, 3))]))
            ax.plot(*ends.T, "o", color=colour, markersize=3, zorder=4 + k)
    fixed = view(sticks.ground(sticks.places(postures[-1])))
    ax.plot(*fixed.T, "^", color="black", markersize=6, zorder=9, label="_ground")
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.15)
    style.axis_labels(ax, f"{view.across} [m]", f"{view.up} [m]")


STEP, COUNT = 0.12, 6
"""Way between postures that are drawn of a motion, as for `Mobility.motions`, and their number."""

SHOWN = 3  # number of motions that are drawn, one panel each

RED = "#b03030"
"""Colour of the axes of joints."""
ARROW = 0.35  # length of a joint's axis over the size of the mechanism

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
