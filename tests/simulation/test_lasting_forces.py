"""Forces that last told apart from impulses of impacts, modes of contacts, accelerations."""

import numpy as np
import pytest

from nsopt import (
    Body,
    Compiled,
    CompliantContact,
    ContactAligned,
    ContactLaw,
    Flores,
    Frame,
    KelvinVoigt,
    Mechanism,
    MoreauJean,
    PaperStep,
    Planar,
    PlanarRevoluteClearance,
    PlaneContact,
    Prismatic,
    Result,
    Revolute,
    SlideFriction,
    StepBounds,
    StribeckLaw,
    TurnFriction,
    Variational,
    ViscousLaw,
    assemble,
    simulate,
)
from nsopt.analysis import mode_statistics
from problems.case_a import case_a
from problems.slider_crank import slider_crank
from tests.schemes.models import G, ball
from tests.states import run_compiled as run

SCHEMES = [Variational(), ContactAligned(), MoreauJean(project=True), PaperStep()]


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_a_ball_that_stays_where_it_falls(scheme):
    """One impact of m v, then its weight: whatever h, where impulses over h tend to infinity."""
    height = 0.05
    fall, speed = np.sqrt(2 * height / G), np.sqrt(2 * height * G)
    for h in (2e-3, 1e-3):
        result = run(ball(0.0, height), 0.2, h, scheme)
        t, mode = result["time"].values, result["contact_mode"].values[:, 0]
        assert np.isnan(mode[0])
        assert np.all(mode[1:][t[1:] < fall - 2 * h] == 0)
        assert np.all(mode[t > fall + 3 * h] == 1)
        assert mode_statistics(result)["floor"].impacts == 1
        impact = np.nansum(result["impact_impulse"].values)
        assert impact == pytest.approx(speed, abs=1e-9 if scheme == SCHEMES[1] else 2 * G * h)
        force = result["lasting_force"].values[:, 0, 2]
        assert force[t > fall + 3 * h] == pytest.approx(G, rel=1e-9)
        assert np.all(force[t < fall - h] == 0)
        a = result["body_acceleration"].values[:, 0, 2]
        assert a[t < fall - h] == pytest.approx(-G, rel=1e-9)
        assert a[t > fall + 3 * h] == pytest.approx(0, abs=1e-9)


def test_impacts_of_a_bouncing_ball_add_up():
    """To m (1 + e) (v + e v + ...), and nothing lasts."""
    e, height = 0.5, 0.05
    result = run(ball(e, height), 0.3, 1e-3, ContactAligned())
    speed, fall = np.sqrt(2 * height * G), np.sqrt(2 * height / G)
    hits = fall + np.cumsum([0, *(2 * e**k * speed / G for k in range(1, 9))])
    impulses = [(1 + e) * e**k * speed for k in range(len(hits))]
    mode = result["contact_mode"].values[:, 0]
    count = int(np.sum(mode == 2))
    assert count >= 5
    assert result["time"].values[mode == 2][:5] == pytest.approx(hits[:5], abs=1e-9)
    found = result["impact_impulse"].values[mode == 2, 0]
    assert found[:5] == pytest.approx(impulses[:5], rel=1e-8)


@pytest.mark.parametrize("kept", [{"store_every": 7}, {"times": np.linspace(0.003, 0.25, 80)}])
def test_rows_between_steps_that_were_left_out_are_right_or_unknown(kept):
    """A ball that bounces is in free flight, and a step with an impact tells nothing of after."""
    result = run(ball(0.5, 0.05), 0.25, 1e-3, **kept)
    force, mode = (result[x].values[:, 0] for x in ("lasting_force", "contact_mode"))
    known = np.isfinite(force[:, 2])
    assert np.all(known[1:] == (mode[1:] != 2))
    assert force[known, 2] == pytest.approx(0, abs=0)
    a = result["body_acceleration"].values[:, 0, 2]
    assert np.array_equal(np.isfinite(a), known)
    assert a[known] == pytest.approx(-G)
    lying = run(ball(0.0, 0.05), 0.25, 1e-3, **kept)
    late = lying["time"].values > 0.2
    assert lying["lasting_force"].values[late, 0, 2] == pytest.approx(G)


@pytest.mark.slow
def test_force_in_a_bore_is_of_second_order():
    """Case A on its bushing, with the ends' shares one."""
    values = []
    for h in (2e-3, 1e-3, 5e-4):
        result = run(case_a.problem.dynamics, 0.5, h, ContactAligned())
        values.append(np.linalg.norm(result["lasting_force"].values[-1].sum(axis=0)))
    exact = values[2] + (values[2] - values[1]) / 3
    errors = np.abs(np.array(values[:2]) - exact)
    assert errors[1] < errors[0] / 3
    assert errors[1] < 2e-2


