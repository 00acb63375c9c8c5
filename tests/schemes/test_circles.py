"""Bodies on a hinge in the ground turn at their rate, however far in a step."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from nsopt import (
    Body,
    ContactAligned,
    Cylindrical,
    Fixed,
    Frame,
    Mechanism,
    Prismatic,
    Revolute,
    Spherical,
    Variational,
    assemble,
)
from nsopt.mechanics import find_circles
from nsopt.parameter import constant
from tests.states import run_compiled as run
from tests.states import turn

COORDINATES = ("absolute", "relative")
RATE, LENGTH, G = 100.0, 0.3, 9.81  # rad/s, m, m/s^2
ROUND = 2 * np.pi / RATE  # s
AXES = turn(0.4, -0.7)  # of the hinge, which turns about their z
SLIDE = 0.5  # m/s


def whirled(name, place, A, inertia, slide):
    """A body that turns at RATE about z of AXES, through the origin."""
    spin = RATE * AXES[:, 2]
    motion = {"velocity": np.cross(spin, place) + slide, "angular_velocity": A.T @ spin}
    return Body(name, 1.0, inertia, position=place, orientation=A, **motion)


@cache
def crank(joint, coordinates):
    """A balanced rod on a hinge, and a handle fixed to it, no weight."""
    slide = SLIDE * AXES[:, 2] * (joint is Cylindrical)
    rod = whirled("rod", AXES @ [LENGTH, 0, 0], AXES, (0.01, 0.02, 0.02), slide)
    handle = whirled("handle", AXES @ [0.4, 0.1, 0], AXES @ turn(0, 0, 0.6), (0.001,) * 3, slide)
    hub, grip = (0, 0, 0), AXES @ [0.4, 0, 0]
    joints = [
        joint("hub", Frame(None, axes=AXES), Frame.at(rod, hub, AXES)),
        Fixed("grip", Frame.at(rod, grip), Frame.at(handle, grip)),
    ]
    return assemble(Mechanism([rod, handle], joints, coordinates))


@pytest.mark.parametrize("scheme", [Variational(), ContactAligned()], ids=["var", "aligned"])
@pytest.mark.parametrize("joint", [Revolute, Cylindrical])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_body_on_a_hinge_is_where_its_rate_leads(joint, coordinates, scheme):
    """Seven steps a turn, ten turns and a fifth."""
    duration = 10.2 * ROUND
    data = run(crank(joint, coordinates), duration, ROUND / 7, scheme)
    t = data["time"].values
    turned = Rotation.from_rotvec(np.outer(t, RATE * AXES[:, 2]))
    for k in range(2):
        start = data["body_position"].values[0, k]
        slid = SLIDE * t[:, None] * AXES[:, 2] * (joint is Cylindrical)
        place = data["body_position"].values[:, k]
        assert place == pytest.approx(turned.apply(start) + slid, abs=1e-10)
    assert np.ptp(data["kinetic_energy"].values) < 1e-9


@cache
def rod(coordinates):
    """A rod on a hinge, that begins level at RATE, under weight."""
    body = Body(
        "rod",
        1.0,
        (0.01, 0.02, 0.02),
        position=(LENGTH, 0, 0),
        velocity=(0, LENGTH * RATE, 0),
        angular_velocity=(0, 0, RATE),
    )
    hinge = Revolute("hinge", Frame(None), Frame.at(body, (0, 0, 0)))
    return assemble(Mechanism([body], [hinge], coordinates), gravity=(0, -G, 0))


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_weight_alone_puts_a_fast_rod_off(coordinates):
    """After ten turns by its second order; along chords it would be off by up to its length."""
    at_end = solve_ivp(
        lambda _, y: [y[1], -G * LENGTH * np.cos(y[0]) / (0.02 + LENGTH**2)],
        (0, 10 * ROUND),
        [0, RATE],
        rtol=1e-12,
        atol=1e-12,
    ).y[0, -1]
    exact = LENGTH * np.array([np.cos(at_end), np.sin(at_end)])
    per_turn = np.array([7, 10, 15, 30, 60])
    places = [
        run(rod(coordinates), 10 * ROUND, ROUND / n)["body_position"].values[-1, 0, :2]
        for n in per_turn
    ]
    errors = np.linalg.norm(np.array(places) - exact, axis=1)
    assert errors[0] < 1e-5
    assert errors * per_turn**2 == pytest.approx(errors[-1] * per_turn[-1] ** 2, rel=0.15)


def test_circles_are_those_of_hinges_in_the_ground():
    names, tenths = (
        ("base", "crank", "handle", "rod", "wheel", "bob", "slide"),
        (0, 1, 2, 5, 0, 3, 1),
    )
    base, crank, handle, rod, wheel, bob, slide = (
        Body(name, 1.0, (0.01,) * 3, position=(x / 10, 0, 0))
        for name, x in zip(names, tenths, strict=True)
    )

    def pair(kind, a, b, point):
        return kind(f"{b.name}_joint", Frame.at(a, point) if a else Frame(None), Frame.at(b, point))

    hub = (0, 0, 0)
    joints = [
        pair(Fixed, crank, handle, (0.2, 0, 0)),
        pair(Revolute, base, crank, hub),
        pair(Fixed, None, base, hub),
        pair(Revolute, handle, rod, (0.3, 0, 0)),
        pair(Revolute, None, wheel, hub),
        pair(Spherical, None, bob, hub),
        pair(Prismatic, None, slide, hub),
    ]
    circles = find_circles(joints, constant)
    assert sorted(circles) == ["crank", "handle"]
    assert {name: float(x.square) for name, x in circles.items()} == pytest.approx(
        {"crank": 0.01, "handle": 0.04}
    )
