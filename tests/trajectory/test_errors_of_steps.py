"""What fits, derivatives and designs tell of the error of steps, known in closed form."""

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
from nsopt.trajectory import Limit, Measured, Unknown, design, fit, sensitivities

INERTIA, STIFFNESS, START, NOISE = 0.1, 2.5, 0.3, 1e-3
RATE = np.sqrt(STIFFNESS / INERTIA)  # 5 rad/s
TIMES, H = np.arange(1, 41) * 0.05, 0.05


def biased():
    """Return the stiffness with which Stoermer-Verlet's steps swing at the true rate [N m]."""
    return INERTIA * (2 / H * np.sin(RATE * H / 2)) ** 2


def swing(t, stiffness, h=None):
    """Return the angle of the rotor and its derivative by the stiffness; exact, or in steps h."""
    rate = np.sqrt(stiffness / INERTIA)
    by_stiffness = 1 / (2 * INERTIA * rate)
    if h is not None:  # the rate at which Stoermer-Verlet's steps swing
        by_stiffness /= np.sqrt(1 - (h * rate / 2) ** 2)
        rate = 2 / h * np.arcsin(h * rate / 2)
    return START * np.cos(rate * t), -START * t * np.sin(rate * t) * by_stiffness


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


def differentiate(rotor, h, **options):
    """Return the angle at the measured times, to be differentiated."""
    return sensitivities(
        *(rotor, Start(np.array([START]), np.zeros(1)), TIMES),
        steps=StepBounds(h, h),
        outputs=lambda t, q, v, p: q,
        **options,
    )


@pytest.mark.parametrize("h", [H, 4 * H], ids=["steps", "times"])
def test_the_errors_of_derivatives_are_those_of_the_steps(rotor, h):
    """In steps no longer than from one of the times to the next, whatever is asked for."""
    found = differentiate(rotor, h)
    value, derivatives = found.estimate_errors()
    in_steps, exact = swing(TIMES, STIFFNESS, H), swing(TIMES, STIFFNESS)
    assert found.value[:, 0] == pytest.approx(in_steps[0], abs=1e-9)
    assert found.forward().parameters[:, 0, 0] == pytest.approx(in_steps[1], abs=1e-9)
    told = (value[:, 0], derivatives.parameters[:, 0, 0])
    for error, a, b in zip(told, in_steps, exact, strict=True):
        assert error == pytest.approx(a - b, abs=0.05 * np.abs(a - b).max())
    rate_in_steps = 2 / H * np.arcsin(H * RATE / 2)
    off = np.cos(rate_in_steps * TIMES) - np.cos(RATE * TIMES)  # by the angle at the start
    assert derivatives.q0[:, 0, 0] == pytest.approx(off, abs=0.05 * np.abs(off).max())
    weights = np.linspace(-1, 1, len(TIMES))[:, None]
    gradient = found.adjoint(weights).parameters - weights[:, 0] @ exact[1]
    assert np.sum(weights * derivatives.parameters[:, 0]) == pytest.approx(gradient[0], rel=0.05)


def test_errors_without_derivatives_are_those_of_the_outputs(rotor):
    value, derivatives = differentiate(rotor, H, by=(), by_start=False).estimate_errors()
    off = swing(TIMES, STIFFNESS, H)[0] - swing(TIMES, STIFFNESS)[0]
    assert value[:, 0] == pytest.approx(off, abs=0.05 * np.abs(off).max())
    assert [x.shape for x in derivatives] == [(len(TIMES), 1, 0)] * 3


@pytest.mark.parametrize("turn", [0.25, 0.5], ids=["at a limit", "free"])
def test_the_error_of_a_design_is_that_of_its_steps(rotor, turn):
    """A quarter of a period, or half of one, of 0.4 s: the softest spring, and the lowest angle."""
    end = 0.4

    def stiffness(rate):
        return INERTIA * rate**2

    quarter = turn == 0.25
    asked = {
        "cost": (lambda y, p: p["stiffness"]) if quarter else (lambda y, p: y[-1]),
        "limits": [Limit("angle", lambda y, p: y[-1], 0.0)] if quarter else [],
        "times": end,
        "outputs": lambda t, q, v, p: q,
        "steps": StepBounds(H, H),
        "start": Start(np.array([START]), np.zeros(1)),
    }
    unknown = Unknown("stiffness", 2.0, 0.5, 10.0)
    best, without = (design(rotor, [unknown], **asked, check=check) for check in (True, False))
    assert best.converged, best.message
    rate = 2 * np.pi * turn / end
    in_steps, exact = stiffness(2 / H * np.sin(rate * H / 2)), stiffness(rate)
    assert best.values[0] == pytest.approx(in_steps, rel=1e-4)
    assert best.step_errors[0] == pytest.approx(in_steps - exact, rel=0.1)
    assert best.cost_error == pytest.approx(best.step_errors[0] if quarter else 0.0, abs=1e-6)
    assert without.values == pytest.approx(best.values, rel=1e-12)
    assert np.isnan(without.cost_error)
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
