"""What a reader must know of a result comes first, in its summary and its print."""

import re
from functools import cache

import numpy as np
import pytest
import xarray as xr

from nsopt import (
    GROUND,
    Body,
    Compiled,
    Frame,
    Mechanism,
    MoreauJean,
    PlanarRevoluteClearance,
    PlaneContact,
    Revolute,
    StepBounds,
    TorsionSpringDamper,
    Variational,
    assemble,
    simulate,
)
from nsopt.caveats import caveats, optima
from nsopt.summary import summary
from tests.simulation.test_checkpoint import Hopeless


def run(dynamics, duration, bounds, scheme=None):
    return simulate(
        dynamics,
        duration=duration,
        steps=StepBounds(*bounds),
        scheme=scheme or Variational(),
        solver=Compiled(),
        progress=False,
    )


@cache
def rod(w):
    """A rod that turns about a pin 1 mm thinner than its hole."""
    body = Body(
        "rod",
        1.0,
        (0.01, 0.09, 0.09),
        position=(0.5, 0, 0),
        velocity=(0, w / 2, 0),
        angular_velocity=(0, 0, w),
    )
    hinge = PlanarRevoluteClearance("hinge", Frame(None), Frame.at(body, (0, 0, 0)), clearance=1e-3)
    return assemble(Mechanism([body]), [hinge], gravity=(0, -9.81, 0))


@cache
def top(w):
    return assemble(Mechanism([Body("top", 1.0, (1e-3, 2e-3, 2.9e-3), angular_velocity=w)]))


@pytest.mark.slow
def test_steps_below_h_min_are_the_first_line():
    """At 50 rad/s a step of 1 ms passes from wall to wall; shorter ones follow."""
    result = run(rod(50.0), 0.012, (1e-3, 1e-3))
    below = sum(text.startswith("below h_min") for text in result["step_reason"].values)
    assert below > 0
    first, *_ = result.summary().splitlines()
    assert first.startswith("WARNING")
    assert f"{below} of {result.data.attrs['steps']} steps had to be below h_min" in first
    assert first in repr(result)
    lost = result["total_energy"].values[0] - result["total_energy"].values[-1]
    assert lost < 0.03 * 425


@pytest.mark.parametrize(("w", "duration", "lost"), [(50.0, 0.3, 1.251), (100.0, 0.1, 4.971)])
def test_long_steps_of_a_fast_rod_lose_what_short_ones_do(w, duration, lost):
    """What its impacts take, with steps of 1e-5 s; of 425 and of 1700 J."""
    result = run(rod(w), duration, (1e-6, 1e-3))
    assert result.completed
    assert not result.warnings
    energy = result["total_energy"].values
    assert energy[0] - energy[-1] == pytest.approx(lost, rel=0.01)


@pytest.mark.slow
def test_steps_that_contacts_cannot_follow_are_told():
    """Of 1 ms at 50 rad/s, where sqrt(2 c / L) is 63 mrad; impacts anywhere in them."""
    texts = run(rod(50.0), 0.012, (1e-3, 1e-3)).warnings
    assert any("longer than contacts in bores can follow" in text for text in texts)
    assert any("impacts are placed at the end of their steps" in text for text in texts)


def pendulum(*elements):
    """A rod on an ideal hinge, released level: I = 0.34 kg m^2 about it, weight at 0.5 m."""
    body = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0, 0))
    ends = Frame(GROUND), Frame.at(body, (0, 0, 0))
    made = [element(*ends) for element in elements]
    mechanism = Mechanism([body], [Revolute("hinge", *ends)], "relative")
    return assemble(mechanism, made, gravity=(0, -9.81, 0))


@pytest.mark.parametrize("h", [1e-2, 1e-4])
def test_energy_that_steps_lose_is_told_where_nothing_dissipates(h):
    """By an implicit step, of first order; of what the rod has by its angle and its rate."""
    result = run(pendulum(), 0.3, (h, h), MoreauJean(theta=1.0))
    angle, rate = (result[x].values[:, 0] for x in "qv")
    kinetic = 0.34 * rate**2 / 2
    off = np.abs(kinetic + 9.81 / 2 * np.sin(angle)).max()
    (row,) = (x for x in result.summary().splitlines() if x.startswith("off by the steps"))
    told, part = map(float, re.findall(r"([\d.e-]+) (?:J|%)", row))
    assert told == pytest.approx(off, rel=0.05)
    assert part == pytest.approx(100 * off / kinetic.max(), rel=0.05)
    lost = [text for text in result.warnings if "lost in the discretisation" in text]
    assert len(lost) == (part > 2)
    assert (h == 1e-2) == (part > 2)


