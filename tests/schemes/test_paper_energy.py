"""No joint gains energy by itself: the balance of the paper's step, derived to first order.

Over one step the equations of motion, times the mean velocity, give exactly

    dE = -h/2 g.M (v' - v) + (impulses of joints and contacts).(v' + v)/2

(gravity is taken at the new velocity; the gyroscopic moment does no work at the mean velocity).
The first is of first order over a run. Ideal joints close at both ends of a step, so their work is
of second order; contacts may gain by what their normals turn in a step, a part that falls with h.
"""

import numpy as np
import pytest

from nsopt import Start, consistent
from tests.catalog import CLEARANCES, CONTACTS, JOINTS
from tests.states import chained, grounded, run

IN_CHAINS = ("revolute", "spherical", "revolute clearance", "irregular prismatic", "sphere, sphere")
"""Loads of all rows between two bodies that move: `tests/elements`."""


def each(rows):
    """Every row on the ground, one of each kind in a chain too."""
    chains = [pytest.param(row, chained, marks=pytest.mark.slow) for row in rows]
    chains = [x for x in chains if x.values[0].name in IN_CHAINS]
    return pytest.mark.parametrize(
        ("row", "build"),
        [*((row, grounded) for row in rows), *chains],
        ids=lambda x: x.name if hasattr(x, "name") else x.__name__,
    )


def thrown(dynamics):
    """A start with random velocities that the joints allow."""
    stated = Start.stated(dynamics)
    sizes = np.tile([0.2] * 3 + [1.0] * 3, dynamics.nv // 6)
    v = np.random.default_rng(3).normal(size=dynamics.nv) * sizes
    return consistent(dynamics, Start(stated.q, v))


def work_of_joints(result, dynamics, h):
    """Change of energy in each step, less gravity's part of the above."""
    v = result["v"].values
    M = np.asarray(dynamics.mass(result["q"].values[0], dynamics.values()))
    explained = np.zeros(len(v) - 1)
    for k in range(0, dynamics.nv, 6):
        explained -= h / 2 * (M[k, k] * np.diff(v[:, k : k + 3], axis=0) @ dynamics.gravity)
    return np.diff(result["total_energy"].values) - explained


def works(row, build, duration):
    """Work of the joints at h and at h/2, of runs in which every step met the equations."""
    dynamics = build(row)
    start, work = thrown(dynamics), []
    coarse = 2e-3 if build is grounded else 1e-3  # 2 ms is too coarse for worn hinges in a chain
    for h in (coarse, coarse / 2):
        result = run(dynamics, duration, h, start)
        assert np.nanmax(result["motion_residual"]) <= 1e-9
        assert np.nanmax(result["constraint_violation"], initial=0) <= 1e-10
        assert result["gap"].min() >= -1e-10 if result["gap"].size else True
        work.append(work_of_joints(result, dynamics, h))
    return work


@each(JOINTS)
def test_work_of_ideal_joints_is_of_second_order(row, build):
    coarse, fine = (abs(np.sum(work)) for work in works(row, build, 0.05))
    assert fine <= 0.3 * coarse + 1e-12
    assert coarse <= 1e-4


@each(CLEARANCES + CONTACTS)
def test_contacts_gain_nothing_but_what_falls_with_the_step(row, build):
    coarse, fine = (np.sum(np.maximum(work, 0)) for work in works(row, build, 0.1))
    assert fine <= 0.6 * coarse + 1e-9
    assert coarse <= 0.02


@pytest.mark.slow
def test_jammed_hinges_gain_no_energy():
    """Both hinges tilted until radial and axial contacts nearly oppose each other.

    The equations of such a step have several solutions; some double the kinetic energy.
    """
    dynamics = chained(CLEARANCES[1])
    data = run(dynamics, 0.15, 1e-3, thrown(dynamics)).data
    total, kinetic = data["total_energy"].values, data["kinetic_energy"].values
    work = work_of_joints(data, dynamics, data["h"].values[1:])
    assert np.max(total - total[0]) < 1e-3 * kinetic[0]
    assert np.all(work <= 0.0101 * (kinetic[1:] + kinetic[:-1]) / 2 + 1e-6)
    assert total[-1] < total[0]
