"""Coulomb's friction in driven joints: its sign smoothed by the grid in the program alone."""

import json
from dataclasses import replace

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Frame,
    Mechanism,
    Parameter,
    Prismatic,
    SlideFriction,
    StribeckLaw,
    ViscousLaw,
    assemble,
)
from nsopt.mpcc import StructuredProgram
from nsopt.trajectory import (
    IN_STEPS,
    PLAN,
    ActuatorLimits,
    DriveWithin,
    Duration,
    During,
    Effort,
    EndAt,
    Horizon,
    ObjectiveChange,
    Optimization,
    Quintic,
    StartAt,
    refine,
)
from nsopt.trajectory.search import FrictionInStages, RestingJoints
from nsopt.trajectory.smoothing import dry_friction
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.resting import RestingCollocation

MASS, FRICTION, EFFORT, WAY = 2.0, 1.5, 6.0, 1.0


def cart(mass=MASS, effort=np.inf, passive=False):
    """A cart on a rail with dry friction, driven; on it a second one that may not be."""
    carts = [Body("cart", mass, (1, 1, 1)), Body("load", 1.0, (1, 1, 1))]
    rails = [
        Prismatic("rail", Frame(GROUND), Frame(carts[0])),
        Prismatic("bed", Frame(carts[0]), Frame(carts[1])),
    ]
    n = 1 + passive
    coulomb = StribeckLaw(1.0)
    friction = [SlideFriction(f"{x.name}_dry", *x.frames, coulomb, FRICTION) for x in rails[:n]]
    drive = Actuator("rail", effort=effort)
    return assemble(Mechanism(carts[:n], rails[:n], "relative", [drive]), friction)


def moved(dynamics, cost, horizon, speed=0.0, plan=IN_STEPS):
    limited = [ActuatorLimits()] if np.isfinite(dynamics.mechanism.actuators[0].effort) else []
    ends = [StartAt([0.0], [speed]), EndAt([WAY], [0.0])]
    guess = Quintic([0.0], [WAY])
    return Optimization(dynamics, horizon, [cost], [*ends, *limited], guess, plan=plan)


def force(motion, mass=MASS):
    """The drive by Newton's and Coulomb's laws."""
    return mass * motion["a"].values[:, 0] + FRICTION * np.sign(motion["v"].values[:, 0])


def test_least_effort_of_a_cart_is_that_in_closed_form():
    """The integral of (m a + F)^2 is 12 m^2 d^2/T^3 + F^2 T at least, if T < sqrt(6 m d/F)."""
    stated = moved(cart(Parameter("mass", MASS)), Effort(), Horizon(1.0, 50))
    result = stated.solve()
    assert result.completed, result.stop_reason
    least = 12 * MASS**2 * WAY**2 + FRICTION**2
    (exact,) = json.loads(result.data.attrs["exact_cost"]).values()
    assert least * (1 - 1e-7) <= exact <= 1.002 * least
    assert result.objective < exact  # friction that is smoothed is less
    assert stated.cost_gradient(result)["mass"] == pytest.approx(24 * MASS * WAY**2, rel=0.02)


def least_with_rest(way=WAY):
    """Least effort of a cart, and the time of it: then it rests."""
    T = np.sqrt(6 * MASS * way / FRICTION)
    return 12 * (MASS * way) ** 2 / T**3 + FRICTION**2 * T, T


@pytest.mark.parametrize("steps", [10, 20, 40])
def test_a_cart_rests_exactly_in_any_number_of_steps(steps):
    """In 20 steps it moves all the time, at 13.72 in place of 8.49, until a rest is tried."""
    result = moved(cart(), Effort(), Horizon(6.0, steps), plan=PLAN).solve()
    assert result.completed, result.stop_reason
    least, T = least_with_rest()
    assert result.objective == pytest.approx(least, rel=1e-7)
    assert result["h"].values[1:][result["v"].values[1:, 0] > 0].sum() <= T * (1 + 1e-3)


def test_a_cart_that_slides_all_along_is_exact():
    result = moved(cart(), Effort(), Horizon(1.0, 10), plan=PLAN).solve()
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(12 * MASS**2 * WAY**2 + FRICTION**2, rel=1e-9)


def make_carts():
    """Return a fast cart and a slow one on rails beside each other, and their ends."""
    carts = [Body(name, MASS, (1, 1, 1)) for name in ("fast", "slow")]
    rails = [Prismatic(f"{x.name}_rail", Frame(GROUND), Frame(x)) for x in carts]
    friction = [
        SlideFriction(f"{x.name}_dry", *x.frames, StribeckLaw(1.0), FRICTION) for x in rails
    ]
    drives = [Actuator(x.name) for x in rails]
    d = assemble(Mechanism(carts, rails, "relative", drives), friction)
    return d, [StartAt([0.0, 0.0], [0.0, 0.0]), EndAt([WAY, 0.05], [0.0, 0.0])]


