"""Distance: a rod without mass, a linear actuator."""

import numpy as np
import pytest
from scipy.integrate import quad

from nsopt import (
    GROUND,
    Body,
    Compiled,
    Distance,
    Frame,
    Mechanism,
    Variational,
    assemble,
)
from tests.catalog import DISTANCE
from tests.states import array, couple, near, run

G = 9.81


def test_distance_is_closed_on_a_sphere_and_open_elsewhere():
    c = couple(DISTANCE)
    centre = np.array([-0.24, 0.0, -0.18])  # origin of its frame a, from the common frame
    for seed in range(5):
        direction = near(seed, 1.0, 0.0)[:3]
        place = centre + 0.3 * direction / np.linalg.norm(direction)
        twist = np.array([*place, *near(seed, 0.0, 1.0)[3:]])
        assert c.at("closure", c.placed(twist)) == pytest.approx(0, abs=1e-14)
        twist[:3] = centre + 0.301 * direction / np.linalg.norm(direction)
        assert c.at("closure", c.placed(twist)) == pytest.approx(1e-3, rel=2e-3)


def bob_on_actuator(length, velocity, gravity=0.0):
    bob = Body("bob", 2.0, point_mass=True, position=(0.5, 0, 0), velocity=velocity)
    rod = Distance("rod", Frame(GROUND), Frame(bob), length)
    return assemble(Mechanism([bob], [rod]), gravity=(-gravity, 0, 0))


CHAIN = {"scheme": Variational(), "solver": Compiled()}


@pytest.mark.slow
@pytest.mark.parametrize("sign", [-1, 1], ids=["pulls in", "lets out"])
def test_actuator_keeps_the_angular_momentum(sign):
    """Free but for the actuator: r^2 phi' stays, whatever r(t)."""

    def length(t):
        return 0.5 + sign * 0.2 * np.sin(3 * t)

    exact = quad(lambda t: 0.5 / length(t) ** 2, 0, 1.0, epsabs=1e-13)[0]
    d = bob_on_actuator(length, (sign * 0.6, 1.0, 0.0))
    errors = []
    for h in (2e-3, 1e-3):
        result = run(d, 1.0, h, **CHAIN)
        x, y, _ = np.squeeze(result["body_position"].values).T
        assert np.hypot(x, y) == pytest.approx(length(result["time"].values), abs=1e-9)
        gain = result["total_energy"].values - result["total_energy"].values[0]
        assert np.ptp(gain) > 0.1
        assert result["external_work"].values == pytest.approx(gain, abs=2e-4 * (h / 1e-3) ** 2)
        errors.append(np.unwrap(np.arctan2(y, x))[-1] - exact)
    assert errors[1] == pytest.approx(0, abs=2e-5)
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.2)


def test_actuator_drift_is_the_rate_of_its_closure():
    d = bob_on_actuator(lambda t: 0.5 + 0.1 * np.sin(t), (0, 0, 0))
    q, eps = np.array([0.4, 0.3, 0.2]), 1e-6
    rate = (array(d.closure(0.7 + eps, q, [])) - array(d.closure(0.7 - eps, q, []))) / (2 * eps)
    assert array(d.closure_drift(0.7, q, [])) == pytest.approx(rate, abs=1e-9)


@pytest.mark.slow
def test_rod_carries_a_hanging_weight():
    bob = Body("bob", 2.0, point_mass=True, position=(0, 0, -0.5))
    d = assemble(
        Mechanism([bob], [Distance("rod", Frame(GROUND), Frame(bob), 0.5)]), gravity=(0, 0, -G)
    )
    result = run(d, 0.01, 1e-3, **CHAIN)
    force = result["joint_reaction"].values[1:].reshape(-1, 3)
    assert force == pytest.approx(np.tile([0, 0, 2 * G], (10, 1)), abs=1e-9)


@pytest.mark.parametrize("bad", [0.0, -0.5, np.nan, np.inf, "long", (0.1, 0.2)])
def test_distance_refuses_a_length_that_is_none(bad):
    bob = Body("bob", 1.0, point_mass=True)
    with pytest.raises(ValueError, match="length of Distance 'rod' must"):
        Distance("rod", Frame(GROUND), Frame(bob), bad)


@pytest.mark.parametrize("bad", [lambda t: t - 0.1, lambda t: (t, t), lambda t: np.sin(t) / t])
def test_distance_refuses_a_function_that_begins_at_no_length(bad):
    with pytest.raises(ValueError, match="length of Distance 'rod'"):
        bob_on_actuator(bad, (0, 0, 0))
