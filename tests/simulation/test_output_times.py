"""States at given times: interpolated in the order of the scheme; sums of losses and work."""

import numpy as np
import pytest

from nsopt import (
    Checkpoint,
    Compiled,
    Composition,
    ContactAligned,
    StepBounds,
    Variational,
    simulate,
)
from nsopt.interrupt import forget
from nsopt.simulation.driver import Driver
from problems.double_pendulum import double_pendulum
from tests.schemes.models import G, ball

STEPS = StepBounds(1e-3, 1e-3)
TIMES = np.array([0.013, 0.0471, 0.1, 0.1234567, 0.2])


def run(dynamics, duration, h, scheme, **options):
    result = simulate(
        dynamics,
        duration=duration,
        steps=StepBounds(h, h),
        scheme=scheme,
        solver=Compiled(chunk=20),
        progress=False,
        **options,
    )
    assert result.completed, result.stop_reason
    return result


@pytest.mark.parametrize(
    "scheme", [Variational(), pytest.param(Composition(), marks=pytest.mark.slow)], ids=repr
)
def test_states_between_steps_have_the_order_of_the_scheme(scheme):
    model, times = double_pendulum.model("relative"), np.linspace(0.0013, 0.2, 60)
    exact = run(model, 0.2, 2e-4, scheme, times=times)
    errors = {"q": [], "v": []}
    for h in (2e-2, 1e-2):
        result = run(model, 0.2, h, scheme, times=times)
        assert result["time"].values == pytest.approx([0.0, *times], abs=1e-15)
        for name, found in errors.items():
            found.append(np.abs(result[name].values - exact[name].values).max())
    assert errors["q"][1] < errors["q"][0] / 2**scheme.order * 1.2
    assert errors["v"][1] < errors["v"][0] / 2 ** min(scheme.order, 3) * 1.2


@pytest.mark.slow
def test_through_impacts_flights_are_exact():
    """Parabolas between impacts that are at ends of steps; and all of the losses."""
    e, height = 0.6, 0.05
    d, times = ball(e, height), np.linspace(0.003, 0.3, 100)
    result = run(d, 0.3, 5e-3, ContactAligned(), times=times)
    whole = run(d, 0.3, 5e-3, ContactAligned())
    t, z, v = 0.0, height, 0.0
    exact = []
    for now in times:
        while True:
            hit = t + (v + np.sqrt(v**2 + 2 * G * z)) / G
            if hit > now:
                break
            t, z, v = hit, 0.0, e * np.sqrt(v**2 + 2 * G * z)
        exact.append(z + v * (now - t) - G * (now - t) ** 2 / 2)
    assert result["q"].values[1:, 2] == pytest.approx(exact, abs=1e-10)
    for name in ("contact_loss", "iterations", "retries"):
        assert np.nansum(result[name].values) == pytest.approx(np.nansum(whole[name].values))
    for name in ("total_energy", "external_work", "dissipated_energy"):
        assert result[name].values[-1] == pytest.approx(whole[name].values[-1], abs=1e-12)
    assert result.data.attrs["steps"] == whole.data.attrs["steps"]


def test_times_of_steps_give_their_states():
    d = double_pendulum.model("relative")
    whole = run(d, 0.1, 1e-2, Variational())
    result = run(d, 0.1, 1e-2, Variational(), times=whole["time"].values)
    for name in ("q", "v", "external_work", "total_energy"):
        assert np.array_equal(result[name].values, whole[name].values)


@pytest.mark.slow
def test_a_run_that_goes_on_has_the_same_rows(tmp_path, monkeypatch):
    d, times, folder = ball(0.6, 0.05), np.linspace(0.003, 0.3, 50), tmp_path / "run"
    whole = run(d, 0.3, 1e-3, Variational(), times=times)
    advance, calls = Driver.advance, []

    def interrupted(self):
        calls.append(self)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return advance(self)

    monkeypatch.setattr(Driver, "advance", interrupted)
    first = simulate(
        d,
        duration=0.3,
        steps=StepBounds(1e-3, 1e-3),
        scheme=Variational(),
        solver=Compiled(chunk=20),
        progress=False,
        times=times,
        checkpoint=Checkpoint(folder, steps=1),
    )
    assert first.interrupted
    monkeypatch.undo()
    forget()
    again = Checkpoint(folder, resume=True)
    with pytest.raises(ValueError, match="times was"):
        run(d, 0.3, 1e-3, Variational(), times=times[:-1], checkpoint=again)
    rest = run(d, 0.3, 1e-3, Variational(), times=times, checkpoint=again)
    for name in ("time", "q", "v", "contact_loss", "external_work", "iterations"):
        assert np.array_equal(rest[name].values, whole[name].values, equal_nan=True)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("times", "says"),
    [
        ([0.1, 0.1], "times must grow, got 0.1 after 0.1"),
        ([0.1, 0.5], "times must be within the run, 0 to 0.3 s, got 0.1 to 0.5"),
        ([], "times must be a sequence of numbers"),
        ([np.nan], "times must be a sequence of numbers"),
        ("soon", "times must be numbers"),
    ],
)
def test_times_that_are_none_are_refused(times, says):
    with pytest.raises(ValueError, match=says):
        simulate(ball(), duration=0.3, steps=STEPS, scheme=Variational(), times=times)


@pytest.mark.unit
def test_times_and_every_so_many_steps_are_two_ways():
    with pytest.raises(ValueError, match="either times or store_every"):
        simulate(
            ball(), duration=0.3, steps=STEPS, scheme=Variational(), times=[0.1], store_every=2
        )