@pytest.mark.slow
def test_what_a_damper_takes_is_not_the_steps():
    damped = pendulum(lambda *ends: TorsionSpringDamper("damper", *ends, 0.0, damping=1.0))
    result = run(damped, 0.3, (1e-3, 1e-3))
    assert result["dissipated_energy"].values[-1] > 0.1 * result["kinetic_energy"].values.max()
    assert not result.warnings
    assert "off by the steps" not in result.summary()


def test_a_contact_that_gives_energy_is_named():
    data = run(rod(50.0), 0.01, (1e-5, 1e-5)).data.copy(deep=True)
    assert caveats(data) == ()
    data["contact_loss"].values[-1] = -0.01 * data["kinetic_energy"].values.max()
    (text,) = caveats(data)
    assert text.startswith("contact 'hinge")
    assert "gave" in text


@pytest.mark.slow
def test_steps_of_another_scheme_are_told():
    result = run(top((1.0, 2.0, 3.0)), 0.01, (1e-3, 1e-3), Hopeless())
    (text,) = result.warnings
    assert text.startswith(
        "10 of 10 steps, 100 % of the time, were taken by another scheme than Hopeless"
    )
    assert "10 by other schemes" in result.summary()


def test_what_is_right_has_no_caveat():
    fine, coarse = run(rod(50.0), 0.1, (1e-6, 1e-5)), run(rod(50.0), 0.1, (1e-6, 1e-4))
    for result in (fine, coarse):
        assert result.completed
        assert not result.warnings
        assert result.summary().startswith("run")
    lost = [x["total_energy"].values[0] - x["total_energy"].values[-1] for x in (fine, coarse)]
    assert abs(lost[1] - lost[0]) < 1e-3 * 425


def test_a_body_that_turns_too_far_in_a_step_is_named():
    result = run(top((0.1, 3000.0, 0.1)), 0.05, (1e-3, 1e-3))
    (text,) = (x for x in result.warnings if "turns" in x)
    assert text.startswith("body 'top' turns by 3.43 rad in a step")
    assert "h of 0.0003 s" in text
    assert not run(top((0.1, 300.0, 0.1)), 0.05, (1e-3, 1e-3)).warnings


def test_about_an_axis_that_stays_a_body_may_turn_by_any_angle():
    assert not run(top((0.0, 3000.0, 0.0)), 0.01, (1e-3, 1e-3)).warnings


@pytest.mark.slow
def test_angular_velocities_are_on_record_in_world_axes():
    """Angular momentum, of which it is made, stays."""
    data = run(top((1.0, 2.0, 3.0)), 0.2, (1e-4, 1e-4)).data
    w, e = data["body_angular_velocity"].values[:, 0], data["body_quaternion"].values[:, 0]
    turned = np.array([rotation(x) for x in e])
    momentum = np.einsum("tij,j,tkj,tk->ti", turned, np.array([1e-3, 2e-3, 2.9e-3]), turned, w)
    assert np.abs(momentum - momentum[0]).max() < 1e-5 * np.abs(momentum[0]).max()
    assert w[0] == pytest.approx([1, 2, 3])


def rotation(e):
    e0, x, y, z = e
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * e0 * cross + 2 * cross @ cross


@pytest.mark.parametrize(("part", "told"), [(0.01, False), (0.04, True)])
def test_energy_from_nowhere_is_told(part, told):
    """From the middle on there is more than at the start, of what is kinetic all the time."""
    data = run(top((1.0, 2.0, 3.0)), 0.01, (1e-3, 1e-3)).data.copy(deep=True)
    assert caveats(data) == ()
    data["dissipated_energy"].values[5:] -= part * data["kinetic_energy"].values.max()
    assert [f"{100 * part:.2g} % of the energy" in text for text in caveats(data)] == [True] * told


