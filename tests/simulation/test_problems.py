"""The named problems: residuals of every run, and the findings of [NLP-clearance 2024, sec. 5]."""

from functools import cache

import numpy as np
import pytest

from nsopt import (
    Compiled,
    Ipopt,
    PaperStep,
    Solver,
    Sqp,
    StepBounds,
    Variational,
    load_problem,
    simulate,
)
from nsopt.problem import load_mechanism, load_optimization, problem_files

BACKENDS = {"ipopt": Ipopt, "sqp": Sqp}
BY_IPOPT = ("case_a", "cylindrical_slider", "prismatic_slider")
"""One of each class of joint with clearance."""
backends = pytest.mark.parametrize(
    "backend", ["sqp", pytest.param("ipopt", marks=pytest.mark.slow)]
)
NAMES = [
    "case_a",
    "cylindrical_slider",
    "pendulum_clearance",
    "pendulum_ideal",
    "prismatic_slider",
    "revolute_pendulum",
    "revolute_pendulum_ideal",
]
QUICK = ("case_a", "prismatic_slider")
RANGES = ["ball_joint", "hip", "rom_pendulum_damped", "rom_pendulum_elastic", "rom_pendulum_free"]
TREES = [
    "andrews_squeezer",
    "arm_7dof",
    "bricard",
    "charmie",
    "double_pendulum",
    "elbow_clearance",
    "four_bar",
    "n_four_bar",
    "planar_2r",
    "puma560",
    "slider_crank",
    "slider_crank_5000rpm",
]
OPTIMA = [
    "arm_least_resistance",
    "arm_raise",
    "biped_step",
    "bounce",
    "brachistochrone",
    "bryson_denham",
    "charmie_reach",
    "clearance_pendulum",
    "clearance_tolerance",
    "double_integrator",
    "grasp_box",
    "hopper",
    "lift",
    "push_block",
    "quadruped_jump",
    "quadruped_stand",
    "rom_swing_up",
    "sit_to_stand",
    "slider_crank_peaks",
    "urdf_least_resistance",
]
LARGE = [
    "arm_least_resistance",
    "charmie_reach",
    "quadruped_jump",
    "quadruped_stand",
    "urdf_least_resistance",
]
"""Of these, what takes more than a second to assemble."""
MECHANISMS = [
    "bennett",
    "delassus",
    "double_watt",
    "four_bar_slot",
    "goldberg",
    "goldberg_six",
    "gough_platform",
    "parallelogram",
    "rhombus",
    "shaky_4h",
    "spherical_inline",
]
"""Mechanisms alone, whose mobility tests/mobility is about."""
PROGRAMMED = ["olkc", "rpsup"]
"""In eight cases each, run in test_programmed_motion.py."""

SETTLED = 0.2  # s

load = cache(load_problem)


@cache
def run(name, backend="sqp", steps=None, duration=None, **parameters):
    problem = load(name)
    return simulate(
        problem.dynamics,
        problem.start,
        duration or problem.duration,
        steps=steps or problem.steps,
        scheme=PaperStep(),
        solver=Solver(backend=BACKENDS[backend]()),
        parameters=parameters,
        title=name,
        progress=False,
    )


def few(names, *quick):
    """Mark all but the quick ones slow."""
    return [x if x in quick else pytest.param(x, marks=pytest.mark.slow) for x in names]


def test_every_named_problem_is_tested():
    assert sorted(problem_files()) == sorted(
        NAMES + RANGES + TREES + OPTIMA + MECHANISMS + PROGRAMMED
    )


@pytest.mark.parametrize("name", [*MECHANISMS, "bricard", "rom_swing_up"])
def test_mechanisms_are_found_by_name(name):
    """Alone, or those of a problem or an optimization."""
    assert load_mechanism(name).bodies


@pytest.mark.parametrize("name", few(OPTIMA, *(x for x in OPTIMA if x not in LARGE)))
def test_optimizations_are_found_by_name(name):
    """Solved in tests/trajectory; every file runs by itself, dataclasses of its own included."""
    stated = load_optimization(name)
    for condition in stated.conditions:
        condition.check(stated.dynamics)


