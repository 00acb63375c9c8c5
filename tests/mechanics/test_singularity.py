"""Redundant rows by joint, and singular postures in words, before and after runs."""

from dataclasses import replace

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Frame,
    Mechanism,
    PointOnLine,
    Revolute,
    Solver,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.mechanics import redundant_rows, singular_posture
from nsopt.parameter import exchange
from nsopt.problem import load_mechanism
from tests.schemes.loops_in_space import bennett, gough

coordinates = pytest.mark.parametrize("coordinates", ["absolute", "relative"])


def parallelogram(angle, coordinates="relative", closing=Revolute):
    """Cranks of 1 m, 2 m apart, at an angle from the line of their feet: flat at zero."""
    end = np.array([np.cos(angle), np.sin(angle), 0])
    places = [np.zeros(3), end, end + np.array([2.0, 0, 0]), np.array([2.0, 0, 0])]
    links = [
        Body(f"link {k + 1}", 1.0, (0.01, 0.1, 0.1), (places[k] + places[k + 1]) / 2)
        for k in range(3)
    ]
    around = [GROUND, *links, GROUND]
    hinges = [
        (closing if k == 3 else Revolute)(
            f"hinge {k + 1}", Frame.at(around[k], place), Frame.at(around[k + 1], place)
        )
        for k, place in enumerate(places)
    ]
    linkage = Mechanism(links, hinges, coordinates, actuators=[Actuator("hinge 1")])
    return assemble(linkage, gravity=(0, -9.81, 0))


def rows_at_start(d):
    return redundant_rows(d, 0.0, d.stated_start()[0], d.values())


@coordinates
def test_redundant_rows_are_those_of_the_joints_that_close_loops(coordinates):
    (implied,) = rows_at_start(bennett(coordinates)).values()
    assert implied == 3
    (name,) = rows_at_start(parallelogram(0.5, coordinates))
    assert name in ("hinge 2", "hinge 3")  # the one farthest from the ground


@pytest.mark.slow
def test_charmie_has_19_rows_by_name():
    """A loop of the plane has three, one that a ball of its rod closes two."""
    from nsopt import load_problem

    implied = rows_at_start(load_problem("charmie").dynamics)
    assert sum(implied.values()) == 19
    assert {name: count for name, count in implied.items() if name.endswith("rod")} == {
        "joint_4sla_rod": 2,
        "joint_4sra_rod": 2,
    }
    assert sorted(implied.values()) == [2, 2, 3, 3, 3, 3, 3]


@pytest.mark.slow
def test_a_gough_platform_has_none():
    assert not rows_at_start(gough("relative"))


@pytest.mark.slow
def test_it_is_told_before_the_run_and_with_the_result(capsys):
    d = bennett("relative")
    options = {"steps": StepBounds(1e-3, 1e-3), "solver": Solver()}
    result = simulate(d, duration=2e-3, **options)
    told = capsys.readouterr().err
    assert "note: the 5 rows of the ideal joints have rank 2, as 3 of 'hinge 2' depend on" in told
    assert "3, 3 of 'hinge 2': reactions are of least norm" in result.summary(full=True)
    simulate(d, duration=1e-3, **options, progress=False)
    assert not capsys.readouterr().err


@coordinates
@pytest.mark.parametrize("closing", [PointOnLine, Revolute])
@pytest.mark.parametrize("angle", [0.0, 1e-4])
def test_a_flat_parallelogram_is_singular(coordinates, closing, angle):
    d = parallelogram(angle, coordinates, closing)
    text = singular_posture(d, 0.0, d.stated_start()[0], d.values())
    rank = 2 if coordinates == "relative" else 17
    assert f"is singular: the joints have rank {rank - 1}, {rank} nearby" in text
    assert "'hinge" in text


@coordinates
def test_an_open_one_is_not(coordinates):
    d = parallelogram(0.5, coordinates)
    assert not singular_posture(d, 0.0, d.stated_start()[0], d.values())


@pytest.mark.slow
def test_a_run_that_cannot_go_on_says_that_the_linkage_is_shaky():
    """Four screws with a rate that no motion has."""
    loop = load_mechanism("shaky_4h")
    heavy = [(b, replace(b, mass=1.0, inertia=(0.1, 0.1, 0.1))) for b in loop.bodies]
    bodies, joints = exchange((tuple(loop.bodies), tuple(loop.joints)), heavy)
    d = assemble(replace(loop, bodies=bodies, joints=joints))
    q = d.stated_start()[0]
    v = np.linalg.svd(np.asarray(d.closure_matrix(0.0, q, [])))[2][-1]
    result = simulate(
        d, Start(q, v), 0.01, steps=StepBounds(1e-3, 1e-3), scheme=Variational(), progress=False
    )
    assert not result.completed
    assert "it may be shaky" in result.stop_reason.splitlines()[0]
