"""A lubricated journal: the film's integrals, equilibrium of a short bearing, contact beyond."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Compiled,
    Flores,
    Frame,
    Hertz,
    JournalBearing,
    LongBearing,
    Mechanism,
    Planar,
    ShortBearing,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.analysis import wear
from tests.catalog import FILMS
from tests.states import array, couple

C, R, L, MU, SPEED = 1e-4, 0.02, 0.015, 0.05, 200.0


def short(e, t, sweep, squeeze):
    """Pressure of a short bearing, over 3 mu / c^2 (L^2 / 4 - z^2)."""
    return (sweep * np.sin(t) - squeeze * np.cos(t)) / (1 + e * np.cos(t)) ** 3


def long(e, t, sweep, squeeze):
    """Pressure of a long bearing, over 6 mu R^2 / c^2."""
    u = 1 + e * np.cos(t)
    return (1 + u) / u**2 * (sweep / (2 + e**2) * np.sin(t) - squeeze / 2 * np.cos(t))


def integrals(film, e, sweep, squeeze):
    symbols = [ca.SX.sym(x) for x in ("e", "sweep", "squeeze")]
    function = ca.Function("film", symbols, list(film.integrals(*symbols)))
    return [float(x) for x in function(e, sweep, squeeze)]


@pytest.mark.unit
@pytest.mark.parametrize(("film", "known"), [(ShortBearing(), short), (LongBearing(), long)])
@pytest.mark.parametrize("e", [0.0, 0.01, 0.019, 0.021, 0.3, 0.9, 0.99])
def test_integrals_are_those_of_the_pressure_where_it_is_positive(film, known, e):
    for sweep, squeeze in ((1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (-0.4, 0.7), (0.2, -0.9)):

        def pressure(t, a=sweep, b=squeeze):
            return max(0.0, known(e, t, a, b))

        begin = np.arctan2(squeeze, sweep * (1.0 if known is short else 2 / (2 + e**2)))
        inside = [t for t in (-np.pi, np.pi) if begin < t < begin + np.pi]
        exact = [
            quad(
                lambda t, part=part: pressure(t) * part(t),
                begin,
                begin + np.pi,
                points=inside or None,
                epsrel=1e-10,
                limit=300,
            )[0]
            for part in (np.cos, np.sin)
        ]
        found = integrals(film, e, sweep, squeeze)
        assert found == pytest.approx(exact, abs=1e-7 * np.abs(exact).max())


@pytest.mark.unit
@pytest.mark.parametrize("e", [0.1, 0.5, 0.9])
def test_the_pressure_of_a_long_bearing_solves_reynolds_equation(e):
    """d/dtheta (u^3 dp/dtheta) = w du/dtheta + 2 de/dt cos(theta), and p is periodic."""
    w, rate, eps = 0.7, -0.4, 1e-4
    t = np.linspace(0.0, 2 * np.pi, 40)

    def p(t):
        return long(e, t, e * w, 2 * rate)

    def flow(t):
        return (1 + e * np.cos(t)) ** 3 * (p(t + eps) - p(t - eps)) / (2 * eps)

    left = (flow(t + eps) - flow(t - eps)) / (2 * eps)
    right = -w * e * np.sin(t) + 2 * rate * np.cos(t)
    assert left == pytest.approx(right, abs=1e-5 * np.max(np.abs(p(t))))
    assert p(t + 2 * np.pi) == pytest.approx(p(t))


@pytest.mark.unit
@pytest.mark.parametrize("e", [0.05, 0.4, 0.8])
def test_a_long_bearing_carries_as_half_of_sommerfelds_film(e):
    """Along 2 e^2 / ((2 + e^2) (1 - e^2)), aside pi e / ((2 + e^2) sqrt(1 - e^2)).

    With squeeze the force aside is larger or smaller by an angle over pi, and both branches add up
    to the whole film.
    """
    root = np.sqrt(1 - e**2)
    aside = np.pi * e / ((2 + e**2) * root)
    steady = integrals(LongBearing(), e, e, 0.0)
    assert steady == pytest.approx([-2 * e**2 / ((2 + e**2) * (1 - e**2)), aside], rel=1e-7)
    for rate in (0.03, 0.5, 20.0):
        grows, shrinks = (integrals(LongBearing(), e, e, 2 * x) for x in (rate, -rate))
        k = root / e * np.hypot(1.0, e / (rate * (2 + e**2)))
        part = 1 + 2 / np.pi * np.arctan(1 / k)
        assert grows[1] == pytest.approx(part * aside, rel=1e-7)
        assert grows[1] + shrinks[1] == pytest.approx(2 * aside, rel=1e-7)


def bearing(load=(0.0, 0.0, 0.0), viscosity=MU, **options):
    """A journal in a plane, in a bearing that stands still."""
    journal = Body("journal", 1.0, (1e-3, 1e-3, 1e-3))
    plane = Planar("plane", Frame(GROUND), Frame(journal))
    film = JournalBearing("film", Frame(journal), Frame(GROUND), C, R, L, viscosity, **options)
    push = AppliedForce("push", Frame(journal), load)
    return assemble(Mechanism([journal], [plane], "relative"), [film, push])


@pytest.mark.unit
@pytest.mark.parametrize("e", [0.05, 0.4, 0.8])
def test_a_turning_journal_is_carried_as_by_a_long_bearing(e):
    """Sommerfeld's half film: attitude angle atan(pi sqrt(1 - e^2) / (2 e))."""
    d = bearing(film=LongBearing())
    force = array(d.applied(0, [e * C, 0.0, 0.0], [0.0, 0.0, SPEED], []))
    size = 6 * MU * SPEED * R**3 * L / C**2 * e / ((2 + e**2) * (1 - e**2))
    load = size * np.sqrt(4 * e**2 + np.pi**2 * (1 - e**2))
    assert np.hypot(*force[:2]) == pytest.approx(load, rel=1e-6)
    attitude = np.arctan2(np.pi * np.sqrt(1 - e**2), 2 * e)
    assert np.arctan2(force[1], -force[0]) == pytest.approx(attitude, rel=1e-6)


