"""Cones: their edges against the printed formulas and scipy, their refusals, nearest points."""

import re

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from nsopt import (
    Body,
    Chord,
    Cone,
    CubicLaw,
    Frame,
    Parameter,
    PrintedExcess,
    RangeOfMotion,
    SphericalAngle,
)
from nsopt.elements.range_of_motion.nearest import angles, generator, nearest

deg = np.radians
PAPER = Cone(deg([0, 90, 135, 180, 270, 315, 360]), deg([30, 70, 100, 80, 50, 45, 30]))
QUADRANTS = deg([0, 90, 180, 270, 360])


def direction(longitude, latitude):
    s = np.sin(latitude)
    return np.array([s * np.cos(longitude), s * np.sin(longitude), np.cos(latitude)])


def function(cone, outputs):
    u = ca.SX.sym("u", 3)
    return ca.Function("f", [u], outputs(nearest(cone.curve(), u)), {"cse": True})


def evaluated(f, points):
    return [np.asarray(x) for x in f.map(points.shape[-1]).call([points])]


def random_cone(rng):
    """Return a cone with a random edge; what is no cone is drawn again."""
    while True:
        try:
            kind = rng.random()
            if kind < 0.4:
                # Some as flat as a hinge's, some open to the opposite pole.
                sigma = np.where(rng.random(4) < 0.1, rng.choice([0, 0.1, 3, 180]), 0.0)
                sigma = np.where(sigma > 0, sigma, rng.uniform(0 if kind < 0.04 else 5, 150, 4))
                return Cone(QUADRANTS, deg([*sigma, sigma[0]]))
            n = int(rng.integers(4, 10))
            psi = (np.arange(1, n) + rng.uniform(-0.3, 0.3, n - 1)) * 360 / n
            sigma = rng.uniform(10, 140) * rng.uniform(0.6, 1.25, n)
            return Cone(deg([0, *psi, 360]), deg([*sigma, sigma[0]]), spline=True)
        except ValueError:
            continue


def test_quarters_are_those_of_the_printed_ellipse():
    """Eq. 13 as printed, and its polar form free of the tangent (erratum)."""
    cone = Cone(QUADRANTS, deg([60, 30, 45, 20, 60]))
    psi, sigma = cone.edge(1001)
    a = deg(np.where(np.cos(psi) >= 0, 60, 45))
    b = deg(np.where(np.sin(psi) >= 0, 30, 20))
    assert sigma == pytest.approx(a * b / np.hypot(b * np.cos(psi), a * np.sin(psi)), abs=1e-12)
    off = np.abs(np.cos(psi)) > 1e-3
    tan = np.tan(psi[off]) ** 2
    a, b = a[off], b[off]
    printed = np.sqrt(b**2 / (tan + b**2 / a**2) * (1 - b**2 / a**2) + b**2)
    assert sigma[off] == pytest.approx(printed, rel=1e-9)


def test_spline_is_that_of_scipy_over_the_chord_length():
    psi, sigma = np.array(PAPER.longitudes), np.array(PAPER.latitudes)
    points = np.column_stack([sigma * np.cos(psi), sigma * np.sin(psi)])
    points[-1] = points[0]
    chords = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    spline = CubicSpline(chords, points, bc_type="periodic")
    at = spline(np.linspace(0, chords[-1], 361))
    longitude, latitude = PAPER.edge(361)
    assert latitude == pytest.approx(np.hypot(*at.T), abs=1e-12)
    assert np.exp(1j * longitude) == pytest.approx(at @ [1, 1j] / np.hypot(*at.T), abs=1e-12)


def test_a_cone_of_parameters_is_that_of_their_numbers():
    names = [Parameter(f"s{k}", x) for k, x in enumerate(PAPER.latitudes[:-1])]
    symbolic = Cone(PAPER.longitudes, [*names, names[0]])
    values = ca.SX(names[0].value), *(ca.SX(x.value) for x in names[1:])
    by_name = dict(zip([x.name for x in names], values, strict=True))
    curve = symbolic.curve(lambda x: by_name[x.name])
    l = ca.SX(0.7)
    jets = zip(curve.piece(l).jet(l), PAPER.curve().piece(l).jet(l), strict=True)
    for one, other in jets:
        assert np.asarray(ca.DM(one)) == pytest.approx(np.asarray(ca.DM(other)), abs=1e-14)


