"""The overview of an optimum: panels that tell something, none twice, with the right scales."""

import json
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from nsopt import (
    Actuator,
    Body,
    Frame,
    LuGreLaw,
    Mechanism,
    Result,
    Revolute,
    TurnFriction,
    assemble,
)
from nsopt.plots import coordinates, overview, residuals
from nsopt.plots.figures.contact import walls
from nsopt.plots.lines import COLOURS, draw_lines, quantity, short
from nsopt.plots.style import label, page
from nsopt.problem import load_optimization
from nsopt.trajectory import IN_STEPS, Effort, EndAt, Horizon, StartAt, Straight, optimize
from tests.plotted import CLEARANCE, drawn, holds, ran_clearance

SEVEN = [f"joint{k}" for k in range(1, 8)]


@pytest.fixture(scope="module")
def cart(tmp_path_factory):
    """As read from its file."""
    found = load_optimization("double_integrator").solve(title="cart")
    return Result.open(found.save(tmp_path_factory.mktemp("results") / "cart.nc"))


@pytest.fixture(scope="module")
def bead():
    return load_optimization("brachistochrone").solve(steps=20, title="bead")


@pytest.fixture(scope="module")
def bounce():
    stated = replace(load_optimization("bounce"), plan=IN_STEPS)
    return stated.solve(steps=50, title="bounce")


@pytest.fixture(scope="module")
def arm():
    return load_optimization("arm_least_resistance").solve(steps=4, title="arm")


@pytest.fixture(scope="module")
def hung(bounce):
    """A fall in a worn hinge, told as if it were an optimum, that never lifts off."""
    data = ran_clearance().data
    nv, time = data.sizes["v"], data.sizes["time"]
    data = data.assign(
        drive=(("time", "v"), np.zeros((time, nv))),
        drive_limit=(("v",), np.full(nv, np.inf)),
        input=(("time", "input_name"), np.cos(data["time"].values)[:, None]),
    ).assign_coords(input_name=["torque"])
    data["gap"][:] = [0.0, 0.0, CLEARANCE, CLEARANCE]
    costs = {"detailed_cost": '{"InputEffort": 2.0}', "guess_cost": "{}", "objective": 2.0}
    return Result(data.assign_attrs(bounce.data.attrs | data.attrs | costs))


@cache
def drawn_overview(result):
    """The overview, drawn once for all that is asked of it."""
    return overview(result)


def panels(result):
    return {ax.get_title(): ax for ax in drawn_overview(result).axes}


