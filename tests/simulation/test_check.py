"""The error that a run tells is that by which it is off."""

import re
import time

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    GROUND,
    Body,
    Check,
    Checkpoint,
    Compiled,
    ContactLaw,
    Driven,
    ErrorControl,
    FollowContacts,
    Frame,
    LargestStep,
    Mechanism,
    MoreauJean,
    PlaneContact,
    Result,
    Revolute,
    RungeKutta,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.problem import load_problem
from nsopt.simulation.check import Accuracy
from nsopt.simulation.driver import Driver
from tests.schemes.models import G, ball

LENGTH, RATE, DURATION = 0.5, 6.0, 2.0
FINER, COARSER = Check(seconds=np.inf), Check(seconds=0)
LIKE = 1.1
"""Factor within which errors are told where an order is seen, of runs that are well resolved."""


def pendulum(coordinates="relative"):
    """Return a bob on a massless rod, that swings in the plane x-y from below."""
    bob = Body(
        "bob",
        1.0,
        (0, 0, 1e-9),
        position=(0, -LENGTH, 0),
        velocity=(RATE * LENGTH, 0, 0),
        angular_velocity=(0, 0, RATE),
        physical=False,
    )
    pin = Revolute("pin", Frame(GROUND), Frame(bob, (0, LENGTH, 0)))
    return assemble(Mechanism([bob], [pin], coordinates), gravity=(0, -G, 0))


def place(times):
    """Return where the bob is, (n, 2) [m]."""
    swing = solve_ivp(
        lambda t, y: (y[1], -G / LENGTH * np.sin(y[0])),
        *((0, times[-1]), (0.0, RATE)),
        t_eval=times,
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
    )
    return LENGTH * np.stack([np.sin(swing.y[0]), -np.cos(swing.y[0])], axis=1)


def run(dynamics, h, check, duration=DURATION, h_min=None, **options):
    steps = StepBounds(h_min or h, h)
    result = simulate(
        *(dynamics, None, duration), steps=steps, check=check, progress=False, **options
    )
    assert result.completed, result.stop_reason
    return result


def off(result):
    """Return how far the bob is from its place along an axis, at the times of a run, (n,) [m]."""
    x = result["body_position"].values[:, 0, :2]
    return np.abs(x - place(result["time"].values)).max(axis=1)


@pytest.mark.parametrize("check", [FINER, COARSER], ids=["finer", "coarser"])
@pytest.mark.parametrize(
    ("scheme", "h", "order"),
    [
        (Variational(), 5e-3, 2),
        (MoreauJean(), 5e-3, 2),
        (RungeKutta(), 2e-2, 4),
    ],
    ids=["variational", "moreau-jean", "runge-kutta"],
)
def test_a_swing_is_off_by_what_it_tells(scheme, h, order, check):
    result = run(pendulum(), h, check, scheme=scheme)
    told, true = result.error["motion"], off(result)
    assert told.attrs["order"] == pytest.approx(order, abs=0.2)
    assert true.max() / LIKE < told.values.max() < true.max() * LIKE
    if check is FINER:  # between longer steps states are interpolated, to fourth order
        late = true > 0.1 * true.max()
        assert np.all(np.abs(np.log(told.values[late] / true[late])) < np.log(1.2))


@pytest.mark.parametrize("check", [FINER, COARSER], ids=["finer", "coarser"])
@pytest.mark.parametrize("options", [{}, {"store_every": 20}], ids=["all", "some"])
def test_an_energy_is_off_by_what_it_tells(check, options):
    """It swings by the steps, in longer ones by more: the run's own is within that."""
    result = run(pendulum(), 5e-3, check, **options)
    energy = result["total_energy"].values
    true = np.abs(energy - energy[0]).max()
    assert true / 1.2 < result.error["total_energy"].values.max() < 1.2 * true


def test_longer_steps_tell_where_shorter_ones_would_take_too_long():
    finer, coarser = (run(pendulum(), 5e-3, check) for check in (FINER, COARSER))
    assert np.array_equal(finer.data.attrs["error_parts"], [0.5, 0.25])
    assert np.array_equal(coarser.data.attrs["error_parts"], [2, 4])
    for name in ("q", "total_energy"):
        largest = [float(x.error[name].max()) for x in (finer, coarser)]
        assert largest[0] == pytest.approx(largest[1], rel=0.1)