def test_the_depth_in_a_wall_is_told_in_metres():
    ball = Body("ball", 1.0, (0.1, 0.1, 0.1), position=(0, 0, 1.0))
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball))
    fall = assemble(Mechanism([ball]), [floor], gravity=(0, 0, -9.81))
    result = run(fall, 0.6, (2e-2, 2e-2), MoreauJean())
    depth = -float(result["body_position"].sel(axis="z").min())
    assert 0.01 < depth < 4.5 * 2e-2  # at most a step at the speed of the impact
    (text,) = (x for x in result.warnings if "inside walls" in x)
    assert text.startswith(f"bodies are inside walls by up to {depth:.2g} m, at floor: MoreauJean")


def test_few_long_steps_of_another_scheme_are_told():
    """One of a hundred steps, for a half of the time."""
    data = run(top((1.0, 2.0, 3.0)), 0.1, (1e-3, 1e-3)).data.copy(deep=True)
    assert "by other schemes" not in summary(data)
    data.attrs |= {"steps_by_other_schemes": 1, "time_by_other_schemes": 0.05}
    (text,) = caveats(data)
    assert text.startswith("1 of 100 steps, 50 % of the time, were taken by another scheme")
    data.attrs["time_by_other_schemes"] = 5e-4
    assert caveats(data) == ()
    assert "1 by other schemes" in summary(data)
    assert "by other schemes      1 of 100 steps, 0.5 % of the time" in summary(data, full=True)


@pytest.mark.unit
@pytest.mark.parametrize(("off", "told"), [(0.09, False), (0.11, True)])
def test_an_optimum_that_departs_open_loop_is_told_from_when(off, told):
    """A coordinate moves by 2 m; the simulation leaves it by a growing distance."""
    t = np.linspace(0, 1, 5)
    q = np.column_stack([2 * t, 0 * t])
    left = np.column_stack([0 * t, off * (t > 0.6)])
    attrs = {"resimulated_defect": off, "resimulated_until": 1.0, "objective": 1.0}
    data = xr.Dataset(
        {"q": (("time", "q"), q), "resimulated": (("time", "q"), q + left)}, {"time": t}, attrs
    )
    found = list(optima._tell_departure(data))
    assert bool(found) == told
    if told:
        assert "departs at t = 0.75 s, by 0.11 (m, rad) until 1 s" in found[0]


@pytest.mark.unit
def test_times_of_contacts_on_a_grid_are_told_in_optima():
    modes = np.array([[np.nan, 1, 1, 0, 0]]).T
    attrs = {"objective": 1.0, "stationarity_kind": "S", "pressed": 0}
    data = xr.Dataset(
        {"contact_mode": (("time", "contact"), modes)},
        {"time": np.linspace(0, 1, 5), "contact": ["floor"]},
        attrs,
    )
    (text,) = optima._tell_changes_at_steps(data)
    assert text.startswith("contact 'floor' opens at the end of a step (t = 0.5 s, 1 such")
    assert not list(optima._tell_changes_at_steps(data.isel(time=slice(3))))
    assert not list(optima._tell_changes_at_steps(data.assign_attrs(modes="{}")))


@pytest.mark.unit
@pytest.mark.parametrize(("in_steps", "told"), [(10.5, False), (9.0, False), (8.0, True)])
def test_an_exact_optimum_that_costs_more_than_in_steps_is_told(in_steps, told):
    """At 9.6: steps may leave out a tenth."""
    data = xr.Dataset(attrs={"objective": 9.6, "objective_in_steps": in_steps})
    found = list(optima._tell_more_than_in_steps(data))
    assert [x for x in found if "costs 20 % more than in steps" in x] == found
    assert bool(found) == told


def test_what_is_not_on_record_is_not_asked_for():
    """What is told of a rod in its hole without one of its variables, is told of it with all."""
    result = run(rod(3.0), 0.3, (0.01, 0.01))
    steps = StepBounds(0.01, 0.01)
    least = simulate(rod(3.0), duration=0.1, steps=steps, variables=["q"], progress=False)
    optional = {*result.data.data_vars} - {*least.data.data_vars}
    whole = {*caveats(result.data)}
    assert len(whole) > 1
    for name in sorted(optional):
        assert {*caveats(result.data.drop_vars(name))} <= whole, name
