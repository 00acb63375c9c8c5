"""Phases of free bodies that turn: closed forms, Euler's equations, files for controllers."""

import numpy as np
import pytest
import scipy
from scipy.spatial.transform import Rotation

from nsopt import AppliedTorque, Body, Frame, Mechanism, Parameter, assemble
from nsopt.trajectory import (
    EndAt,
    Horizon,
    InputEffort,
    MotionPhase,
    Quintic,
    StartAt,
    optimize_phases,
)

INERTIA = (0.02, 0.05, 0.06)
TORQUES = ("tx", "ty", "tz")
STILL = np.zeros(6)


def satellite(coordinates="relative"):
    body = Body("satellite", 3.0, INERTIA)
    torques = tuple(Parameter(name, 0.0) for name in TORQUES)
    torque = AppliedTorque("wheels", Frame(body), torques, body_axes=True)
    return assemble(Mechanism([body], [], coordinates), [torque])


def posture(vector):
    """At the origin, turned by a rotation vector."""
    x, y, z, e0 = Rotation.from_rotvec(vector).as_quat()
    return [0.0, 0.0, 0.0, e0, x, y, z]


def turned(begin, end, steps, rates=(STILL, STILL), coordinates="relative", T=2.0):
    """From one posture to another in two phases of the same length, at least torque."""
    d, costs = satellite(coordinates), [InputEffort(input=name) for name in TORQUES]
    ends = [[StartAt(posture(begin), rates[0])], [EndAt(posture(end), rates[1])]]
    guess = Quintic(posture(begin), posture(end))
    phases = [MotionPhase(d, Horizon(T / 2, steps), costs, x, guess, TORQUES) for x in ends]
    result = optimize_phases(phases)
    assert result.completed, result.stop_reason
    return result


@pytest.mark.parametrize("coordinates", ["relative", "absolute"])
def test_a_turn_about_an_axis_of_inertia_is_a_cubic(coordinates):
    """Of rest to rest by an angle in T the least integral of squared torque is 12 (J a)^2 / T^3."""
    angle, T = 1.2, 2.0
    result = turned((0, 0, 0), (0, 0, angle), 4, coordinates=coordinates)
    assert result.objective == pytest.approx(12 * (INERTIA[2] * angle) ** 2 / T**3, rel=1e-6)
    motion, s = result.sample(0.1), np.linspace(0, 1, 21)
    turn = Rotation.from_rotvec(np.outer(angle * s**2 * (3 - 2 * s), (0, 0, 1)))
    p = turn.as_quat()[:, [3, 0, 1, 2]]
    assert motion["q"].values[:, 3:] == pytest.approx(p, abs=1e-6)


def test_turns_about_changing_axes_obey_eulers_equations():
    """Integrated under the torques that `sample` gives; of fourth order in the step."""
    errors = []
    for steps in (6, 12):
        result = turned((0.3, 0, 0), (1.0, -0.8, 0.6), steps, ([0, 0, 0, 2, 1, -1], STILL))
        errors.append(max(off(phase.sample(2e-3)) for phase in result.phases))
    assert errors[1] < 2e-4
    assert errors[0] / errors[1] > 8


def test_files_for_controllers_have_the_pose_of_the_base(tmp_path):
    """At half of the turn by the least torque: half of the angle, at 1.5 a / T."""
    angle, T = 1.2, 2.0
    result = turned((0, 0, 0), (0, 0, angle), 4)
    table = np.genfromtxt(result.to_csv(tmp_path / "a.csv", rate=10), delimiter=",", names=True)
    names = table.dtype.names
    columns = ("time", "phase", "q", "v", "a", "tau")
    assert tuple(dict.fromkeys(x.partition("satellite")[0] for x in names)) == columns
    e3 = next(x for x in names if x.endswith("e3"))
    assert table[e3][10] == pytest.approx(np.sin(angle / 4), abs=1e-6)
    found = result.to_joint_trajectory(rate=10)
    assert found["joint_names"] == []
    base = found["multi_dof_joint_trajectory"]
    assert base["joint_names"] == ["satellite"]
    point = base["points"][10]
    assert point["time_from_start"] == {"sec": 1, "nanosec": 0}
    rotation = point["transforms"][0]["rotation"]
    assert [rotation[x] for x in "xyzw"] == pytest.approx(
        [0, 0, np.sin(angle / 4), np.cos(angle / 4)], abs=1e-6
    )
    assert point["velocities"][0]["angular"]["z"] == pytest.approx(1.5 * angle / T, rel=1e-5)
    text = result.phases[0].to_c(tmp_path / "a.h", rate=10).read_text()
    assert "motion_q[11][7]" in text
    assert "motion_rates[6]" in text


def test_rates_are_in_the_axes_of_the_world():
    """Of a free motion the angular momentum in the world is constant."""
    spin = [0, 0, 0, 1.0, 0.5, -0.8]
    d = satellite()
    costs = [InputEffort(input=name) for name in TORQUES]
    guess = Quintic(posture((0, 0, 0)), posture((1.0, 0.5, -0.8)))
    ends = [[StartAt(posture((0, 0, 0)), spin)], []]
    phases = [MotionPhase(d, Horizon(0.5, 8), costs, x, guess, TORQUES) for x in ends]
    result = optimize_phases(phases)
    assert result.completed, result.stop_reason
    points = result.to_joint_trajectory(rate=4)["multi_dof_joint_trajectory"]["points"]
    momenta = []
    for point in points:
        turn = Rotation.from_quat([point["transforms"][0]["rotation"][x] for x in "xyzw"])
        w = turn.inv().apply([point["velocities"][0]["angular"][x] for x in "xyz"])
        momenta.append(turn.apply(np.array(INERTIA) * w))
    assert np.array(momenta) == pytest.approx(np.tile(momenta[0], (len(momenta), 1)), abs=1e-5)


def off(motion):
    """Return by what angle [rad] Euler's equations end elsewhere than a motion."""
    J = np.array(INERTIA)
    torque = scipy.interpolate.interp1d(motion["time"], motion["input"], axis=0)

    def rate(t, y):
        e0, e, w = y[0], y[1:4], y[4:]
        change = np.append(-e @ w, e0 * w + np.cross(e, w)) / 2
        return np.append(change, (torque(t) - np.cross(w, J * w)) / J)

    q, v, t = (motion[x].values for x in ("q", "v", "time"))
    begin = np.append(q[0, 3:], v[0, 3:])
    end = scipy.integrate.solve_ivp(rate, t[[0, -1]], begin, rtol=1e-8, atol=1e-10).y[:4, -1]
    a, b = (Rotation.from_quat(x[[1, 2, 3, 0]]) for x in (end, q[-1, 3:]))
    return (a.inv() * b).magnitude()
