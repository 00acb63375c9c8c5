"""One page on one run, to be read at a glance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from nsopt.plots import contact, motion, optimum, run, style
from nsopt.plots.coordinates import is_length
from nsopt.plots.scene import AXES, Poses, Scene, View, view_of
from nsopt.plots.style import Array
from nsopt.result import Result

INSTANTS = 7
ROWS = 4
MOST_GAPS = 4


def overview(*results: Result) -> Figure:
    """Draw mechanism, contacts, forces, gaps, step size and energy of one run on a page.

    Of an optimum: mechanism, coordinates, drives, velocities, resistance and costs.

    Parameters
    ----------
    *results : Result
        Exactly one.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        For several results, or one that has no step.
    """
    style.require(results, "overview")
    if len(results) > 1:
        raise ValueError(
            f"overview shows one result at a time, got {len(results)}: to compare, choose another "
            "picture, such as energies"
        )
    result = results[0]
    figure, axes = style.page("", (), 2, 3, (12.5, 7.6))
    figure.suptitle(style.label(result), fontsize=style.TITLE + 2, fontweight="bold")
    for ax, panel in zip(axes.flat, _panels(result), strict=True):
        panel(ax, result)
    figure.supxlabel(_footer(result), fontsize=style.SMALL, color="#555555")
    return figure


def _panels(result: Result) -> tuple[Callable[[Axes, Result], None], ...]:
    """Return what to draw; without contacts or joints something else fills their place."""
    contacts, joints = (result.data.sizes[name] > 0 for name in ("contact", "joint"))
    closing = bool(np.any(result["constraint_violation"].values))
    second = _contacts if contacts else _closure if closing else _coordinates if joints else _norm
    if optimum.is_optimum(result):
        return (
            mechanism,
            _contacts if contacts else _coordinates,
            optimum.drives,
            _gaps if contacts else optimum.speeds,
            optimum.resistance,
            optimum.costs,
        )
    return (
        mechanism,
        second,
        _forces if joints else _speeds,
        _gaps if contacts else _motion,
        _steps,
        _energy,
    )


def _footer(result: Result) -> str:
    d, attrs = result.data, result.data.attrs
    seconds, steps = float(np.nansum(d["solve_time"])), d.attrs["steps"]
    return (
        f"{attrs['scheme_name']}, {attrs['solver_name']}: {steps} steps to "
        f"{float(d['time'].values[-1]):.4g} s, "
        f"{seconds:.3g} s in the solver, {int(np.sum(d['retries'] > 0))} steps retried"
    )


def mechanism(ax: Axes, result: Result) -> None:
    """Draw the mechanism at a few instants, later ones darker, and the paths of the bodies."""
    scene = Scene(result)
    view = view_of(scene)
    if scene.travels_far():
        _in_rows(ax, scene, view)
        style.title(ax, "Mechanism, the picture moving with it")
        return
    end = scene.outward()
    times = np.linspace(scene.poses.time[0], end, INSTANTS)
    poses = scene.at(times)
    _ground(ax, scene, view)
    for b in range(len(scene.bodies)):
        path = view(scene.poses.position[:, b])
        ax.plot(*path.T, color=style.GREY, linewidth=0.6, zorder=1, label="_path")
    for k in range(INSTANTS):
        _bodies(ax, scene, view, poses, k, 0.25 + 0.75 * k / (INSTANTS - 1))
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    style.axis_labels(ax, f"{view.across} [m]", f"{view.up} [m]")
    style.title(ax, f"Mechanism, t = {times[0]:.3g} (light) to {end:.3g} s (dark)")


def _ground(ax: Axes, scene: Scene, view: View) -> None:
    lines = [view(line) for line in scene.ground]
    ax.add_collection(LineCollection(lines, colors="black", linewidths=0.8, zorder=2))
    if scene.pins:
        ax.plot(*view(np.array(scene.pins)).T, "+", color="black", markersize=5, label="_pin")


def _bodies(ax: Axes, scene: Scene, view: View, poses: Poses, k: int, strength: float) -> None:
    outlines, sticks = (scene.placed(lines, poses, k) for lines in (scene.outlines, scene.sticks))
    for b in range(len(scene.bodies)):
        colour = tint(style.look(b).color, strength)
        ax.add_collection(
            LineCollection(
                [view(x) for x in outlines[b]], colors=[colour], linewidths=0.7, zorder=3 + k
            )
        )
        ax.add_collection(
            LineCollection(
                [view(x) for x in sticks[b]], colors=[colour], linewidths=1.8, zorder=3 + k
            )
        )
        ax.plot(*view(poses.position[k, b]), "o", color=colour, markersize=4, zorder=4 + k)


def _in_rows(ax: Axes, scene: Scene, view: View) -> None:
    """Draw a mechanism that goes far at a few instants below each other, each where it is then."""
    times = np.linspace(scene.poses.time[0], scene.poses.time[-1], ROWS)
    poses = scene.at(times)
    away = int(np.argmax(scene.travel()))
    spread, sideways = _window(scene, view)
    for k in range(ROWS):
        middle = poses.position[k].mean(axis=0)
        shift = view(np.where(np.arange(3) == away, middle, 0.0)) + np.array([0.0, k * sideways])
        for colour, width, lines in _lines(scene, poses, k):
            seen = [_inside(view(x) - shift, spread) for x in lines]
            ax.add_collection(LineCollection(seen, colors=[colour], linewidths=width))
        text = f"t = {times[k]:.3g} s\n{AXES[away]} = {middle[away]:.3g} m"
        ax.annotate(
            text,
            (-spread, -k * sideways),
            fontsize=style.SMALL,
            va="center",
            ha="right",
            xytext=(-4, 0),
            textcoords="offset points",
            annotation_clip=False,
        )
    ax.set_aspect("equal")
    ax.set(xlim=(-spread, spread), ylim=(-(ROWS - 0.4) * sideways, 0.6 * sideways), yticks=[])
    ax.grid(False)
    ax.spines["left"].set_visible(False)
    style.axis_labels(ax, f"{AXES[away]} from its centre [m]", None)


def _lines(scene: Scene, poses: Poses, k: int) -> list[tuple[str, float, list[Array]]]:
    drawn = [("#bbbbbb", 0.8, scene.guides()), ("black", 0.8, scene.ground)]
    for lines, width in ((scene.outlines, 1.2), (scene.sticks, 1.8)):
        drawn += [
            (style.look(b).color, width, own) for b, own in enumerate(scene.placed(lines, poses, k))
        ]
    return drawn


def _window(scene: Scene, view: View) -> tuple[float, float]:
    """Return the half width of a row, and the distance of rows, in the picture [m]."""
    own = [
        line
        for lines in (scene.outlines, scene.sticks)
        for part in scene.placed(lines, scene.poses, 0)
        for line in part
    ]
    extent = np.ptp(view(np.concatenate(own)), axis=0)
    return float(0.9 * extent[0]), float(1.5 * extent[1])


def _inside(line: Array, spread: float) -> Array:
    """Return a line whose ends are not further than needed to leave the picture."""
    return np.column_stack([np.clip(line[:, 0], -2 * spread, 2 * spread), line[:, 1]])


def tint(colour: str, strength: float) -> tuple[float, float, float]:
    """Return a colour mixed with white; strength 1 leaves it."""
    r, g, b = (1 - strength * (1 - part) for part in to_rgb(colour))
    return r, g, b


def _contacts(ax: Axes, result: Result) -> None:
    radial = list(contact.in_bores(result).items())
    if not radial:
        contact.touching(ax, result)
        style.title(ax, "When contacts press")
    elif len(radial) == 1:
        joint, contacts = radial[0]
        contact.clearance_circle(ax, result, contacts)
        style.title(ax, f"Bushing ends in the clearance of {joint}")
    else:
        _two_circles(ax, result, radial[:2])


def _two_circles(ax: Axes, result: Result, shown: list[tuple[str, list[int]]]) -> None:
    """Draw the clearance circles of two joints side by side in the place of ``ax``."""
    place = ax.get_subplotspec()
    assert place is not None
    parts = place.subgridspec(1, 2)
    for k, (joint, contacts) in enumerate(shown):
        side = ax.figure.add_subplot(parts[0, k])
        style.plain(side)
        contact.clearance_circle(side, result, contacts)
        side.set(xticks=[-1, 0, 1])
        style.own_legend(side, columns=1)
        style.title(side, f"Bushing ends in {joint}")
        style.axis_labels(side, "x / clearance", "y / clearance" if k == 0 else "")
    ax.remove()


def _coordinates(ax: Axes, result: Result) -> None:
    """Draw angles, or lengths if there are none, of what moves most."""
    q, names = result["q"].values, [str(name) for name in result["q_name"].values]
    slides = [k for k, name in enumerate(names) if is_length(name)]
    turns = [k for k in range(len(names)) if k not in slides]
    shown, unit = (turns, "deg") if turns else (slides, "m")
    factor = np.degrees(1.0) if turns else 1.0
    most = sorted(shown, key=lambda k: -float(np.ptp(q[:, k])))[: style.MAX_OWN_LEGEND]
    for i, k in enumerate(sorted(most)):
        color = style.look(i).color
        ax.plot(result["time"], factor * q[:, k], color=color, linewidth=0.9, label=names[k])
    style.axis_labels(ax, "time [s]", f"coordinate [{unit}]")
    style.title(ax, "Coordinates")
    style.own_legend(ax)


def _closure(ax: Axes, result: Result) -> None:
    for j in range(result.data.sizes["joint"]):
        run.closure_of(ax, result, j, j)
    style.axis_labels(ax, "time [s]", None)
    style.title(ax, "Joint closure")


def _forces(ax: Axes, result: Result) -> None:
    force = np.linalg.norm(motion.joint_force(result), axis=2)
    largest = np.argsort(-np.nan_to_num(force).max(axis=0))[: style.MAX_OWN_LEGEND]
    for k, j in enumerate(sorted(largest)):
        ax.plot(
            result["time"],
            force[:, j],
            color=style.look(k).color,
            linewidth=0.9,
            label=str(result["joint"].values[j]),
        )
    style.axis_labels(ax, "time [s]", "force [N]")
    style.title(ax, f"Joint force, largest {style.peak(force):.3g} N")
    if len(largest) > 1:
        style.own_legend(ax)


def _gaps(ax: Axes, result: Result) -> None:
    count = result.data.sizes["contact"]
    if count <= MOST_GAPS:
        contact.gaps_of_joint(ax, result, list(range(count)))
        style.title(ax, "Gaps")
        style.own_legend(ax, columns=4)
    else:
        contact.gap_map(ax, result, list(range(count)))
        style.title(ax, "Gaps: dark where closed")
    style.axis_labels(ax, "time [s]", None)


def _speeds(ax: Axes, result: Result) -> None:
    speed = np.linalg.norm(motion.body_velocity(result), axis=2)
    fastest = np.argsort(-speed.max(axis=0))[: style.MAX_OWN_LEGEND]
    for k, b in enumerate(sorted(fastest)):
        ax.plot(
            result["time"],
            speed[:, b],
            **style.look(k)._asdict(),
            label=str(result["body"].values[b]),
        )
    style.axis_labels(ax, "time [s]", "speed [m/s]")
    style.title(ax, "Speed of the centres of mass")
    if len(fastest) > 1:
        style.own_legend(ax)


def _norm(ax: Axes, result: Result) -> None:
    run.residual_of(ax, result, "euler_norm_error", "error")
    style.title(ax, "Norm of the Euler parameters")


def _motion(ax: Axes, result: Result) -> None:
    run.residual_of(ax, result, "motion_residual", "residual [N]")
    style.title(ax, "Residual of the equations of motion")


def _steps(ax: Axes, result: Result) -> None:
    run.steps_of(ax, result)
    style.axis_labels(ax, "time [s]", None)
    style.title(ax, "Step size")


def _energy(ax: Axes, result: Result) -> None:
    curves = {
        "kinetic": motion.kinetic(result),
        "potential − start": motion.potential(result),
        "balance": motion.balance(result),
    }
    unit = style.unit_of("J", *curves.values())
    for k, (name, energy) in enumerate(curves.items()):
        ax.plot(result["time"], unit.factor * energy, **style.look(k)._asdict(), label=name)
    change = curves["balance"][-1]
    small = style.unit_of("J", change)
    style.axis_labels(ax, "time [s]", f"energy [{unit.text}]")
    style.title(
        ax,
        "Energy; balance = total − external work − start,\n"
        f"{small.factor * change:+.3g} {small.text} at the end",
    )
    style.own_legend(ax)
