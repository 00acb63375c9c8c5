"""Loads of joints from results: along and across axes, and their root mean squares."""

from functools import cache

import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Driven,
    Fixed,
    Frame,
    Mechanism,
    PlaneContact,
    Revolute,
    Variational,
    assemble,
    consistent,
    joint_loads,
    rms_loads,
)
from tests.states import run

G, MASS, ARM, SPEED = 9.81, 2.0, 0.3, 4.0
TILT = np.radians(30)


@cache
def rotor(force=(0.0, 0.0, 0.0)):
    """A weight turned at constant speed about an axis that leans by 30 deg from the vertical."""
    axis = (0.0, np.sin(TILT), np.cos(TILT))
    body = Body("b", MASS, (0.01, 0.01, 0.01), position=(ARM, 0, 0))
    hub = Revolute("hub", Frame(GROUND, axes=axis), Frame.at(body, (0, 0, 0), axis))
    tool = Body("tool", 0.5, (0.001,) * 3, position=(ARM, 0, 0))
    grip = Fixed("grip", Frame(body, axes=(1, 0, 0)), Frame(tool))
    load = AppliedForce("load", Frame(tool), force)
    mechanism = Mechanism([body, tool], [hub, grip, Driven("motor", hub, SPEED)], "relative")
    d = assemble(mechanism, [load], (0, 0, -G))
    return run(d, 2 * np.pi / SPEED, 2e-3, consistent(d), scheme=Variational())


def test_weight_and_centrifugal_force_go_along_and_across_the_axis():
    loads = joint_loads(rotor(), ["hub"])
    m = MASS + 0.5
    assert loads["axial"].values[:, 0] == pytest.approx(m * G * np.cos(TILT), rel=1e-6)
    angle = SPEED * loads["time"].values
    # Across: towards the middle, first along -x, and against the weight's part across.
    pull, weight = m * ARM * SPEED**2, m * G * np.sin(TILT)
    x, y = -pull * np.cos(angle), -weight - pull * np.sin(angle)
    assert loads["normal"].values[:, 0] == pytest.approx(np.hypot(x, y), rel=1e-4)
    both = np.hypot(loads["axial"], loads["normal"])
    assert loads["force"].values == pytest.approx(both.values)


def test_an_axis_turns_with_the_body_of_its_frame():
    """The grip's axis is x of the body, towards its axis of rotation."""
    loads = joint_loads(rotor(), ["grip"])
    angle, m = SPEED * loads["time"].values, 0.5
    axial = -m * ARM * SPEED**2 - m * G * np.sin(TILT) * np.sin(angle)
    assert loads["axial"].values[:, 0] == pytest.approx(axial, abs=1e-3)


@pytest.mark.slow
def test_root_mean_squares_of_several_results_in_one_table():
    table = rms_loads({"alone": rotor(), "pulled": rotor((0, 0, -7.0))}, ["hub"])
    m = MASS + 0.5
    pull, weight = m * ARM * SPEED**2, m * G * np.sin(TILT)
    assert list(table.index) == ["alone", "pulled"]
    assert table.loc["alone", ("hub", "axial")] == pytest.approx(m * G * np.cos(TILT), rel=1e-6)
    expected = np.sqrt(pull**2 + weight**2)  # over a turn the product has no mean
    assert table.loc["alone", ("hub", "normal")] == pytest.approx(expected, rel=1e-3)
    assert table.loc["pulled", ("hub", "axial")] == pytest.approx((m * G + 7) * np.cos(TILT))


def test_names_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"no joint 'knee' in .*: one of hub, grip, motor"):
        joint_loads(rotor(), ["knee"])
    with pytest.raises(ValueError, match="at least one result"):
        rms_loads({})


@pytest.mark.slow
def test_root_mean_squares_leave_out_impacts():
    """Of a ball that falls and stays: its weight from the impact on, whatever h is."""
    ball, T = Body("ball", MASS, point_mass=True, position=(0, 0, 0.1)), 0.25
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball))
    d = assemble(Mechanism([ball]), [floor], (0, 0, -G))
    lies = T - np.sqrt(2 * 0.1 / G)
    for h in (1e-3, 2.5e-4):
        rms = rms_loads({"": run(d, T, h, scheme=Variational())})
        exact = MASS * G * np.sqrt(lies / T)
        assert rms.loc["", ("floor", "axial")] == pytest.approx(exact, abs=30 * h * exact)