def test_a_check_leaves_the_run_as_it_is():
    checked, alone = (run(pendulum(), 5e-3, check) for check in (Check(), None))
    for name in ("q", "v", "h", "total_energy"):
        assert np.array_equal(checked[name].values, alone[name].values, equal_nan=True)


def test_without_a_check_errors_are_unknown():
    result = run(pendulum(), 5e-3, None, duration=0.1)
    with pytest.raises(AttributeError, match="unknown: not asked for"):
        _ = result.error
    assert "error unknown" in result.summary()


def test_a_block_on_a_turntable_is_off_by_what_it_creeps():
    """It should stay at its radius, but by MoreauJean creeps by R w^2 h a second."""
    radius, rate = 0.4, 2.0
    plate = Body("plate", 5.0, (1, 1, 1), angular_velocity=(0, 0, rate))
    at, v = (radius, 0, 0), (0, rate * radius, 0)
    block = Body("block", 0.5, point_mass=True, position=at, velocity=v)
    hub = Revolute("hub", Frame(GROUND), Frame(plate))
    law = ContactLaw(friction=0.5)
    top = PlaneContact("top", Frame(plate), Frame(block), law=law)
    motor = Driven("motor", hub, rate)
    d = assemble(Mechanism([plate, block], [hub, motor], "relative"), [top], (0, 0, -G))
    result = run(d, 4e-3, FINER, duration=3.0, h_min=1e-6, scheme=MoreauJean())
    x = result["body_position"].sel(body="block").values
    angle = rate * result["time"].values
    true = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    creep = np.abs(x[:, :2] - true).max(axis=1)
    told = result.error["motion"]
    assert told.attrs["order"] == pytest.approx(1, abs=0.1)
    assert float(told[-1]) == pytest.approx(creep[-1], rel=0.1)


def test_figures_of_contacts_are_off_by_what_they_tell():
    """A ball that bounces: impulses and losses in closed form, at steps that place impacts."""
    e, height = 0.6, 0.5
    result = run(ball(e, height), 1e-2, FINER, duration=0.8, h_min=1e-2)
    speed = np.sqrt(2 * G * height)
    count = int(result["impact_impulse"].values[1:, 0].astype(bool).sum())
    rebounds = e ** np.arange(count)
    impulse = speed * (1 + e) * rebounds.sum()
    off = abs(float(result["impact_impulse_sum"][0]) - impulse)
    assert off / 3 < float(result.error["impact_impulse_sum"][0]) < 3 * off


@pytest.mark.parametrize("check", [FINER, COARSER], ids=["finer", "coarser"])
def test_a_tolerance_is_scaled_as_steps_are(check):
    """All steps are set by the tolerance: with the same one runs would be the same."""
    options = {"control": ErrorControl(1e-5), "h_min": 1e-6}
    result = run(pendulum(), 1.0, check, **options)
    h = result["h"].values[2:-1]
    assert h.max() < 0.1
    told, true = result.error["motion"].values.max(), off(result).max()
    assert true / 1.5 < told < 1.5 * true


def test_what_contacts_allow_a_step_is_scaled_too():
    """Wherever the pin of a hinge presses, its steps are shorter than h_max."""
    p = load_problem("case_a")
    h_max = 0.05
    shares = []
    for check, part in ((FINER, 1.0), (None, 1 / 32)):
        allowed = FollowContacts(0.1 * part**2, 3e-4 * part)
        result = simulate(
            *(p.dynamics, p.start, 0.5),
            steps=StepBounds(1e-7, h_max * part),
            control=LargestStep(contacts=allowed),
            check=check,
            progress=False,
        )
        assert result.completed
        shares.append(result)
    coarse, fine = shares
    assert np.median(coarse["h"].values[1:]) < 0.5 * h_max
    t = coarse["time"].values
    x = coarse["body_position"].values[:, 0]
    known = [
        np.interp(t, fine["time"].values, fine["body_position"].values[:, 0, k]) for k in range(3)
    ]
    true = np.linalg.norm(x - np.stack(known, axis=1), axis=1).max()
    assert true / 3 < coarse.error["motion"].values.max() < 3 * true


