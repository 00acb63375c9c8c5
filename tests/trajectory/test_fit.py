"""Known parameters recovered from simulated data with noise."""

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Start,
    StepBounds,
    TorsionSpringDamper,
    assemble,
)
from nsopt.trajectory import FullWindow, GrowingWindow, Measured, Unknown, fit, sensitivities
from tests.schemes.models import G

TRUE = np.array([1e-3, 0.05])  # m, N m s/rad
NOISE = 2e-5  # rad, of a good encoder
STEPS = StepBounds(1e-6, 1e-3)


def turn(t, q, v, p):
    return 2 * ca.atan2(q[6], q[3])


@pytest.fixture(scope="module")
def worn():
    """Case A with a damper on its hinge."""
    body = Body("pendulum", 1.0, (0.01, 0.09, 0.09), (0.5, 0.0, 0.0))
    frames = Frame(GROUND), Frame.at(body, (0, 0, 0))
    clearance = Parameter("clearance", TRUE[0])
    sizes = {"length": 0.1, "clearance": clearance, "axial_clearance": 1e-3, "radius": 0.01}
    hinge = RevoluteClearance("hinge", *frames, **sizes)
    damper = TorsionSpringDamper("damper", *frames, 0.0, damping=Parameter("damping", TRUE[1]))
    return assemble(Mechanism([body]), [hinge, damper], gravity=(0, -G, 0))


def measured(dynamics, times, seed=1):
    exact = sensitivities(
        dynamics, None, times, steps=STEPS, outputs=turn, by=(), by_start=False
    ).value
    noise = np.random.default_rng(seed).normal(size=exact.shape)
    return Measured(times, exact + NOISE * noise, turn, NOISE)


def unknowns(guess):
    return [
        Unknown("clearance", guess[0], 1e-4, 3e-3),
        Unknown("damping", guess[1], 0.0, 0.2),
    ]


def check(fitted):
    """Within four standard errors, which are themselves small."""
    assert fitted.converged, fitted.message
    assert np.all(np.abs(fitted.values - TRUE) < 4 * fitted.errors)
    assert np.all(fitted.errors < 0.02 * TRUE)
    assert fitted.residual == pytest.approx(1, abs=0.3)


@pytest.mark.slow
def test_clearance_and_damping_from_half_off(worn):
    data = measured(worn, np.arange(1, 41) * 0.01)
    for guess in ([0.5, 1.5], [1.5, 0.5]):
        check(fit(worn, data, unknowns(TRUE * guess), steps=STEPS))


@pytest.mark.slow
def test_starts_over_two_seconds(worn):
    """Up to 50 % off, both of them; data of the same steps, which are no error then."""
    data = measured(worn, np.arange(1, 201) * 0.01)
    options = {"steps": STEPS, "check": False}
    fits = [fit(worn, data, unknowns(TRUE * x), **options) for x in ((0.64, 1.45), (1.33, 0.91))]
    for one in fits:
        check(one)
        assert one.errors[0] < 1e-3 * TRUE[0]


@pytest.mark.slow
def test_late_data_alone_have_many_least_residuals(worn):
    """A period of the ripple is 3.3 % of the clearance: told, and more starts help."""
    data = measured(worn, 1.5 + np.arange(1, 51) * 0.01)
    options = {"steps": STEPS, "window": FullWindow()}
    check(fit(worn, data, unknowns([1.02e-3, 0.05]), **options))
    wrong = fit(worn, data, unknowns([1.05e-3, 0.05]), **options)
    assert not wrong.converged
    assert "noise does not explain it: try more starts" in wrong.message
    assert wrong.values[0] == pytest.approx(1.033e-3, rel=2e-3)
    near = [Unknown("clearance", 1.05e-3, 0.95e-3, 1.05e-3), Unknown("damping", 0.05, 0.04, 0.06)]
    many = fit(worn, data, near, starts=8, seed=2, **options)
    check(many)
    assert len(many.outcomes) > 1
    assert not many.outcomes[0].explained


@pytest.fixture(scope="module")
def swing():
    """A pendulum on an ideal hinge, damped and sprung."""
    body = Body("rod", 1.3, (0.01, 0.09, 0.09), (0.5, 0, 0))
    frames = Frame(GROUND), Frame.at(body, (0, 0, 0))
    stiffness, damping = Parameter("stiffness", 2.0), Parameter("damping", 0.2)
    hinge = Revolute("hinge", *frames)
    damper = TorsionSpringDamper("damper", *frames, stiffness, damping=damping)
    return assemble(Mechanism([body], [hinge], "relative"), [damper], gravity=(0, -G, 0))


def angle(t, q, v, p):
    return q


