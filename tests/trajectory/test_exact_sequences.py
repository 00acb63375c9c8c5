"""Sequences of contact that are given, searched and kept."""

import signal
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import brentq

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    PlaneContact,
    Prismatic,
    Revolute,
    assemble,
)
from nsopt.interrupt import forget
from nsopt.mpcc import Verdict
from nsopt.trajectory import (
    IN_STEPS,
    PLAN,
    ActuatorLimits,
    ContactPhase,
    Cost,
    During,
    Effort,
    EndAt,
    ExactContacts,
    Horizon,
    Open,
    Quintic,
    Sliding,
    StartAt,
    Through,
    optimize,
)
from nsopt.trajectory.exact import Recognizer
from nsopt.trajectory.search import FromGuess, Plan, StatedProgram, Strategy
from tests.trajectory.lift import FLIGHT, G, lift, lift_dynamics, with_sequence


@pytest.mark.parametrize(
    ("sequence", "error", "text"),
    [
        ([ContactPhase({"flor": Open()}, 2.0)], ValueError, "has the contacts floor"),
        ([ContactPhase({}, 2.0)], ValueError, "modes of no contact"),
        ([ContactPhase({"floor": Open}, 2.0)], TypeError, r"must be Open\(\), Sticking"),
        ([ContactPhase({"floor": Open()}, np.nan)], ValueError, "lasts nan s"),
        ([ContactPhase({"floor": Open()}, -1.0)], ValueError, "lasts -1.0 s"),
        (
            [ContactPhase({"floor": Open()}, 1, {"floor": Sliding()})],
            ValueError,
            "where the motion",
        ),
        (
            [ContactPhase({"floor": Open()}, 1), ContactPhase({"floor": Open()}, 1, {"x": Open()})],
            ValueError,
            "strikes of x",
        ),
        (
            [ContactPhase({"floor": Open()}, 1, ends=1.2), ContactPhase({"floor": Open()}, 1)],
            ValueError,
            r"end at \[1.2\] of the duration",
        ),
        (ContactPhase({"floor": Open()}, 1.0), TypeError, "must be of ContactPhase"),
        ([], ValueError, "is empty"),
    ],
)
def test_a_sequence_that_does_not_fit_is_refused(sequence, error, text):
    """Before anything is solved: a result in steps would not be what was asked for."""
    with pytest.raises(error, match=text):
        lift(plan=with_sequence(sequence=sequence, trials=0))


def test_numbers_of_the_search_are_checked():
    with pytest.raises(ValueError, match=r"got 0, -1, 1e-06, 2 and 0\.5"):
        ExactContacts(trials=-1, least_steps=0, shortest=0.5)


@dataclass(frozen=True)
class NoSteps(Strategy[StatedProgram]):
    """Takes the solution away, as a search in steps that fails."""

    why = "to see what is done without"

    def applies(self, search, found):
        return True

    def solve(self, search, found):
        failed = replace(found.end.status, ok=False, verdict=Verdict.FAILED)
        return replace(found, solution=replace(found.end, status=failed))


def test_a_given_sequence_needs_no_motion_in_steps():
    """On the floor, then up at a speed, and so on by a cubic whose input is linear in time."""
    sequence = [ContactPhase({"floor": Sliding()}, 1.0), ContactPhase({"floor": Open()}, 1.0)]
    plan = Plan((FromGuess(), NoSteps(), ExactContacts(sequence=sequence)))
    result = lift(plan=plan)
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(100.3501146, rel=1e-8)
    assert np.isnan(result.data.attrs["objective_in_steps"])
    assert "none in steps" in result.summary()


@pytest.mark.parametrize("at", ["trial", "first"])
def test_ctrl_c_keeps_what_is_found(monkeypatch, at):
    """Among other sequences the optimum in the first one stays, before that the one in steps."""
    motion = sys.modules["nsopt.trajectory.exact.motion"].PhasedMotion
    solve = motion.solve

    def pressed(*args, briefly=False, **options):
        if briefly == (at == "trial"):
            signal.raise_signal(signal.SIGINT)
        return solve(*args, briefly=briefly, **options)

    monkeypatch.setattr(motion, "solve", pressed)
    result = lift(plan=with_sequence(sequence=FLIGHT))
    forget()
    if at == "first":
        assert result.data.attrs["not_exact"] == "interrupted before it was exact"
        return
    assert result.stop_reason.startswith("interrupted while other sequences were tried")
    # In flight alone, by a cubic from rest to 1 m with a free speed: the motion in 2 s.
    y, t = 1.0 + G * 2, 2.0
    assert result.objective == pytest.approx(3 * y**2 / t**3, rel=1e-9)
    assert "interrupted while others were tried" in result.data.attrs["stationarity"]


