"""Least effort against friction: 1 m, or 1 rad, in 1 s from rest to rest, known in closed form."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import expm

from nsopt import (
    GROUND,
    Actuator,
    AppliedForce,
    Body,
    ContactLaw,
    Frame,
    LuGreLaw,
    Mechanism,
    MoreauJean,
    PaperStep,
    Parameter,
    PlaneContact,
    Revolute,
    Solver,
    StribeckLaw,
    TurnFriction,
    Variational,
    assemble,
)
from nsopt.trajectory import (
    GRADUAL,
    IN_STEPS,
    Cost,
    Duration,
    Earlier,
    Effort,
    EndAt,
    FinalPose,
    Horizon,
    InputEffort,
    JointResistance,
    Optimization,
    Periodic,
    Quintic,
    StartAt,
    Straight,
    Through,
    Tracking,
    Within,
    multi_start,
    optimize,
)

DRY, G = 0.3, 9.81
SCHEMES = [Variational(), MoreauJean(), MoreauJean(theta=1.0)]
schemes = pytest.mark.parametrize("scheme", SCHEMES, ids=repr)


def pushed(steps, scheme, **law):
    """1 kg on a floor, pushed along."""
    sled = Body("sled", 1.0, point_mass=True)
    law = ContactLaw(**law)
    floor = PlaneContact("floor", Frame(GROUND), Frame(sled), law=law, planar=True)
    push = AppliedForce("push", Frame(sled), (Parameter("force", 0.0), 0.0, 0.0))
    d = assemble(Mechanism([sled], coordinates="relative"), [floor, push], gravity=(0, 0, -G))
    here, there = np.zeros(3), np.array([1.0, 0.0, 0.0])
    ends = [StartAt(here, np.zeros(3)), EndAt(there, np.zeros(3))]
    cost, guess = InputEffort(input="force"), Straight(here, there)
    horizon, inputs = Horizon(1.0, steps), ["force"]
    result = optimize(d, horizon, [cost], ends, guess, inputs=inputs, scheme=scheme, plan=IN_STEPS)
    assert result.completed, result.stop_reason
    return result


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [*SCHEMES, PaperStep()], ids=repr)
def test_a_sled_on_a_dry_floor(scheme):
    """The push is that without friction, 12 of effort, and mu times the weight all along."""
    known = 12 + (DRY * G) ** 2
    off = [abs(pushed(n, scheme, friction=DRY).objective - known) for n in (20, 40)]
    assert off[0] < 0.2 * known
    assert off[1] < 0.55 * off[0]


@dataclass(frozen=True, kw_only=True)
class Miss(Cost):
    """(v(T) - 5/3)^2 and the integral of v^2 [Stewart, Anitescu 2010, Numer. Math. 114]."""

    def rate(self, m):
        return m.v[0] ** 2

    def final(self, m):
        return (m.v[0] - 5 / 3) ** 2


TURNS = (1.52377, -1.42757)
"""Least cost and initial speed of a sled of 1 kg, pushed by 2 N against 1 N of friction for 2 s."""


def turning(steps, scheme, v0, solver=None):
    """The optimum from the motion of the initial speed v0, which slows down by 3 m/s^2 first."""
    sled = Body("sled", 1.0, point_mass=True)
    law = ContactLaw(friction=1 / G)
    floor = PlaneContact("floor", Frame(GROUND), Frame(sled), law=law, planar=True)
    push = AppliedForce("push", Frame(sled), (2.0, 0.0, 0.0))
    d = assemble(Mechanism([sled], coordinates="relative"), [floor, push], gravity=(0, 0, -G))
    t = np.linspace(0, 2, 41)
    v = np.where(t < -v0 / 3, v0 + 3 * t, t + v0 / 3)
    x = np.concatenate([[0], np.cumsum(v[1:] + v[:-1]) / 40])
    guess = Through([[k, 0, 0] for k in x], list(t / 2))
    ends = [StartAt(np.zeros(3), [np.nan, 0, 0])]
    result = optimize(
        d, Horizon(2.0, steps), [Miss()], ends, guess, scheme=scheme, solver=solver, plan=IN_STEPS
    )
    assert result.completed, result.stop_reason
    return result


def test_the_stated_optimum_of_slip_that_turns_round():
    """v0 to zero in -v0/3, then on with 1 m/s^2."""
    v0 = np.linspace(-2, -1, 100_001)
    end = 2 + v0 / 3
    costs = (end - 5 / 3) ** 2 - v0**3 / 9 + end**3 / 3
    k = np.argmin(costs)
    assert (costs[k], v0[k]) == pytest.approx(TURNS, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Variational, MoreauJean])
def test_an_optimum_of_slip_that_turns_round_warns(kind):
    """The step of the turn has no derivative: optima depend on the guess, and on the steps."""
    spurious = turning(40, kind(), -1.4, Solver(schedules=[GRADUAL]))
    assert abs(spurious["v"].values[0, 0] - TURNS[1]) > 0.1
    told, *_ = spurious.summary().splitlines()
    assert told.startswith("WARNING")
    assert "contact 'floor' turns round within a step" in told
    assert f"{kind.__name__}(slip_creep=0.2)" in told


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Variational, MoreauJean])
def test_slip_that_turns_round_smoothly_has_one_optimum(kind):
    """Of first order in the step and the creep, which is the change of the slip in a step."""
    off = []
    for n in (40, 80):
        results = [turning(n, kind(slip_creep=6 / n), v0) for v0 in (-1.0, -2.0)]
        assert results[0].objective == pytest.approx(results[1].objective, abs=1e-5)
        assert not any("turns round" in text for text in results[0].warnings)
        off.append(results[0].objective - TURNS[0])
    assert off[0] < 0.25
    assert 0 < off[1] < 0.6 * off[0]
    assert results[0]["v"].values[0, 0] == pytest.approx(TURNS[1], abs=0.04)


def viscous_effort(c):
    """The integral of u^2 that takes x'' = u - c x' over 1 m in 1 s: u = k1 + k2 exp(c t)."""
    A = np.array([[0, 1, 0, 0], [0, -c, 0, 0.5], [0, 0, 0, 0], [0, 0, -1, c]])
    costate = np.linalg.solve(expm(A)[:2, 2:], [1.0, 0.0])
    return quad(lambda t: (expm(A * t)[3, 2:] @ costate / 2) ** 2, 0, 1)[0]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES[:2], ids=repr)