@pytest.mark.slow
def test_nearest_points_are_those_of_a_search():
    """Forty random cones, 250 random directions each: the same point, or one equally near."""
    rng, cones, directions = np.random.default_rng(7), 40, 250
    compared = 0
    for _ in range(cones):
        cone = random_cone(rng)
        points = rng.normal(size=(3, directions))
        points /= np.linalg.norm(points, axis=0)
        (point,) = evaluated(function(cone, lambda at: [at.b]), points)
        exact, bend = searched(cone.curve(), points)
        nearer = np.sum((exact - point) * points, axis=0)
        assert np.max(nearer) < 1e-13
        # Equally near, or on an arc about u: then the point is not defined to 1e-9.
        defined = (nearer > -1e-9) & (np.abs(bend) > 1e-3)
        same = np.linalg.norm(exact - point, axis=0) < 1e-9
        tied = np.abs(nearer) < 1e-14
        assert np.all(same[defined] | tied[defined])
        compared += np.sum(same)
    assert compared > 0.99 * directions * cones


def searched(curve, points):
    """Return the nearest generators by 10,000 samples and Newton's method, and their u . b''."""
    l = ca.SX.sym("l")
    table = ca.Function("g", [l], list(generator(curve.piece(l).jet(l))))
    period = float(curve.period)
    at = np.linspace(0, period, 10001)[:-1]
    b, _, _ = evaluated(table, at)
    there = at[np.argmax(b.T @ points, axis=0)]
    for _ in range(6):
        _, first, second = evaluated(table, there)
        slope, bend = (np.sum(x * points, axis=0) for x in (first, second))
        step = -slope / np.where(bend < 0, bend, -1)
        there = (there + np.clip(step, -period / 5000, period / 5000)) % period
    return evaluated(table, there)[0], bend


@pytest.mark.parametrize(
    "cone", [PAPER, Cone(QUADRANTS, deg([40, 30, 55, 45, 40]))], ids=["spline", "quarters"]
)
def test_the_map_has_the_derivatives_of_finite_differences(cone):
    """Gradient and Hessian of angle and nearest point, where that is unique."""
    u = ca.SX.sym("u", 3)
    at = nearest(cone.curve(), u / ca.norm_2(u))
    for expression in (at.theta, at.b[0], at.b[2]):
        gradient = ca.jacobian(expression, u)
        f = ca.Function("f", [u], [expression, gradient.T, ca.jacobian(gradient, u)])
        rng = np.random.default_rng(3)
        for _ in range(20):
            x = direction(rng.uniform(4.6, 6.2), rng.uniform(0.9, 1.2))
            _, g, H = (np.asarray(part) for part in f(x))
            eps = 1e-5
            steps = np.eye(3) * eps
            fd = [float(f(x + e)[0] - f(x - e)[0]) / (2 * eps) for e in steps]
            assert g.ravel() == pytest.approx(fd, rel=1e-6, abs=1e-8)
            fd = [(np.asarray(f(x + e)[1]) - np.asarray(f(x - e)[1])) / (2 * eps) for e in steps]
            assert pytest.approx(np.hstack(fd), rel=1e-6, abs=1e-6) == H


def test_measures_of_excess_at_the_point_of_the_erratum():
    values = function(
        PAPER, lambda at: [e().value(at) for e in (PrintedExcess, Chord, SphericalAngle)]
    )(direction(deg(150), deg(104)))
    printed, chord, angle = np.degrees([float(x) for x in values])
    assert (printed, chord, angle) == pytest.approx((7.290, 6.322, 6.335), abs=6e-4)


@pytest.mark.parametrize("longitude", [0.0, 1.0, 3.0, 4.5, 6.2])
def test_angles_are_those_of_the_direction(longitude):
    u = ca.SX.sym("u", 3)
    f = ca.Function("f", [u], [*angles(u), ca.jacobian(ca.vertcat(*angles(u)), u)])
    psi, sigma, _ = f(direction(longitude, 0.8))
    assert (float(psi), float(sigma)) == pytest.approx((longitude, 0.8))
    at_pole = f([0, 0, 1])
    assert (float(at_pole[0]), float(at_pole[1])) == pytest.approx((0, 0), abs=1e-12)
    assert np.all(np.isfinite(np.asarray(at_pole[2])))


def test_excess_is_signed_and_smooth_across_the_edge():
    theta = function(PAPER, lambda at: [at.theta])
    psi, sigma = PAPER.edge(200)
    for shift in (-0.05, 0.0, 0.05):
        points = np.column_stack([direction(p, s + shift) for p, s in zip(psi, sigma, strict=True)])
        (excess,) = evaluated(theta, points)
        if shift:
            assert np.all(excess * np.sign(shift) > 0.02)
        else:
            assert np.max(np.abs(excess)) < 1e-12


