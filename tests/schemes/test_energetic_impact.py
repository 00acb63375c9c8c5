"""Impacts by compression: balls on springs, rods and balls that slip, and what they keep."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from nsopt import (
    GROUND,
    Body,
    ContactAligned,
    ContactLaw,
    EnergeticImpact,
    Frame,
    Ipopt,
    Mechanism,
    MoreauJean,
    NewtonImpact,
    PaperStep,
    Parameter,
    PlaneContact,
    PoissonImpact,
    Solver,
    Sqp,
    StepBounds,
    Variational,
    assemble,
    batch_step,
    simulate,
)
from nsopt.mechanics import Start
from nsopt.trajectory import sensitivities
from tests.schemes.test_impact_laws import INERTIA, floor, planar, poses
from tests.schemes.test_sequential_impact import in_turn
from tests.schemes.test_sequential_impact import struck as roll

SCHEMES = [kind(impact=EnergeticImpact()) for kind in (Variational, MoreauJean, ContactAligned)]
SPHERE = 0.4  # m r^2
H = 1e-7
"""Steps [s], in which bodies move by next to nothing."""

kinds = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)


def on_springs(speeds, masses, e, stiffness, exponent):
    """Speeds of balls in a row that touch, after forces K depth^exponent, by scipy.

    While a contact opens its depth falls by 1 / e^2 of the way, so that it gives e^2 back.
    """
    n = len(speeds)

    def rates(_, z):
        v, depth = z[:n], z[n:]
        force = stiffness * np.maximum(depth, 0) ** exponent
        opening = np.diff(v)
        sinks = -opening * np.where(opening > 0, 1 / e**2, 1)
        a = (np.append(0, force) - np.append(force, 0)) / masses
        return np.concatenate([a, np.where((depth <= 0) & (opening > 0), 0, sinks)])

    found = solve_ivp(rates, (0, 40), [*speeds, *np.zeros(n - 1)], rtol=1e-9, atol=1e-11)
    v = found.y[:n, -1]
    assert np.all(np.diff(v) > -1e-6), "the impact lasts"
    return v


@kinds
def test_three_balls_on_linear_springs_leave_as_in_closed_form(scheme):
    """Equal ones: modes of 1 and sqrt(3) while both springs press, of sqrt(2) of the last two."""
    w = np.sqrt(3)
    first = brentq(lambda t: np.sin(t) + np.sin(w * t) / w, 1, 4)  # the first contact opens
    slow, fast = np.cos(first), np.cos(w * first)
    v = np.array([2 + 3 * slow + fast, 2 - 2 * fast, 2 - 3 * slow + fast]) / 6
    depth = (np.sin(first) - np.sin(w * first) / w) / 2
    mean, opening = v[1:].mean(), np.hypot(v[2] - v[1], np.sqrt(2) * depth)
    expected = [v[0], mean - opening / 2, mean + opening / 2]
    law = EnergeticImpact(exponent=1.0)
    found = roll(type(scheme)(impact=law), [1.0, 0, 0])
    assert found == pytest.approx(expected, abs=1e-4)
    finer = roll(type(scheme)(impact=EnergeticImpact(exponent=1.0, steps=100)), [1.0, 0, 0])
    assert np.abs(finer - expected).max() < 0.3 * np.abs(found - expected).max()


@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_balls_in_a_row_leave_as_on_springs(seed, exponent):
    """Whatever their masses, restitution and stiffness."""
    chance = np.random.default_rng(seed)
    masses, stiffness = chance.uniform(0.5, 2, 4), chance.uniform(0.2, 5, 3)
    e = chance.uniform(0.5, 1, 3)
    speeds = np.array([1.0, 0, 0, 0])
    expected = on_springs(speeds, masses, e, stiffness, exponent)
    scheme = ContactAligned(impact=EnergeticImpact(exponent))
    found = roll(scheme, speeds, masses, e, stiffness)
    assert found @ masses == pytest.approx(masses[0], rel=1e-9)
    assert found == pytest.approx(expected, abs=2e-3)


def test_soft_contacts_between_stiff_ones_give_back_what_they_store():
    """Pairs on springs 1e4 times as stiff swing thousands of times while the soft one presses."""
    masses, e, stiffness = np.array([1.0, 1.3, 1.6, 1.0]), np.full(3, 0.9), np.array([1e4, 1, 1e4])
    speeds = np.array([1.0, 0, 0, 0])
    expected = on_springs(speeds, masses, e, stiffness, 1.0)
    found = roll(ContactAligned(impact=EnergeticImpact(1.0)), speeds, masses, e, stiffness)
    assert found == pytest.approx(expected, abs=2e-3)


def test_balls_are_struck_in_turn_where_each_contact_is_far_softer_than_the_one_before():
    """An impact is over before the next one begins: Newton's cradle, (0, .., 1)."""
    speeds = np.array([1.0, 0, 0])
    scheme = ContactAligned(impact=EnergeticImpact(exponent=1.0))
    found = roll(scheme, speeds, e=np.array([0.9, 0.8]), stiffness=np.array([1.0, 1e-6]))
    expected = in_turn([1.0, 0], np.ones(2), 0.9)
    expected = [expected[0], *in_turn([expected[1], 0], np.ones(2), 0.8)]
    assert found == pytest.approx(expected, abs=2e-3)


