"""Closed loops: published references, one-freedom equations, and one motion in all coordinates."""

from functools import cache
from itertools import combinations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    Body,
    Compiled,
    Mechanism,
    MoreauJean,
    PointOnLine,
    Revolute,
    StepBounds,
    Variational,
    acceleration,
    assemble,
    simulate,
)
from nsopt.mechanics import redundancy
from problems.andrews_squeezer import andrews_squeezer
from problems.double_pendulum import double_pendulum
from problems.four_bar import four_bar, n_four_bar
from problems.slider_crank import slider_crank
from tests.states import array

COORDINATES, G = ("absolute", "relative"), 9.81
ROUND_OFF = 1e-8  # m, of positions after some thousand steps of mechanisms of 1 m

coordinates = pytest.mark.parametrize("coordinates", COORDINATES)
loops = pytest.mark.parametrize(
    "problem", [four_bar, n_four_bar, slider_crank, andrews_squeezer], ids=lambda m: m.__name__[9:]
)


@cache
def modelled(problem, *options):
    return problem.model(*options)


def built(problem, coordinates, *closing):
    """A model, assembled and so compiled once: pins are points on lines unless stated."""
    return modelled(problem, coordinates, *(x for x in closing if x is not PointOnLine))


def run(dynamics, duration, h, scheme=None, start=None, **options):
    """A run at fixed h in which no step was tried twice."""
    result = simulate(
        dynamics,
        start,
        duration,
        steps=StepBounds(h / 16, h),
        scheme=scheme or Variational(),
        solver=Compiled(),
        progress=False,
        **options,
    )
    assert result.completed, result.stop_reason
    assert np.nansum(result["retries"]) == 0
    return result


def extrapolated(coarse, fine):
    """The value at h = 0 of a symmetric scheme of second order, from those at h and h/2."""
    return fine + (fine - coarse) / 3


# One motion in all coordinates


def same_motion(build, h, duration, ways=("absolute", "relative"), scheme=None, order=2):
    """Assert that two ways of building a mechanism move alike.

    Positions of all bodies, at all times, agree to round-off, or their difference falls with the
    order of the scheme from h to h / 2.

    Parameters
    ----------
    build : callable
        Dynamics from one of ``ways``.
    h, duration : float [s]
    ways : pair
    scheme : Scheme
        `Variational` by default.
    order : int
        Of the scheme.
    """
    models = [build(way) for way in ways]

    def difference(h):
        a, b = (run(d, duration, h, scheme)["body_position"] for d in models)
        assert list(a["body"].values) == list(b["body"].values)
        return np.max(np.abs(a.values - b.values))

    coarse, fine = difference(h), difference(h / 2)
    alike = max(coarse, fine) < ROUND_OFF
    assert alike or coarse / fine > 0.8 * 2**order, f"positions differ by {coarse:g}, {fine:g} m"


@pytest.mark.parametrize("pair", list(combinations(COORDINATES, 2)), ids="-".join)
def test_all_coordinates_give_the_same_motion(pair):
    """The loops below are compared with exact motions in all coordinates."""
    same_motion(lambda way: built(double_pendulum, way), 2e-3, 0.5, pair)


@pytest.mark.slow
def test_redundant_rows_do_not_change_the_motion():
    """In a tree; in absolute coordinates they are those of the four-bar under torque, below."""
    same_motion(
        lambda closing: built(four_bar, "relative", closing),
        2e-3,
        0.5,
        ways=(PointOnLine, Revolute),
    )


def test_same_motion_tells_motions_apart():
    def build(gravity):
        return assemble(Mechanism([Body("stone", 1.0, point_mass=True)]), gravity=(0, -gravity, 0))

    with pytest.raises(AssertionError, match="differ"):
        same_motion(build, 4e-3, 0.2, ways=(G, G + 1e-3))


# Every loop


