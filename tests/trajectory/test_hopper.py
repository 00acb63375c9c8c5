"""A hop from a quintic that slides, against mechanics written by hand."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from nsopt import Check, Ipopt, Solver
from nsopt.caveats import caveats
from nsopt.mpcc.horizon.structured_branch import StructuredBranches
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    FROM_AFAR,
    IN_STEPS,
    Horizon,
    MotionPhase,
    Open,
    Quintic,
    Stage,
    Sticking,
    optimize_phases,
)

MASSES = np.array([6.0, 1.0, 0.5])  # kg: body, upper leg, lower leg
BELOW = np.array([0.0, 0.1, 0.3])  # m, from the hip along the leg
FRICTION = 0.7
G = np.array([0.0, -9.81])


@cache
def hop():
    return replace(load_optimization("hopper"), plan=IN_STEPS).solve(verify=True)


def places(q):
    """Centres of mass (time, body, 2) and foot (time, 2) [m] by geometry."""
    x, y, turned, hip, slid = q.T
    along = np.column_stack([np.sin(turned + hip), -np.cos(turned + hip)])
    base = np.column_stack([x, y])
    reach = BELOW + np.outer(slid, [0.0, 0.0, 1.0])
    return base[:, None] + reach[:, :, None] * along[:, None], base + (0.5 + slid)[:, None] * along


@pytest.mark.slow
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


@cache
def at_most(iterations, phase_two):
    """Return the hop whose last stage allows products of 1e-24, and must be solved exactly."""
    backend = Ipopt(max_iter=iterations, options={"ipopt.acceptable_tol": 1e-20})
    stages = (*FROM_AFAR[:-1], Stage(1e-24))
    solver = Solver(backend=backend, schedules=[stages], phase_two=phase_two)
    return replace(load_optimization("hopper"), solver=solver, plan=IN_STEPS).solve()


@pytest.mark.slow
def test_a_last_stage_that_fails_is_replaced_by_its_branch():
    """Such products take more iterations than are allowed; the exact branch has the optimum."""
    with_branch, without = (at_most(60, phase_two=on) for on in (True, False))
    assert not without.completed
    assert with_branch.completed, with_branch.stop_reason
    assert with_branch.objective == pytest.approx(hop().objective, rel=1e-5)
    gap = with_branch["gap"].values[1:, 0]
    assert np.max(gap * with_branch["impulse"].values[1:, 0]) < 1e-10


@pytest.mark.slow
def test_a_branch_that_is_none_counts_among_the_iterations(monkeypatch):
    """The stage that failed stays the result."""
    tried, solve = [], StructuredBranches.solve

    def fails(*given):
        tried.append(solve(*given))
        return replace(tried[-1], success=False)

    monkeypatch.setattr(StructuredBranches, "solve", fails)
    with_branch, without = at_most.__wrapped__(60, phase_two=True), at_most(60, phase_two=False)
    assert not with_branch.completed
    assert tried
    counts = [float(x["iterations"].sum()) for x in (with_branch, without)]
    assert counts[0] == pytest.approx(counts[1] + sum(x.iterations for x in tried))


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


@pytest.mark.slow
def test_forces_over_a_step_are_those_of_the_node_that_it_leaves():
    result = hop()
    over, at = result["contact_force"].values[:, 0, 1], result["normal_force"].values[:, 0]
    assert np.isnan(over[0])
    assert over[1:] == pytest.approx(at[:-1], abs=1e-9)
    assert np.ptp(at) > 100


def test_the_time_of_the_code_of_its_simulation_is_told():
    result = hop()
    built = result.data.attrs["resimulated_compile_time"]
    assert built > 0
    assert f"{built:.2g} s to make or find its code" in result.summary()


def test_that_its_simulation_departs_is_told():
    data = hop().data
    off = np.abs(data["resimulated"].values - data["q"].values).max(axis=1)
    travel = np.ptp(data["q"].values, axis=0).max()
    first = data["time"].values[np.argmax(off > 0.05 * travel)]
    assert off.max() > 0.05 * travel
    told = [text for text in caveats(data) if "departs" in text]
    assert len(told) == 1
    assert f"at t = {first:.4g} s" in told[0]


POSTURES = (
    (0, 0.5, 0, 0, 0),
    (0, 0.46, 0.1, -0.26, -0.04),
    (0.09, 0.51, 0.51, -0.82, 0.03),
    (0.15, 0.58, 0.62, -0.92, 0.06),
    (0.29, 0.56, 0.61, -0.5, 0.02),
    (0.33, 0.51, 0.57, -0.31, 0.03),
    (0.4, 0.45, 0.15, 0.04, -0.04),
    (0.4, 0.5, 0.01, 0.01, 0),
    (0.4, 0.5, 0, 0, 0),
)
"""Roughly where the feet are put down and leave the ground."""
MODES = (Open(), Sticking(), Open(), Open(), Open(), Sticking(), Open(), Sticking())
TIMES = (0.09, 0.16, 0.07, 0.16, (0.02, 0.1), (0.05, 0.2), (0.02, 0.15), (0.01, 0.1))
"""The fourth is that in which the foot is to be 5 cm up, from 0.32 to 0.48 s."""


@cache
def hop_in_phases(finer=1):
    stated = load_optimization("hopper")
    start, end, over, limits = stated.conditions
    held = {0: [start], 3: [over.condition], 7: [end]}
    phases = [
        MotionPhase(
            stated.dynamics,
            Horizon(TIMES[k], finer * max(2, round(np.mean(TIMES[k]) / 0.02))),
            stated.costs,
            [*held.get(k, []), limits],
            Quintic(POSTURES[k], POSTURES[k + 1]),
            modes={"foot": mode},
        )
        for k, mode in enumerate(MODES)
    ]
    check = Check(seconds=np.inf) if finer == 1 else None
    return optimize_phases(phases, duration=0.8, verify=True, check=check)


@pytest.mark.slow
def test_in_phases_it_costs_no_more():
    """The steps of a scheme count an impact as an acceleration; phases do not, and are finer."""
    result = hop_in_phases()
    assert result.completed, result.stop_reason
    assert result.objective <= hop().objective * (1 + 1e-3)
    assert sum(json.loads(x.data.attrs["detailed_cost"])["Effort"] for x in result.phases) <= (
        json.loads(hop().data.attrs["detailed_cost"])["Effort"] * (1 + 1e-3)
    )
    assert result.borders[-1] == pytest.approx(0.8)
    whole = result.sample(1e-2)
    assert whole["q"].values[[0, -1]] == pytest.approx(np.array(POSTURES)[[0, -1]], abs=1e-8)
    assert whole["phase"].values[[0, -1]].tolist() == [0, 7]


@pytest.mark.slow
def test_in_phases_it_is_off_by_what_it_tells():
    """With impacts, and phases of two steps."""
    off = abs(hop_in_phases().objective - hop_in_phases(finer=4).objective)
    assert off / 3 < hop_in_phases().objective_error < 3 * off


@pytest.mark.slow
def test_in_phases_it_stands_flies_and_lands_as_mechanics_has_it():
    result = hop_in_phases()
    end = None
    for phase, mode in zip(result.phases, MODES, strict=True):
        _, foot = places(phase.sample(1e-3)["q"].values)
        if isinstance(mode, Sticking):
            along, normal = phase["contact_force"].values[:, 0, :2].T
            assert normal.min() > -1e-6
            assert np.all(np.abs(along) <= FRICTION * normal + 1e-5)
            assert np.abs(foot - foot[0]).max() < 1e-6
            assert foot[0, 1] == pytest.approx(0, abs=1e-8)
        else:
            assert foot[:, 1].min() > -1e-6
        q, v = (phase[x].values[0] for x in "qv")
        if isinstance(mode, Sticking):
            impulse = json.loads(phase.data.attrs["impact"])["foot"]
            gained = momentum(q, v) - momentum(*end)
            assert gained == pytest.approx([impulse[1], impulse[0]], abs=1e-8)
            assert abs(impulse[1]) <= FRICTION * impulse[0] + 1e-6
        elif end is not None:
            assert v == pytest.approx(end[1], abs=1e-7)
        end = phase["q"].values[-1], phase["v"].values[-1]
    assert places(result.phases[3].sample(1e-3)["q"].values)[1][:, 1].min() > 0.05 - 1e-7


def momentum(q, v):
    """Momentum (2,) [N s], by differences of the places of the masses."""
    step = 1e-6 * v
    ahead, behind = (places((q + x)[None])[0][0] for x in (step, -step))
    return MASSES @ (ahead - behind) / 2e-6


def test_each_phase_simulated_with_its_contact_does_the_same():
    """By another formulation, in steps a quarter as long, whose contact does as it would."""
    for phase in hop_in_phases().phases:
        data = phase.data
        assert data.attrs["resimulated_until"] == pytest.approx(data["time"].values[-1])
        assert data.attrs["resimulated_defect"] < 2e-3
        assert not [text for text in caveats(data) if "departs" in text]
