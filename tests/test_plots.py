"""Figures carry what the result holds, and say so where it holds nothing for them."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure
from PIL import Image

from nsopt import GROUND, Cone, CubicLaw, Frame, RangeOfMotion, Result, Tracker
from nsopt.algebra import rotate
from nsopt.plots import (
    FIGURES,
    cones,
    contact_paths,
    draw,
    effort,
    energies,
    gaps,
    joint_closure,
    overview,
    residuals,
    save,
    step_size,
)
from nsopt.plots.figures.run import FLOOR
from nsopt.plots.style import label, unit_of
from tests.plotted import (
    CLEARANCE,
    drawn,
    factor_of,
    holds,
    ran_clearance,
    ran_ideal,
    ran_led,
    ran_stone,
    repeated,
    rod,
    run,
    tight,
)

clearance, ideal, stone = (
    pytest.fixture(ran, scope="module") for ran in (ran_clearance, ran_ideal, ran_stone)
)


@pytest.fixture(scope="module")
def opened(clearance, tmp_path_factory):
    return Result.open(clearance.save(tmp_path_factory.mktemp("results") / "run.nc"))


def coned(body):
    quadrants, latitudes = np.radians([0, 90, 180, 270, 360]), np.radians([5, 40, 30, 0.5, 5])
    axes = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # z along x
    a, b = Frame(GROUND, axes=axes), Frame(body, axes=axes)
    return RangeOfMotion("cone", a, b, Cone(quadrants, latitudes), CubicLaw(20.0, 0.2))


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    result = run("held", joints=[tight], contacts=[coned, lambda body: Tracker("tip", Frame(body))])
    return Result.open(result.save(tmp_path_factory.mktemp("results") / "held.nc"))


@pytest.fixture(scope="module")
def led():
    return ran_led(bends=True)


@pytest.fixture(scope="module", params=FIGURES)
def figure(request, opened, ideal, held, led):
    special = dict.fromkeys(("range_of_motion", "tracked_points"), held)
    special |= dict.fromkeys(("programmed_paths", "programmed_rates", "link_shapes"), led)
    result = special.get(request.param, opened)
    before = result.data.copy(deep=True)
    others = [ideal] if request.param == "deviations" else []
    figure = draw(request.param, result, *others)
    assert before.identical(result.data)  # results are left alone
    return figure


def test_range_of_motion_shows_what_the_run_holds(held):
    figure = draw("range_of_motion", held)
    latitude, moment, energy, law = (ax for ax in figure.axes if ax.name == "rectilinear")
    polar = next(ax for ax in figure.axes if ax.name == "polar")
    degrees = np.degrees(held["cone.latitude"].values)
    assert holds(latitude, degrees)
    assert holds(polar, degrees)
    assert holds(moment, held["cone.moment"].values)
    assert holds(energy, held["total_energy"].values)
    assert np.max(law.lines[0].get_ydata()) == pytest.approx(20.0)
    assert np.max(held["cone.moment"].values) > 0


def test_a_run_without_a_cone_says_so(clearance, held, led):
    with pytest.raises(ValueError, match="clearance has no RangeOfMotion"):
        draw("range_of_motion", clearance)
    with pytest.raises(ValueError, match="bends has neither a RangeOfMotion nor the body 'rod'"):
        draw("range_of_motion", held, led)


def test_a_free_run_is_drawn_by_the_cone_of_another(held):
    """As the run with the cone, where it is the same motion."""
    free = Result(held.data.assign_attrs(plot_data="{}", title="free"))
    for results in ((free, held), (held, free)):
        figure = draw("range_of_motion", *results)
        polar = next(ax for ax in figure.axes if ax.name == "polar")
        away = held["cone.latitude"].values > 1e-6
        assert np.count_nonzero(away) > 20
        for x, y in drawn(polar)[:2]:
            assert x[away] == pytest.approx(held["cone.longitude"].values[away], abs=1e-9)
            assert y == pytest.approx(np.degrees(held["cone.latitude"].values), abs=1e-5)
        texts = [text.get_text() for text in figure.legends[0].get_texts()]
        assert texts == [label(result) for result in results]


def test_cones_are_drawn_without_a_run():
    limit = coned(rod())
    for figure in (cones(limit), cones(limit, limit)):
        polar, law = (
            next(ax for ax in figure.axes if ax.name == name) for name in ("polar", "rectilinear")
        )
        longitude, latitude = drawn(polar)[0]
        at = np.interp(np.radians([90, 180, 270]), longitude, latitude)
        assert at == pytest.approx([40, 30, 0.5], abs=1e-3)
        excess, moment = drawn(law)[0]
        # Half of the peak at half of the compliance.
        assert np.interp(np.degrees(0.1), excess, moment) == pytest.approx(10.0, rel=1e-6)
    with pytest.raises(TypeError, match="got Cone"):
        cones(limit.cone)
    with pytest.raises(ValueError, match="at least one"):
        cones()


def test_every_figure_draws_from_a_saved_file(figure, tmp_path):
    assert isinstance(figure, Figure)
    with Image.open(save(figure, tmp_path / "page.png")) as picture:
        picture.load()
        assert min(picture.size) > 250
    assert [p.name for p in tmp_path.iterdir()] == ["page.png"]


def test_no_axes_are_empty_and_every_one_has_units(figure):
    for ax in figure.axes:
        assert ax.lines or ax.collections or ax.patches
        described = ax.get_xlabel() + ax.get_ylabel() + ax.get_title()
        assert "[" in described or "/ clearance" in described or "iterations" in described


def test_contact_paths_are_eccentricities_within_the_unit_circle(clearance):
    (ax,) = contact_paths(clearance).axes
    ends = [(x, y) for x, y in drawn(ax) if len(x) == clearance.data.sizes["time"]]
    position, quaternion = (clearance[f"body_{n}"].values[:, 0] for n in ("position", "quaternion"))
    for (x, y), z in zip(ends, (-0.05, 0.05), strict=True):
        arm = np.array([[-0.5, 0.0, z]])
        end = np.array([r + rotate(e, arm)[0] for r, e in zip(position, quaternion, strict=True)])
        assert np.allclose(np.column_stack([x, y]), end[:, :2] / CLEARANCE, atol=1e-9)
        assert np.max(np.hypot(x, y)) == pytest.approx(1.0, abs=1e-9)


def test_contact_paths_of_plane_contacts_are_displacements_of_the_points(clearance):
    c = [CLEARANCE, CLEARANCE]
    axial = clearance.data.isel(contact=[2, 3]).assign_attrs(gap_scales=c, clearances=c)
    (ax,) = contact_paths(Result(axial)).axes
    y = axial["contact_point"].values[:, 0, 1]
    assert holds(ax, y - y[0], factor_of(ax, "m"))


def test_gaps_are_over_the_clearance(clearance):
    (ax,) = gaps(clearance).axes
    for k in range(4):
        assert holds(ax, clearance["gap"].values[:, k] / CLEARANCE)


@pytest.mark.slow
def test_one_contact_read_from_a_file(clearance, tmp_path):
    c = [CLEARANCE]
    data = clearance.data.isel(contact=[1]).assign_attrs(gap_scales=c, clearances=c)
    alone = Result(data)
    (ax,) = gaps(Result.open(alone.save(tmp_path / "alone.nc"))).axes
    assert holds(ax, alone["gap"].values[:, 0] / CLEARANCE)


def test_many_gaps_are_shades_with_readable_names(clearance):
    many = repeated(clearance, [f"hinge[{k}]" for k in range(40)])
    ax = gaps(many).axes[0]
    shades = ax.collections[0].get_array()
    assert np.allclose(np.ravel(shades), np.ravel(many["gap"].values.T / CLEARANCE))
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == [f"hinge[{k}]" for k in range(0, 40, 3)]


def test_step_size_shows_bounds_and_retries(clearance):
    data = clearance.data.copy(deep=True)
    data["retries"][3] = 2
    (ax,) = step_size(Result(data)).axes
    assert ax.get_yscale() == "log"
    assert holds(ax, clearance["h"].values, 1e3)
    assert holds(ax, [1.0, 1.0])
    assert holds(ax, [2.0, 2.0])
    ((x, y),) = [(x, y) for x, y in drawn(ax) if len(x) == 1]
    assert (x[0], y[0]) == (data["time"].values[3], 1e3 * data["h"].values[3])


def test_residuals_show_zeros_at_the_floor_and_the_limits(clearance):
    axes = residuals(clearance).axes
    motion, complementarity, gap = axes[:3]
    assert holds(motion, np.maximum(clearance["motion_residual"].values, FLOOR))
    worst = clearance["complementarity_residual"].values.max(axis=1)
    assert holds(complementarity, np.maximum(worst, FLOOR))
    assert np.nanmin(drawn(gap)[0][1]) == FLOOR
    limits = json.loads(clearance.data.attrs["acceptance"])
    assert holds(motion, [limits["motion"]] * 2)
    assert holds(gap, [limits["gap"]] * 2)
    assert all(ax.get_yscale() == "log" for ax in axes)


def test_residuals_of_an_ideal_joint_leave_contacts_out(ideal):
    assert [ax.get_title() for ax in residuals(ideal).axes] == [
        "equations of motion [N]",
        "joint closure [m]",
        "Euler-parameter norm [1]",
    ]
    (ax,) = joint_closure(ideal).axes
    assert holds(ax, np.maximum(ideal["constraint_violation"].values[:, 0], FLOOR))


def test_joints_closed_to_round_off_are_only_named(clearance):
    """Beside one that is not; alone they are drawn."""
    one, other = (clearance.data.copy(deep=True) for _ in range(2))
    one["constraint_violation"][:] = 0.0
    (alone,) = joint_closure(Result(one)).axes
    assert alone.get_title() == str(one["joint"].values[0])
    other = other.assign_coords(joint=["other"])
    both = xr.concat([one, other], "joint", data_vars="minimal")
    both.attrs = one.attrs
    both["constraint_violation"].loc[{"joint": "other"}] = 1e-9
    figure = joint_closure(Result(both))
    assert [ax.get_title() for ax in figure.axes] == ["other"]
    assert str(one["joint"].values[0]) in figure.axes[0].get_xlabel()


def test_energies_and_their_balance(clearance, ideal):
    kinetic, potential, total, balance = energies(clearance, ideal).axes
    for result in (clearance, ideal):
        assert holds(kinetic, result["kinetic_energy"].values, factor_of(kinetic, "J"))
        for ax, name in ((potential, "potential_energy"), (total, "total_energy")):
            energy = result[name].values
            assert holds(ax, energy - energy[0], factor_of(ax, "J"))
        kept = result["total_energy"].values - result["external_work"].values
        assert holds(balance, kept - kept[0], factor_of(balance, "J"))
    assert kinetic.get_ylim() == potential.get_ylim() == total.get_ylim()


def test_effort_adds_up_iterations_and_time(clearance, ideal):
    iterations, seconds = effort(clearance, ideal).axes
    assert [bar.get_width() for bar in iterations.patches] == [
        np.nansum(r["iterations"]) for r in (clearance, ideal)
    ]
    assert [bar.get_width() for bar in seconds.patches] == [
        np.nansum(r["solve_time"]) for r in (clearance, ideal)
    ]


def test_unknown_figure_lists_the_names(clearance):
    with pytest.raises(ValueError, match="unknown figure 'gap': one of overview, contact_p"):
        draw("gap", clearance)


def test_figures_refuse_what_they_cannot_show(clearance, ideal, stone):
    with pytest.raises(ValueError, match="joints with clearance and contacts; ideal has none"):
        contact_paths(ideal)
    with pytest.raises(ValueError, match="ideal, stone has none"):
        gaps(ideal, stone)
    with pytest.raises(ValueError, match="no joint in stone"):
        joint_closure(stone)
    with pytest.raises(ValueError, match="one result at a time, got 2"):
        overview(clearance, ideal)
    with pytest.raises(ValueError, match="at least one result"):
        energies()
    with pytest.raises(ValueError, match="clearance has no step to draw"):
        step_size(Result(clearance.data.isel(time=[0])))


def test_a_notebook_shows_figures(clearance):
    assert step_size(clearance)._repr_png_().startswith(b"\x89PNG")


SCRIPT = r"""
import gc, sys, weakref
from threading import Thread
import pytest
from nsopt import Result
from nsopt.plots import energies, step_size
result = Result.open("run.nc")
seen = weakref.ref(step_size(result))
gc.collect()
assert seen() is None  # nothing keeps it
assert "matplotlib.pyplot" not in sys.modules
from matplotlib import pyplot as plt
first, second = step_size(result), energies(result)
assert [plt.figure(k) for k in plt.get_fignums()] == [first, second]  # what show() shows
plt.close(first)
assert plt.gcf() is second
thread = Thread(target=step_size, args=[result])  # where no window can be opened
thread.start()
thread.join()
assert plt.get_fignums() == [second.number]
with pytest.raises(NotImplementedError):  # IPython shows it by other ways, as it shows all else
    second._ipython_display_()
assert plt.get_fignums() == [second.number]
plt.get_backend = lambda: "module://matplotlib_inline.backend_inline"
with pytest.raises(NotImplementedError):
    second._ipython_display_()
assert plt.get_fignums() == []  # not shown again at the end of the cell
assert second._repr_png_().startswith(b"\x89PNG")
"""


@pytest.mark.slow
def test_pyplot_knows_figures_where_it_is_in_use(tmp_path, clearance):
    clearance.save(tmp_path / "run.nc")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_save_refuses_an_unknown_ending(tmp_path, clearance):
    with pytest.raises(ValueError, match=r"page\.doc.*\.png"):
        save(effort(clearance), tmp_path / "page.doc")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("value", "text", "factor"),
    [(0.3, "m", 1.0), (0.03, "mm", 1e3), (2e-5, "µm", 1e6), (0.0, "m", 1.0), (5e4, "m", 1.0)],
)
def test_units_get_prefixes(value, text, factor):
    assert unit_of("m", [0.0, -value, np.nan]) == (factor, text)


def test_stopped_run_says_so(clearance):
    stopped = Result(clearance.data.assign_attrs(completed=0))
    assert label(stopped) == "clearance, PaperStep (h 1 to 2 ms, stopped early)"