@pytest.mark.slow
def test_rests_of_one_of_two_joints_are_exact():
    d, ends = make_carts()
    result = Optimization(d, Horizon(2.0, 20), [Effort()], ends, Quintic()).solve()
    assert result.completed, result.stop_reason
    fast, (slow, _) = 12 * (MASS * WAY) ** 2 / 8 + FRICTION**2 * 2, least_with_rest(0.05)
    assert result.objective == pytest.approx(fast + slow, rel=1e-7)


def test_a_cart_rests_where_rest_costs_less():
    """Least is to arrive after sqrt(6 m d/F) and to rest, at 12 m^2 d^2/T^3 + F^2 T of that T."""
    stated = moved(cart(Parameter("mass", MASS)), Effort(), Horizon(6.0, 100))
    result = stated.solve()
    assert result.completed, result.stop_reason
    least, T = least_with_rest()
    (exact,) = json.loads(result.data.attrs["exact_cost"]).values()
    assert least <= exact < 1.02 * least
    assert result.objective == pytest.approx(exact, rel=0.01)
    assert result.warnings == ()
    motion = result.sample(1e-3)
    rests = motion["v"].values[:, 0] == 0
    assert rests.mean() == pytest.approx(1 - T / 6, abs=0.05)
    assert np.abs(motion["tau"].values[rests]).max() < 1e-9
    # By the envelope theorem, d/dm of 12 m^2 d^2/T^3 + F^2 T at that T.
    assert stated.cost_gradient(result)["mass"] == pytest.approx(24 * MASS / T**3, rel=0.05)


def test_rests_are_those_of_each_joint():
    """One cart moves all the time, another one 5 cm, which it creeps where friction is smoothed."""
    d, ends = make_carts()
    result = Optimization(d, Horizon(2.0, 50), [Effort()], ends, Quintic(), plan=IN_STEPS).solve()
    assert result.completed, result.stop_reason
    fast, (slow, _) = 12 * (MASS * WAY) ** 2 / 8 + FRICTION**2 * 2, least_with_rest(0.05)
    (exact,) = json.loads(result.data.attrs["exact_cost"]).values()
    assert fast + slow <= exact < fast + 1.1 * slow
    modes = json.loads(result.data.attrs["friction_modes"])
    assert [x for x, _ in modes] == [1] * 50
    assert {y for _, y in modes} == {0, 1}


def test_creeping_that_is_left_is_told():
    result = moved(cart(), Effort(), Horizon(1.0, 50)).solve()
    assert not any("joints creep" in x for x in result.warnings)
    (exact,) = json.loads(result.data.attrs["exact_cost"]).values()
    assert (exact - result.objective) / exact < 0.1
    assert "friction_modes" not in result.data.attrs  # so little that no rests were sought
    result.data.attrs["exact_cost"] = json.dumps({"Effort": 1.5 * result.objective})
    assert any("joints creep that could rest" in x for x in result.warnings)


@pytest.mark.slow
def test_friction_of_a_finer_grid_is_sharper():
    errors = []
    for steps in (25, 50, 100):
        result = moved(cart(), Effort(), Horizon(1.0, steps)).solve()
        errors.append(12 * MASS**2 * WAY**2 + FRICTION**2 - result.objective)
    assert errors[0] > 1.5 * errors[1] > 2.25 * errors[2] > 0


def test_two_stages_end_at_the_optimum_of_one():
    """At the smoothing of the grid, whatever that of the first stage."""
    stated = moved(cart(), Effort(), Horizon(1.0, 40), speed=-0.7)
    results = [stated.solve()]
    results.append(replace(stated, plan=IN_STEPS.without(FrictionInStages)).solve())
    assert [x.completed for x in results] == [True, True]
    assert len({x.data.attrs["friction_smoothed"] for x in results}) == 1
    assert results[0].objective == pytest.approx(results[1].objective, rel=1e-7)


def test_the_drive_has_the_exact_sign_of_friction_where_the_cart_turns_round():
    result = moved(cart(), Effort(), Horizon(1.0, 40), speed=-0.7).solve()
    assert result.completed, result.stop_reason
    assert result.data.attrs["defect"] < 1e-9
    v = result["v"].values[:, 0]
    turn = int(np.flatnonzero(v[:-1] * v[1:] < 0)[0])
    t = result["time"].values
    motion = result.sample(times=np.linspace(t[turn], t[turn + 1], 101))
    assert np.ptp(np.sign(motion["v"].values)) == 2
    assert motion["tau"].values[:, 0] == pytest.approx(force(motion), abs=1e-9)
    assert result["drive"].values[:, 0] == pytest.approx(
        MASS * result["acceleration"].values[:, 0] + FRICTION * np.sign(v), abs=1e-9
    )


