"""Published runs of others, reproduced: Siconos' ball and stick, Flores' slider-crank."""

import numpy as np
import pytest

from nsopt import Compiled, ContactAligned, MoreauJean, Parameter, StepBounds, simulate
from problems.slider_crank import slider_crank
from tests.schemes.models import ball, impacting_stick, turned

# Siconos, Moreau-Jean theta = 1/2: t, q, v (bouncing ball, h = 5 ms, e = 0.9)
BALL = [
    [0.25, 0.6934375, -2.4525],
    [0.5, 0.174488499999999, 3.53160000000001],
    [1.0, 0.7140385, -1.3734],
    [2.0, 0.00105996250000067, -3.585555],
    [3.0, 0.422936192125001, -0.31445955],
    [4.0, 0.264891859716251, 0.499186264500001],
    [5.0, 0.151353680262514, -0.75225812575499],
    [7.5, 0.00767513949673113, -0.406428200590878],
    [10.0, -2.28861809055072e-05, 0.0],
]
# Siconos, published result of the impacting stick, h = 0.1 ms: t, x, y, phi, vx, vy, omega
STICK = [
    [0.05, 0.328553390593276, 0.356053390593274, 0.790398163397426, -0.5, -0.4, 0.1],
    [
        *(0.0604, 0.323353203651541, 0.35137128476689, 0.79151716453986),
        *(-0.503738834723236, -0.130116527676411, 1.68002284879199),
    ],
    [
        *(0.1, 0.303405145796493, 0.338377870270904, 0.858046069352036),
        *(-0.503738834723236, -0.526116527676405, 1.68002284879199),
    ],
    [
        *(0.1636, 0.271367199486785, 0.284707701240424, 0.964972124921726),
        *(-0.50686726067093, -0.849273932906975, 3.21207057875369),
    ],
    [
        *(0.2, 0.252917231198367, 0.24716933008261, 1.08189149398836),
        *(-0.50686726067093, -1.21327393290697, 3.21207057875369),
    ],
]
# Flores, Leine, Glocker 2010, frictionless, converged: first impact and speeds after it
IMPACT = 0.002692502752016642
ANGLES = (0.35530446, -0.17150954, 0.0)
AFTER = {0.0: (109.012001, -51.8625027, 0.0), 0.4: (108.793729, -52.8751877, 0.0)}
BLOWS = {0.0: 0.03956787, 0.4: 0.05539501}
LOSSES = {0.0: 0.0333008026, 0.4: 0.0279726742}


def run(dynamics, duration, h, scheme, **parameters):
    result = simulate(
        dynamics,
        duration=duration,
        steps=StepBounds(h, h),
        scheme=scheme,
        solver=Compiled(),
        parameters=parameters,
        progress=False,
    )
    assert result.completed, result.stop_reason
    return result.data


def at(data, t):
    k = int(np.argmin(np.abs(data["time"].values - t)))
    assert data["time"].values[k] == pytest.approx(t, abs=1e-9)
    return data["q"].values[k], data["v"].values[k]


def test_bouncing_ball_of_siconos():
    data = run(ball(), 10.0, 5e-3, MoreauJean())
    for t, z, speed in BALL:
        q, v = at(data, t)
        assert q[2] == pytest.approx(z, abs=1e-12)
        assert v[2] == pytest.approx(speed, abs=1e-12)
    assert np.nansum(data["retries"]) == 0


def test_impacting_stick_of_siconos():
    data = run(impacting_stick(), 0.2, 1e-4, MoreauJean())
    for t, *expected in STICK:
        q, v = at(data, t)
        assert [q[0], q[1], turned(q), v[0], v[1], v[5]] == pytest.approx(expected, abs=1e-12)


@pytest.fixture(scope="module")
def crank():
    """One model, and so one compiled step, of all restitutions."""
    return slider_crank.with_play(Parameter("restitution", 0.0))


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.4])
def test_first_impact_of_the_slider_crank(crank, restitution):
    """Both upper corners meet the guide at once."""
    data = run(crank, 2.8e-3, 2e-6, ContactAligned(), restitution=restitution)
    events = [k for k, text in enumerate(data["step_reason"].values) if "contact event" in text]
    k = events[0]
    q, v = data["q"].values[k].reshape(3, 7), data["v"].values[k].reshape(3, 6)
    assert data["time"].values[k] == pytest.approx(IMPACT, abs=1e-8)
    assert turned(q[:, :7]) == pytest.approx(ANGLES, abs=1e-7)
    assert v[:, 5] == pytest.approx(AFTER[restitution], rel=1e-6, abs=1e-6)
    upper = data["impulse"].values[k, :2]
    assert upper == pytest.approx(BLOWS[restitution], rel=1e-6)
    assert data["contact_loss"].values[k].sum() == pytest.approx(LOSSES[restitution], rel=1e-6)