def test_force_on_a_body_that_has_sunk_into_its_bore():
    """It is what Newton's law asks for, however deep positions have drifted beyond the wall."""
    c, m = 1e-3, 2.0
    ring = Body("ring", m, (1e-3,) * 3, position=(c, 0, 0), velocity=(0, 0.1, 0))
    frames = Frame(None), Frame(ring)
    law = ContactLaw(restitution=0.0)
    pin = PlanarRevoluteClearance("pin", *frames, clearance=c, radius=0.01, law=law)
    model = Mechanism([ring], [Planar("plane", *frames)], "relative")
    result = run(assemble(model, [pin], (0, -G, 0)), 0.05, 1e-3, MoreauJean())
    lasting, a = result["lasting_force"].values.sum(axis=1), result["body_acceleration"].values
    assert result["gap"].values[-1].min() < -0.2 * c
    known = np.isfinite(lasting[:, 0])
    assert known.sum() > 40
    newton = m * (a[known, 0, :2] + (0, G))
    assert lasting[known, :2] == pytest.approx(newton, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_accelerations_are_the_rates_of_velocities(coordinates):
    h = 1e-5
    result = run(slider_crank.model(coordinates), 0.002, h)
    for rate, of in (
        ("acceleration", "v"),
        ("body_acceleration", "body_velocity"),
        ("body_angular_acceleration", "body_angular_velocity"),
    ):
        v, a = result[of].values, result[rate].values
        differences = (v[2:] - v[:-2]) / (2 * h)
        assert a[1:-1] == pytest.approx(differences, abs=1e-4 * np.abs(a).max())


@pytest.mark.slow
def test_friction_of_joints_is_part_of_accelerations():
    rotor = Body("rotor", 1.0, (0.1, 0.1, 0.1), angular_velocity=(0, 0, 3.0))
    axle = Revolute("axle", Frame(None), Frame(rotor))
    drag = TurnFriction("drag", Frame(None), Frame(rotor), ViscousLaw(4.0), radius=0.05)
    result = run(assemble(Mechanism([rotor], [axle], "relative"), [drag]), 0.1, 1e-3)
    spin = result["v"].values[:, 0]
    assert result["acceleration"].values[:, 0] == pytest.approx(-4.0 * 0.05 * spin / 0.1, rel=1e-6)


@pytest.mark.slow
def test_friction_of_a_guide_is_of_the_contact_that_loads_it():
    """A ball falls into a cart on a rough rail: mu m g before, mu (m + M) g as soon as it lies."""
    mu, m, M = 0.2, 3.0, 2.0
    cart = Body("cart", M, (1.0, 1.0, 1.0), velocity=(2.0, 0, 0))
    load = Body("load", m, (1.0, 1.0, 1.0), position=(0, 0, 0.02), velocity=(2.0, 0, 0))
    along = (1.0, 0, 0)
    rail = Prismatic("rail", Frame(None, axes=along), Frame(cart, axes=along))
    lift = Prismatic("lift", Frame(cart), Frame(load))
    law = ContactLaw(restitution=0.0)
    bed = PlaneContact("bed", Frame(cart), Frame(load), law=law)
    rub = SlideFriction("rub", *rail.frames, StribeckLaw(mu, creep=1e-6))
    model = Mechanism([cart, load], [rail, lift], "relative")
    result = run(assemble(model, [bed, rub], (0, 0, -G)), 0.2, 1e-3)
    a, t = result["body_acceleration"].values, result["time"].values
    fall = np.sqrt(2 * 0.02 / G)
    before, after = t < fall - 2e-3, (t > fall + 2e-3) & (t < 0.19)
    assert a[before, 1] == pytest.approx(
        np.tile([-mu * M / (M + m) * G, 0, -G], (before.sum(), 1)), abs=1e-9
    )
    assert a[after, 1] == pytest.approx(np.tile([-mu * G, 0, 0], (after.sum(), 1)), abs=1e-9)
    force = result["lasting_force"].values[after, 0]
    assert force == pytest.approx(np.tile([0, 0, m * G], (after.sum(), 1)), abs=1e-9)


@pytest.mark.slow
def test_a_block_that_slides_is_slowed_by_friction():
    block = Body("block", 2.0, point_mass=True, velocity=(1.0, 0, 0))
    law = ContactLaw(friction=0.3)
    floor = PlaneContact("floor", Frame(None), Frame(block), law=law, planar=True)
    result = run(assemble(Mechanism([block]), [floor], (0, 0, -G)), 0.1, 1e-3)
    force = result["lasting_force"].values[1:, 0]
    assert force == pytest.approx(np.tile([-0.6 * G, 0, 2 * G], (len(force), 1)), rel=1e-6)
    assert result["body_acceleration"].values[1:, 0, 0] == pytest.approx(-0.3 * G, rel=1e-6)


def test_a_compliant_contact_is_an_impact_until_its_first_rebound_ends():
    """Then the ball flies, falls again, and at last lies on the floor."""
    body = Body("ball", 1.0, position=(0, 0, 1e-3), point_mass=True)
    floor = PlaneContact("floor", Frame(None), Frame(body), law=ContactLaw(restitution=0.5))
    soft = CompliantContact("soft", floor, Flores(1e9))
    result = run(assemble(Mechanism([body]), [soft], (0, 0, -G)), 0.1, 1e-5)
    mode, depth = result["contact_mode"].values[:, 0], -result["gap"].values[:, 0]
    assert np.all(mode[1:][depth[1:] <= 0] == 0)
    assert np.all(mode[1:][depth[1:] > 0] > 0)
    begins = np.flatnonzero((mode[1:] == 2) & (mode[:-1] == 0))
    assert len(begins) >= 2
    assert mode[-1] == 1
    assert result["lasting_force"].values[-1, 0, 2] == pytest.approx(G, rel=1e-2)


def soft_floor(depth, damping=0.0, mass=1.0, stiffness=1e5):
    """A ball that starts at rest, some depth within a floor of springs."""
    body = Body("ball", mass, position=(0, 0, -depth), point_mass=True)
    floor = PlaneContact("floor", Frame(None), Frame(body))
    soft = CompliantContact("soft", floor, KelvinVoigt(stiffness, damping_coefficient=damping))
    return assemble(Mechanism([body]), [soft], (0, 0, -G))


@pytest.mark.parametrize("share", [1.0, 0.98, 0.0])
def test_what_lies_or_sinks_in_without_a_rebound_is_no_impact(share):
    """At its static depth, a little above it, and pressed in by its weight against a damper."""
    static, damping = G / 1e5, 1.2 * 2 * np.sqrt(1e5)
    model = soft_floor(share * static, damping if share == 0 else 0.0)
    result = run(model, 0.05, 1e-5)
    mode = result["contact_mode"].values[2:, 0]
    assert np.all(mode == 1)
    assert result["gap"].values[-1, 0] == pytest.approx(-static, rel=0.05)


@pytest.mark.slow
def test_angles_of_joints_are_on_record_in_all_coordinates():
    """Continuous through whole turns, by the names of relative coordinates."""
    one, other = (run(slider_crank.model(x), 0.08, 5e-5) for x in ("absolute", "relative"))
    names = ["main bearing.angle", "crank pin.angle", "guide.distance"]
    for name in names:
        angle, rate = (result.sel(freedom=name) for result in (one, other))
        assert angle["joint_coordinate"].values == pytest.approx(
            rate["joint_coordinate"].values, abs=1e-7
        )
        assert angle["joint_rate"].values == pytest.approx(rate["joint_rate"].values, abs=1e-4)
    turned = other.sel(freedom=names[0])["joint_coordinate"].values
    assert turned == pytest.approx(other.sel(q=names[0])["q"].values, abs=0)
    assert turned[-1] > 2 * np.pi


def test_parts_of_a_result_are_found_by_name():
    result = run(slider_crank.model("relative"), 0.002, 1e-4)
    x = result.sel(body="slider", axis="x", time=1.04e-3)
    assert float(x["time"]) == pytest.approx(1e-3)
    assert x["body_position"].values == result["body_position"].values[10, 2, 0]
    by_name = result["q"].sel(q_name="crank pin.angle").values
    assert np.array_equal(by_name, result.sel(q="crank pin.angle")["q"].values)
    assert list(result.sel(q=["crank pin.angle"])["q"].dims) == ["time", "q"]
    with pytest.raises(KeyError, match=r"no q 'x'; there are main bearing\.angle"):
        result.sel(q="x")
    with pytest.raises(KeyError, match="no dimension 'angle'; there are time"):
        result.sel(angle="x")


def test_what_is_recorded_is_a_choice(tmp_path):
    model = slider_crank.model("relative")
    result = simulate(
        model,
        duration=2e-3,
        steps=StepBounds(1e-4, 1e-4),
        scheme=Variational(),
        solver=Compiled(chunk=100),
        variables=["q"],
        progress=False,
    )
    assert result.summary().startswith("run")
    assert {"q", "total_energy", "h"} <= {*result.data.variables}
    assert "body_position" not in result.data
    with pytest.raises(KeyError, match="'gap' was not recorded: leave out variables="):
        result["gap"]
    opened = Result.open(result.save(tmp_path / "x.nc"))
    assert opened.data.equals(result.data)
    with pytest.raises(ValueError, match="no variable 'angles'; there are h, q, v"):
        simulate(model, steps=StepBounds(1e-4, 1e-4), variables=["angles"])
