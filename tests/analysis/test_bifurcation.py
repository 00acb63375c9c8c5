"""The bouncing ball on a shaken table: its first period doubling where theory has it."""

import numpy as np
import pytest
import xarray as xr

from nsopt import (
    Compiled,
    ContactAligned,
    Grid,
    Problem,
    Start,
    StepBounds,
    sweep,
)
from nsopt.analysis import Impacts, SectionValues, bifurcation
from tests.analysis.bouncing import DOUBLING, PERIOD, RATE, model, phase
from tests.schemes.models import G


def bouncing(amplitude):
    # From near the bounce itself, above every table.
    at = phase(amplitude)
    height = 1.1 * amplitude * np.sin(at)
    start = Start(np.array([0, 0, height]), np.array([0, 0, G * PERIOD / 2]), at / RATE)
    return Problem(model(amplitude), 400 * PERIOD, StepBounds(PERIOD / 8, PERIOD / 8), start)


@pytest.fixture(scope="module")
def diagram():
    """Amplitudes 3 % below to 3 % above the bound."""
    amplitudes = DOUBLING * np.array([0.97, 0.99, 1.01, 1.03])
    data = sweep(
        bouncing(DOUBLING),
        Grid({"amplitude": amplitudes}),
        measure={"points": SectionValues("ball.vz", Impacts(), 60)},
        scheme=ContactAligned(),
        solver=Compiled(chunk=100),
        workers=1,
        progress=False,
    )
    assert data["completed"].values.all()
    return bifurcation(data)


@pytest.mark.slow
def test_the_period_doubles_where_theory_has_it(diagram):
    """One speed after the impact, g T / 2, below the bound; two of them above."""
    spread = diagram.groupby("amplitude")["points"].agg(["min", "max", "count"])
    apart = (spread["max"] - spread["min"]).values
    assert apart[:2] == pytest.approx(0, abs=1e-4)
    assert np.all(apart[2:] > 0.02)
    assert spread["min"].values[0] == pytest.approx(G * PERIOD / 2, rel=1e-4)
    assert np.all(spread["count"] == 60)


def test_two_bounces_take_turns_above_the_bound(diagram):
    last = diagram[diagram["amplitude"] > 1.02 * DOUBLING]["points"].values
    assert last[::2] == pytest.approx(last[0], abs=1e-6)
    assert last[1::2] == pytest.approx(last[1], abs=1e-6)


def test_a_diagram_needs_its_measure():
    data = xr.Dataset({"points": (("a", "b", "point"), np.zeros((2, 2, 3)))})
    with pytest.raises(KeyError, match="no measure 'x' in the sweep; there are points"):
        bifurcation(data, "x")
    with pytest.raises(ValueError, match=r"several names were swept \(a, b\)"):
        bifurcation(data)
    assert len(bifurcation(data.assign_coords(a=[1, 2], b=[3, 4]), over="b")) == 12