@coordinates
@loops
def test_starts_closed_and_without_redundant_rows(problem, coordinates):
    d = built(problem, coordinates)
    q, v = d.stated_start()
    p = d.values()
    assert array(d.closure(0, q, p)) == pytest.approx(0, abs=1e-12)
    speed = max(1.0, np.max(np.abs(v)))
    assert array(d.closure_matrix(0, q, p)) @ v == pytest.approx(0, abs=1e-12 * speed)
    assert redundancy(d, 0, q, p) == 0
    assert d.nv - d.closure(0, q, p).numel() == 1


@loops
def test_pins_as_they_are_built_have_three_redundant_rows_a_loop(problem):
    d = problem.model("absolute", Revolute)
    cuts = {four_bar: 1, n_four_bar: 2, slider_crank: 1, andrews_squeezer: 3}[problem]
    assert redundancy(d, 0, d.stated_start()[0], d.values()) == 3 * cuts


# Mechanisms of one freedom, against their equation in that freedom


def one_freedom(poses, masses, inertias, begin, duration, torque=0.0):
    """phi at the end from M(phi) phi'' = torque - M' phi'^2 / 2 - V', M by derivatives of poses.

    ``poses(phi)`` gives x, y and the angle of each body in expressions, one row a body.
    """
    phi = ca.SX.sym("phi")
    x = poses(phi)
    rate = ca.jacobian(ca.vec(x), phi)
    weights = ca.vertcat(*masses, *masses, *inertias)
    M, V = ca.dot(weights, rate**2), G * ca.dot(ca.DM(list(masses)), x[:, 1])
    f = ca.Function("f", [phi], [M, ca.gradient(M, phi), ca.gradient(V, phi)])

    def slope(_, y):
        M, dM, dV = (float(value) for value in f(y[0]))
        return [y[1], (torque - dM * y[1] ** 2 / 2 - dV) / M]

    return solve_ivp(slope, (0, duration), begin, "DOP853", rtol=1e-12, atol=1e-12).y[0, -1]


def four_bar_poses(phi):
    """From the angle of the crank, by the two circles that meet in the upper pin."""
    a, b, c, d = four_bar.CRANK, four_bar.COUPLER, four_bar.ROCKER, four_bar.GROUND_LINK
    x, y = a * ca.cos(phi), a * ca.sin(phi)
    to_x, to_y = d - x, -y
    span2 = to_x**2 + to_y**2
    along = (span2 + b**2 - c**2) / (2 * span2)
    across = ca.sqrt(b**2 / span2 - along**2)
    upper_x, upper_y = x + along * to_x - across * to_y, y + along * to_y + across * to_x
    coupler = ca.horzcat((x + upper_x) / 2, (y + upper_y) / 2, ca.atan2(upper_y - y, upper_x - x))
    rocker = ca.horzcat((upper_x + d) / 2, upper_y / 2, ca.atan2(upper_y, upper_x - d))
    return ca.vertcat(ca.horzcat(x / 2, y / 2, phi), coupler, rocker)


def slider_crank_poses(phi):
    a, b = slider_crank.CRANK, slider_crank.ROD
    lean = ca.asin(a / b * ca.sin(phi))
    knee = ca.horzcat(a * ca.cos(phi), a * ca.sin(phi))
    rod = ca.horzcat(knee[0] + b / 2 * ca.cos(lean), knee[1] / 2, -lean)
    slider = ca.horzcat(knee[0] + b * ca.cos(lean), 0, 0)
    return ca.vertcat(ca.horzcat(knee / 2, phi), rod, slider)


def turn_of_first(result):
    """Angle of the first body at the end [rad], turns counted."""
    p = result["body_quaternion"].values[:, 0]
    turns = np.unwrap(2 * np.arctan2(p[:, 3], p[:, 0]))
    return turns[-1]


