"""What a fit states for the error of its steps, where it is known in closed form."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    Parameter,
    Revolute,
    Start,
    StepBounds,
    TorsionSpringDamper,
    assemble,
)
from nsopt.trajectory import Measured, Unknown, fit

INERTIA, STIFFNESS, START, NOISE = 0.1, 2.5, 0.3, 1e-3
RATE = np.sqrt(STIFFNESS / INERTIA)  # 5 rad/s
TIMES, H = np.arange(1, 41) * 0.05, 0.05


def biased():
    """Return the stiffness with which Stoermer-Verlet's steps swing at the true rate [N m]."""
    return INERTIA * (2 / H * np.sin(RATE * H / 2)) ** 2


@pytest.fixture(scope="module")
def rotor():
    """A rotor on a torsion spring."""
    body = Body("rotor", 1.0, (0.1, 0.1, INERTIA))
    frames = Frame(GROUND), Frame(body)
    spring = TorsionSpringDamper("spring", *frames, Parameter("stiffness", STIFFNESS))
    return assemble(Mechanism([body], [Revolute("axle", *frames)], "relative"), [spring])


def find(rotor, seed=None, check=True, h=H):
    """Return a fit to the exact motion, with noise by a seed."""
    values = START * np.cos(RATE * TIMES)
    if seed is not None:
        values = values + NOISE * np.random.default_rng(seed).normal(size=values.shape)
    return fit(
        rotor,
        Measured(TIMES, values, lambda t, q, v, p: q, NOISE),
        [Unknown("stiffness", 2.0, 0.5, 5.0)],
        steps=StepBounds(h, h),
        start=Start(np.array([START]), np.zeros(1)),
        check=check,
    )


@pytest.mark.parametrize("h", [H, 4 * H], ids=["steps", "measured times"])
def test_the_error_of_steps_is_that_of_their_rate(rotor, h):
    """Steps end at the measured times, if not before."""
    found, without = (find(rotor, h=h, check=check) for check in (True, False))
    assert found.values[0] == pytest.approx(biased(), rel=1e-4)
    assert found.step_errors[0] == pytest.approx(biased() - STIFFNESS, rel=0.1)
    added = np.outer(found.step_errors, found.step_errors)
    assert found.covariance == pytest.approx(without.covariance + added)
    assert np.isnan(without.step_errors).all()


@pytest.mark.slow
def test_stated_errors_hold_the_truth_in_nine_of_ten_noisy_fits(rotor):
    """Without the error of steps they do in hardly any."""
    held = {
        check: sum(
            low <= STIFFNESS <= high
            for seed in range(50)
            for low, high in find(rotor, seed, check).intervals(0.9)
        )
        for check in (True, False)
    }
    assert held[True] >= 45
    assert held[False] < 10


def test_a_fit_that_cannot_be_repeated_says_so(rotor, monkeypatch):
    def refuse(self, part):
        raise ValueError("no such steps")

    monkeypatch.setattr(StepBounds, "scale", refuse)
    found = find(rotor)
    assert "error of the steps is not known: no such steps" in found.message
    assert np.isnan(found.step_errors).all()
    assert found.errors[0] > 0