@pytest.mark.parametrize("speed", [0.0, -0.7])
def test_least_time_keeps_the_drive_with_exact_friction_at_all_times(speed):
    """To the turn it decelerates by (E - F)/m against friction's help, then as from rest."""
    result = moved(cart(effort=EFFORT), Duration(), Horizon((0.3, 4.0), 60), speed).solve()
    assert result.completed, result.stop_reason
    motion = result.sample(1e-4)
    assert np.abs(force(motion)).max() <= EFFORT * (1 + 1e-6)
    fast, slow = (EFFORT + FRICTION) / MASS, (EFFORT - FRICTION) / MASS
    back = speed**2 / (2 * fast)
    least = -speed / fast + np.sqrt(2 * (WAY + back) * (1 / fast + 1 / slow))
    assert least * (1 - 1e-6) <= result.objective <= 1.03 * least


def test_friction_of_a_joint_without_a_drive_is_that_of_its_law():
    d = cart(passive=True)
    guess = Quintic([0.0, 0.0], [WAY, 0.0])
    driven, passive = dry_friction.compute_grid_creep(d, Horizon(2.0, 60), guess, ())
    assert driven == pytest.approx(dry_friction.WIDTH / 60 * WAY / 2.0, rel=0.02)
    assert passive == 0.0


def test_nothing_is_smoothed_where_friction_is_viscous():
    mechanism = cart().mechanism
    (rail,) = mechanism.joints
    oil = SlideFriction("oil", *rail.frames, ViscousLaw(2.0), 0.0)
    result = moved(assemble(mechanism, [oil]), Effort(), Horizon(1.0, 20)).solve()
    assert "friction_smoothed" not in result.data.attrs
    assert "exact_cost" not in result.data.attrs
    drive = MASS * result["acceleration"].values + 2.0 * result["v"].values
    assert result["drive"].values == pytest.approx(drive, abs=1e-9)


def test_a_drive_that_is_limited_during_a_part_has_the_sign_of_the_way_that_is_known():
    """Where the cart starts to slide too: m a + F, not m a."""
    stated = [During(DriveWithin("rail", -EFFORT, EFFORT), 0.0, 0.5)]
    smoothed = Collocation(cart(), Horizon(1.0, 10), (Effort(),), tuple(stated), ())
    rests = RestingCollocation.of(smoothed.with_creep((0.3,)), np.ones((10, 1)))
    blocks = [x for x in rests.nlp().blocks if x.name.startswith("during")]
    assert [x.count for x in blocks] == [6, 5]
    for block in blocks:
        n = block.count
        x = np.array([0.2, 0.0, 0.7, 1.0])  # posture, speed, acceleration, duration
        given = np.tile(x[:, None], n), block.data.T, np.full((1, n), 0.3)
        drives = np.asarray(block.function.map(n)(*given)[0])
        assert drives == pytest.approx(np.full((1, n), MASS * 0.7 + FRICTION), rel=1e-6)


def test_iterations_are_those_of_all_that_was_solved(monkeypatch):
    """Rests that were tried and not taken are among them."""
    solved, solve = [], StructuredProgram.solve

    def counted(*given):
        solved.append(solve(*given))
        return solved[-1]

    monkeypatch.setattr(StructuredProgram, "solve", counted)
    plan = IN_STEPS.with_others(RestingJoints(begin_above=-1.0))
    stated = moved(cart(), Effort(), Horizon(1.0, 40), speed=-0.7)
    result = replace(stated, plan=plan).solve()
    assert result.completed, result.stop_reason
    assert "friction_modes" not in result.data.attrs
    assert len(solved) > 2
    assert float(result["iterations"].sum()) == pytest.approx(sum(x.iterations for x in solved))


def test_grids_are_compared_by_the_exact_sign_of_friction():
    """That the cart rests in 6 s, with exact friction, is no change of the grid's."""
    stated = moved(cart(), Effort(), Horizon(6.0, 25))
    result = refine(stated, 0.05, by=ObjectiveChange(), most=50)
    rows = json.loads(result.data.attrs["grids"])
    (exact,) = json.loads(result.data.attrs["exact_cost"]).values()
    assert rows[-1]["objective"] == exact
    assert all(least_with_rest()[0] <= x["objective"] for x in rows)
