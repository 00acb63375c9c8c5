"""Friction of bearings and nuts, by the loads that their surfaces carry."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Compiled,
    Frame,
    Mechanism,
    Revolute,
    Screw,
    StepBounds,
    StribeckLaw,
    TurnFriction,
    Variational,
    assemble,
    simulate,
)


def run(d, duration):
    options = {"scheme": Variational(), "solver": Compiled(), "progress": False}
    result = simulate(d, duration=duration, steps=StepBounds(1e-7, 1e-3), **options)
    assert result.completed
    return result


def test_a_rotor_stops_by_the_friction_of_its_journal():
    """Torque mu N d/2 [CoPCoD 2023, eq. 21.1] under the rotor's weight."""
    mu, radius, J, m = 0.3, 0.02, 0.05, 4.0
    rotor = Body("rotor", m, (0.03, 0.03, J), angular_velocity=(0, 0, 10.0))
    a, b = Frame(GROUND), Frame(rotor)
    rub = TurnFriction("rub", a, b, StribeckLaw(mu, creep=1e-4), radius=radius)
    d = assemble(
        Mechanism([rotor], [Revolute("hinge", a, b)], "absolute"), [rub], gravity=(0, -9.81, 0)
    )
    result = run(d, 1.0)
    w = result["v"].values[:, 5]
    assert w[-1] == pytest.approx(10 - mu * m * 9.81 * radius / J, rel=1e-6)
    torque = result["joint_resistance"].values[-1, 0]
    assert torque == pytest.approx([0, 0, -mu * m * 9.81 * radius], abs=1e-6)


def spun_down(coordinates="relative", position=(0, 0, 0), gravity=(0, 0, -9.81), **options):
    """Return by how much a wheel of 10 kg on a bearing slows down, over its angular inertia."""
    wheel = Body("wheel", 10.0, (0.1, 0.1, 0.2), position=position, angular_velocity=(0, 0, 10.0))
    hinge = Revolute("axle", Frame(GROUND), Frame.at(wheel, (0, 0, 0)))
    rub = TurnFriction("rub", *hinge.frames, StribeckLaw(0.1, creep=1e-4), **options)
    d = assemble(Mechanism([wheel], [hinge], coordinates), [rub], gravity=gravity)
    return (10.0 - run(d, 1.0)["body_angular_velocity"].values[-1, 0, 2]) * 0.2


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_a_collar_carries_what_is_along_the_axis(coordinates):
    weight, mu = 98.1, 0.1
    torque = spun_down(coordinates, radius=0.02)
    assert torque == pytest.approx(mu * weight * 0.02, rel=1e-5)
    assert spun_down(coordinates, radius=0.02, collar=0.03) == pytest.approx(
        mu * weight * 0.03, rel=1e-5
    )
    assert spun_down(coordinates, radius=0.02, collar=0.0) == pytest.approx(0, abs=1e-6)


def test_the_ends_of_a_bearing_carry_the_moment_of_an_overhung_wheel():
    """At 0.3 m from a bearing of 0.2 m its ends carry 2 m g and -m g: 3 m g in all."""
    radius, weight, mu = 0.02, 98.1, 0.1
    hung = {"position": (0, 0, 0.3), "gravity": (0, -9.81, 0), "radius": radius}
    assert spun_down(**hung) == pytest.approx(mu * weight * radius, rel=1e-5)
    torque = spun_down(**hung, length=0.2)
    assert torque == pytest.approx(3 * mu * weight * radius, rel=1e-5)


def test_a_nut_stays_on_its_screw_where_friction_holds_it():
    """Where mu > tan of the lead, pitch / (2 pi r) = 0.127; below it goes down as work says."""
    pitch, radius, m, J = 0.004, 0.005, 1.0, 1e-4
    for mu, falls in ((0.2, False), (0.05, True)):
        nut = Body("nut", m, (J,) * 3)
        screw = Screw("screw", Frame(GROUND), Frame(nut), pitch=pitch)
        law = StribeckLaw(mu, creep=1e-6)
        thread = TurnFriction("thread", *screw.frames, law, radius=radius)
        d = assemble(Mechanism([nut], [screw], "relative"), [thread], gravity=(0, 0, -9.81))
        down = -run(d, 0.5)["body_position"].values[-1, 0, 2]
        if not falls:
            assert abs(down) < 1e-6
            continue
        # J w' = F (lead - mu r), m lead w' = m g - F along the screw.
        lead = pitch / (2 * np.pi)
        turn = 9.81 / (lead + J / (m * (lead - mu * radius)))
        assert down == pytest.approx(lead * turn * 0.5**2 / 2, rel=1e-3)