def test_a_sled_on_an_oily_floor(scheme):
    """Viscous friction of contacts is of first order: by the speed at the end of a step or node."""
    known = viscous_effort(2.0)
    off = [pushed(n, scheme, viscous=2.0).objective - known for n in (40, 80)]
    assert off[0] < 0.05 * known
    assert off[1] < 0.56 * off[0]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES[:2], ids=repr)
def test_an_oily_floor_brakes_only_what_touches_it(scheme):
    """A sled that hops: in the air it keeps its speed, on the floor it loses c v."""
    ball = Body("sled", 1.0, point_mass=True)
    law = ContactLaw(viscous=4.0)
    d = assemble(
        Mechanism([ball], coordinates="relative"),
        [PlaneContact("floor", Frame(GROUND), Frame(ball), law=law)],
        gravity=(0, 0, -G),
    )
    n, T, up = 40, 0.4, 0.2 * G / 2
    here, v = np.zeros(3), np.array([1.0, 0.5, up])
    way = [here, [0.1, 0.05, up**2 / G / 2], [0.2, 0.1, 0.0], [0.3, 0.15, 0.0]]
    ends, guess = [StartAt(here, v)], Through(way, [0.0, 0.25, 0.5, 1.0])
    result = optimize(d, Horizon(T, n), [Duration()], ends, guess, scheme=scheme, plan=IN_STEPS)
    assert result.completed, result.stop_reason
    speed = np.diff(result["q"].values[:, 0]) / (T / n)
    lands = round(0.2 / T * n)
    assert speed[: lands - 1] == pytest.approx(1.0, abs=1e-4)
    kept = speed[lands + 2 :] / speed[lands + 1 : -1]
    assert kept == pytest.approx(1 / (1 + 4.0 * T / n), rel=2e-3)


def wheel(law):
    """A wheel of 1 kg m^2 on a journal of 10 cm that rubs under its weight of 1 kg."""
    body = Body("wheel", 1.0, (1.0, 1.0, 1.0))
    hinge = Revolute("hinge", Frame(GROUND), Frame(body))
    rub = TurnFriction("rub", hinge.a, hinge.b, law, radius=0.1)
    mechanism = Mechanism([body], [hinge], "relative", [Actuator("hinge")])
    return assemble(mechanism, [rub], gravity=(0, -G, 0))


REST = (StartAt([0.0], [0.0]), EndAt([1.0], [0.0]))


def turned(steps, scheme, law, conditions=REST, costs=None):
    """The motion of the wheel by a radian in a second."""
    guess, horizon = Straight([0.0], [1.0]), Horizon(1.0, steps)
    result = optimize(
        wheel(law), horizon, costs or [Effort()], conditions, guess, scheme=scheme, plan=IN_STEPS
    )
    assert result.completed, result.stop_reason
    return result


LAWS = {
    "dry": StribeckLaw(DRY, creep=1e-4),
    "bristles": LuGreLaw(1e5, 1.0, 0.0, DRY, DRY, 0.1, creep=1e-4),
}


@schemes
@pytest.mark.parametrize("law", LAWS)
def test_a_wheel_whose_journal_rubs_under_its_weight(scheme, law):
    """As the sled; bristles are bent once, which is next to nothing."""
    known = 12 + (0.1 * DRY * G) ** 2
    off = [abs(turned(n, scheme, LAWS[law]).objective - known) for n in (20, 40)]
    assert off[0] < 0.2 * known
    assert off[1] < 0.55 * off[0]