def check_second_order(dynamics, duration, h, value, exact, tolerance):
    """Errors at h and h/2 fall by four; what both extrapolate to is off by the tolerance."""
    coarse, fine = (value(run(dynamics, duration, step)) for step in (h, h / 2))
    assert (coarse - exact) / (fine - exact) == pytest.approx(4, abs=0.3)
    assert extrapolated(coarse, fine) == pytest.approx(exact, abs=tolerance)


@pytest.mark.parametrize(
    ("coordinates", "closing"),
    [("relative", PointOnLine), pytest.param("absolute", Revolute, marks=pytest.mark.slow)],
)
def test_four_bar_under_torque(coordinates, closing):
    lengths = np.array([four_bar.CRANK, four_bar.COUPLER, four_bar.ROCKER])
    masses = four_bar.LINE_DENSITY * lengths
    exact = one_freedom(
        four_bar_poses, masses, masses * lengths**2 / 12, [np.pi / 2, 0], 1.0, -four_bar.TORQUE
    )
    assert exact < -2 * np.pi  # it turns over
    d = built(four_bar, coordinates, closing)
    check_second_order(d, 1.0, 5e-4, turn_of_first, exact, 1e-6)


@pytest.mark.parametrize(
    "coordinates", ["relative", pytest.param("absolute", marks=pytest.mark.slow)]
)
def test_slider_crank_turns_as_its_one_freedom(coordinates):
    exact = one_freedom(
        slider_crank_poses,
        slider_crank.MASSES,
        slider_crank.INERTIAS,
        [0, slider_crank.SPEED],
        0.1,
    )
    assert exact > 2 * np.pi
    d = built(slider_crank, coordinates)
    check_second_order(d, 0.1, 2e-5, turn_of_first, exact, 1e-6)


