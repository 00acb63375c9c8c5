"""Results saved by earlier versions are read, and what they say is true.

A file of a new format goes beside those in tests/data; none of these is made anew.
"""

from pathlib import Path

import numpy as np
import pytest

from nsopt import Result
from nsopt.plots import overview
from nsopt.stored_hash import check_hash

DATA = Path(__file__).with_name("data")
FILES = sorted(DATA.glob("*.nc"))

MASS, HEIGHT, RESTITUTION, GRAVITY = 2.0, 0.05, 0.5, 9.81


def bounces(t):
    """Height, velocity and impacts of a point that falls onto a floor."""
    first, speed = np.sqrt(2 * HEIGHT / GRAVITY), np.sqrt(2 * GRAVITY * HEIGHT)
    arcs = [(0.0, HEIGHT, 0.0), (first, 0.0, RESTITUTION * speed)]
    arcs.append((first + 2 * arcs[1][2] / GRAVITY, 0.0, RESTITUTION**2 * speed))
    height, velocity = np.empty_like(t), np.empty_like(t)
    for begin, z, v in arcs:
        s = t[t >= begin] - begin
        height[t >= begin] = z + v * s - GRAVITY * s**2 / 2
        velocity[t >= begin] = v - GRAVITY * s
    return height, velocity, [MASS * (1 + RESTITUTION) * x for x in (speed, RESTITUTION * speed)]


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_they_are_whole_and_of_use(file):
    result = Result.open(file)
    assert result.completed
    assert not result.warnings
    assert check_hash(file)
    assert result.name in result.summary()
    assert len(result.to_dataframe()) == len(result["time"])
    overview(result)


def test_a_ball_bounces_as_newton_says():
    result = Result.open(DATA / "bounces.nc")
    impulse = result["impact_impulse"].values[:, 0]
    struck = impulse > 0  # NaN at the start is none
    t = result["time"].values.copy()
    t[struck] += 1e-9  # velocities are those after the impact
    height, velocity, impulses = bounces(t)
    np.testing.assert_allclose(result["q"].values[:, 2], height, atol=1e-8)
    np.testing.assert_allclose(result["gap"].values[:, 0], height, atol=1e-8)
    np.testing.assert_allclose(result["v"].values[:, 2], velocity, atol=1e-7)
    np.testing.assert_allclose(impulse[struck], impulses, rtol=1e-8)
    assert (result["contact_mode"].values[struck, 0] == 2).all()


def test_energy_of_a_ball_is_balanced():
    data = Result.open(DATA / "bounces.nc").data
    energy = data["kinetic_energy"].values + data["potential_energy"].values
    lost = MASS * GRAVITY * HEIGHT * (1 - RESTITUTION**4)
    assert energy[0] - energy[-1] == pytest.approx(lost, rel=1e-10)
    np.testing.assert_allclose(energy[0] - energy, data["dissipated_energy"].values, atol=1e-12)


@pytest.mark.slow
def test_the_cart_of_least_effort_is_the_cubic():
    result = Result.open(DATA / "double_integrator.nc")
    assert result.objective == pytest.approx(12, rel=1e-9)
    motion = result.sample(0.01)
    t = motion["time"].values
    np.testing.assert_allclose(motion["q"].values[:, 0], 3 * t**2 - 2 * t**3, atol=1e-12)
    np.testing.assert_allclose(motion["v"].values[:, 0], 6 * t - 6 * t**2, atol=1e-12)
    np.testing.assert_allclose(motion["tau"].values[:, 0], 6 - 12 * t, atol=1e-10)