def test_a_wheel_by_polynomials():
    """Dry friction has no states, so inverse dynamics know it too."""
    optimum = turned(80, None, LAWS["dry"])
    assert optimum.data.attrs["scheme"].startswith("Hermite-Simpson")
    (exact,) = json.loads(optimum.data.attrs["exact_cost"]).values()
    assert exact == pytest.approx(12 + (0.1 * DRY * G) ** 2, rel=1e-4)
    assert optimum.objective < exact  # its sign is smoothed there


def test_internal_states_start_at_zero_and_end_at_will():
    bent = turned(20, None, LAWS["bristles"])["q"].values[:, 1]
    assert bent[0] == pytest.approx(0, abs=1e-12)
    assert bent[-1] == pytest.approx(DRY / 1e5, rel=0.05)


@pytest.mark.parametrize(
    "conditions",
    [
        (StartAt(v=[0.0]), Within("hinge.angle", -5, 5), EndAt([1.0], [3.0])),
        (StartAt([0.0, np.nan], [0.0]), EndAt([1.0], [3.0])),
    ],
)
def test_bristles_are_not_wound_up_before_the_start(conditions):
    """They would drive the wheel for nothing; to 3 rad/s friction takes effort all the way."""
    result = turned(20, None, LAWS["bristles"], conditions)
    assert result["q"].values[0, 1] == pytest.approx(0, abs=1e-12)
    assert result["dissipated_energy"].values[-1] > 0
    assert result.objective > 3.0


def test_periodic_motions_bring_their_bristles_back():
    """A turn on and on at an even speed: what drives is friction."""
    conditions = [Periodic([1.0]), Within("hinge.angle", -5.0, 5.0)]
    result = turned(20, None, LAWS["bristles"], conditions)
    first, last = result["q"].values[[0, -1], 1]
    assert first == pytest.approx(last, abs=1e-10)
    assert first == pytest.approx(DRY / 1e5, rel=0.1)
    assert result.objective == pytest.approx((0.1 * DRY * G) ** 2, rel=0.01)


@pytest.mark.slow
def test_costs_of_places_leave_bristles_out():
    """Tracking counts the angle; a pose may be given with bristles or without."""

    def trajectory(t):
        return [t]

    result = turned(40, None, LAWS["bristles"], costs=[Effort(), Tracking(trajectory=trajectory)])
    t, angle = result["time"].values, result["q"].values[:, 0]
    share = np.trapezoid((angle - t) ** 2, t)
    assert result.detailed_cost["Tracking"] == pytest.approx(share, rel=0.01)
    for q in ([1.0], [1.0, np.nan]):
        end = [REST[0], EndAt(v=[0.0])]
        costs = [Effort(), FinalPose(q=q, weight=1e4)]
        assert turned(20, None, LAWS["bristles"], end, costs)["q"].values[-1, 0] > 0.99


def test_a_course_of_another_size_is_refused():
    with pytest.raises(
        ValueError, match=r"must return 1 numbers, one for each of hinge.angle, got"
    ):
        Tracking(trajectory=lambda t: [t, t]).check(wheel(LAWS["bristles"]))


def test_a_count_of_coordinates_says_what_may_be_left_out():
    with pytest.raises(ValueError, match=r"got \(3,\): .*rub.z; the last 1 may be left out"):
        StartAt([0.0, 0.0, 0.0]).check(wheel(LAWS["bristles"]))


@pytest.mark.parametrize("guess", [Straight([0.0], [1.0]), Quintic([0.0, 0.0], [1.0, 0.0])])
def test_guesses_are_perturbed_beside_their_bristles(guess):
    stated = Optimization(wheel(LAWS["bristles"]), Horizon(1.0, 20), [Effort()], REST, guess)
    first = stated.solve()
    known = replace(stated, guess=Earlier(first))
    for start in (stated, known) if isinstance(guess, Straight) else (known,):
        assert multi_start(start, 2).objective == pytest.approx(first.objective, rel=1e-6)


@pytest.mark.parametrize("scheme", [Variational(), MoreauJean()], ids=repr)
def test_bristles_that_turn_round_resist_no_more_than_they_can(scheme):
    """There and back within a step bristles settle; their mean over it is recorded."""
    law = LuGreLaw(1e4, 30.0, 0.04, 0.10, 0.15, 1e-3)
    back = [StartAt([0.0], [1.0]), EndAt([0.0], [-1.0])]
    result = turned(40, scheme, law, back, [Effort(), JointResistance()])
    recorded = np.abs(result["joint_resistance"].values[1:]).max()
    assert recorded < 0.1 * G * (0.15 + 0.04 * np.abs(result["v"].values).max())
    assert result.detailed_cost["JointResistance"] < (0.1 * G * 0.2) ** 2
