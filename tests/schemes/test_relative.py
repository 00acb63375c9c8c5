"""Motions in relative coordinates against those of the same mechanism in absolute ones."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    AppliedTorque,
    Body,
    Compiled,
    ContactLaw,
    CubicLaw,
    Frame,
    LargestStep,
    LuGreLaw,
    Mechanism,
    MoreauJean,
    PlanarRevoluteClearance,
    PlaneContact,
    Prismatic,
    Relative,
    Revolute,
    SlideFriction,
    Spherical,
    StepBounds,
    StribeckLaw,
    TurnFriction,
    TurnRange,
    Variational,
    assemble,
    simulate,
)
from problems.slider_crank import slider_crank
from tests.states import run_compiled as run
from tests.states import turn

COORDINATES = ("absolute", "relative")
GRAVITY = (0.0, -9.81, 0.0)


def arm(name="arm", at=0.0, **options):
    return Body(name, 1.0, (0.01, 0.09, 0.08), position=(at + 0.5, 0, 0), **options)


def both(build, names, duration, h, scheme=None):
    """Largest differences of some variables between both coordinates, over time."""
    runs = [run(build(way), duration, h, scheme) for way in COORDINATES]
    return [np.nanmax(np.abs(runs[0][name].values - runs[1][name].values)) for name in names]


def joint_friction(law):
    @cache
    def build(coordinates):
        body = arm()
        a, b = Frame(None), Frame.at(body, (0, 0, 0))
        mechanism = Mechanism([body], [Revolute("hinge", a, b)], coordinates)
        return assemble(mechanism, [TurnFriction("rub", a, b, law, radius=0.05)], GRAVITY)

    return build


@pytest.mark.slow
def test_friction_under_the_reaction_of_a_joint_of_the_tree():
    """The reaction comes from the recursion, not from multipliers; order two in both."""
    names = ("body_position", "joint_resistance")
    build = joint_friction(LuGreLaw(3e3, 20.0, 0.0, 0.3, 0.4, 0.01))
    coarse, fine = (both(build, names, 1.0, h) for h in (2e-3, 1e-3))
    assert fine[0] < 2e-6
    assert coarse[0] / fine[0] > 3
    assert fine[1] < 0.02


@cache
def striking(coordinates):
    """A chain that hits a floor, then a stop of its hinge."""
    first, second = arm("first"), arm("second", 1.0)
    frames = Frame(None), Frame.at(first, (0, 0, 0))
    joints = [
        Revolute("hinge", *frames),
        Revolute("elbow", Frame.at(first, (1, 0, 0)), Frame.at(second, (1, 0, 0))),
    ]
    tip = Frame.at(second, (2, 0, 0))
    floor = PlaneContact("floor", Frame(None, (0, -0.8, 0), (0, 1, 0)), tip, law=ContactLaw(0.3))
    stop = TurnRange("stop", *frames, -0.5, 1.0, CubicLaw(100.0, 0.1), damping=1.0)
    return assemble(Mechanism([first, second], joints, coordinates), [floor, stop], GRAVITY)


@cache
def striking_pair(coordinates):
    """Two spheres on a ball joint that spin and drop on a floor, e = 0."""
    spin, v = np.array([2.0, -3.0, 1.0]), np.array([0.5, -1.0, 0.2])
    centres = np.array([[0, 0.4, 0], [0.15, 0.45, 0.2]])
    bodies = [
        Body("a", 1.0, (0.004, 0.005, 0.006), position=centres[0], velocity=v),
        Body("b", 0.6, (0.002, 0.0025, 0.003), position=centres[1]),
    ]
    bodies = [
        replace(body, velocity=v + np.cross(spin, at - centres[0]), angular_velocity=spin)
        for body, at in zip(bodies, centres, strict=True)
    ]
    ball = Spherical("ball", *(Frame.at(body, centres.mean(0)) for body in bodies))
    up = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # z along y
    plane = Frame(None, axes=up)
    floors = [
        PlaneContact(f"under_{x.name}", plane, Frame(x), radius=r)
        for x, r in zip(bodies, (0.1, 0.08), strict=True)
    ]
    return assemble(Mechanism(bodies, [ball], coordinates), floors, GRAVITY)


@pytest.mark.slow
def test_linked_spheres_strike_a_plane_alike_in_both_coordinates():
    """Before and after their impacts: nearer to each other than to what steps tend to."""
    motions = {
        way: [run(striking_pair(way), 0.6, h)["body_position"].values for h in (8e-4, 2e-4)]
        for way in COORDINATES
    }
    for coarse, fine in motions.values():
        assert np.abs(coarse[-1] - fine[-1]).max() < 1e-3
    coarse, fine = (np.abs(a - b).max() for a, b in zip(*motions.values(), strict=True))
    assert coarse < 1e-4
    assert fine < coarse / 3


@pytest.mark.slow
def test_contacts_and_stops_on_a_tree():
    names = ("body_position", "gap")
    assert run(striking("relative"), 0.6, 1e-3)["impulse"].values[1:].max() > 0.1
    for h in (1e-3, 2.5e-4, 1.25e-4):  # impacts are of first order; where in a step decides
        assert both(striking, names, 0.6, h)[0] < 0.2 * h


@cache
def loose(coordinates):
    """An ideal shoulder, then an elbow with clearance: the link beyond is free."""
    first, second = arm("first"), arm("second", 1.0)
    joints = [Revolute("shoulder", Frame(None), Frame.at(first, (0, 0, 0)))]
    elbow = PlanarRevoluteClearance(
        "elbow", Frame.at(first, (1, 0, 0)), Frame.at(second, (1, 0, 0)), 1e-3, 0.01
    )
    return assemble(Mechanism([first, second], joints, coordinates), [elbow], GRAVITY)


@pytest.mark.slow
def test_a_clearance_joint_within_a_chain():
    d = loose("relative")
    assert d.q_names[-1] == "shoulder.angle"
    assert len(d.closure_names) == 0
    names = ("body_position", "total_energy")
    coarse, fine = (both(loose, names, 0.3, h) for h in (5e-4, 1.25e-4))
    assert fine[0] < 1e-4
    assert coarse[0] / fine[0] > 3
    assert fine[1] < 2e-3


@cache
def spun(coordinates):
    """A top on a ball joint, on a body that falls freely and turns."""
    base = Body("base", 3.0, (0.2, 0.3, 0.25), velocity=(0, 2.0, 0), angular_velocity=(1, 2, -1))
    w = np.array([1.0, 2.0, -1.0])
    joint = np.array([0, 2.0, 0]) + np.cross(w, [0, 0, 0.25])
    spin = np.array([3.0, -1.0, 20.0])
    top = Body(
        "top",
        1.0,
        (0.02, 0.03, 0.04),
        position=(0, 0, 0.5),
        velocity=joint + np.cross(spin, [0, 0, 0.25]),
        angular_velocity=spin,
    )
    ball = Spherical("ball", Frame(base, (0, 0, 0.25), turn(0.4)), Frame(top, (0, 0, -0.25)))
    return assemble(Mechanism([base, top], [ball], coordinates), gravity=GRAVITY)


@pytest.mark.slow
def test_free_bodies_and_balls():
    names = ("body_position", "joint_reaction")
    coarse, fine = (both(spun, names, 0.3, h, MoreauJean()) for h in (1e-3, 5e-4))
    assert fine[0] < 5e-4
    assert coarse[0] / fine[0] > 1.8


HEAVY, DOWN = (0.234375, 0.46875, 0.234375), (0.0, 0.0, -9.81)


def heavy_top():
    """A top on its tip, its axis level, that spins at 150 rad/s, in relative coordinates."""
    offset, spin = np.array([0, 1.0, 0]), np.array([0, 150.0, -4.61538])
    top = Body(
        "top",
        15.0,
        HEAVY,
        position=offset,
        velocity=np.cross(spin, offset),
        angular_velocity=spin,
    )
    tip = Spherical("tip", Frame(None), Frame.at(top, (0, 0, 0)))
    return assemble(Mechanism([top], [tip], "relative"), gravity=DOWN)


def exact_top(duration):
    """Where the centre of the heavy top is by Euler's equations about its tip, (3,) [m]."""
    offset, J = np.array([0, 1.0, 0]), np.diag(HEAVY) + 15.0 * np.diag([1.0, 0, 1.0])

    def rate(_, y):
        A, w = y[:9].reshape(3, 3), y[9:]
        torque = np.cross(offset, 15.0 * A.T @ DOWN) - np.cross(w, J @ w)
        return np.concatenate([np.cross(A, w).ravel(), torque / np.diag(J)])

    start = np.concatenate([np.eye(3).ravel(), [0, 150.0, -4.61538]])
    end = solve_ivp(rate, (0, duration), start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return end[:9].reshape(3, 3) @ offset


@cache
def balls(coordinates):
    """Three bodies on ball joints, one after the other, thrown about."""
    bodies, joints, end, v = [], [], Frame(None), np.zeros(3)
    for k, spin in enumerate(([8.0, 1, -2], [-3.0, 6, 4], [5.0, -9, 1])):
        arm, at = np.array([0.05, 0.02, -0.15]), np.array([0.1, 0.04, -0.3]) * k
        v = v + np.cross(spin, arm)
        own = {"position": at + arm, "velocity": v, "angular_velocity": spin}
        body = Body(f"link{k}", 1.0, (0.003, 0.004, 0.002), **own)
        joints.append(Spherical(f"ball{k}", end, Frame.at(body, at)))
        bodies, end, v = [*bodies, body], Frame(body, arm), v + np.cross(spin, arm)
    return assemble(Mechanism(bodies, joints, coordinates), gravity=GRAVITY)


@pytest.mark.slow
def test_the_same_steps_in_both_coordinates():
    """Steps are those of the free bodies, in whatever coordinates."""
    coarse, fine = (run(balls("absolute"), 0.3, h)["body_position"].values for h in (1e-3, 5e-4))
    error = np.abs(coarse - fine[::2]).max()
    other = run(balls("relative"), 0.3, 1e-3)["body_position"].values
    assert error > 1e-7
    assert np.abs(other - coarse).max() < 1e-3 * error


@pytest.mark.slow
def test_a_heavy_top_against_eulers_equations():
    top = heavy_top()
    runs = [run(top, 1.0, h)["body_position"].values for h in (1e-3, 5e-4)]
    exact = exact_top(1.0)
    errors = [np.linalg.norm(x[-1, 0] - exact) for x in runs]
    assert errors[0] < 1.2e-3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.02)