@pytest.mark.slow
@pytest.mark.parametrize("name", few(RANGES, "rom_pendulum_damped"))
def test_ranges_of_motion_by_the_variational_step(name):
    """Within the softness of the law, residuals at round-off, no energy but from outside."""
    problem = load(name)
    result = simulate(
        problem.dynamics,
        problem.start,
        problem.duration,
        steps=problem.steps,
        scheme=Variational(),
        solver=Compiled(),
        progress=False,
    )
    data = result.data
    assert result.completed, data.attrs["stop_reason"]
    assert np.nanmax(data["motion_residual"]) < 1e-9
    assert np.max(data["gap_violation"].values, initial=0.0) < 1e-10
    balance = data["total_energy"].values - data["external_work"].values
    assert np.max(balance - balance[0]) < 2e-3 * np.max(data["kinetic_energy"].values)
    for reading, limit in zip(
        problem.dynamics.output_names,
        np.ravel(problem.dynamics.output_limits(problem.dynamics.values()).full()),
        strict=True,
    ):
        assert np.max(data[reading].values) < limit


@pytest.mark.slow
@pytest.mark.parametrize("name", few(RANGES, "rom_pendulum_damped"))
def test_ranges_of_motion_by_the_paper_step(name):
    result = run(name, duration=0.6, steps=StepBounds(5e-4, 1e-3))
    assert result.completed, result.stop_reason
    assert np.nanmax(result["motion_residual"]) < 1e-9


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        *(
            pytest.param(name, "sqp", marks=[] if name in QUICK else pytest.mark.slow)
            for name in NAMES
        ),
        *(pytest.param(name, "ipopt", marks=pytest.mark.slow) for name in BY_IPOPT),
    ],
)
def test_residuals(name, backend):
    result = run(name, backend)
    data = result.data
    assert result.completed, data.attrs["stop_reason"]
    assert data["time"].values[-1] == load(name).duration
    limits = {
        "motion_residual": 1e-9,
        "complementarity_residual": 1e-9,
        "gap_violation": 1e-10,
        "constraint_violation": 1e-10,
        "euler_norm_error": 1e-9,
    }
    for variable, limit in limits.items():
        assert np.all(data[variable].values[1:] <= limit), variable
    h = data["h"].values[1:]
    below = h < load(name).steps.h_min * (1 - 1e-4)
    below[-1] = False  # the last step may be short without a retry
    assert np.all(data["retries"].values[1:][below] > 0)
    assert data.attrs["steps_below_h_min"] <= 0.01 * len(h)
    by_other = [reason for reason in data["step_reason"].values if "other backend" in reason]
    assert len(by_other) <= 0.01 * len(h)
    assert np.sum(h) == pytest.approx(2.0, abs=1e-12)


@backends
@pytest.mark.parametrize("name", few(["cylindrical_slider", "prismatic_slider"], *QUICK))
def test_sliders_accelerate_by_force_over_mass(name, backend):
    data = run(name, backend).data
    t, v = data["time"].values, data["v"].values[:, 2]
    late = t > SETTLED
    slope = np.polyfit(t[late], v[late], 1)[0]
    assert slope == pytest.approx(1.0 / 0.5, rel=1e-9)


@pytest.mark.slow
@backends
def test_cylindrical_slider_touches_on_opposite_sides(backend):
    data = run("cylindrical_slider", backend).data
    late = data["time"].values > SETTLED
    near, far = np.moveaxis(data["contact_offset"].values[late], 1, 0)
    # The plane case is sensitive to round-off: a bushing end may leave its wall for a step or two.
    assert np.mean(data["gap"].values[late] < 1e-6) > 0.99
    cosine = np.sum(near * far, axis=1) / np.linalg.norm(near, axis=1) / np.linalg.norm(far, axis=1)
    assert np.median(cosine) < -0.9