@pytest.mark.slow
@pytest.mark.parametrize("stated", [1e-3, 1e-3 / 7], ids=["true", "too small"])
def test_errors_are_those_of_many_fits(swing, stated):
    """The scatter of fits to data with other noise is the standard error that each states.

    So it is where the noise is stated seven times too small, which the fit says. The data are of
    the same steps, which are no error then.
    """
    steps, times = StepBounds(2.5e-2, 2.5e-2), np.arange(1, 41) * 0.025
    start = Start(np.array([0.2]), np.array([0.0]))
    exact = sensitivities(swing, start, times, steps=steps, outputs=angle, by=()).value
    sought = [Unknown("stiffness", 3.0, 0.5, 5.0), Unknown("damping", 0.1, 0.0, 1.0)]
    fits = []
    for seed in range(30):
        noise = 1e-3 * np.random.default_rng(seed).normal(size=exact.shape)
        data = Measured(times, exact + noise, angle, stated)
        fits.append(fit(swing, data, sought, steps=steps, start=start, check=False))
    assert all(one.converged == (stated == 1e-3) for one in fits)
    assert all("mend the model" in one.message for one in fits if not one.converged)
    off = np.array([(one.values - [2.0, 0.2]) / one.errors for one in fits])
    assert np.std(off, axis=0) == pytest.approx([1, 1], abs=0.35)
    assert np.mean(off, axis=0) == pytest.approx([0, 0], abs=0.6)
    assert np.corrcoef(off.T)[0, 1] == pytest.approx(
        fits[0].covariance[0, 1] / np.prod(fits[0].errors), abs=0.4
    )


def pushed(count, seed):
    """Positions of 1 kg pushed from rest by 2 N, of noise stated too small, and a fit.

    Returns what the force moves the cart by for each newton, the measured values and the fit.
    """
    cart = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(cart))
    push = AppliedForce("push", Frame(cart), (0, 0, Parameter("force", 2.0)))
    d = assemble(Mechanism([cart], [rail], "relative"), [push])
    steps, times = StepBounds(0.1, 0.1), np.linspace(0.2, 1.2, count)
    away = sensitivities(d, times=times, steps=steps, outputs=angle, by=["force"]).value / 2.0
    values = 2.0 * away + 0.01 * np.random.default_rng(seed).normal(size=away.shape)
    found = fit(
        d, Measured(times, values, angle, 1e-3), [Unknown("force", 1.0, 0.0, 5.0)], steps=steps
    )
    return away.ravel(), values.ravel(), found


def test_intervals_are_those_of_linear_regression_by_students_t():
    """With the two-sided quantile of 90 % from tables, for five degrees of freedom."""
    away, values, found = pushed(6, seed=3)
    force = away @ values / (away @ away)
    noise = np.sqrt(np.sum((values - force * away) ** 2) / 5)
    expected = force + np.array([-1, 1]) * 2.015 * noise / np.sqrt(away @ away)
    assert found.intervals(0.9)[0] == pytest.approx(expected, rel=1e-3)
    with pytest.raises(ValueError, match="level"):
        found.intervals(90)


def test_what_was_not_measured_is_told(swing):
    """At rest in its equilibrium nothing tells the damping."""
    body = Body("mass", Parameter("mass", 1.0), point_mass=True)
    free = assemble(Mechanism([body]))
    data = Measured([0.1, 0.2], np.zeros((2, 3)), lambda t, q, v, p: q, 1e-3)
    fitted = fit(free, data, [Unknown("mass", 1.0, 0.5, 2.0)], steps=StepBounds(1e-2, 1e-2))
    assert not fitted.converged
    assert "does not tell mass" in fitted.message
    for unknown in (fitted.values, fitted.errors, fitted.step_errors):
        assert unknown.shape == (1,)
        assert np.isnan(unknown).all()
    assert fitted.degrees == 6 - 1


class Refused(FullWindow):
    """A window that no fit gets through."""

    def ends(self, times, impact):
        raise ValueError("no window is left")


def test_a_fit_that_fails_has_figures_of_all_unknowns(swing):
    data = Measured([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], angle, 1e-3)
    sought = [Unknown("stiffness", 3.0, 0.5, 5.0), Unknown("damping", 0.1, 0.0, 1.0)]
    fitted = fit(swing, data, sought, steps=StepBounds(1e-2, 1e-2), window=Refused())
    assert fitted.message == "no start converged: no window is left"
    assert np.isnan(fitted.step_errors).tolist() == [True, True]
    assert np.isnan(fitted.intervals()).all()
    assert fitted.degrees == 3 - 2


class Told(FullWindow):
    """The whole motion; keeps when it is told that a contact first closes."""

    def __init__(self):
        object.__setattr__(self, "impacts", [])

    def ends(self, times, impact):
        self.impacts.append(impact)
        return super().ends(times, impact)