@pytest.mark.parametrize("steps", [32, 40])
def test_a_step_between_two_changes_counts_where_there_is_no_motion_without(steps):
    """Twice 0.5 m high at a given time; it falls for 0.32 s, of which steps see one or none."""
    high = EndAt([0.5], [np.nan])
    ends = [StartAt([0.0], [0.0]), EndAt([0.0], [0.0])]
    ways = [During(high, share, share) for share in (0.25, 0.75)]
    guess = Through([[0.0], [0.5], [0.0], [0.5], [0.0]])
    stated = lift_dynamics(), Horizon(8.0, steps), [Effort()], [*ends, *ways], guess
    result = optimize(*stated)
    # Each time the least effort to that height, then it falls freely.
    tau = np.sqrt(3 / G)
    assert result.objective == pytest.approx(2 * 12 / tau**3, rel=1e-7)


def test_a_sequence_that_costs_far_more_than_the_steps_is_read_again(monkeypatch):
    """Flight alone, by the cubic from rest, costs 159, the motion in steps 104."""
    waits = [ContactPhase({"floor": Sliding()}, 1.2), ContactPhase({"floor": Open()}, 0.8)]

    def read(self, *, briefest=False):
        return tuple(waits if briefest else FLIGHT)

    monkeypatch.setattr(Recognizer, "read_sequence", read)
    result = lift(plan=with_sequence(trials=0))
    assert result.objective == pytest.approx(48 / np.sqrt(6 / G) ** 3, rel=1e-9)


def test_a_strike_in_the_first_step_is_seen():
    """Thrown up 1 cm below a ceiling it strikes, falls and lies: all without the drive."""
    mass = Body("mass", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(mass))
    down = [[1.0, 0, 0], [0, -1.0, 0], [0, 0, -1.0]]
    planes = {"floor": Frame(GROUND), "ceiling": Frame(GROUND, (0, 0, 0.5), down)}
    contacts = [PlaneContact(name, frame, Frame(mass)) for name, frame in planes.items()]
    mechanism = Mechanism([mass], [rail], "relative", [Actuator("rail")])
    d = assemble(mechanism, contacts, gravity=(0, 0, -G))
    ends = [StartAt([0.49], [1.0]), EndAt([0.0], [0.0])]
    result = optimize(d, Horizon(1.6, 20), [Effort()], ends, Quintic([0.49], [0.0]))
    assert result.completed
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    assert "ceiling strikes" in result.data.attrs["contact_sequence"]
    assert result["impulse"].values[1:, 1].max() == pytest.approx(np.sqrt(1 - 0.02 * G), rel=1e-4)


def test_a_lift_within_the_last_step_is_seen():
    """By 2 cm, which takes 0.11 s, in steps of 0.1 s: no motion keeps to the floor."""
    ends = [StartAt([0.0], [0.0]), EndAt([0.02], [np.nan])]
    stated = lift_dynamics(), Horizon(2.0, 20), [Effort()], ends, Quintic([0.0], [0.02])
    result = optimize(*stated)
    tau = np.sqrt(6 * 0.02 / G)
    assert result.data.attrs["contact_sequence"] == "floor touches; no contact"
    assert result.objective == pytest.approx(48 * 0.02**2 / tau**3, rel=1e-8)


def test_a_wall_may_stop_a_motion_in_its_last_instant():
    """1 kg by 1 m in 1.2 s with 2 N at most, to rest: a wall takes its speed at the end.

    The force is at its limit for a time a, from there it falls to zero at the end.
    """
    ahead = (1.0, 0, 0)
    mass = Body("mass", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND, axes=ahead), Frame(mass, axes=ahead))
    wall = PlaneContact("wall", Frame(GROUND, ahead, axes=(-1.0, 0, 0)), Frame(mass))
    mechanism = Mechanism([mass], [rail], "relative", [Actuator("rail", effort=2.0)])
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [0.0]), ActuatorLimits()]
    stated = assemble(mechanism, [wall]), Horizon(1.2, 25), [Effort()], ends, Quintic()
    result = optimize(*stated)
    a = brentq(lambda a: a**2 + 2 * a * (1.2 - a) + 2 / 3 * (1.2 - a) ** 2 - 1, 0, 1.2)
    assert result.completed
    assert result.data.attrs["contact_sequence"] == "no contact; wall touches"
    # The wall must be touched for a millionth of the duration.
    assert result.objective == pytest.approx(4 * a + 4 / 3 * (1.2 - a), rel=5e-6)


