"""Static equilibria: springs, loops and contacts by hand, and why there is none."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Bushing,
    Driven,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    Revolute,
    SpringDamper,
    Start,
    TorsionSpringDamper,
    Variational,
    assemble,
    equilibrium,
)
from tests.states import array, run

G = 9.81


def pendulum(*elements, coordinates="relative"):
    arm = Body("arm", 2.0, (0.01, 0.1, 0.1), position=(0.4, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(arm, (0, 0, 0)))
    made = [make(hinge, arm) for make in elements]
    return assemble(Mechanism([arm], [hinge], coordinates), made, (0, -G, 0))


@pytest.mark.parametrize("coordinates", ["relative", "absolute"])
def test_a_pendulum_hangs_down(coordinates):
    d = pendulum(coordinates=coordinates)
    start = equilibrium(d)
    position = array(d.poses(start.q, start.v, [])[0])
    assert position == pytest.approx([0, -0.4, 0], abs=1e-9)


@pytest.mark.parametrize("near", [-3.0, 0.5, 3.0])
def test_it_falls_from_where_it_begins(near):
    start = equilibrium(pendulum(), Start(np.array([near]), np.zeros(1)))
    assert np.sin(start.q[0]) == pytest.approx(-1)


def test_a_torsion_spring_holds_it():
    d = pendulum(lambda h, _: TorsionSpringDamper("spring", h.a, h.b, Parameter("k", 30.0)))
    for k in (30.0, 80.0):
        angle = equilibrium(d, parameters={"k": k}).q[0]
        assert k * angle == pytest.approx(-2 * G * 0.4 * np.cos(angle), abs=1e-8)


def test_a_body_rests_on_its_bushing():
    block = Body("block", 3.0, (1, 1, 1))
    ends = Frame(GROUND, (0.1, 0, 0)), Frame(block, (0.1, 0, 0))
    mount = Bushing("mount", *ends, (1e4, 2e4, 3e4), turning_stiffness=(9e3,) * 3)
    start = equilibrium(assemble(Mechanism([block]), [mount], (0, 0, -G)))
    sag, turn = 3 * G / 3e4, 0.1 * 3 * G / 9e3
    assert start.q[2] == pytest.approx(-sag - 0.1 * turn, rel=1e-3)
    assert 2 * start.q[5] == pytest.approx(-turn, rel=1e-3)


def test_loops_and_contacts_at_rest():
    """A rod leans against a wall that is smooth, its foot tied by a spring to the wall."""
    turn = np.arctan2(-0.8, 0.6) / 2
    pose = {"position": (0.3, 0.4, 0), "orientation": (np.cos(turn), 0, 0, np.sin(turn))}
    rod = Body("rod", 1.0, (0.05, 0.05, 1 / 12), **pose)
    floor = PlaneContact("floor", Frame(GROUND, axes=(0, 1, 0)), Frame(rod, (0.5, 0, 0)))
    wall = PlaneContact("wall", Frame(GROUND, axes=(1, 0, 0)), Frame(rod, (-0.5, 0, 0)))
    tie = SpringDamper("tie", Frame(GROUND), Frame(rod, (0.5, 0, 0)), 40.0, free_length=0.5)
    d = assemble(Mechanism([rod]), [floor, wall, tie], (0, -G, 0))
    start = equilibrium(d)
    assert array(d.gap(0, start.q, [])) == pytest.approx(0, abs=1e-9)
    x = 2 * start.q[0]
    # About the foot: weight G at half of x, the wall's 40 (x - 0.5) at height sqrt(1 - x^2).
    assert 40 * (x - 0.5) * np.sqrt(1 - x**2) == pytest.approx(G * x / 2, rel=1e-6)


def test_the_time_and_speeds_of_courses_are_those_of_the_start():
    arm = Body("arm", 2.0, (0.01, 0.1, 0.1), position=(0.4, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(arm, (0, 0, 0)))
    d = assemble(
        Mechanism([arm], [hinge, Driven("motor", hinge, lambda t: 0.3 + 2 * t)], "absolute")
    )
    start = equilibrium(d)
    assert start.v[5] == pytest.approx(2.0)


def test_a_motion_that_starts_there_stays():
    d = pendulum(lambda h, _: TorsionSpringDamper("spring", h.a, h.b, 30.0))
    start = equilibrium(d)
    result = run(d, 0.1, 1e-3, start, scheme=Variational())
    assert np.ptp(result["q"].values) < 1e-9


def test_where_there_is_none_says_what_is_not_held():
    block = Body("block", 2.0, (1, 1, 1))
    rail = Prismatic("rail", Frame(GROUND, axes=(1, 0, -1)), Frame(block, axes=(1, 0, -1)))
    d = assemble(Mechanism([block], [rail], "relative"), gravity=(0, 0, -G))
    with pytest.raises(ValueError, match=r"13\.87 N .* along 'rail.speed' are held by nothing"):
        equilibrium(d)