@pytest.mark.parametrize(("height", "closes"), [(0.0, None), (0.05, np.sqrt(2 * 0.05 / G))])
def test_a_contact_that_is_closed_from_the_start_is_no_impact(height, closes):
    """A ball that lies on the ground presses in all steps; one that is let go falls first."""
    ball = Body("ball", Parameter("mass", 1.0), position=(0, 0, height), point_mass=True)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball))
    d = assemble(Mechanism([ball]), [floor], gravity=(0, 0, -G))
    window = Told()
    data = Measured([0.15], np.zeros((1, 3)), lambda t, q, v, p: q, 1e-3)
    fit(d, data, [Unknown("mass", 1.0, 0.5, 2.0)], steps=StepBounds(1e-3, 1e-3), window=window)
    assert window.impacts == [pytest.approx(closes, abs=1.1e-3)]


def test_another_mechanism_is_told(swing):
    """Data that no values explain."""
    times = np.arange(1, 21) * 0.05
    start = Start(np.array([0.2]), np.array([0.0]))
    data = Measured(times, 1 + times**2, angle, 1e-3)
    sought = [Unknown("stiffness", 3.0, 0.5, 5.0)]
    fitted = fit(swing, data, sought, steps=StepBounds(5e-3, 5e-3), start=start, starts=3)
    assert not fitted.converged
    assert "noise does not explain it" in fitted.message
    assert "the values are of the best local fit" in fitted.message
    assert len(fitted.outcomes) == 3
    best = min(fitted.outcomes, key=lambda outcome: outcome.residual)
    assert np.array_equal(fitted.values, best.end)


def test_a_start_that_moves_along_is_refused():
    """A problem that `sensitivities` refuses is an error, not a start that failed."""
    body = Body("ball", 1.0, position=(0, 0, Parameter("height", 1.0)), point_mass=True)
    data = Measured([0.1], [[0.0, 0.0, 1.0]], angle, 1e-3)
    with pytest.raises(ValueError, match="the stated start moves with parameter 'height'"):
        fit(
            assemble(Mechanism([body])),
            data,
            [Unknown("height", 1.0, 0.5, 2.0)],
            steps=StepBounds(1e-2, 1e-2),
        )


def test_windows():
    times = np.arange(1, 11) * 0.1
    assert FullWindow().ends(times, 0.05) == [1.0]
    assert GrowingWindow().ends(times, None) == [1.0]
    assert GrowingWindow(growth=2).ends(times, 0.1) == pytest.approx([0.2, 0.4, 0.8, 1.0])
    assert GrowingWindow(first=0.6).ends(times, 0.1) == pytest.approx([0.6, 0.9, 1.0])


def test_bad_input_is_told(swing):
    steps, sought = StepBounds(5e-3, 5e-3), [Unknown("damping", 0.1, 0.0, 1.0)]
    data = Measured([0.1], [0.0], angle, 1e-3)
    with pytest.raises(ValueError, match="starts must be 1 or more, got 0"):
        fit(swing, data, sought, steps=steps, starts=0)
    with pytest.raises(ValueError, match="unknown 'damping' is given twice"):
        fit(swing, data, sought * 2, steps=steps)
    two = Measured([0.1], [0.0], lambda t, q, v, p: ca.vertcat(q, v), 1e-3)
    with pytest.raises(ValueError, match=r"outputs of Measured are 2 numbers, but .* 1 columns"):
        fit(swing, two, sought, steps=steps)
    begun = Start(np.array([0.2]), np.array([0.0]), 0.2)
    with pytest.raises(ValueError, match=r"begin at 0\.1 s, not after the start at 0\.2 s"):
        fit(swing, data, sought, steps=steps, start=begun)
    with pytest.raises(ValueError, match="times of Measured must be a row that ascends"):
        Measured([0.2, 0.1], [0.0, 0.0], angle, 1e-3)
    with pytest.raises(ValueError, match=r"a row for each of 2 times, got shape \(4,\)"):
        Measured([0.1, 0.2], np.zeros(4), angle, 1e-3)
    with pytest.raises(ValueError, match=r"one for each of 1 outputs, got shape \(2,\)"):
        Measured([0.1, 0.2], np.zeros(2), angle, np.ones(2))
    with pytest.raises(ValueError, match="measured values must be finite: leave out the times"):
        Measured([0.1], [np.nan], angle, 1e-3)
    with pytest.raises(ValueError, match="deviation of the noise must be positive, got 0"):
        Measured([0.1], [0.0], angle, 0.0)
    with pytest.raises(ValueError, match="growth of GrowingWindow must be above 1, got 1"):
        GrowingWindow(growth=1.0)
    with pytest.raises(ValueError, match="first of GrowingWindow must be positive, got -1"):
        GrowingWindow(first=-1.0)
