"""Bands of errors in pictures over time, and the shade beyond the predictable time."""

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from nsopt import load_problem
from nsopt.plots import (
    contact_forces,
    coordinates,
    energies,
    gaps,
    joint_coordinates,
    joint_forces,
    overview,
    positions,
    velocities,
)
from nsopt.plots.bands import SHADE, draw_band
from nsopt.problem import Problem
from tests.schemes.models import G, ball
from tests.simulation.test_check import FINER, LENGTH, pendulum, run
from tests.simulation.test_recorded_errors import swing


@pytest.fixture(scope="module")
def coarse():
    """Return a pendulum that is off by a few percent."""
    return run(pendulum(), 4e-2, FINER)


@pytest.fixture(scope="module")
def parting():
    """Return a double pendulum that is predictable for half of its time."""
    problem = load_problem("double_pendulum")
    assert isinstance(problem, Problem)
    return run(problem.dynamics, 1.6e-2, FINER, duration=6.0)


def bands(ax):
    """Return the bands in axes, each as its edges over time: (n, 2) below, (n, 2) above."""
    found = []
    for drawn in ax.collections:
        if isinstance(drawn, PolyCollection):
            (path,) = drawn.get_paths()
            x, y = path.vertices.T
            times = np.unique(x)
            edges = [(y[x == t].min(), y[x == t].max()) for t in times]
            found.append((times, *np.array(edges).T))
    return found


def shades(ax):
    return [x for x in ax.patches if np.allclose(to_rgb(x.get_facecolor()), to_rgb(SHADE))]


def test_a_band_holds_the_true_angle(coarse):
    figure = coordinates(coarse)
    ((t, low, high),) = bands(figure.axes[0])
    true, _ = swing(t)
    room = 0.1 * (high - low).max()
    assert np.all((low - room <= true) & (true <= high + room))
    q = np.interp(t, coarse["time"].values, coarse["q"].values[:, 0])
    assert np.any((true < q - 1e-3) | (true > q + 1e-3))  # which the line alone does not


def test_a_band_holds_the_true_force(coarse):
    (ax,) = joint_forces(coarse).axes
    ((t, low, high),) = bands(ax)
    a, w = swing(t)
    true, room = G * np.cos(a) + LENGTH * w**2, 0.1 * (high - low).max()
    assert ax.get_ylabel() == "F [N]"
    assert np.all((low - room <= true) & (true <= high + room))


@pytest.mark.parametrize(
    "draw",
    [
        *(contact_forces, coordinates, energies, joint_coordinates, joint_forces),
        *(overview, positions, velocities),
    ],
)
def test_what_is_beyond_the_predictable_time_is_shaded(parting, draw):
    error = parting.error["motion"]
    t = parting["time"].values
    off = t[error.values > 0.05 * error.attrs["size"]]
    assert 1 < off[0] < 5
    shaded = [x for ax in draw(parting).axes for x in shades(ax)]
    assert shaded
    for patch in shaded:
        begin, end = patch.get_x(), patch.get_x() + patch.get_width()
        assert begin == pytest.approx(t[t < off[0]][-1])
        assert end == pytest.approx(t[-1])


@pytest.mark.parametrize("draw", [coordinates, energies, joint_forces, overview])
def test_a_run_without_a_check_has_neither(draw):
    alone = run(pendulum(), 4e-2, None)
    axes = draw(alone).axes
    assert not any(bands(ax) or shades(ax) for ax in axes)


def test_gaps_have_bands():
    result = run(ball(0.6, 0.45), 1e-2, FINER, duration=0.5, h_min=1e-2)
    (ax,) = gaps(result).axes
    ((_, low, high),) = bands(ax)
    gap, error = result["gap"].values[:, 0], result.error["gap"].values[:, 0]
    widest = (gap + error - np.maximum(gap - error, min(0, gap.min()))).max()
    assert (high - low).max() == pytest.approx(widest / result.data.attrs["gap_scales"][0])


def test_over_an_angle_that_turns_back_nothing_is_drawn_but_lines(coarse):
    assert np.any(np.diff(coarse["q"].values[:, 0]) < 0)
    axes = energies(coarse, over="pin").axes
    assert not any(bands(ax) or shades(ax) for ax in axes)


def test_bands_do_not_scale_axes():
    ax = Figure().subplots()
    t = np.linspace(0, 1, 11)
    draw_band(ax, t, t, 1e6 * t, "black")
    draw_band(ax, t, t, t + 1, "black", least=0.0)
    (_, low, high), (_, bounded, _) = bands(ax)
    assert (low.min(), high.max()) == (-0.5, 1.5)
    assert bounded.min() == 0