@pytest.mark.parametrize(
    ("sigma", "longitude", "latitude", "excess"),
    [
        ([140, 20, 0, 20, 140], 140, 34, None),
        ([140, 20, 0, 20, 140], 270, 82, 62),
        ([60, 30, 0, 30, 60], 180, 40, 40),
        ([60, 90, 180, 90, 60], 0, 130, None),
        ([60, 90, 180, 90, 60], 0, 110, 50),
        ([60, 90, 180, 90, 60], 0, 70, 10),
    ],
)
def test_cones_with_corners(sigma, longitude, latitude, excess):
    """Against a search: with an axis of zero, or open on one side, on the side opposite to it."""
    cone = Cone(QUADRANTS, deg(sigma))
    u = direction(deg(longitude), deg(latitude))
    theta = np.degrees(float(function(cone, lambda at: [at.theta])(u)))
    psi, edge = cone.edge(200_001)
    best = np.degrees(np.arccos(np.max(direction_of(psi, edge) @ u)))
    assert abs(theta) == pytest.approx(best, abs=0.02)
    assert theta > 0
    if excess is not None:
        assert theta == pytest.approx(excess, abs=0.2)


def direction_of(psi, sigma):
    flat = np.sin(sigma)
    return np.column_stack([flat * np.cos(psi), flat * np.sin(psi), np.cos(sigma)])


def test_a_cone_may_be_open_on_one_side():
    """Latitude 180 deg at longitude 180: nothing is outside there."""
    theta = function(Cone(QUADRANTS, deg([40, 90, 180, 90, 40])), lambda at: [at.theta])
    excesses = [float(theta(direction(np.pi, x))) for x in np.linspace(0, 3.1, 20)]
    assert np.max(excesses) < 0
    assert float(theta(direction(0, deg(50)))) == pytest.approx(deg(10), abs=1e-9)


@pytest.mark.parametrize(
    ("psi", "sigma", "says"),
    [
        ([0, 90, 180, 270, 360], [30, 30, 30, 30, 31], "same, got 30 and 31 deg"),
        ([0, 180, 90, 270, 360], [30] * 5, "ascend, got 0, 180, 90, 270, 360"),
        ([0, 90, 180, 270, 350], [30] * 5, "from 0 to 360 deg, got 0 to 350"),
        ([10, 90, 180, 270, 360], [30] * 5, "from 0 to 360 deg, got 10 to 360"),
        ([0, 90, 180, 270, 360], [30, 190, 30, 30, 30], "got 190 deg at longitude 90 deg"),
        ([0, 90, 180, 270, 360], [30, -1, 30, 30, 30], "got -1 deg at longitude 90 deg"),
        ([0, 90, 180, 360], [30, 30, 30], "4 longitudes and 3 latitudes"),
        ([0, 360], [30, 30], "at least 4"),
        ([0, 90, 180, 270, 360], [30, 0, 30, 20, 30], None),
        ([0, 90, 180, 270, 360], [30, 0, 30, 0, 30], None),
        ([0, 90, 180, 270, 360], [0, 0, 0, 0, 0], "enclose next to no directions"),
        ([0, 90, 180, 270, 360], [180] * 5, "restrict nothing"),
        ([0, 90, 180, 270, 360], [30, np.nan, 30, 30, 30], "finite"),
        ([0, 3, 120, 240, 360], [20, 150, 20, 20, 20], "turns back at longitude"),
        ([0, 45, 90, 180, 270, 360], [175, 180, 175, 100, 175, 175], "more than 180"),
    ],
)
def test_a_cone_refuses_what_is_none(psi, sigma, says):
    def build():
        return Cone(deg(psi), deg(sigma))

    if says is None:
        assert build().elliptic
        return
    with pytest.raises(ValueError, match=re.escape(says)):
        build()


def test_quarters_need_the_quadrants():
    with pytest.raises(ValueError, match="use spline=True"):
        Cone(PAPER.longitudes, PAPER.latitudes, spline=False)
    assert not Cone(QUADRANTS, deg([60, 30, 45, 20, 60]), spline=True).elliptic


@pytest.mark.parametrize(
    ("law", "says"),
    [
        (CubicLaw(0.0, 0.2), "peak of RangeOfMotion 'hip' must be positive, got 0"),
        (CubicLaw(-5.0, 0.2), "peak .* got -5"),
        (CubicLaw(5.0, 0.0), "compliance of RangeOfMotion 'hip' must be positive, got 0"),
        (CubicLaw(5.0, Parameter("D", -0.1)), "compliance .* got -0.1"),
    ],
)
def test_laws_refuse_numbers_out_of_range(law, says):
    with pytest.raises(ValueError, match=says):
        RangeOfMotion("hip", Frame(None), Frame(body()), PAPER, law)


def body():
    return Body("b", 1.0, (1, 1, 1))
