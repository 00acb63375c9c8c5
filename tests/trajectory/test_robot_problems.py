"""Named robot optima: the whole robot's numbers, cones, energy; their picture and animation."""

import numpy as np
import pytest
from PIL import Image

from nsopt import Result, load_problem
from nsopt.animation import animate
from nsopt.plots import draw, save_view
from nsopt.problem import load_optimization
from nsopt.robots import forward_kinematics
from tests.pages import Page


@pytest.fixture(scope="module")
def swing():
    return load_optimization("rom_swing_up").solve(title="rom_swing_up")


def shares(result):
    return result.detailed_cost, result.guess_cost


@pytest.mark.slow
def test_the_pendulum_swings_up_within_its_cone(swing):
    """Weaker than its weight, it must gather energy; that of the drives is where it goes."""
    result = swing
    assert result.completed, result.stop_reason
    weight = 4.0 * 9.81 * 0.15
    assert np.abs(result["drive"].values).max() < weight / 2
    tip = result["body_position"].values[:, 1] / 0.15
    assert np.linalg.norm(tip, axis=1) == pytest.approx(1)
    # Longitude 135 deg, latitude 95 deg from the downward vertical.
    wanted = [np.sin(np.radians(95)) * np.sqrt(0.5)] * 2 + [-np.cos(np.radians(95))]
    assert tip[-1] == pytest.approx(wanted, abs=1e-6)
    assert result["cone.excess"].values.max() < np.radians(1)
    turns = np.sum(np.diff(np.sign(result["v"].values[1:-1, 0])) != 0)
    assert turns >= 3  # to and fro
    optimum, guess = shares(result)
    assert optimum["Effort"] < guess["Effort"] / 5
    # Work of the drives less what hinges dissipate is energy gained.
    t, v = result["time"].values, result["v"].values
    power = np.sum(result["drive"].values * v - 0.05 * v**2, axis=1)
    gained = result["total_energy"].values[-1] - result["total_energy"].values[0]
    assert np.trapezoid(power, t) == pytest.approx(gained, abs=2e-2)
    assert gained == pytest.approx(weight * (1 - np.cos(np.radians(95))), abs=1e-6)


@pytest.mark.slow
def test_an_arm_of_charmie_reaches_with_less_resistance():
    stated = load_optimization("charmie_reach")
    d = stated.dynamics
    whole = load_problem("charmie").dynamics.mechanism
    for body in d.mechanism.bodies:
        twin = next(x for x in whole.bodies if x.name == body.name)
        assert body.mass == twin.mass
        assert np.asarray(body.position) == pytest.approx(np.asarray(twin.position), abs=1e-12)
        assert body.rotation == pytest.approx(twin.rotation, abs=1e-12)
        assert np.asarray(body.inertia) == pytest.approx(np.asarray(twin.inertia))
    result = stated.solve(steps=30)
    assert result.completed, result.stop_reason
    reach, orient = stated.conditions[2:4]
    still = np.zeros(6)
    pose = forward_kinematics(d.mechanism, [reach.frame])(result["q"].values[-1], still, still)
    at, axes = (np.asarray(x) for x in pose[:2])
    assert at.ravel() == pytest.approx(reach.position, abs=1e-6)
    assert axes[:, 2] == pytest.approx(orient.axes[:, 2], abs=1e-6)
    optimum, guess = shares(result)
    # The evenest way to the posture of the guess has 7/10; another posture is better still.
    assert optimum["JointResistance"] < 0.68 * guess["JointResistance"]
    assert result["shoulder.excess"].values.max() < 0


@pytest.mark.slow
def test_the_picture_of_an_optimum_shows_drives_and_costs(swing):
    titles = [ax.get_title() for ax in draw("overview", swing).axes]
    assert titles[1] == "Coordinates"
    assert titles[2].startswith("Drives")
    assert titles[3:5] == ["Velocities", "Resistance of joints"]
    assert titles[5].startswith("Costs, 2.47")


@pytest.mark.slow
def test_drives_are_shown_against_their_limits(swing):
    data = swing.data
    limited = Result(data.assign(drive_limit=(("v",), np.array([2.5, 2.5]))))
    ax = draw("overview", limited).axes[2]
    assert ax.get_title() == "Drives against their limits"
    largest = max(np.abs(line.get_ydata()).max() for line in ax.lines[:2])
    assert largest == pytest.approx(40 * np.abs(data["drive"].values).max())


@pytest.mark.slow
def test_an_optimum_is_animated_and_viewed(swing, tmp_path):
    """Its duration at 25 frames a second; the page has the places of the body that moves."""
    result = Result.open(swing.save(tmp_path / "swing.nc"))
    duration, places = result["time"].values[-1], result["body_position"]
    with Image.open(animate(result, tmp_path / "swing.gif", fps=25)) as film:
        assert film.n_frames == 1 + np.ceil(25 * duration - 1e-9)
    page = Page(save_view(result, tmp_path / "swing.html").read_text(encoding="utf-8"))
    times, shown = page.last("SetPositionMessage", "/world/bodies/pendulum", "position")
    assert times == pytest.approx(result["time"].values, abs=1e-9)
    assert shown == pytest.approx(places.sel(body="pendulum").values, abs=1e-6)