def two_links(steps):
    """A tip that is to wipe a floor with friction 0.3 by 0.25 m in 1 s, by least torques."""
    links = [
        Body("upper", 1.0, (0.02,) * 3, position=(0.25, 0, 0.5)),
        Body("fore", 1.0, (0.02,) * 3, position=(0.75, 0, 0.5)),
    ]
    axis = (0.0, -1.0, 0.0)
    at = (0, 0, 0.5), (0.5, 0, 0.5)
    joints = [
        Revolute("shoulder", Frame.at(None, at[0], axis), Frame.at(links[0], at[0], axis)),
        Revolute("elbow", Frame.at(links[0], at[1], axis), Frame.at(links[1], at[1], axis)),
    ]
    law, tip = ContactLaw(friction=0.3), Frame.at(links[1], (1.0, 0, 0.5))
    floor = PlaneContact("floor", Frame(GROUND), tip, law=law, planar=True)
    drives = [Actuator("shoulder"), Actuator("elbow")]
    d = assemble(Mechanism(links, joints, "relative", drives), [floor], gravity=(0, 0, -G))

    def reach(x):
        bend = -np.arccos((x**2 - 0.25) / 0.5)
        return [np.arctan2(-0.5, x) - bend / 2, bend]

    ends = [StartAt(reach(0.5), [0, 0]), EndAt(reach(0.75), [0, 0])]
    return d, Horizon(1.0, steps), [Effort()], ends, Quintic()


@pytest.mark.slow
@pytest.mark.parametrize("steps", [20, 40])
def test_a_phase_of_no_duration_must_bring_more_than_its_nodes(steps):
    """No trial may end above the sequence it came from, nor add a phase of a ten-thousandth."""
    stated = two_links(steps)
    alone = ExactContacts(trials=0)
    first, best = (optimize(*stated, plan=PLAN.with_others(x)) for x in (alone, ExactContacts()))
    assert best.completed
    assert best.objective <= first.objective * (1 + 1e-9)
    assert best.data.attrs["contact_sequence"] == "floor slides forwards"
    assert "change" in best.summary()


@dataclass(frozen=True, kw_only=True)
class Falling(Cost):
    """The speed upwards at the end [m/s]."""

    def final(self, m):
        return m.v[0]


def test_what_is_told_of_the_end_is_of_the_exact_motion():
    """At rest on its floor: in steps it falls for half of the last one, if that is worth it."""
    ends = [StartAt([0.0], [0.0]), EndAt([0.0], [np.nan])]
    costs = [Effort(), Falling()]
    stated = lift_dynamics(), Horizon(0.5, 8), costs, ends, Quintic([0.0], [0.0])
    in_steps, exact = (optimize(*stated, plan=plan) for plan in (IN_STEPS, PLAN))
    assert "moves into its wall" in in_steps.summary()
    assert exact["v"].values[-1, 0] == pytest.approx(0.0, abs=1e-7)
    assert "moves into its wall" not in exact.summary()


def test_steps_name_the_plan_that_makes_them_exact():
    """By a warning, which the exact motion has not."""
    told = [" ".join(lift(plan=plan).warnings) for plan in (IN_STEPS, PLAN)]
    assert "opens at the end of a step" in told[0]
    assert "the default plan makes them exact" in told[0]
    assert told[1] == ""


@pytest.mark.slow
def test_the_best_that_is_solved_in_full_is_taken(monkeypatch):
    """Two lifts, the wait of each put in; that of both, whose last solve fails, is passed over."""
    masses = [Body(name, 1.0, (1.0, 1.0, 1.0)) for name in ("left", "right")]
    rails = [Prismatic(f"{x.name} rail", Frame(GROUND), Frame(x)) for x in masses]
    floors = [PlaneContact(f"{x.name} floor", Frame(GROUND), Frame(x)) for x in masses]
    drives = [Actuator(x.name) for x in rails]
    d = assemble(Mechanism(masses, rails, "relative", drives), floors, gravity=(0, 0, -G))
    ends, guess = [StartAt([0, 0], [0, 0]), EndAt([1, 1])], Quintic([0, 0], [1, 1])
    flight = [ContactPhase({x.name: Open() for x in floors}, 2.0)]
    solve_again, waits = ExactContacts._solve_again, 48 / np.sqrt(6 / G) ** 3

    def fail_where_both_wait(self, motion, best):
        again = solve_again(self, motion, best)
        both = any(all(mode.closed for mode in x.modes.values()) for x in best.sequence)
        return replace(again, cost=np.inf) if both else again

    for spoilt, least in ((False, 2 * waits), (True, waits + 3 * (1 + 2 * G) ** 2 / 8)):
        if spoilt:
            monkeypatch.setattr(ExactContacts, "_solve_again", fail_where_both_wait)
        plan = with_sequence(sequence=flight)
        result = optimize(d, Horizon(2.0, 25), [Effort()], ends, guess, plan=plan)
        assert result.objective == pytest.approx(least, rel=1e-6)
