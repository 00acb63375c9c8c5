"""Sections, phases, spectra and orbits against motions in closed form."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Compiled,
    ContactAligned,
    Frame,
    Mechanism,
    Prismatic,
    Result,
    SphericalClearance,
    SpringDamper,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.analysis import (
    Crossing,
    Impacts,
    Strobe,
    mode_statistics,
    orbit,
    phase,
    poincare,
    quantity,
    spectrum,
)
from problems.case_a import case_a
from problems.slider_crank import slider_crank
from tests.schemes.models import G, ball

K, MASS, DRAG, FORCE, RATE = 400.0, 2.0, 20.0, 3.0, 9.0


def run(dynamics, duration, h, scheme=None, **options):
    result = simulate(
        dynamics,
        duration=duration,
        steps=StepBounds(h, h),
        scheme=scheme or Variational(),
        solver=Compiled(chunk=100),
        progress=False,
        **options,
    )
    assert result.completed, result.stop_reason
    return result


@pytest.fixture(scope="module")
def forced():
    """A mass on a spring and a damper, driven by a force F cos(w t)."""
    mass = Body("mass", MASS, (0.1, 0.1, 0.1))
    rail = Prismatic("rail", Frame(GROUND), Frame(mass))
    ends = Frame(GROUND, (0, 0, -1)), Frame(mass)
    spring = SpringDamper("spring", *ends, K, free_length=1.0, damping=DRAG)
    push = AppliedForce("push", Frame(mass), lambda t: (0, 0, FORCE * np.cos(RATE * t)))
    d = assemble(Mechanism([mass], [rail], "relative"), [spring, push])
    return run(d, 12 * 2 * np.pi / RATE, 2 * np.pi / RATE / 400)


RESPONSE = FORCE / (K - MASS * RATE**2 + 1j * DRAG * RATE)


def test_once_a_period_a_settled_motion_is_where_it_was(forced):
    points = poincare(forced, Strobe(2 * np.pi / RATE, 0.25), skip=8)
    expected = RESPONSE * 1j  # a quarter of a period later
    assert points["rail.distance"].values == pytest.approx(expected.real, abs=1e-6)
    assert points["rail.speed"].values == pytest.approx((1j * RATE * expected).real, abs=1e-5)
    assert np.diff(points.index) == pytest.approx(2 * np.pi / RATE)
    assert len(points) == 12 - 8


def test_crossings_are_where_a_quantity_passes_a_level(forced):
    times = Crossing("rail.distance", 1e-3).times(forced)[-3:]
    z = RESPONSE * np.exp(1j * RATE * times)
    assert z.real == pytest.approx(1e-3, abs=5e-7)
    assert np.all((1j * z).real > 0)
    down = Crossing("rail.distance", 1e-3, rising=False).times(forced)[-3:]
    assert np.all((1j * RESPONSE * np.exp(1j * RATE * down)).real < 0)


def test_an_angle_that_goes_on_passes_a_level_every_turn():
    result = run(slider_crank.model("relative"), 0.2, 1e-4)
    times = Crossing("main bearing.angle", 1.0, every=2 * np.pi).times(result)
    angle = np.interp(times, result["time"], quantity(result, "main bearing.angle"))
    assert angle == pytest.approx(1.0 + 2 * np.pi * np.arange(len(times)), abs=1e-12)
    assert len(times) == 3


def test_a_spectrum_has_the_amplitudes(forced):
    """Eight whole periods: one line, at the frequency of the drive."""
    period = 2 * np.pi / RATE
    lines = spectrum(forced, "rail.distance", begin=4 * period, samples=800, window="boxcar")
    k = int(lines.values.argmax())
    assert float(lines["frequency"][k]) == pytest.approx(1 / period)
    assert float(lines[k]) == pytest.approx(abs(RESPONSE), rel=1e-4)
    assert np.delete(lines.values, k).max() < 1e-3 * abs(RESPONSE)
    assert lines.attrs["units"] == "m"
    hann = spectrum(forced, "rail.distance", begin=4 * period, samples=800)
    assert float(hann[k]) == pytest.approx(abs(RESPONSE), rel=1e-4)
    with pytest.raises(ValueError, match="four samples"):
        spectrum(forced, "rail.distance", samples=2)
    with pytest.raises(ValueError, match="the quantity is unknown at 1 of 4800"):
        spectrum(forced, lambda r: np.where(r["time"] == r["time"][7], np.nan, 1.0))


def test_a_phase_portrait_of_a_settled_motion_is_an_ellipse(forced):
    late = phase(forced, "rail.distance", "joint_rate[rail.distance]").iloc[-400:]
    x, v = (late[name].values for name in late)
    assert (x / abs(RESPONSE)) ** 2 + (v / RATE / abs(RESPONSE)) ** 2 == pytest.approx(1, abs=1e-3)


def test_quantities_have_names(forced):
    data = forced.data
    for name, values in (
        ("rail.distance", data["q"][:, 0]),
        ("rail.speed", data["v"][:, 0]),
        ("total_energy", data["total_energy"]),
        ("body_velocity[mass, z]", data["body_velocity"][:, 0, 2]),
        ("joint_rate[rail.distance]", data["v"][:, 0]),
        (lambda result: result["time"].values, data["time"]),
    ):
        assert quantity(forced, name) == pytest.approx(values.values, abs=0)
    with pytest.raises(KeyError, match="no quantity 'speed'"):
        quantity(forced, "speed")
    with pytest.raises(KeyError, match="body_velocity is over body, axis: give a label"):
        quantity(forced, "body_velocity[mass]")
    with pytest.raises(KeyError, match="no body 'crank'; there are mass"):
        quantity(forced, "body_velocity[crank, x]")
    with pytest.raises(ValueError, match="one number for each time"):
        quantity(forced, lambda result: 0.0)


@pytest.mark.slow
def test_impacts_are_a_section_with_the_state_after_them():
    e, height = 0.6, 0.05
    result = run(ball(e, height), 0.3, 1e-3, ContactAligned())
    points = poincare(result, Impacts("floor"), ["ball.vz"])
    speed = np.sqrt(2 * G * height)
    expected = speed * e ** np.arange(1, len(points) + 1)
    assert points["ball.vz"].values[:4] == pytest.approx(expected[:4], rel=1e-8)
    with pytest.raises(ValueError, match="no contact 'wall': one of floor"):
        Impacts("wall").times(result)


def test_modes_of_a_joint_are_counted():
    """Case A: it falls 14.278 ms through its clearance, and then lies on its pin."""
    result = run(case_a.problem.dynamics, 0.1, 1e-3, ContactAligned())
    (x,) = mode_statistics(result).values()
    assert x.flights == 1
    assert x.longest_flight == pytest.approx(0.014278431, abs=1e-3)
    assert x.free + x.lasting + x.impact == pytest.approx(1)
    assert x.impacts == 2
    assert x.impulse == pytest.approx(np.nansum(result["impact_impulse"].values))


def test_a_run_without_steps_has_no_modes():
    result = run(case_a.problem.dynamics, 0.01, 1e-3)
    assert not mode_statistics(Result(result.data.isel(time=[0])))


@pytest.mark.slow
def test_orbits_are_in_the_plane_that_they_live_in():
    flat = run(case_a.problem.dynamics, 0.1, 1e-3)
    one, other = orbit(flat)
    assert one.axes == ("x", "y")
    assert one.contact == "hinge[0]"
    assert one.clearance == 1e-3
    assert one.eccentricity[-1] == pytest.approx(1, abs=1e-6)
    assert one.offset == pytest.approx(other.offset, abs=1e-9)
    body = Body("body", 1.0, (0.1, 0.1, 0.1), velocity=(0.0, 0.02, 0.03))
    joint = SphericalClearance("ball", Frame(GROUND), Frame(body), 1e-3)
    (ball_joint,) = orbit(run(assemble(Mechanism([body]), [joint]), 0.02, 1e-3))
    assert ball_joint.axes == ("y", "z")
    assert ball_joint.angle[5] == pytest.approx(np.arctan2(3, 2), rel=1e-9)
    with pytest.raises(ValueError, match="no bore or guide in joint 'x': hinge has one"):
        orbit(flat, "x")


@pytest.mark.parametrize("samples", [4800, 4799])
def test_a_spectrum_keeps_the_mean_square(forced, samples):
    """By Parseval: half the squares of amplitudes, but the whole at half the sampling rate."""
    sign = (-1.0) ** np.arange(forced.data.sizes["time"])
    lines = spectrum(forced, lambda _: 3.0 * sign, samples=samples, window="boxcar").values
    t = forced["time"].values
    taken = np.interp(np.linspace(t[0], t[-1], samples, endpoint=False), t, 3.0 * sign)
    shares = np.full(len(lines), 0.5)
    if samples % 2 == 0:
        shares[-1] = 1.0
        assert lines[-1] == pytest.approx(3.0, rel=1e-6)
    assert shares[1:] @ lines[1:] ** 2 == pytest.approx(np.var(taken), rel=1e-9)
