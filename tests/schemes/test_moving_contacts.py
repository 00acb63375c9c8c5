"""Walls that move with time: what lies on them is carried, and their work is on record."""

import numpy as np
import pytest

from nsopt import (
    Body,
    CompliantContact,
    ContactAligned,
    ContactLaw,
    Frame,
    Hertz,
    Mechanism,
    MoreauJean,
    PaperStep,
    PlaneContact,
    PoissonImpact,
    Start,
    Variational,
    assemble,
)
from tests.catalog import CLEARANCES, CONTACTS, RUBBING
from tests.catalog_methods import KINDS
from tests.schemes.models import G, Shaken, ball_on_piston
from tests.states import run_compiled

schemes = pytest.mark.parametrize("scheme", KINDS, ids=repr)
MASS = 2.0
SPEED = 0.5
SHAKEN = Shaken(0.01, 50.0)  # A w^2 = 2.5 g


def run(dynamics, start, duration, h, scheme, **parameters):
    return run_compiled(dynamics, duration, h, scheme, start, parameters=parameters)


def at(z, up):
    return Start(np.array([0, 0, z]), np.array([0, 0, up]))


def sinks(scheme):
    return isinstance(scheme, MoreauJean) and not scheme.project


@pytest.mark.unit
@pytest.mark.parametrize("row", CLEARANCES + CONTACTS + RUBBING, ids=lambda row: row.name)
@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_walls_that_stand_still_add_nothing_to_the_equations(row, coordinates):
    """No entry that is zero only in numbers."""
    one, other = (Body(name, 1.0, (0.1, 0.2, 0.2)) for name in ("one", "other"))
    contact = row.build(Frame(one), Frame(other))
    d = assemble(Mechanism([one, other], coordinates=coordinates), [contact])
    assert d.gap_drift.nnz_out(0) == 0
    assert d.slip_drift.nnz_out(0) == 0


@schemes
def test_a_floor_that_rises_carries_the_weight(scheme):
    result = run(ball_on_piston(), at(0, SPEED), 0.2, 2e-3, scheme, speed=SPEED)
    t = result["time"].values
    assert result["q"].values[:, 2] == pytest.approx(SPEED * t, abs=1e-12)
    assert result["contact_force"].values[1:, 0, 2] == pytest.approx(MASS * G, rel=1e-9)
    assert result["external_work"].values == pytest.approx(MASS * G * SPEED * t, abs=1e-9)
    assert result["dissipated_energy"].values == pytest.approx(0, abs=1e-9)
    assert np.all(result["retries"].values[1:] == 0)


def meeting(z=1e-3):
    """Return the time at which a ball dropped from z meets the rising floor, and how fast."""
    met = (-SPEED + np.sqrt(SPEED**2 + 2 * G * z)) / G
    return met, SPEED + G * met


@schemes
def test_a_floor_that_rises_meets_a_ball_that_falls(scheme):
    """e = 0: from then on it is carried, after the loss of m u^2 / 2 at the relative speed u."""
    h = 2e-4
    result = run(ball_on_piston(), at(1e-3, 0), 0.05, h, scheme, speed=SPEED)
    met, u = meeting()
    t, z = result["time"].values, result["q"].values[:, 2]
    exact = np.where(t < met, 1e-3 - G * t**2 / 2, SPEED * t)
    assert np.abs(z - exact).max() < h * u
    late = t > met + 1e-3
    assert result["contact_force"].values[late, 0, 2] == pytest.approx(MASS * G, rel=1e-6)
    loss = np.nansum(result["contact_loss"].values)
    assert loss == pytest.approx(MASS * u**2 / 2, rel=0.03)
    assert result["dissipated_energy"].values[-1] == pytest.approx(loss, rel=0.05)


@pytest.mark.parametrize(
    "scheme",
    [
        Variational(),
        MoreauJean(),
        MoreauJean(project=True),
        ContactAligned(),
        ContactAligned(impact=PoissonImpact()),
    ],
    ids=repr,
)
def test_a_ball_rebounds_from_the_velocity_of_the_floor(scheme):
    """At the relative speed u it leaves at V + e u, with the work m (1 + e) u V of the floor."""
    e, h = 0.5, 1e-4
    result = run(ball_on_piston(), at(1e-3, 0), 8e-3, h, scheme, speed=SPEED, e=e)
    met, u = meeting()
    t, v = result["time"].values, result["v"].values[:, 2]
    k = int(np.argmax(result["impulse"].values[:, 0] > 0))
    off = 1e-9 if isinstance(scheme, ContactAligned) else 3 * G * h
    assert v[k] + G * (t[k] - met) == pytest.approx(SPEED + e * u, abs=off)
    work = result["external_work"].values[k]
    assert work == pytest.approx(MASS * (1 + e) * u * SPEED, abs=2 * MASS * off)
    loss = np.nansum(result["contact_loss"].values[: k + 1])
    assert loss == pytest.approx(MASS * (1 - e**2) * u**2 / 2, abs=2 * MASS * off)