@pytest.mark.slow
def test_a_slider_that_bounces_in_its_guide_needs_no_retries():
    """In relative coordinates, up to the dozens of impacts of 0.03 s."""
    model = slider_crank.with_play(0.4)
    mechanism = replace(model.mechanism, coordinates="relative")
    result = simulate(
        assemble(mechanism, model.elements, model.gravity),
        duration=0.03,
        steps=StepBounds(1e-7, 1e-5),
        scheme=Variational(),
        solver=Compiled(),
        control=LargestStep(contacts=None),  # none that end at impacts, either
        progress=False,
    )
    assert result.completed, result.stop_reason
    assert np.nansum(result["retries"].values) == 0
    assert np.count_nonzero(result["impulse"].values[1:]) > 12


@pytest.mark.slow
def test_momentum_is_kept_in_relative_coordinates():
    """Of a free top: linear momentum under weight alone, energy to second order."""
    data = run(spun("relative"), 0.5, 5e-4)
    centre = data["body_position"].values @ np.eye(3)
    mean = (3 * centre[:, 0] + centre[:, 1]) / 4
    t = data["time"].values
    rates = np.gradient(mean[:, [0, 2]], t, axis=0)
    assert np.ptp(rates[2:-2], axis=0) == pytest.approx(0, abs=2e-5)
    energy = data["total_energy"].values
    assert np.ptp(energy) < 1e-4 * np.abs(energy[0])