@cache
def rod(contacts):
    """A rod of 1 kg and 1 m in the plane, whose end at -y (or both) may hit a floor."""
    body, ends = Body("rod", 1.0, (1 / 12, 1 / 12, 1 / 12)), []
    for k in range(contacts):
        x = floor(f"end {k}", body, (0, k - 0.5, 0))
        law = ContactLaw(
            Parameter(f"e{k}", 0.5),
            Parameter(f"mu{k}", 0.5),
            tangential_restitution=Parameter(f"back{k}", 0.0),
            stiffness=Parameter(f"stiffness{k}", 1.0),
        )
        ends.append(PlaneContact(x.name, x.a, x.b, planar=True, law=law))
    return assemble(Mechanism([body]), ends)


def hit(dynamics, q, v, impact, **numbers):
    """Velocities (n, nv) after the impact of each state, raw."""
    scheme, starts = MoreauJean(impact=impact), [Start(*x) for x in zip(q, v, strict=True)]
    batch = batch_step(dynamics, len(v), H, start=starts[0], scheme=scheme, fallbacks=False)
    batch.reset(slice(None), starts)
    assert np.all(batch.step(numbers).completed)
    return batch.v


def find_by_stronge(delassus, u, e, mu):
    """The velocity (normal, tangential) after an impact in the plane, by Stronge's law by hand.

    And whether the slip stopped, or went back. Piece by piece: rates are linear in the impulse.
    """
    (normal, cross), (_, along) = delassus
    u, stored, what = np.array(u, dtype=float), 0.0, "slips on"
    slip = np.sign(u[1])
    while True:
        friction = -mu * slip if slip else -np.clip(cross / along, -mu, mu)
        rate = np.array([normal + cross * friction, cross + along * friction])
        pieces = [np.inf]
        if u[0] * rate[0] < 0:
            pieces.append(-u[0] / rate[0])
        if slip and u[1] * rate[1] < 0:
            pieces.append(-u[1] / rate[1])
        if expands := u[0] > 0 or (u[0] == 0 and rate[0] > 0):
            square = u[0] ** 2 + 2 * rate[0] * e**2 * stored
            pieces.append((np.sqrt(square) - u[0]) / rate[0] if square >= 0 else np.inf)
        p = min(pieces)
        stored -= (u[0] * p + rate[0] * p**2 / 2) / (e**2 if expands else 1)
        stops = slip and u[1] * rate[1] < 0 and p == -u[1] / rate[1]
        turns = u[0] * rate[0] < 0 and p == -u[0] / rate[0]
        u = u + p * rate
        if stops:
            u[1] = 0
            slip = 0.0 if abs(cross) <= mu * along else np.sign(cross)
            what = "slips back" if slip else "sticks"
        if turns:
            u[0] = 0
        if expands and not stops and not turns:
            return u, what


def test_a_rod_strikes_a_rough_floor_by_stronges_law():
    """Velocities by hand, whether its end slips on, sticks or slips back."""
    rng, seen = np.random.default_rng(4), set()
    q, v, directions = zip(*poses(200, 1), strict=True)
    e, mu = rng.uniform(0.05, 1, 200), rng.uniform(0.05, 0.8, 200)
    after = hit(rod(1), q, v, EnergeticImpact(), e0=e, mu0=mu)
    for k, J in enumerate(directions):
        delassus = J @ np.linalg.solve(INERTIA, J.T)
        expected, what = find_by_stronge(delassus, J @ planar(v[k]), e[k], mu[k])
        seen.add(what)
        assert J @ planar(after[k]) == pytest.approx(expected, abs=1e-5)
    assert seen == {"slips on", "sticks", "slips back"}


@pytest.mark.slow
def test_no_energy_is_gained_by_two_contacts_of_any_numbers():
    rng = np.random.default_rng(7)
    for exponent in (1.0, 1.5):
        q, v, directions = zip(*poses(1000, 2, both=True), strict=True)
        n = len(v)
        numbers = {f"{x}{k}": rng.uniform(size=n) for x in ("e", "mu", "back") for k in range(2)}
        numbers["e0"] *= rng.uniform(size=n) < 0.7  # none of some
        numbers["mu1"] *= 3  # may jam
        numbers |= {f"stiffness{k}": 10 ** rng.uniform(-1, 1, n) for k in range(2)}
        after = hit(rod(2), q, v, EnergeticImpact(exponent), **numbers)
        before, left = (np.einsum("ij,jk,ik->i", x, INERTIA, x) for x in map(at_once, (v, after)))
        assert np.all(left <= before * (1 + 1e-9))
        rates = [at_once(x) @ directions[0][::2].T for x in (v, after)]
        both = np.all(rates[0] < 0, axis=1)
        assert both.sum() > 200
        assert np.all(rates[1][both] > -1e-6)