def capacity(e, speed=SPEED):
    """Load of a steady short bearing [Ocvirk 1952]: mu w R L^3 / (4 c^2) e / (1 - e^2)^2 ..."""
    root = np.sqrt(16 * e**2 + np.pi**2 * (1 - e**2))
    return MU * speed * R * L**3 / (4 * C**2) * e / (1 - e**2) ** 2 * root


@pytest.mark.unit
@pytest.mark.parametrize("e", [0.05, 0.4, 0.8])
def test_a_turning_journal_is_carried_as_by_a_short_bearing(e):
    """Load and attitude angle atan(pi sqrt(1 - e^2) / (4 e)); the torque is Petrov's."""
    d = bearing()
    q, v = np.array([e * C, 0.0, 0.0]), np.array([0.0, 0.0, SPEED])
    force = array(d.applied(0, q, v, []))
    assert np.hypot(*force[:2]) == pytest.approx(capacity(e), rel=1e-6)
    attitude = np.arctan2(np.pi * np.sqrt(1 - e**2), 4 * e)
    assert np.arctan2(force[1], -force[0]) == pytest.approx(attitude, rel=1e-6)
    petrov = 2 * np.pi * MU * R**3 * L * SPEED / (C * np.sqrt(1 - e**2))
    # The force acts half way between the centres.
    lever = e * C / 2 * force[1]
    assert force[2] == pytest.approx(-petrov - lever, rel=1e-7)
    names = d.output_names
    outputs = dict(zip(names, array(d.outputs(0, q, v, [])), strict=True))
    assert outputs["film.eccentricity"] == pytest.approx(e)
    assert outputs["film.film"] == pytest.approx((1 - e) * C)
    assert outputs["film.torque"] == pytest.approx(petrov, rel=1e-7)


@pytest.mark.unit
def test_what_turns_together_has_no_film_force_and_a_squeeze_resists():
    """w_a + w_b = 2 dgamma/dt: journal, bearing and line of centres as one body."""
    d = bearing()
    e = 0.5
    together = array(d.applied(0, [e * C, 0, 0], [0, e * C * SPEED / 2, SPEED], []))
    assert together[:2] == pytest.approx(0, abs=1e-8 * capacity(e))
    squeezed = array(d.applied(0, [e * C, 0, 0], [C, 0, 0], []))
    assert squeezed[0] < 0
    assert squeezed[1] == pytest.approx(0, abs=1e-9 * abs(squeezed[0]))
    centred = array(d.applied(0, [0, 0, 0], [0.6 * C, 0.8 * C, 0], []))
    assert centred[0] / centred[1] == pytest.approx(0.75, rel=1e-6)
    # Of a centred short bearing half of the film: pi mu R L^3 / (2 c^3) v over two.
    exact = np.pi / 2 * MU * R * L**3 / (2 * C**3) * 2 * C
    assert np.hypot(*centred[:2]) == pytest.approx(exact, rel=1e-6)