@cache
def crank(coordinates):
    """A slider-crank whose slide is cut and rubs, and whose crank rubs under its own reaction."""
    rod, link = arm("rod"), Body("link", 0.5, (0.01, 0.04, 0.04), position=(1.5, 0, 0))
    slider = Body("slider", 1.0, (0.01, 0.01, 0.01), position=(2.0, 0, 0))
    along = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])  # z along x
    rail = Frame(None, (2, 0, 0), along), Frame.at(slider, (2, 0, 0), along)
    pin = Frame(None), Frame.at(rod, (0, 0, 0))
    joints = [
        Revolute("A", *pin),
        Revolute("B", Frame.at(rod, (1, 0, 0)), Frame.at(link, (1, 0, 0))),
        Revolute("C", Frame.at(link, (2, 0, 0)), Frame.at(slider, (2, 0, 0))),
        Prismatic("P", *rail),
    ]
    way = Relative(["P"]) if coordinates == "relative" else coordinates
    elements = [
        SlideFriction("guide", *rail, StribeckLaw(1.0), load=5.0),
        TurnFriction("bearing", *pin, StribeckLaw(0.3), radius=0.05),
    ]
    drive = AppliedTorque("drive", Frame(rod), (0, 0, 3.0))
    return assemble(Mechanism([rod, link, slider], joints, way), [*elements, drive], GRAVITY)


@pytest.mark.slow
def test_friction_of_a_cut_joint_is_carried_by_those_of_the_tree():
    names = ("body_position", "joint_reaction")
    coarse, fine = (both(crank, names, 0.3, h) for h in (1e-3, 5e-4))
    assert fine[0] < 2e-6
    assert coarse[0] / fine[0] > 3
    assert coarse[1] / fine[1] > 1.8  # reactions in a tree are of first order


@cache
def scraping(coordinates):
    """A pendulum on a bearing that rubs, its tip rubbing in a clearance."""
    rod, law = arm("rod"), ContactLaw(friction=0.5)
    pin, tip = (Frame(None), Frame.at(rod, (0, 0, 0))), Frame.at(rod, (1, 0, 0))
    slot = PlanarRevoluteClearance("slot", Frame(None, (1, -1e-3, 0)), tip, 2e-3, 0.01, law=law)
    joint_reactions = TurnFriction("bearing", *pin, StribeckLaw(0.3), radius=0.05, joint="A")
    mechanism = Mechanism([rod], [Revolute("A", *pin)], coordinates)
    return assemble(mechanism, [slot, joint_reactions], GRAVITY)


@pytest.mark.slow
def test_friction_of_a_contact_counts_in_the_reaction_that_rubs():
    names = ("body_position",)
    coarse, fine = (both(scraping, names, 0.05, h, MoreauJean()) for h in (1e-3, 2.5e-4))
    assert fine[0] < max(1e-6, 0.6 * coarse[0])