def at_once(v):
    return np.asarray(v)[:, [0, 1, 5]]


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("kind", [PaperStep, Variational, MoreauJean])
def test_solvers_of_nonlinear_programs_take_it(kind, backend):
    """Thrown down at 2 m/s without weight, at e = 0.3 and mu = 0.05, while it slides."""
    body = Body("ball", 1.0, (SPHERE,) * 3, position=(0, 0, 1.05), velocity=(1, 0, -2))
    law = ContactLaw(restitution=0.3, friction=0.05)
    ground = PlaneContact("floor", Frame(GROUND), Frame(body), radius=1.0, law=law)
    result = simulate(
        assemble(Mechanism([body]), [ground]),
        duration=0.03,
        steps=StepBounds(2e-4, 2e-3),
        scheme=kind(impact=EnergeticImpact()),
        solver=Solver(backend=backend),
        check=None,
        progress=False,
    )
    assert result.completed, result.stop_reason
    assert result["v"].values[-1, :3] == pytest.approx([1 - 0.05 * 1.3 * 2, 0, 0.6], abs=1e-8)


@pytest.mark.parametrize("impact", [EnergeticImpact(), NewtonImpact()], ids=repr)
@pytest.mark.parametrize("mu", [0.05, 0.6])
def test_what_places_bodies_rubs_nothing_before_an_impact_of_paper_steps(mu, impact):
    """A ball with backspin slides off its slip of 1.2 m/s, or rolls; energy is lost there alone."""
    spin, e, speed = 1.2, 0.5, 2.0
    body = Body(
        "ball",
        1.0,
        (SPHERE,) * 3,
        position=(0, 0, 1.05),
        velocity=(0, 0, -speed),
        angular_velocity=(0, spin, 0),
    )
    law = ContactLaw(restitution=e, friction=mu)
    ground = PlaneContact("floor", Frame(GROUND), Frame(body), radius=1.0, law=law)
    result = simulate(
        assemble(Mechanism([body]), [ground]),
        duration=0.05,
        steps=StepBounds(1e-8, 2e-3),
        scheme=PaperStep(finds_h=False, impact=impact),
        check=None,
        progress=False,
    )
    along = min(mu * (1 + e) * speed, spin * SPHERE / (1 + SPHERE))
    assert result["v"].values[-1, [0, 4]] == pytest.approx([along, spin - along / SPHERE], abs=1e-8)
    energy = result["total_energy"].values
    lost = np.nansum(result["contact_loss"].values)
    assert lost == pytest.approx(energy[0] - energy[-1], abs=1e-8)


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_fall_has_its_derivatives_by_restitution_and_start(e):
    """Of the height a time after a ball that fell for t1 left the floor at e g t1."""
    g, high, duration = 9.81, 0.1, 0.2
    ball = Body("ball", 1.0, point_mass=True, position=(0, 0, high))
    law = ContactLaw(restitution=Parameter("e", e) if e else 0.0)
    ground = PlaneContact("floor", Frame(GROUND), Frame(ball), law=law)
    found = sensitivities(
        assemble(Mechanism([ball]), [ground], (0, 0, -g)),
        times=[duration],
        steps=StepBounds(1e-6, 1e-3),
        outputs=lambda t, q, v, p: q[2],
        by=["e"] if e else [],
        scheme=ContactAligned(impact=EnergeticImpact()),
    ).forward()
    fall = np.sqrt(2 * high / g)
    by_fall = e * g * (duration - fall) - e * g * fall + g * (duration - fall)
    assert np.ravel(found.q0)[2] == pytest.approx(by_fall / (g * fall) if e else 0, abs=1e-6)
    if e:
        assert np.ravel(found.parameters) == pytest.approx(g * fall * (duration - fall), abs=1e-6)


@pytest.mark.parametrize("number", ["tangential_restitution", "stiffness"])
@pytest.mark.parametrize("impact", [NewtonImpact(), PoissonImpact()], ids=repr)
def test_laws_without_compression_refuse_its_numbers(number, impact):
    body = Body("ball", 1.0, point_mass=True, position=(0, 0, 1))
    law = ContactLaw(friction=0.1, **{number: 0.5})
    d = assemble(Mechanism([body]), [PlaneContact("floor", Frame(GROUND), Frame(body), law=law)])
    told = f"'floor' has {number} 0.5, which {type(impact).__name__} does not take"
    with pytest.raises(ValueError, match=told):
        simulate(d, duration=0.1, steps=StepBounds(H, H), scheme=Variational(impact=impact))


@pytest.mark.parametrize("wrong", [{"exponent": 0.5}, {"exponent": np.nan}, {"steps": 0}], ids=str)
def test_numbers_out_of_range_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name} of EnergeticImpact .* 1 or more, got"):
        EnergeticImpact(**wrong)