def names(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize(
    "name", ["cart", "bead", "bounce", pytest.param("arm", marks=pytest.mark.slow), "hung"]
)
def test_no_panel_repeats_and_none_is_empty(name, request):
    result = request.getfixturevalue(name)
    figure = drawn_overview(result)
    shown = [ax for ax in figure.axes if ax.get_title()]
    assert len({ax.get_title() for ax in shown}) == len(shown) == 6
    assert all(ax.lines or ax.patches for ax in figure.axes)
    time = result["time"].values
    curves = [
        [y for x, y in drawn(ax) if len(x) == len(time) and np.array_equal(x, time)] for ax in shown
    ]
    for one, other in combinations(curves, 2):
        assert not any(np.array_equal(y, z, equal_nan=True) for y in one for z in other)
    figure.draw_without_rendering()
    legends = [ax.get_legend().get_window_extent() for ax in shown if ax.get_legend()]
    for legend in legends:
        assert not any(legend.overlaps(ax.bbox) for ax in figure.axes)
        assert figure.bbox.x0 <= legend.x0 < legend.x1 <= figure.bbox.x1


def test_a_small_problem_shows_its_analytic_optimum(cart):
    t, shown = cart["time"].values, panels(cart)
    known = {
        "Coordinates": 3 * t**2 - 2 * t**3,
        "Velocities": 6 * t - 6 * t**2,
        "Drives": 6 - 12 * t,
    }
    for title, values in known.items():
        (line,) = shown[title].lines
        assert line.get_ydata() == pytest.approx(values, abs=1e-6)
        assert names(shown[title]) == ["rail"]
    (energy,) = (ax for title, ax in shown.items() if title.startswith("Energy"))
    assert energy.lines[0].get_ydata() == pytest.approx(known["Velocities"] ** 2 / 2, abs=1e-6)


def test_what_is_noise_or_does_not_move_is_not_drawn(bead):
    assert 0 < np.abs(bead["drive"].values).max() < 1e-6
    shown = panels(bead)
    assert "Drives" not in shown
    assert holds(shown["Inputs"], bead["input"].values[:, 0])
    assert names(shown["Coordinates"]) == ["bead.x", "bead.y"]
    assert names(shown["Velocities"]) == ["bead.vx", "bead.vy"]


def test_drives_and_inputs_that_matter_are_both_drawn(bead):
    data = bead.data.copy(deep=True)
    data["drive"][:, 1] = 0.3 * np.sin(data["time"])
    shown = panels(Result(data))
    assert names(shown["Drives"]) == ["bead"]
    assert holds(shown["Drives"], data["drive"].values[:, 1])
    assert names(shown["Inputs"]) == ["u"]


def test_the_mechanism_is_drawn_to_the_end(bead):
    (ax,) = (ax for title, ax in panels(bead).items() if title.startswith("Mechanism"))
    dots = [line.get_xydata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert dots[-1] == pytest.approx([2.0, -2.0], abs=1e-6)
    assert dots[0] == pytest.approx([0.0, 0.0])


@pytest.mark.slow
def test_the_gap_of_a_wall_is_in_metres(bounce):
    ax = panels(bounce)["Gaps"]
    assert ax.get_ylabel() == "gap [m]"
    assert holds(ax, bounce["body_position"].values[:, 0, 2])
    assert list(walls(bounce)) == [True]
    assert not walls(ran_clearance()).any()


@pytest.mark.slow
def test_gaps_of_a_clearance_are_drawn_where_they_open(hung):
    assert "Gaps" not in panels(hung)
    data = hung.data.copy(deep=True)
    data["gap"][:, 0] = 4e-4 * (1 - np.cos(50 * data["time"]))
    ax = panels(Result(data))["Gaps"]
    assert ax.get_ylabel() == "gap / clearance"
    assert holds(ax, data["gap"].values[:, 0] / CLEARANCE)


def test_turns_and_slides_have_scales_of_their_own(hung):
    figure = overview(hung)
    (ax,) = (ax for ax in figure.axes if ax.get_title() == "Velocities")
    (right,) = (side for side in figure.axes[6:] if side.bbox.bounds == ax.bbox.bounds)
    assert (ax.get_ylabel(), right.get_ylabel()) == ("velocity [rad/s]", "velocity [m/s], dashed")
    assert names(ax) == ["rod.wz", "rod.vx", "rod.vy"]
    assert holds(ax, hung["v"].values[:, 5])
    assert all(holds(right, hung["v"].values[:, k]) for k in (0, 1))


@pytest.mark.slow
def test_seven_joints_are_told_apart_and_alike_in_all_panels(arm):
    shown = panels(arm)
    drives, resistance = shown["Drives against their limits"], shown["Resistance of joints"]
    colours = []
    for ax in (shown["Coordinates"], shown["Velocities"], drives, resistance):
        lines = {line.get_label(): to_hex(line.get_color()) for line in ax.lines}
        assert names(ax)[:7] == SEVEN
        colours.append([lines[name] for name in SEVEN])
    assert len(set(colours[0])) == 7
    assert all(one == colours[0] for one in colours)
    most = arm["drive_limit"].values
    assert holds(drives, 100 * arm["drive"].values[:, 2] / most[2])


def test_of_many_lines_the_largest_are_drawn():
    time = np.linspace(0, 1, 5)
    values = {f"joint {k}.angle": k * time for k in range(12)}
    figure, axes = page("", (), 1, 1, (6.0, 4.0))
    more = draw_lines(axes[0, 0], time, [quantity("angle", "deg", values, 0.0)])
    assert more == ", the 8 largest of 11"
    assert names(axes[0, 0]) == [f"joint {k}" for k in range(4, 12)]
    assert len({line.get_color() for line in figure.axes[0].lines}) == len(COLOURS)
    assert short(["rod.x", "rod.y", "rail.distance"]) == ["rod.x", "rod.y", "rail"]


@pytest.mark.parametrize(
    ("largest", "shown", "label"),
    [(3e4, 30.0, "torque [kN m]"), (3.0, 3.0, "torque [N m]"), (2e-7, 0.2, "torque [µN m]")],
)
def test_loads_are_in_units_read_at_a_glance(largest, shown, label):
    drawn = quantity("torque", "N m", {"hinge.rate": np.array([0.0, largest])}, 0.0)
    assert drawn.label == label
    assert drawn.values["hinge.rate"][1] == pytest.approx(shown)


def test_title_and_footer_say_what_an_optimum_has(cart, bounce):
    assert label(cart) == "cart, HermiteSimpson (h = 50 ms)"
    low, high = 1e3 * bounce["h"].values[1:].min(), 1e3 * bounce["h"].values[1:].max()
    assert label(bounce) == f"bounce, ContactAligned (h {low:.3g} to {high:.3g} ms)"
    failed = Result(cart.data.assign_attrs(completed=0))
    assert label(failed) == "cart, HermiteSimpson (h = 50 ms, no solution)"
    footer = overview(cart).get_supxlabel()
    assert "20 steps to 1 s" in footer
    assert "iterations" in footer
    assert "retried" not in footer
    assert overview(ran_clearance()).get_supxlabel().endswith("0 steps retried")


def costs_of(result, best, guess):
    attrs = {"detailed_cost": json.dumps(best), "guess_cost": json.dumps(guess)}
    whole = sum(best.values())
    result = Result(result.data.assign_attrs(attrs, objective=whole))
    (ax,) = (ax for title, ax in panels(result).items() if title.startswith("Costs"))
    return ax, [bar.get_width() for bar in ax.patches]


def test_costs_without_those_of_a_guess_are_shares_of_the_whole(cart):
    ax, widths = costs_of(cart, {"InputEffort x": 6.0, "InputEffort y": 2.0}, {})
    assert widths == [0.75, 0.25]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["InputEffort x", "InputEffort y"]
    assert ax.get_xlabel() == "share of the objective"
    assert ax.get_legend() is None
    ax, widths = costs_of(cart, {"Effort": 6.0, "Reach": -2.0}, {})
    assert widths == [1.5, -0.5]
    assert ax.get_xlim()[0] < -0.5
    assert ax.get_xlim()[1] > 1.5


def test_costs_are_beside_those_of_the_guess(cart):
    ax, widths = costs_of(cart, {"Effort": 6.0, "Duration": 2.0}, {"Effort": 0.0, "Duration": 4.0})
    assert widths == [0.0, 1.0, 1.0, 0.5]
    assert ax.get_xlabel() == "share of the larger of both"
    assert names(ax) == ["guess", "optimum"]


def test_residuals_of_an_optimum_have_no_limits_of_acceptance(bounce):
    """Nothing accepted its steps one by one."""
    axes = residuals(bounce).axes
    assert axes[1].get_title() == "complementarity [N m]"
    assert all(len(ax.lines) == 1 for ax in axes)


def test_bristles_are_no_coordinates():
    """A wheel turns: its picture shows an angle, no length; the bristles have a panel elsewhere."""
    body = Body("wheel", 1.0, (1.0, 1.0, 1.0))
    hinge = Revolute("hinge", Frame(None), Frame(body))
    law = LuGreLaw(1e5, 1.0, 0.0, 0.3, 0.3, 0.1)
    rub = TurnFriction("rub", hinge.a, hinge.b, law, radius=0.1)
    d = assemble(Mechanism([body], [hinge], "relative", [Actuator("hinge")]), [rub])
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [0.0])]
    result = optimize(d, Horizon(1.0, 5), [Effort()], ends, Straight([0.0], [1.0]))
    labels = [ax.get_ylabel() for ax in overview(result).axes]
    assert "angle [deg]" in labels
    assert not any("length" in text for text in labels)
    titles = [ax.get_title() for ax in coordinates(result).axes]
    assert titles == ["Angles", "Angular velocities", "Internal states of friction"]
