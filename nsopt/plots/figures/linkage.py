"""A mechanism as sticks between its joints, from the constraints of its loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from nsopt.arrays import Array
from nsopt.mobility import LoopConstraints
from nsopt.plots import style
from nsopt.plots.scenes.scene import VIEWS, View

FLAT = 1e-6
"""Distance, over the size of a mechanism, that counts as none."""

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