@pytest.mark.slow
@coordinates
def test_double_pendulum_against_its_lagrangian(coordinates):
    (m1, m2), (l1, l2) = double_pendulum.MASSES, double_pendulum.LENGTHS
    own, coupling = m1 * l1**2 / 3 + m2 * l1**2, m2 * l1 * l2 / 2

    def slope(_, y):
        a, b, da, db = y
        M = [[own, coupling * np.cos(a - b)], [coupling * np.cos(a - b), m2 * l2**2 / 3]]
        turning = coupling * np.sin(a - b) * np.array([-(db**2), da**2])
        weight = G * np.array([(m1 / 2 + m2) * l1 * np.cos(a), m2 * l2 / 2 * np.cos(b)])
        return [da, db, *np.linalg.solve(M, turning - weight)]

    y = solve_ivp(slope, (0, 1), [0, 0, 0, 0], "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    d = built(double_pendulum, coordinates)
    check_second_order(d, 1.0, 1e-3, turn_of_first, y[0], 1e-7)


# IFToMM A02: positions where the mechanism could branch off

A02_PLACES = {  # s: m, of B0
    4: (0.11761610237556613, 0.9930591384514723),
    5: (-0.8113104609999886, -0.5846155453560793),
    10: (0.32845811153327736, 0.9445185381812223),
}
A02_SPEED = (1.4230514701903065, -0.4948688454685267)  # m/s, at 10 s


def upper_end(result, name="body_position"):
    """B0, or its velocity, over time: twice that of the middle of the first crank, (time, 2)."""
    return 2 * result[name].values[:, 0, :2]


def crank_angles(result):
    """Angles of all three cranks over time [rad], (time, 3)."""
    middles = result["body_position"].values[:, :3, :2] - [[0, 0], [1, 0], [2, 0]]
    return np.unwrap(np.arctan2(middles[..., 1], middles[..., 0]), axis=0)


def test_n_four_bar_reaches_the_published_positions():
    d = built(n_four_bar, "relative")
    coarse, fine = (run(d, 10.0, h) for h in (4e-3, 2e-3))
    for t, place in A02_PLACES.items():
        x = [upper_end(r)[np.argmin(np.abs(r["time"].values - t))] for r in (coarse, fine)]
        assert extrapolated(*x) == pytest.approx(place, abs=2e-7)
    late = [(upper_end(r)[-1] - upper_end(r)[-3]) / (2 * r["h"].values[-1]) for r in (coarse, fine)]
    assert late[1] == pytest.approx(A02_SPEED, abs=0.05)


@pytest.mark.parametrize(
    "coordinates", ["relative", pytest.param("absolute", marks=pytest.mark.slow)]
)
def test_n_four_bar_keeps_energy_and_branch_through_singular_positions(coordinates):
    d = built(n_four_bar, coordinates)
    swings = []
    for h in (4e-3, 2e-3):
        result = run(d, 10.0, h)
        theta = crank_angles(result)
        assert np.sum(np.diff(np.sign(np.sin(theta[:, 0]))) != 0) >= 10  # flat, over and over
        assert theta == pytest.approx(np.repeat(theta[:, :1], 3, axis=1), abs=1e-9)
        off, t = result["total_energy"].values - result["total_energy"].values[0], result["time"]
        swings.append(np.max(np.abs(off)))
        # No drift: swings of the first and of the last two turns are the same.
        assert np.max(np.abs(off[t > 7])) == pytest.approx(np.max(np.abs(off[t < 3])), rel=0.02)
    assert swings[0] / swings[1] == pytest.approx(4, abs=0.3)
    assert swings[1] < 3e-3  # J, of 70 J that are exchanged


@pytest.mark.slow
@coordinates
def test_n_four_bar_by_moreau_jean_keeps_its_branch_but_loses_energy(coordinates):
    """Of first order where joints drift; in a tree there are few to do so, and it is of second."""
    d = built(n_four_bar, coordinates)
    losses = []
    for h in (4e-4, 2e-4):
        result = run(d, 2.5, h, MoreauJean(), store_every=50)
        theta = crank_angles(result)
        assert theta == pytest.approx(np.repeat(theta[:, :1], 3, axis=1), abs=1e-9)
        losses.append(-np.subtract(*result["total_energy"].values[[0, -1]]))
    assert losses[0] / losses[1] == pytest.approx(2 if coordinates == "absolute" else 4, abs=0.2)


# IFToMM A03, "andrews" of the IVP test set

A03_ANGLES = (  # rad, at 0.03 s
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805303,
    0.5347301163226948,
    1.048080741042263,
)
A03_ACCELERATIONS = (14222.4439199541138, -10666.8329399655854)  # rad/s^2: beta'', Theta'' at t = 0


@cache
def squeezed(h, coordinates="relative"):
    return run(built(andrews_squeezer, coordinates), 0.03, h)


def test_squeezer_starts_at_the_published_accelerations():
    d = built(andrews_squeezer, "absolute")
    q, v = d.stated_start()
    vdot = array(acceleration(d)(0, q, v, d.values())[0])
    beta, theta = vdot[5], vdot[11] - vdot[5]
    assert (beta, theta) == pytest.approx(A03_ACCELERATIONS, rel=1e-9)
    others = np.reshape(vdot, (7, 6))[2:, 5]
    assert others == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
@coordinates
def test_squeezer_reaches_the_published_angles(coordinates):
    pair = (squeezed(h, coordinates) for h in (2e-5, 1e-5))
    coarse, fine = (andrews_squeezer.angles(result)[-1] for result in pair)
    off = [np.max(np.abs(x - A03_ANGLES)) for x in (coarse, fine)]
    assert off[0] / off[1] == pytest.approx(4, abs=0.1)
    assert extrapolated(coarse, fine) == pytest.approx(A03_ANGLES, abs=2e-8)


@pytest.mark.slow
def test_squeezer_gains_what_drive_and_spring_give():
    result = squeezed(1e-5)
    begin = andrews_squeezer.START["beta"]
    drive = andrews_squeezer.TORQUE * (andrews_squeezer.angles(result)[-1, 0] - begin)
    gained = np.subtract(*result["total_energy"].values[[-1, 0]])
    assert gained == pytest.approx(drive, rel=1e-4)