@schemes
def test_a_shaken_floor_throws_a_ball_when_it_falls_faster(scheme):
    """The phase of take-off is arcsin(g / (A w^2)); then a parabola, until the floor is back."""
    first_order = isinstance(scheme, PaperStep)
    h, exact = 5e-4 if scheme.chooses_h else 1e-4, SHAKEN
    start, T = at(0, exact.amplitude * exact.rate), 0.13
    result = run(ball_on_piston(), start, T, h, scheme, amplitude=exact.amplitude)
    t, z = result["time"].values, result["q"].values[:, 2]
    force = result["contact_force"].values[:, 0, 2]
    pressed = np.nan_to_num(force) > 1e-3
    on = pressed & (t < exact.left)
    back = t[np.argmax(pressed & (t > exact.left + 0.01))]
    aligned = isinstance(scheme, ContactAligned)
    assert t[on][-1] == pytest.approx(exact.left, abs=1e-9 if aligned else h)
    assert back == pytest.approx(exact.landed, abs=1e-9 if aligned else h)
    placed = 1e-9 if aligned else h * exact.meets if sinks(scheme) else 2e-5
    assert z == pytest.approx(exact.height(t), abs=placed)
    middle = (t - result["h"].values / 2)[on]
    pushed = MASS * (G - exact.amplitude * exact.rate**2 * np.sin(exact.rate * middle))
    assert force[on] == pytest.approx(pushed, abs=(200 * h if first_order else 1e-5) * MASS * G)
    loss = np.nansum(result["contact_loss"].values)
    assert loss == pytest.approx(MASS * exact.meets**2 / 2, rel=1e-6 if aligned else 3e-3)
    assert result["dissipated_energy"].values[-1] == pytest.approx(
        loss, rel=1e-6 if aligned else 2e-3
    )
    assert np.all(result["retries"].values[1:] == 0)


def on_belt(offset, scheme, duration=0.2, h=1e-3):
    """Run a block of 2 kg, mu = 0.4, that is put on a plane which moves along itself."""
    body = Body("block", MASS, point_mass=True)
    law = ContactLaw(friction=0.4)
    belt = PlaneContact(
        "belt", Frame(None), Frame(body), law=law, planar=True, offset=offset, scale=1e-2
    )
    d = assemble(Mechanism([body]), [belt], (0, 0, -G))
    return run(d, None, duration, h, scheme)


@pytest.mark.parametrize("scheme", [Variational(), MoreauJean()], ids=repr)
def test_a_belt_drags_along_what_lies_on_it(scheme):
    """With mu m g up to its speed V, then not at all; half of its work m V^2 is lost by slip."""
    V = 0.5
    result = on_belt(lambda t: (V * t, 0, 0), scheme)
    t, x, v = result["time"].values, result["q"].values[:, 0], result["v"].values[:, 0]
    caught = V / (0.4 * G)
    exact = np.where(t < caught, 0.2 * G * t**2, V * (t - caught / 2))
    assert x == pytest.approx(exact, abs=2e-6)
    assert v[t > caught + 1e-3] == pytest.approx(V, abs=1e-9)
    assert result["external_work"].values[-1] == pytest.approx(MASS * V**2, rel=1e-2)
    loss = np.nansum(result["contact_loss"].values)
    assert loss == pytest.approx(MASS * V**2 / 2, rel=1e-2)
    assert result["dissipated_energy"].values[-1] == pytest.approx(loss, abs=1e-9)


