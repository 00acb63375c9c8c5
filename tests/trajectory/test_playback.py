"""Files of optimal motions played back by others: where the motion ends."""

from importlib import metadata
from itertools import pairwise

import numpy as np
import pandas as pd
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    Actuator,
    Body,
    FirstOrderHold,
    Frame,
    Mechanism,
    Prismatic,
    Variational,
    ZeroOrderHold,
    assemble,
)
from nsopt.robots import load_urdf, resistances
from nsopt.trajectory import (
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    JointLoad,
    Quintic,
    StartAt,
    Straight,
    optimize,
)

HOLDS = [FirstOrderHold(), ZeroOrderHold()]


def cart(friction=0.0, begin=0.0, **options):
    """1 kg to 1 m in 1 s, rest to rest, by 5 N at most: forces have kinks, with friction jumps."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    drive = Actuator("rail", effort=5.0, friction=friction)
    mechanism = Mechanism([body], [rail], "relative", [drive])
    return optimize(
        assemble(mechanism, resistances(mechanism) if friction else ()),
        Horizon(1.0, 20),
        [Effort()],
        [StartAt([0], [begin]), EndAt([1], [0]), ActuatorLimits()],
        Straight([0], [1]),
        **options,
    )


@pytest.fixture(scope="module")
def driven():
    result = cart()
    assert result.completed, result.stop_reason
    return result


def moved(t, tau, hold):
    """Speed and way of 1 kg under forces at rows, in closed form."""
    h, left = np.diff(t), t[-1] - t[1:]
    if isinstance(hold, ZeroOrderHold):
        return tau[:-1] @ h, tau[:-1] @ (h * (left + h / 2))
    way = tau[:-1] * (left / 2 + h / 3) + tau[1:] * (left / 2 + h / 6)
    return (tau[1:] + tau[:-1]) @ h / 2, way @ h


@pytest.mark.parametrize("hold", HOLDS, ids=repr)
@pytest.mark.parametrize("rate", [7.0, 31.0, 40.0, 1000.0])
def test_a_cart_ends_where_its_motion_does(driven, hold, rate):
    """Without springs and loads of its place impulse and moment decide: at any rate, exactly."""
    motion = driven.sample(1 / rate, hold=hold)
    t, tau = motion["time"].values, motion["tau"].values[:, 0]
    assert moved(t, tau, hold) == (pytest.approx(0, abs=1e-9), pytest.approx(1, abs=1e-9))
    at_rows = driven.sample(1 / rate)
    assert motion["q"].equals(at_rows["q"])
    assert np.abs(tau - at_rows["tau"].values[:, 0]).max() > 1e-6
    assert motion.attrs["hold"] == repr(hold)


@pytest.mark.parametrize("hold", HOLDS, ids=repr)
def test_rows_may_be_at_any_times(driven, hold):
    """A short interval takes no part of the moment of a long one beside it."""
    times = np.array([0, 0.1, 0.13, 0.131, 0.3, 0.62, 0.7, 0.8, 0.9, 0.9999, 1.0])
    tau = driven.sample(times=times, hold=hold)["tau"].values[:, 0]
    assert moved(times, tau, hold) == (pytest.approx(0, abs=1e-9), pytest.approx(1, abs=1e-9))
    assert np.abs(tau).max() < 7
    with pytest.raises(ValueError, match=r"times must rise, two or more, for a \w+OrderHold"):
        driven.sample(times=[0.5, 0.2], hold=hold)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hold", "options"), [*zip(HOLDS, [{}, {"scheme": Variational()}], strict=True)], ids=repr
)
def test_impulse_and_moment_are_those_of_the_forces(hold, options):
    """Of forces that jump where the cart turns round, and those of a scheme: by fine sums."""
    result = cart(**({"friction": 0.5, "begin": -0.2} | options))
    assert result.completed, result.stop_reason
    n = 1_000_000
    t = (np.arange(n) + 0.5) / n
    fine = result.sample(times=t)["tau"].values[:, 0]
    motion = result.sample(0.01, hold=hold)
    found = moved(motion["time"].values, motion["tau"].values[:, 0], hold)
    assert found == pytest.approx((fine.mean(), fine @ (1 - t) / n), abs=1e-6)


def played(model, t, tau, start, hold):
    """Angles at the end of a file, by pinocchio and SciPy from row to row, without a controller."""
    data, n = model.createData(), model.nv
    slopes = np.diff(tau, axis=0) / np.diff(t)[:, None] * isinstance(hold, FirstOrderHold)

    def rate(now, x, k):
        force = tau[k] + (now - t[k]) * slopes[k]
        return np.concatenate([x[n:], pin.aba(model, data, x[:n], x[n:], force)])

    x = np.concatenate([start, np.zeros(n)])
    for k, span in enumerate(pairwise(t)):
        x = solve_ivp(rate, span, x, "DOP853", args=(k,), rtol=1e-11, atol=1e-13).y[:, -1]
    return x[:n]


def pose(model, q):
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return data.oMf[model.getFrameId("tool0")].homogeneous


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*_robot.urdf")
def test_an_arm_ends_where_its_file_does(tmp_path):
    """Angles, and the pose of the tool, linear between rows of 1 kHz and held over those of 2."""
    file = next(x for x in metadata.files("example-robot-data") if x.name == "ur5_robot.urdf")
    begin, end = (
        np.array([0.0, -1.2, 1.0, -0.8, 0.4, 0.0]),
        np.array([0.8, -0.7, 0.5, 0.3, 0.9, 0.5]),
    )
    result = optimize(
        assemble(load_urdf(file.locate()), gravity=(0, 0, -9.81)),
        Horizon(1.0, 20),
        [JointLoad()],
        [StartAt(begin, np.zeros(6)), EndAt(end, np.zeros(6)), ActuatorLimits()],
        Quintic(begin, end),
    )
    assert result.completed, result.stop_reason
    model = pin.buildModelFromUrdf(str(file.locate()))
    for rate, hold in ((1000, FirstOrderHold()), (2000, ZeroOrderHold())):
        table = pd.read_csv(result.to_csv(tmp_path / "arm.csv", rate=rate, hold=hold))
        t, tau = table["time"].to_numpy(), table.filter(regex=r"^tau\[").to_numpy()
        q = played(model, t, tau, begin, hold)
        assert q == pytest.approx(end, abs=1e-6)
        assert pose(model, q) == pytest.approx(pose(model, end), abs=1e-6)
