"""The errors of forces, angles and gaps over time are those by which they are off."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    GROUND,
    Body,
    Check,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlaneContact,
    Prismatic,
    Revolute,
    Spherical,
    SpringDamper,
    assemble,
)
from nsopt.simulation.check import check as check_module
from nsopt.simulation.check import repetition
from tests.schemes.models import G, ball
from tests.simulation.test_check import COARSER, FINER, LENGTH, LIKE, RATE, pendulum, run

DOWN, UP = (0, -G, 0), (0.0, 1.0, 0.0)


def swing(times):
    """Return the angle of the bob and its rate, (2, n) [rad, rad/s]."""
    return solve_ivp(
        lambda t, y: (y[1], -G / LENGTH * np.sin(y[0])),
        *((0, times[-1]), (0.0, RATE)),
        t_eval=times,
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
    ).y


@pytest.mark.parametrize("coordinates", ["relative", "absolute"])
def test_a_reaction_is_off_by_what_it_tells(coordinates):
    """The rod of a pendulum of 1 kg pulls by g cos a + L w^2."""
    result = run(pendulum(coordinates), 5e-3, FINER)
    a, w = swing(result["time"].values)
    tension = G * np.cos(a) + LENGTH * w**2
    force = tension * np.stack([-np.sin(a), np.cos(a), 0 * a])
    true = np.abs(result["joint_reaction"].values[:, 0] - force.T).max(axis=0)
    told = result.error["joint_reaction"]
    assert told.attrs["order"] == pytest.approx(2, abs=0.2)
    assert told.dims == ("time", "joint", "axis")
    assert told.values[:, 0, :2].max(axis=0) == pytest.approx(true[:2], rel=LIKE - 1)
    assert told.values[:, 0, 2].max() < 1e-9
    assert "reactions 0." in result.summary()


@pytest.mark.parametrize(
    ("check", "smooth"),
    [(FINER, ("v", "joint_reaction")), (COARSER, ())],  # at nodes of longer steps these are better
    ids=["finer", "coarser"],
)
def test_of_many_times_some_are_compared(check, smooth, monkeypatch):
    """Errors between them are interpolated, nearly those that comparing there tells."""
    whole = run(pendulum(), 5e-3, check).error
    for module in (check_module, repetition):
        monkeypatch.setattr(module, "MOST_CARRIED", 120)
    monkeypatch.setattr(check_module, "MOST_STATES", 240)
    some = run(pendulum(), 5e-3, check).error
    assert some.sizes["time"] == 401
    for name in ("motion", "total_energy", *smooth):
        told, every = some[name].values, whole[name].values
        assert not np.array_equal(told, every, equal_nan=True), name
        assert told == pytest.approx(every, abs=0.1 * np.nanmax(every), nan_ok=True), name


def test_by_longer_steps_a_reaction_is_off_by_no_more_than_it_tells():
    """Between nodes of longer steps it is that of interpolated states.

    On a ball joint, by which the motion is off by more than what is interpolated.
    """
    bob = Body(
        "bob",
        1.0,
        (1e-9, 1e-9, 1e-9),
        position=(0, -LENGTH, 0),
        velocity=(RATE * LENGTH, 0, 0),
        angular_velocity=(0, 0, RATE),
    )
    pin = Spherical("pin", Frame(GROUND), Frame(bob, (0, LENGTH, 0)))
    hung = assemble(Mechanism([bob], [pin], "relative"), gravity=DOWN)
    finer, coarser = (run(hung, 5e-3, check) for check in (FINER, COARSER))
    most = [x.error["joint_reaction"].values[:, 0, :2].max(axis=0) for x in (finer, coarser)]
    assert np.all((most[1] > most[0] / LIKE) & (most[1] < 2 * most[0]))


def test_an_angle_is_off_by_what_it_tells():
    result = run(pendulum(), 5e-3, FINER)
    true = np.abs(result["joint_coordinate"].values[:, 0] - swing(result["time"].values)[0]).max()
    assert float(result.error["joint_coordinate"].max()) == pytest.approx(true, rel=LIKE - 1)


def test_reactions_of_redundant_joints_are_said_to_be_no_more_than_of_least_norm():
    door = Body("door", 2.0, (0.1, 0.2, 0.1), position=(0.3, 0, 0))
    hinges = [
        Revolute(name, Frame(GROUND, (0, 0, z)), Frame.at(door, (0, 0, z)))
        for name, z in (("lower", -0.5), ("upper", 0.5))
    ]
    d = assemble(Mechanism([door], hinges), gravity=DOWN)
    result = run(d, 2e-3, FINER, duration=0.2)
    assert not result.error["joint_reaction"].attrs["unique"]
    assert "of least norm" in result.summary()


@pytest.mark.parametrize("friction", [0.0, 0.8])
def test_no_error_is_told_of_an_impulse_that_friction_shares_with_a_hinge(friction):
    """A bar falls onto a floor and stays there: impulses along and across its tip both stop it."""
    length, depth, inertia = 0.3, 0.1, 0.01 + 0.15**2
    bar = Body("bar", 1.0, (0.002, 0.01, 0.01), position=(0.15, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(bar, (0, 0, 0)))
    tip = Frame(bar, (0.15, 0, 0))
    ground = Frame(GROUND, (0, -depth, 0), UP)
    law = ContactLaw(friction=Parameter("friction", friction))
    floor = PlaneContact("floor", ground, tip, law=law)
    d = assemble(Mechanism([bar], [hinge], "relative"), [floor], DOWN)
    result = run(d, 2e-3, FINER, duration=0.5, h_min=2e-6)
    normal, along = np.sqrt(length**2 - depth**2), depth
    stopped = inertia * np.sqrt(2 * G * 0.15 / length * depth / inertia)
    ends = stopped / (normal + friction * along), stopped / (normal - friction * along)
    impulse = float(result["impact_impulse_sum"][0])
    assert ends[0] * (1 - 1e-3) < impulse < ends[1] * np.hypot(1, friction) * (1 + 1e-3)
    assert result.error["impact_impulse_sum"].attrs["unique"] == (friction == 0)
    assert ("impulses" in result.summary()) == (friction == 0)
    assert not result.warnings


def test_a_force_has_an_error_that_friction_shares_with_no_joint():
    """Two bars on hinges stand on a rough floor as a truss: their weights tell what it carries."""
    length, (a, b) = 0.3, (-0.3, -1.2)  # angles from level [rad]
    ends = length * np.cumsum([[0, 0, 0], *([np.cos(x), np.sin(x), 0] for x in (a, b))], axis=0)
    bars, hinges = [], []
    for k in range(2):
        at, inertia = (ends[k] + ends[k + 1]) / 2, (0.002, 0.01, 0.01)
        bars.append(Body(f"bar {k}", 1.0, inertia, position=at))
        below = Frame.at(bars[k - 1], ends[k]) if k else Frame(GROUND)
        hinges.append(Revolute(f"hinge {k}", below, Frame.at(bars[k], ends[k])))
    ground, tip = Frame(GROUND, (0, ends[2, 1], 0), UP), Frame.at(bars[1], ends[2])
    floor = PlaneContact("floor", ground, tip, law=ContactLaw(friction=5.0))
    d = assemble(Mechanism(bars, hinges, "relative"), [floor], DOWN)
    result = run(d, 2e-3, FINER, duration=0.05)
    along = length * np.array([[-np.sin(a), np.cos(a)], [-np.sin(b), np.cos(b)]])
    true = np.linalg.solve(along, G * np.array([1.5, 0.5]) * along[:, 1])
    assert result["lasting_force"].values[-1, 0, :2] == pytest.approx(true, rel=1e-6)
    assert result.error["largest_force"].attrs["unique"]


def test_reactions_have_no_error_while_something_strikes():
    """A rod on a hinge falls on a floor and rebounds: then the hinge carries an impulse."""
    rod = Body("rod", 1.0, (0.002, 0.01, 0.01), position=(0.15, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(rod, (0, 0, 0)))
    law = ContactLaw(restitution=0.5)
    tip = Frame.at(rod, (0.3, 0, 0))
    floor = PlaneContact("floor", Frame(GROUND, (0, -0.1, 0), UP), tip, law=law)
    d = assemble(Mechanism([rod], [hinge], "relative"), [floor], DOWN)
    result = run(d, 2e-3, FINER, duration=0.3, h_min=1e-6)
    strikes = result["contact_mode"].values[:, 0] == 2
    error = result.error["joint_reaction"]
    assert strikes.any()
    assert np.all(np.isnan(error.values[strikes]))
    hinged = error.sel(joint="hinge").values[~strikes]
    assert np.mean(np.isfinite(hinged)) > 0.9
    assert np.all(np.isnan(error.sel(joint="floor").values))


def test_a_gap_is_off_by_what_it_tells():
    """Of a ball that falls and rebounds once: the steps of first order place the impact."""
    e, height, duration = 0.6, 0.45, 0.5  # steps of other sizes place the impact elsewhere
    result = run(ball(e, height), 1e-2, FINER, duration=duration, h_min=1e-2)
    t = result["time"].values
    lands = np.sqrt(2 * height / G)
    after = t - lands
    true = np.where(after < 0, height - G * t**2 / 2, e * G * lands * after - G * after**2 / 2)
    off = np.abs(result["gap"].values[:, 0] - true)
    told = result.error["gap"].values[:, 0]
    assert off.max() / 3 < told.max() < 3 * off.max()


def test_a_force_that_swings_out_of_phase_is_told_apart_from_its_size():
    """A block presses on its floor by its weight and that of a mass that swings on it.

    By m g + k a cos(w t), beside a body that goes far, so that the motion as a whole is known.
    """
    k, a, length = 1e3, 5e-3, 0.2
    block = Body("block", 1.0, (1, 1, 1))
    mass = Body("mass", 1.0, (1, 1, 1), position=(0, length - G / k + a, 0))
    sled = Body("sled", 1.0, (1, 1, 1), velocity=(1, 0, 0))
    rails = [
        *(
            Prismatic(f"{x.name} rail", Frame(GROUND, (0, 0, 0), UP), Frame(x, (0, 0, 0), UP))
            for x in (block, mass)
        ),
        Prismatic("way", Frame(GROUND, (0, 0, 0), (1, 0, 0)), Frame(sled, (0, 0, 0), (1, 0, 0))),
    ]
    spring = SpringDamper("spring", Frame(block), Frame(mass), k, free_length=length)
    floor = PlaneContact("floor", Frame(GROUND, (0, 0, 0), UP), Frame(block))
    d = assemble(Mechanism([block, mass, sled], rails, "relative"), [spring, floor], DOWN)
    result = run(d, 1e-2, FINER, duration=5.0)
    t = result["time"].values
    true = 2 * G - k * a * np.cos(np.sqrt(k) * t)
    off = np.abs(result["lasting_force"].values[:, 0, 1] - true)[2:].max()
    told = result.error["force"].values[2:].max()
    assert told == pytest.approx(off, rel=LIKE - 1)
    assert off > 0.1 * 2 * G
    assert "at each time, for it swings earlier or later (largest 0" in result.summary()


def test_what_is_not_recorded_has_no_error():
    result = run(pendulum(), 5e-3, FINER, variables=["q"])
    assert not {"joint_reaction", "body_velocity"} & {*result.error.data_vars}
    assert "body_position" in result.error


def test_where_records_take_long_those_of_repetitions_are_of_states_alone():
    class Slow(Check):
        def measure(self, of, data, progress):
            return super().measure(of._replace(record_seconds=6.0), data, progress)

    result = run(pendulum(), 5e-3, Slow())
    assert not {"joint_reaction", "joint_coordinate"} & {*result.error.data_vars}
    assert "motion" in result.error


def test_rolling_resistance_shares_no_force_of_wheels():
    """Two wheels roll under a plank, their axles at the height of its centre of mass."""
    radius, across = 0.1, (1.0, 0.0, 0.0)
    plank = Body("plank", 2.0, (0.01, 0.05, 0.05), position=(0, radius, 0), velocity=across)
    bodies, joints, contacts = [plank], [], []
    ground = Frame(GROUND, (0, 0, 0), UP)
    for k, x in enumerate((-0.2, 0.3)):
        at, law = (x, radius, 0), ContactLaw(friction=0.8, rolling=1e-3)
        turns = {"velocity": across, "angular_velocity": (0, 0, -1 / radius)}
        bodies.append(Body(f"wheel {k}", 0.5, (0.002, 0.002, 0.004), position=at, **turns))
        joints.append(Revolute(f"axle {k}", Frame.at(plank, at), Frame(bodies[-1])))
        wheel = Frame(bodies[-1])
        contacts.append(PlaneContact(f"floor {k}", ground, wheel, radius=radius, law=law))
    joints.append(Planar("plane", Frame(GROUND), Frame(plank)))
    d = assemble(Mechanism(bodies, joints, "relative"), contacts, DOWN)
    result = run(d, 2e-3, FINER, duration=0.1)
    weight = 3 * G
    assert result["lasting_force"].values[:, :, 1].sum(axis=1) == pytest.approx(weight, rel=1e-6)
    assert result.error["largest_force"].attrs["unique"]