@pytest.mark.parametrize("scheme", [Variational(), MoreauJean()], ids=repr)
def test_what_sticks_to_a_shaken_table_goes_with_it(scheme):
    """A w^2 < mu g: no slip, and nothing is lost."""
    A, w = 1e-3, 50.0
    result = on_belt(lambda t: (A * (1 - np.cos(w * t)), 0, 0), scheme, 0.1)
    t, x = result["time"].values, result["q"].values[:, 0]
    assert x == pytest.approx(A * (1 - np.cos(w * t)), abs=1e-6)
    assert result["dissipated_energy"].values == pytest.approx(0, abs=1e-6)
    kinetic = result["kinetic_energy"].values
    assert result["external_work"].values == pytest.approx(kinetic, abs=1e-6)


@pytest.mark.slow
def test_a_floor_that_is_stated_as_an_offset():
    """As the same floor stated as a contact of its own."""
    body = Body("ball", MASS, point_mass=True)
    floor = PlaneContact(
        "floor",
        Frame(None),
        Frame(body),
        offset=lambda t: (0, 0, SHAKEN.amplitude * np.sin(SHAKEN.rate * t)),
    )
    d = assemble(Mechanism([body], coordinates="relative"), [floor], (0, 0, -G))
    start, h = at(0, SHAKEN.amplitude * SHAKEN.rate), 1e-3
    results = [
        run(d, start, 0.13, h, Variational()),
        run(ball_on_piston(), start, 0.13, h, Variational(), amplitude=SHAKEN.amplitude),
    ]
    q, other = (result["q"].values for result in results)
    assert q == pytest.approx(other, abs=1e-12)


@pytest.mark.unit
def test_rates_of_gaps_are_those_of_their_values():
    """Along a motion, for a plane that moves obliquely on a body that turns: by differences."""
    one, other = (Body(name, 1.0, (0.1, 0.2, 0.2)) for name in ("one", "other"))
    contact = PlaneContact(
        "plane",
        Frame(one, (0.1, 0, 0.2), (1, 2, 3)),
        Frame(other, (0, 0.1, 0)),
        law=ContactLaw(friction=0.3),
        offset=lambda t: (np.sin(3 * t), t**2, np.cos(2 * t)),
    )
    d = assemble(Mechanism([one, other]), [contact])
    chance, p, h = np.random.default_rng(4), d.values(), 1e-4
    q, v = np.asarray(d.renormalise(chance.uniform(-1, 1, d.nq))).ravel(), chance.normal(size=d.nv)
    gaps = [
        float(d.gap(0.3 + k * h, d.retract(q, k * h * v), p)) for k in (-1, 0, 1)
    ]  # retraction follows the motion at constant v to second order
    rate = d.gap_matrix(0.3, q, p).T @ v + d.gap_drift(0.3, q, p)
    assert float(rate) == pytest.approx((gaps[2] - gaps[0]) / (2 * h), abs=1e-6)
    bend = (gaps[2] - 2 * gaps[1] + gaps[0]) / h**2
    assert float(d.gap_bias(0.3, q, v, p)) == pytest.approx(bend, abs=1e-4)
    along = d.slip_matrix(0.3, q, p).T @ v + d.slip_drift(0.3, q, p)
    assert d.slip_drift(0.3, q, p).nnz() == along.numel() == 2
    still = np.asarray(d.slip_drift(0.3, q, p)).ravel()
    assert still == pytest.approx([-3 * np.cos(0.9), -0.6], abs=1e-12)


@pytest.mark.unit
def test_a_compliant_contact_refuses_what_moves_with_time():
    body = Body("ball", MASS, point_mass=True)
    for offset in (lambda t: (0, 0, 0.5 * t), lambda t: (0.5 * t, 0, 0)):
        floor = PlaneContact("floor", Frame(None), Frame(body), offset=offset)
        soft = CompliantContact("soft", floor, Hertz(1e6))
        with pytest.raises(ValueError, match="'soft' moves with time, whose work it would leave"):
            assemble(Mechanism([body]), [soft])


@pytest.mark.unit
@pytest.mark.parametrize(
    ("offset", "message"),
    [
        ((0, 0, np.inf), "offset of PlaneContact 'floor'"),
        (lambda t: (0, t), "must return three components"),
        (lambda t: (0, 0, 1 / t), "must be finite, but is not at t = 0"),
    ],
)
def test_an_offset_that_is_none_is_refused(offset, message):
    body = Body("ball", MASS, point_mass=True)

    def stated():
        floor = PlaneContact("floor", Frame(None), Frame(body), offset=offset)
        return assemble(Mechanism([body]), [floor])

    with pytest.raises(ValueError, match=message):
        stated()
