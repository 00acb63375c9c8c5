"""Optimal motions between their nodes, and as files that a controller reads."""

import subprocess
from importlib import metadata

import numpy as np
import pandas as pd
import pinocchio as pin
import pytest
import xarray as xr
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from nsopt import (
    Actuator,
    Body,
    Frame,
    Mechanism,
    Prismatic,
    Result,
    SlideFriction,
    StribeckLaw,
    Variational,
    assemble,
)
from nsopt.motion_files import KINDS, c_table
from nsopt.robots import load_urdf
from nsopt.trajectory import Effort, EndAt, Horizon, Quintic, StartAt, Straight, optimize
from tests.mpcc.compilers import CC, needs_compiler

G = 9.81


def cart(**options):
    """1 kg from 0 to 1 m in 1 s, rest to rest, at least integral of u^2: u = 6 - 12 t."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    return optimize(
        assemble(Mechanism([body], [rail], "relative", [Actuator("rail")])),
        Horizon(1.0, 8),
        [Effort()],
        [StartAt([0], [0]), EndAt([1], [0])],
        Straight([0], [1]),
        **options,
    )


@pytest.fixture(scope="module")
def best():
    return cart()


@pytest.mark.parametrize("asked", [{"dt": 0.013}, {"times": np.linspace(0, 1, 40)}])
def test_samples_are_those_of_the_closed_form(best, asked):
    motion = best.sample(**asked)
    t = motion["time"].values
    assert t[[0, -1]] == pytest.approx([0, 1])
    assert motion["q"].values[:, 0] == pytest.approx(3 * t**2 - 2 * t**3, abs=1e-9)
    assert motion["v"].values[:, 0] == pytest.approx(6 * t - 6 * t**2, abs=1e-8)
    for name in ("a", "tau"):
        assert motion[name].values[:, 0] == pytest.approx(6 - 12 * t, abs=1e-7)
    if "dt" in asked:
        assert np.diff(t)[:-1] == pytest.approx(0.013)
        assert len(t) == 78


def test_dry_friction_is_none_at_rest():
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    friction = SlideFriction("friction", rail.a, rail.b, StribeckLaw(0.2), load=10.0)
    best = optimize(
        assemble(Mechanism([body], [rail], "relative", [Actuator("rail")]), [friction]),
        Horizon(1.0, 8),
        [Effort()],
        [StartAt([0], [0]), EndAt([1], [0])],
        Straight([0], [1]),
    )
    motion = best.sample(0.01)
    sliding, tau, a = (
        0 * motion["time"].values + 2.0,
        *(motion[x].values[:, 0] for x in ("tau", "a")),
    )
    sliding[[0, -1]] = 0
    assert tau - a == pytest.approx(sliding, abs=1e-6)  # m a + mu N, at rest m a


def test_stepped_motions_go_through_their_nodes_with_their_forces():
    """By `Variational` coordinates are cubic between nodes, forces linear."""
    result = cart(scheme=Variational())
    t = result["time"].values
    motion = result.sample(times=t)
    for name in ("q", "v"):
        assert motion[name].values == pytest.approx(result[name].values, abs=1e-12)
    now = np.linspace(0, 1, 77)
    drives = np.interp(now, t, result["drive"].values[:, 0])
    assert result.sample(times=now)["tau"].values[:, 0] == pytest.approx(drives)
    fine = result.sample(1e-4)
    rate = np.gradient(fine["q"].values[:, 0], fine["time"].values)
    # Accelerations jump at nodes by up to 1.5 m/s^2, which differences over 2e-4 s see.
    assert rate[1:-1] == pytest.approx(fine["v"].values[1:-1, 0], abs=1e-4)


@pytest.mark.slow
def test_a_file_of_it_holds_the_same(best, tmp_path):
    motion = best.sample(0.01)
    path = best.to_csv(tmp_path / "cart.csv", rate=100)
    names = path.read_text().partition("\n")[0].split(",")
    table = dict(zip(names, np.loadtxt(path, delimiter=",", skiprows=1).T, strict=True))
    columns = {"q": "distance", "v": "speed", "a": "speed", "tau": "speed"}
    assert list(table) == ["time", *(f"{x}[rail.{y}]" for x, y in columns.items())]
    for x, y in columns.items():
        assert np.array_equal(table[f"{x}[rail.{y}]"], motion[x].values[:, 0])
    opened = Result.open(best.save(tmp_path / "cart.nc"))
    assert opened.sample(0.01).equals(motion)


def test_torques_by_other_names_are_led_to_the_drive(best):
    for name in ("tau", "torque", "u", "drives"):
        with pytest.raises(
            KeyError, match=r"but 'drive' \(time, v\) \[N m, N\] torques and forces"
        ):
            best[name]


def test_a_joint_trajectory_has_the_fields_of_ros(best):
    found = best.to_joint_trajectory(rate=3)
    assert found["joint_names"] == ["rail"]
    at = [point["time_from_start"] for point in found["points"]]
    assert at == [
        {"sec": 0, "nanosec": 0},
        {"sec": 0, "nanosec": 333333333},
        {"sec": 0, "nanosec": 666666667},
        {"sec": 1, "nanosec": 0},
    ]
    assert found["points"][-1]["positions"] == pytest.approx([1.0])
    assert found["points"][0]["effort"] == pytest.approx([6.0])


@needs_compiler
def test_a_table_in_c_is_read_by_a_compiler(best, tmp_path):
    best.to_c(tmp_path / "cart.h", rate=10, name="cart")
    main = (
        '#include <stdio.h>\n#include "cart.h"\n'
        "int main(void) { for (int k = 0; k < CART_SAMPLES; ++k) "
        'printf("%.17g %.17g %s\\n", cart_time[k], cart_q[k][0], cart_joints[0]); return 0; }\n'
    )
    (tmp_path / "main.c").write_text(main)
    subprocess.run([CC, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    read = list(zip(*(line.split() for line in printed.splitlines()), strict=True))
    motion = best.sample(0.1)
    assert np.array_equal([float(x) for x in read[0]], motion["time"].values)
    assert np.array_equal([float(x) for x in read[1]], motion["q"].values[:, 0])
    assert set(read[2]) == {"rail"}
    with pytest.raises(ValueError, match="must be an identifier such as lift, got 'my cart'"):
        best.to_c(tmp_path / "x.h", rate=10, name="my cart")


def test_an_end_that_differs_by_round_off_is_the_end(best):
    ends = best.sample(times=[-1e-12, 1 + 1e-12])
    assert ends["time"].values.tolist() == [0.0, 1.0]
    assert ends["q"].values.tolist() == best["q"].values[[0, -1]].tolist()


def test_what_has_no_samples_is_refused(best):
    with pytest.raises(ValueError, match="either dt"):
        best.sample()
    with pytest.raises(ValueError, match=r"within the motion, 0 to 1 s, got 0\.5 to 1\.5 s"):
        best.sample(times=[0.5, 1.5])
    with pytest.raises(ValueError, match="rate of a motion's rows"):
        best.to_csv("x.csv", rate=0)
    with pytest.raises(ValueError, match=r"is no result of optimize.*simulation record at times"):
        Result(best.data.drop_vars("step_drive")).sample(0.1)
    turned = best.data.assign(step_acceleration=best.data["step_acceleration"] * np.nan)
    with pytest.raises(ValueError, match=r"rotations of free bodies .* modes of optimize_phases"):
        Result(turned).sample(0.1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:ur5_robot.urdf")
def test_an_exported_motion_is_played_back_by_another_integrator(tmp_path):
    """ur5 under the forces of the file and a controller, by pinocchio and SciPy."""
    path = next(x for x in metadata.files("example-robot-data") if x.name == "ur5_robot.urdf")
    robot = load_urdf(path.locate())
    d = assemble(robot, gravity=(0, 0, -G))
    begin, end = (
        np.array([0.0, -1.2, 1.0, -0.8, 0.4, 0.0]),
        np.array([0.8, -0.7, 0.5, 0.3, 0.9, 0.5]),
    )
    result = optimize(
        d,
        Horizon(2.0, 60),
        [Effort()],
        [StartAt(begin, np.zeros(6)), EndAt(end, np.zeros(6))],
        Quintic(begin, end),
    )
    table = pd.read_csv(result.to_csv(tmp_path / "ur5.csv", rate=2000))
    time = table["time"].to_numpy()
    q, v, a, tau = (table.filter(regex=rf"^{x}\[").to_numpy() for x in ("q", "v", "a", "tau"))
    model = pin.buildModelFromUrdf(str(path.locate()))
    data = model.createData()
    needed = [pin.rnea(model, data, *x) for x in zip(q, v, a, strict=True)]
    assert tau == pytest.approx(np.array(needed), abs=1e-6 * np.abs(tau).max())
    course, feed = CubicHermiteSpline(time, q, v), CubicSpline(time, tau)
    slope = course.derivative()

    def rate(t, x):
        """With a controller of 30 rad/s, as what is off grows by a thousand in 2 s without."""
        M = pin.crba(model, data, x[:6])
        pull = M @ (900 * (course(t) - x[:6]) + 60 * (slope(t) - x[6:]))
        return np.concatenate([x[6:], pin.aba(model, data, x[:6], x[6:], feed(t) + pull)])

    start = np.concatenate([begin, np.zeros(6)])
    played = solve_ivp(rate, (0, 2), start, method="DOP853", rtol=1e-10, atol=1e-12)
    assert played.y[:6, -1] == pytest.approx(end, abs=1e-6)


@pytest.mark.unit
def test_names_end_no_string_of_a_table_in_c():
    """Nor its comment: each name is one line, within its quotes."""
    names = ['a"b\\.angle', "c\nd\r.angle", "e??/.angle", "f.angle"]
    columns = {x: (("time", "q_name"), np.zeros((1, 4))) for x in KINDS}
    labels = {"time": [0.0], "q_name": names, "v_name": names}
    motion = xr.Dataset(columns, labels, {"title": "lift\r*/ int x = 1;\n\v/*"})
    text = c_table(motion, "lift")
    assert text.count("*/") == 1
    assert '{"a_b_", "c_d_", "e_?/", "f"};' in text
    assert not set(text) & set("\r\v\0")
