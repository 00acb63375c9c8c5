"""Orbits of sliders in their guides and of balls in space, and their pictures."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    CompliantContact,
    ContactLaw,
    Frame,
    Hertz,
    Mechanism,
    Planar,
    PlanarPrismaticClearance,
    PrismaticClearance,
    Solver,
    SphericalClearance,
    Sqp,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.analysis import journals, orbit
from nsopt.plots import orbits

C = 5e-4
BOXES = {
    "rectangle": [(0.02, -0.01), (0.02, 0.01), (-0.02, 0.01), (-0.02, -0.01)],
    "triangle": [(0.02, 0.0), (-0.01, 0.01), (-0.01, -0.02)],
}


def run(mechanism, joint, duration, gravity=(0, 0, 0)):
    return simulate(
        assemble(mechanism, [joint], gravity),
        None,
        duration,
        steps=StepBounds(1e-4, 1e-3),
        scheme=Variational(),
        solver=Solver(backend=Sqp()),
        progress=False,
    )


@pytest.fixture(scope="module", params=BOXES)
def prism(request):
    """A prism that knocks about in a guide which moves and turns too, along axes of its own."""
    turn = np.array([[0, 0, 1.0], [0.6, 0.8, 0], [-0.8, 0.6, 0]])
    moving = {"velocity": (0.2, 0.1, 0.0), "angular_velocity": (0.4, 0.3, -0.5)}
    rail = Body("rail", 5.0, (0.05, 0.06, 0.07), position=(0.3, 0.2, 0.1), **moving)
    slider = Body("slider", 1.0, (1e-3, 2e-3, 3e-3), position=(0.3, 0.2, 0.1))
    frames = [Frame(body, (0, 0, 0), turn) for body in (rail, slider)]
    polygon = BOXES[request.param]
    law = ContactLaw(restitution=0.5)
    joint = PrismaticClearance("guide", *frames, polygon, length=0.08, clearance=C, law=law)
    return polygon, run(Mechanism([rail, slider]), joint, 0.02)


@pytest.mark.slow
def test_corners_use_up_what_their_gaps_leave(prism):
    """Gaps are stated by the element; offsets are from where its corner is."""
    polygon, result = prism
    found = orbit(result, "guide")
    assert journals(result) == ["guide"]
    assert len(found) == 2 * len(polygon)
    gaps = result["gap"].values
    assert np.min(gaps) < 1e-9
    for k, corner in enumerate(found):
        left = 1 - gaps[:, 2 * k : 2 * k + 2].min(axis=1) / C
        assert corner.eccentricity == pytest.approx(left, abs=1e-8)
        modes = result["contact_mode"].values[1:, 2 * k : 2 * k + 2].max(axis=1)
        assert np.array_equal(corner.mode[1:], modes)
        assert corner.axes == ("x", "y")
    assert [each.part for each in found[:: len(polygon)]] == ["guide, front end", "guide, back end"]


@pytest.mark.slow
def test_the_walls_are_the_clearance_away_from_the_middle(prism):
    polygon, result = prism
    walls = orbit(result)[0].walls
    assert np.array_equal(walls[0], walls[-1])
    sides = np.diff(walls, axis=0)
    away = np.abs(walls[:-1, 0] * sides[:, 1] - walls[:-1, 1] * sides[:, 0])
    assert away / np.linalg.norm(sides, axis=1) == pytest.approx(np.ones(len(polygon)))
    if len(polygon) == 4:
        assert np.abs(walls) == pytest.approx(np.ones((5, 2)))


@pytest.mark.slow
def test_corners_are_drawn_within_the_walls_of_each_end(prism):
    polygon, result = prism
    figure, found = orbits(result), orbit(result)
    assert [ax.get_title() for ax in figure.axes] == ["guide, front end", "guide, back end"]
    for ax, shared in zip(figure.axes, (found[: len(polygon)], found[len(polygon) :]), strict=True):
        wall, *lines = ax.lines
        assert np.array_equal(np.transpose(wall.get_data()), shared[0].walls)
        ways = [np.transpose(line.get_data()) for line in lines[::4]]
        assert all(np.array_equal(way, each.offset) for way, each in zip(ways, shared, strict=True))


@pytest.mark.parametrize("compliant", [False, True])
def test_a_prism_that_only_moves_has_all_corners_where_it_is(compliant):
    slider = Body("slider", 1.0, (1e-3, 2e-3, 3e-3), velocity=(0.01, 0.02, 0.5))
    frames = (Frame(GROUND), Frame(slider))
    joint = PrismaticClearance("guide", *frames, BOXES["rectangle"], length=0.08, clearance=C)
    if compliant:
        joint = CompliantContact("soft guide", joint, Hertz(1e8))
    result = run(Mechanism([slider]), joint, 0.02)
    assert len(orbit(result)) == 8
    moved = result["time"].values[:, None] * [0.01, 0.02] / C
    for corner in orbit(result):
        assert corner.offset == pytest.approx(moved, abs=1e-9)


def test_both_ends_of_a_block_in_a_slot():
    """Height and turn of the block, and the gaps of its corners."""
    moving = {"velocity": (0.3, 0.05, 0.0), "angular_velocity": (0, 0, 0.4)}
    block = Body("block", 1.0, (1e-3, 1e-3, 2e-3), **moving)
    frames = (Frame(GROUND), Frame(block))
    sizes = {"length": 0.08, "height": 0.04, "clearance": C}
    slot = PlanarPrismaticClearance("slot", *frames, **sizes, law=ContactLaw(restitution=0.7))
    mechanism = Mechanism([block], [Planar("floor", *frames)], "relative")
    result = run(mechanism, slot, 0.05, (0, -1.0, 0))
    (ends,) = orbit(result)
    angle = 2 * np.arcsin(result["body_quaternion"].values[:, 0, 3])
    y = result["body_position"].values[:, 0, 1]
    known = np.column_stack([y - 0.04 * np.sin(angle), y + 0.04 * np.sin(angle)]) / C
    assert ends.offset == pytest.approx(known, abs=1e-9)
    gaps = result["gap"].values
    assert np.min(gaps) < 1e-9
    assert ends.eccentricity == pytest.approx(1 - gaps.min(axis=1) / C, abs=1e-9)
    (ax,) = orbits(result).axes
    assert ax.get_xlabel() == "y of the end at \u2212x / clearance"
    assert np.array_equal(np.transpose(ax.lines[1].get_data()), ends.offset)


def test_a_ball_in_space_by_distance_and_direction():
    """It flies straight until it meets the wall, 22 ms after the start."""
    velocity = np.array([0.01, -0.02, 0.03])
    body = Body("body", 1.0, (0.1, 0.1, 0.1), velocity=velocity)
    joint = SphericalClearance("ball", Frame(GROUND), Frame(body), 1e-3)
    result = run(Mechanism([body]), joint, 0.02)
    (ball,) = orbit(result)
    time = result["time"].values
    assert ball.axes == ("x", "y", "z")
    assert ball.offset == pytest.approx(time[:, None] * velocity / 1e-3, abs=1e-9)
    distance, elevation = orbits(result).axes
    flown, direction = distance.lines[0], elevation.lines[0]
    assert flown.get_ydata() == pytest.approx(np.linalg.norm(velocity) * time[1:] / 1e-3, rel=1e-9)
    for line in (flown, direction):
        assert line.get_xdata() == pytest.approx(np.arctan2(-2, 1) * np.ones(len(time) - 1))
    up = np.arctan2(3, np.hypot(1, 2))
    assert direction.get_ydata() == pytest.approx(up * np.ones(len(time) - 1))