@pytest.mark.parametrize("options", [{"store_every": 3}, {"times": np.linspace(0.01, 2, 50)}])
def test_errors_are_those_of_the_rows_that_are_kept(options):
    whole, some = (run(pendulum(), 2.5e-3, FINER, **x) for x in ({}, options))
    error = np.interp(some["time"].values, whole["time"].values, whole.error["motion"].values)
    assert some.error["motion"].values == pytest.approx(error, rel=0.02, abs=1e-3 * error.max())


def test_errors_of_a_run_that_records_little():
    whole, little = (run(pendulum(), 5e-3, FINER, variables=x) for x in (None, ["h"]))
    assert "body_position" not in little
    assert np.array_equal(whole.error["motion"].values, little.error["motion"].values)


def test_no_error_is_told_of_forces_that_there_are_none_of():
    result = run(ball(0.6, 0.5), 1e-2, FINER, duration=0.8)
    (row,) = [x for x in result.summary().splitlines() if x.startswith("errors at most")]
    assert "impulses" in row
    assert "force" not in row


def test_a_repetition_that_ends_early_tells_until_when_errors_are_known():
    """Beyond, they are guessed by the rules for runs without a check."""
    checked, alone = (run(pendulum("absolute"), 0.1, check) for check in (FINER, None))
    assert alone.warnings
    data = checked.data.copy(deep=True)
    data["error_motion"][5:] = np.nan
    data.attrs["error_unknown"] = "the run in h/2 ended early: interrupted at t = 0.4 s"
    part = Result(data)
    assert {*alone.warnings} <= {*part.warnings}
    assert "no error is known after t = 0.4 s" in part.summary()


def test_time_that_other_programs_take_ends_no_repetition(monkeypatch):
    """What it may take is time of the processor, as that of the run."""
    advance = Driver.advance

    def wait(self):
        time.sleep(0.15)
        return advance(self)

    of = {"duration": 0.4, "steps": StepBounds(1e-3, 1e-3), "solver": Compiled(chunk=50)}
    of |= {"dynamics": pendulum(), "check": COARSER, "progress": False}
    simulate(**of)  # a start may take long, and a repetition as long
    monkeypatch.setattr("nsopt.simulation.check.check.SHORT", 0.05)
    monkeypatch.setattr(Driver, "advance", wait)
    told = simulate(**of)
    assert told.data.attrs["error_unknown"] == ""


def test_errors_are_saved(tmp_path):
    result = run(ball(), 1e-2, Check(), duration=0.5)
    again = Result.open(result.save(tmp_path / "ball.nc"))
    for name, x in result.error.data_vars.items():
        assert np.array_equal(again.error[name].values, x.values, equal_nan=True)
        assert again.error[name].attrs["units"] == x.attrs["units"]
    assert again.summary() == result.summary()
    result.data["error_motion"][-1] = -1.0
    with pytest.raises(ValueError, match="'error_motion' has entries that are negative"):
        Result.open(result.save(tmp_path / "bad.nc"))


def test_what_is_off_by_more_than_a_twentieth_is_told():
    coarse, fine = (run(pendulum(), h, FINER) for h in (0.2, 5e-3))
    assert off(coarse).max() > 0.1 * LENGTH
    assert any("bodies are off by up to" in text for text in coarse.warnings)
    assert not fine.warnings


def test_where_a_tolerance_sets_the_steps_the_remedy_is_a_tolerance():
    """And it helps."""
    coarse = run(pendulum(), 1.0, FINER, control=ErrorControl(4e-2), h_min=1e-6)
    size = float(coarse.error["motion"].attrs["size"])
    assert off(coarse).max() > 0.05 * size
    (told,) = (text for text in coarse.warnings if "bodies are off" in text)
    assert "h_max" not in told
    tolerance = float(re.findall(r"a tolerance of ([\d.e-]+) m or less", told)[0])
    fine = run(pendulum(), 1.0, FINER, control=ErrorControl(tolerance), h_min=1e-6)
    assert off(fine).max() < 0.05 * size
    assert not [text for text in fine.warnings if "bodies are off" in text]