@pytest.mark.slow
def test_a_loaded_journal_settles_at_the_equilibrium_of_a_short_bearing():
    load = capacity(0.6)
    d = bearing((0.0, -load, 0.0))
    start = Start(np.zeros(3), np.array([0, 0, SPEED]))
    heavy = simulate(
        d,
        start,
        0.1,
        steps=StepBounds(1e-4, 1e-4),
        scheme=Variational(),
        solver=Compiled(chunk=100),
        progress=False,
    )
    assert heavy.completed, heavy.stop_reason
    x, y, speed = *heavy["q"].values[-1, :2], heavy["v"].values[-1, 2]
    e = brentq(lambda e: capacity(e, speed) - load, 0.01, 0.99)
    assert np.hypot(x, y) / C == pytest.approx(e, rel=5e-3)
    attitude = np.arctan2(np.pi * np.sqrt(1 - e**2), 4 * e)
    assert np.arctan2(x, -y) == pytest.approx(attitude, abs=1e-2)
    lost = np.nansum(heavy["contact_loss"].values)
    assert heavy["dissipated_energy"].values[-1] == pytest.approx(lost, rel=2e-3)
    assert heavy["lasting_force"].values[-1, 0, 1] == pytest.approx(-load, rel=1e-2)
    assert np.nanmax(heavy["contact_mode"].values) == 0
    with pytest.raises(ValueError, match="an oil film carries joint 'film'"):
        wear(heavy, "film", 1e-13)


@pytest.mark.slow
def test_at_rest_asperities_carry_it():
    """It sinks until the film is thinner than the asperities, which press by their law."""
    K, load, rough = 1e13, 50.0, 2e-6
    d = bearing((0.0, -load, 0.0), 1e-4, roughness=rough, contact=Hertz(K))
    result = simulate(
        d,
        Start(np.array([0, -C + 3 * rough, 0]), np.zeros(3)),
        0.05,
        steps=StepBounds(1e-5, 1e-5),
        scheme=Variational(),
        solver=Compiled(chunk=100),
        progress=False,
    )
    thin = result["film.film"].values[-1]
    assert rough - thin == pytest.approx((load / K) ** (2 / 3), rel=1e-6)
    assert result["contact_mode"].values[-1, 0] == 1


@pytest.mark.unit
@pytest.mark.parametrize("row", FILMS, ids=str)
def test_film_and_shear_take_energy(row):
    c = couple(row)
    chance = np.random.default_rng(1)
    for _ in range(5):
        q = c.placed(np.array([*chance.uniform(-0.2, 0.2, 2), 0, 0, 0, 0]))
        v = chance.normal(size=12) * np.tile([1, 1, 0, 0, 0, 30], 2)
        assert v @ c.with_velocity("applied", q, v) < 0


@pytest.mark.unit
@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ({"viscosity": 0.0}, "viscosity of JournalBearing 'film' must be positive"),
        ({"roughness": 2e-4}, "roughness of JournalBearing 'film' must be below its clearance"),
    ],
)
def test_numbers_out_of_range_are_refused(numbers, says):
    good = {"clearance": C, "radius": R, "length": L, "viscosity": MU}
    body = Body("b", 1.0, (1, 1, 1))
    with pytest.raises(ValueError, match=says):
        JournalBearing("film", Frame(GROUND), Frame(body), **good | numbers)
    with pytest.raises(TypeError, match="needs no speed of impact"):
        JournalBearing("film", Frame(GROUND), Frame(body), **good, contact=Flores(1e9))
    with pytest.raises(TypeError, match=r"film of JournalBearing 'film' must be an OilFilm"):
        JournalBearing("film", Frame(GROUND), Frame(body), **good, film="long")