@backends
def test_prismatic_slider_touches_with_all_six_vertices(backend):
    data = run("prismatic_slider", backend).data
    late = data["time"].values > SETTLED
    vertices = data["gap"].values[late].reshape(-1, 6, 2).min(axis=2)
    assert np.all(vertices < 0.01 * 3e-4)


@pytest.mark.slow
@backends
def test_step_size_settles_for_the_prismatic_slider_alone(backend):
    # The last ten steps share what is left to the end.
    steps = {
        name: run(name, backend).data["h"].values[run(name, backend).data["time"] > SETTLED][:-10]
        for name in ("prismatic_slider", "cylindrical_slider")
    }
    assert np.all(steps["prismatic_slider"] > 0.999e-2)
    assert np.min(steps["cylindrical_slider"]) < 0.15e-2
    assert np.max(steps["cylindrical_slider"]) > 0.5e-2


def first_bottom(result):
    """Return when the centre of mass first passes below the hinge [s], linearly interpolated."""
    t, x = result["time"].values, result["q"].values[:, 0]
    k = int(np.argmax(x < 0))
    return t[k - 1] + (t[k] - t[k - 1]) * x[k - 1] / (x[k - 1] - x[k])


@pytest.mark.slow
def test_clearance_lags_behind_ideal():
    steps = StepBounds(4e-4, 4e-4)
    ideal = run("pendulum_ideal", steps=steps, duration=0.5)
    clearance = run("pendulum_clearance", steps=steps, duration=0.5)
    lag = first_bottom(clearance) - first_bottom(ideal)
    # It first falls freely through its clearance, which takes sqrt(2 c / g) = 4.5 ms.
    assert 0 < lag < 4.6e-3
    peak = np.nanmax(np.linalg.norm(clearance["joint_reaction"].values, axis=2))
    assert peak > np.nanmax(np.linalg.norm(ideal["joint_reaction"].values, axis=2))


@pytest.mark.slow
def test_ideal_pendulum_has_no_axial_drift():
    assert np.all(np.abs(run("pendulum_ideal")["q"].values[:, 2]) < 1e-12)


@pytest.mark.slow
def test_axial_motion_is_bounded_by_tilt_and_axial_clearance():
    z = run("revolute_pendulum")["q"].values[:, 2]
    c, axial, length, arm, offset = 5e-4, 5e-4, 0.1, 0.32, 0.048
    tilt = 2 * c / length  # both ends against opposite walls
    assert np.max(np.abs(z - offset)) < axial + arm * tilt + offset * tilt**2
    assert np.max(np.abs(z - offset)) > 0.1 * axial


def mean_loss(steps):
    """Return the energy lost, averaged over the last second of two and a half [J]."""
    data = run("revolute_pendulum", steps=steps, duration=2.5).data
    t, loss = data["time"].values, data["dissipated_energy"].values
    late = t >= 1.5
    return np.trapezoid(loss[late], t[late])


@pytest.mark.slow
def test_smaller_bounds_lose_less_energy():
    """Down to the loss of the impacts themselves, which finer bounds than these approach."""
    wide, base, low = StepBounds(1e-3, 4e-3), StepBounds(1e-3, 2e-3), StepBounds(5e-4, 2e-3)
    assert mean_loss(wide) > mean_loss(base) > mean_loss(low) > 0


@pytest.mark.parametrize(
    "name",
    few(TREES, *(name for name in TREES if name not in ("charmie", "elbow_clearance"))),
)
def test_loops_and_robots_run_by_the_step_of_the_paper(name):
    """Their motions are tested elsewhere; here that the named problem itself runs and closes."""
    problem = load(name)
    h = problem.steps.h_max
    result = simulate(
        problem.dynamics,
        problem.start,
        5 * h,
        steps=StepBounds(h, h),
        scheme=PaperStep(),
        solver=Solver(backend=Sqp()),
        progress=False,
    )
    assert result.completed, result.stop_reason
    assert float(result["constraint_violation"].max()) < 1e-9
    assert float(np.nanmax(result["motion_residual"])) < 1e-6