def test_where_h_max_sets_the_steps_it_is_the_remedy_with_a_tolerance_too():
    result = run(pendulum(), 0.2, FINER, control=ErrorControl(1.0))
    assert all("h_max of" in text for text in result.warnings if "bodies are off" in text)
    assert result.warnings


@pytest.mark.parametrize("h", [1e-2, 3e-2])
def test_impulses_that_are_off_by_more_than_a_twentieth_are_told(h):
    """A ball bounces: impulses in closed form."""
    e, height, duration = 0.6, 0.45, 0.8
    result = run(ball(e, height), h, FINER, duration=duration, h_min=h)
    speed, first = np.sqrt(2 * G * height), np.sqrt(2 * height / G)
    flights = np.cumsum([first, *(2 * speed * e**k / G for k in range(1, 9))])
    true = speed * (1 + e) * np.sum(e ** np.arange(np.sum(flights < duration)))
    part = abs(float(result["impact_impulse_sum"][0]) / true - 1)
    assert any("the impulses of impacts in 'floor'" in x for x in result.warnings) == (part > 0.05)


def test_a_check_takes_no_negative_time():
    with pytest.raises(ValueError, match="seconds of Check"):
        Check(seconds=-1.0)


@pytest.mark.parametrize("asked", [1e-2, 1e-4])
def test_a_run_is_as_accurate_as_asked(asked):
    result = simulate(pendulum(), None, DURATION, accuracy=asked, progress=False)
    size = np.ptp(place(np.linspace(0, DURATION, 400)), axis=0).max()
    assert off(result).max() < asked * size
    assert not result.warnings


def test_a_run_to_an_accuracy_can_be_repeated():
    result = simulate(pendulum(), None, DURATION, accuracy=1e-3, progress=False)
    bounds = StepBounds(*(result.data.attrs[name] for name in ("h_min", "h_max", "h_part")))
    again = simulate(pendulum(), None, DURATION, steps=bounds, progress=False)
    assert np.array_equal(result["q"].values, again["q"].values)


def test_the_steps_of_an_accuracy_are_told_in_full():
    result = simulate(pendulum(), None, DURATION, accuracy=1e-3, progress=False)
    (told,) = re.findall(r"0.001 .* met by StepBounds\((.*)\)", result.summary())
    again = simulate(
        *(pendulum(), None, DURATION),
        steps=StepBounds(*map(float, told.split(", "))),
        progress=False,
    )
    assert np.array_equal(result["q"].values, again["q"].values)


def test_an_accuracy_that_takes_too_many_steps_is_told_with_these():
    coarse = run(pendulum(), 0.01, FINER)
    many = Result(coarse.data.assign_attrs(steps=10**6))
    result = Accuracy(1e-9).reach(lambda steps: many, StepBounds(0.01, 0.01))
    h = result.data.attrs["accuracy_h"]
    motion, exchanged = coarse.error["motion"], np.ptp(coarse["potential_energy"].values)
    parts = [motion / motion.attrs["size"], coarse.error["total_energy"] / exchanged]
    part = max(float(x.max()) for x in parts)
    assert part * (h / 0.01) ** 2 == pytest.approx(1e-9, rel=0.5)  # by the order two
    assert any(f"it takes steps of {h:.1g} s, too many" in text for text in result.warnings)


def test_an_accuracy_that_no_steps_meet_is_told():
    coarse, tried = run(pendulum(), 0.1, FINER), []

    def run_alike(steps):
        tried.append(steps)
        return coarse

    result = Accuracy(1e-3).reach(run_alike, StepBounds(0.1, 0.1))
    assert result.data.attrs["accuracy_missed"]
    assert 1 < len(tried) < 5
    assert any("accuracy of 0.001 is not met" in text for text in result.warnings)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"accuracy": 0.0}, ValueError),
        ({"accuracy": 1e-3, "checkpoint": Checkpoint("anywhere")}, ValueError),
        ({}, TypeError),
    ],
    ids=["zero", "checkpoint", "nothing"],
)
def test_an_accuracy_is_a_part_and_stands_alone(options, error):
    with pytest.raises(error, match="accuracy"):
        simulate(pendulum(), duration=0.1, progress=False, **options)


def test_a_check_is_no_truth_value():
    with pytest.raises(TypeError, match="check must be"):
        run(pendulum(), 5e-3, False)
