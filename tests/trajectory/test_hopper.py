"""A hop from a quintic that slides, against mechanics written by hand."""

from functools import cache

import numpy as np
import pytest

from nsopt.caveats import caveats
from nsopt.problem import load_optimization

MASSES = np.array([6.0, 1.0, 0.5])  # kg: body, upper leg, lower leg
BELOW = np.array([0.0, 0.1, 0.3])  # m, from the hip along the leg
FRICTION = 0.7
G = np.array([0.0, -9.81])


@cache
def hop():
    return load_optimization("hopper").solve(verify=True)


def places(q):
    """Centres of mass (time, body, 2) and foot (time, 2) [m] by geometry."""
    x, y, turned, hip, slid = q.T
    along = np.column_stack([np.sin(turned + hip), -np.cos(turned + hip)])
    base = np.column_stack([x, y])
    reach = BELOW + np.outer(slid, [0.0, 0.0, 1.0])
    return base[:, None] + reach[:, :, None] * along[:, None], base + (0.5 + slid)[:, None] * along


def test_it_hops_from_a_quintic():
    result = hop()
    assert result.completed, result.stop_reason
    assert np.nansum(result["iterations"].values) <= 300
    assert np.nanmax(result["complementarity_residual"].values) <= 1e-8
    q = result["q"].values
    assert q[0] == pytest.approx([0, 0.5, 0, 0, 0], abs=1e-9)
    assert q[-1] == pytest.approx([0.4, 0.5, 0, 0, 0], abs=1e-9)
    _, foot = places(q)
    assert foot[:, 1].min() > -1e-9
    assert foot[:, 1].max() > 0.05
    normal = result["contact_force"].values[1:, 0, 1]
    assert np.all(normal * foot[1:, 1] < 1e-6)
    t, ground = result["time"].values, foot[:, 1] < 1e-6
    assert np.diff(t[ground]).max() > 0.2  # the flight
    assert np.all(result["contact_mode"].values[1:, 0][~ground[1:]] == 0)


def test_momentum_changes_by_weight_and_ground():
    result = hop()
    t, force = result["time"].values, result["contact_force"].values[:, 0, :2]
    centres, _ = places(result["q"].values)
    h = np.diff(t)[:, None]
    p = np.einsum("b,tbi->ti", MASSES, np.diff(centres, axis=0)) / h
    gained = np.diff(p, axis=0) - MASSES.sum() * G * h[1:]
    assert gained == pytest.approx(force[2:] * h[1:], abs=1e-10)


def test_the_foot_stays_where_friction_holds_it():
    result = hop()
    along, normal = result["contact_force"].values[1:, 0, :2].T
    assert np.all(np.abs(along) <= FRICTION * normal + 1e-6)
    _, foot = places(result["q"].values)
    holds = np.abs(along) < 0.99 * FRICTION * normal
    assert holds.sum() > 10
    # Slip is judged at the start of a step, while the leg turns and slides on.
    assert np.abs(np.diff(foot[:, 0]))[holds].max() < 1e-3


def test_that_its_simulation_departs_is_told():
    data = hop().data
    off = np.abs(data["resimulated"].values - data["q"].values).max(axis=1)
    travel = np.ptp(data["q"].values, axis=0).max()
    first = data["time"].values[np.argmax(off > 0.05 * travel)]
    assert off.max() > 0.05 * travel
    told = [text for text in caveats(data) if "departs" in text]
    assert len(told) == 1
    assert f"at t = {first:.4g} s" in told[0]
