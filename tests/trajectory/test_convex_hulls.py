"""Distances from convex hulls against boxes, and against least squares and programs of SciPy."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import linprog, nnls
from scipy.spatial.transform import Rotation

from nsopt import Frame, assemble
from nsopt.plots.scenes.scene import Scene
from nsopt.trajectory import (
    Box,
    Capsule,
    ClearOf,
    ConvexHull,
    Effort,
    EndAt,
    HalfSpace,
    Horizon,
    NodeSample,
    Quintic,
    Sphere,
    StartAt,
    optimize,
)
from nsopt.trajectory.conditions.distances import enclose, polytope_of
from tests.catalog_trajectory import ARM
from tests.trajectory.mechanisms import gantry

SIZE = np.array([0.4, 0.6, 0.2])
CORNERS = SIZE / 2 * np.stack(np.meshgrid(*[(-1, 1)] * 3), axis=-1).reshape(-1, 3)
TILTED = Frame(None, (0.3, -0.1, 0.2), Rotation.from_euler("xyz", (0.3, -0.5, 0.8)).as_matrix())
WEIGHT = 1e4  # of the sums of shares in least squares


def gap(u, w):
    """The distance of the hull of points u (n, 3) from that of points w (m, 3)."""
    n, m = len(u), len(w)
    sums = WEIGHT * np.array([[1.0] * n + [0.0] * m, [0.0] * n + [1.0] * m])
    shares, _ = nnls(np.vstack([np.hstack([u.T, -w.T]), sums]), [0, 0, 0, WEIGHT, WEIGHT])
    a, b = shares[:n] / shares[:n].sum(), shares[n:] / shares[n:].sum()
    return np.linalg.norm(a @ u - b @ w)


def most_depth(solid, ends):
    """The greatest distance of a point of a segment from all facets, by a linear program."""
    a, b = ends
    slopes = np.column_stack([solid.normals @ (b - a), np.ones(len(solid.normals))])
    limits = solid.offsets - solid.normals @ a
    return linprog([0, -1], slopes, limits, bounds=[(0, 1), (None, None)]).x[1]


def measured(shape, count):
    """The distance as a function of the ends of a segment, or of a point, on the ground."""
    points = [ca.SX.sym("x", 3) for _ in range(count)]
    d, still = assemble(ARM), ca.SX.zeros(2)
    m = NodeSample(d, ca.SX(0), still, still, still, ca.SX(0, 1))
    return ca.Function("away", points, [shape.distances(m, points)])


def random_ends(random, count, scales=(0.2, 0.4, 0.8)):
    for scale in scales:
        yield from random.normal(size=(count, 2, 3)) * scale


def test_a_box_stated_by_its_corners_is_the_box():
    """Of points, with every derivative, and of segments, which a box sees a little rounded."""
    inside = CORNERS[::2] * 0.5  # which do not matter
    pair = Box(TILTED, SIZE), ConvexHull(TILTED, np.vstack([CORNERS, inside]))
    random = np.random.default_rng(1)
    rounded = 2e-4 * np.prod(SIZE) ** (1 / 3) * np.log(14)  # of 12 edges and two ends
    for count, most in ((1, 0.0), (2, rounded)):
        box, hull = (measured(shape, count) for shape in pair)
        for ends in random_ends(random, 30):
            points = TILTED.origin + ends[:count]
            assert -1e-8 < float(hull(*points)) - float(box(*points)) < most + 1e-8
    x = ca.SX.sym("x", 3)
    seconds = [ca.Function("s", [x], list(ca.hessian(measured(s, 1)(x), x))) for s in pair]
    for a, _ in random_ends(random, 20):
        box, hull = ([np.asarray(y) for y in f(TILTED.origin + a)] for f in seconds)
        assert hull[0] == pytest.approx(box[0], abs=1e-6, rel=1e-6)
        assert hull[1] == pytest.approx(box[1], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 9, 40])
def test_distances_from_random_hulls_are_the_least(count):
    """Least squares outside; inside between the least depth and its n**(-1/4)-th part."""
    random = np.random.default_rng(count)
    hull = ConvexHull(Frame(None), random.normal(size=(count, 3)) * (0.3, 0.2, 0.5), facets=80)
    assert hull.excess == 0
    solid, touched = hull.solid, 0
    of_point, of_segment = measured(hull, 1), measured(hull, 2)
    part = len(solid.normals) ** -0.25
    for ends in random_ends(random, 40):
        for function, points in ((of_point, ends[:1]), (of_segment, ends)):
            away = float(function(*points))
            inside = most_depth(solid, points[[0, -1]])
            if inside > 0:
                touched += 1
                assert part * inside - 1e-8 < -away < inside + 1e-8
            else:
                assert away == pytest.approx(gap(solid.vertices, points), abs=2e-6)
    assert touched > 5


def test_derivatives_of_the_distance_of_a_segment_are_its_differences():
    """Beside edges, corners and facets; inside the first ones alone are exact."""
    random = np.random.default_rng(7)
    hull = ConvexHull(Frame(None), random.normal(size=(12, 3)) * 0.3)
    away, x = measured(hull, 2), ca.SX.sym("x", 6)
    both = ca.Function("both", [x], list(ca.hessian(away(x[:3], x[3:]), x))[::-1])
    step = 1e-6 * np.eye(6)
    for ends in random_ends(random, 15):
        at = ends.ravel()
        gradient, hessian = (np.asarray(y) for y in both(at))
        first = [float(away(*(at + s).reshape(2, 3)) - away(*(at - s).reshape(2, 3))) for s in step]
        assert gradient.ravel() == pytest.approx(np.array(first) / 2e-6, abs=1e-5)
        if float(away(*ends)) > 0.01:
            second = [np.asarray(both(at + s)[0] - both(at - s)[0]).ravel() / 2e-6 for s in step]
            assert hessian == pytest.approx(np.array(second), abs=1e-3, rel=1e-3)


@pytest.mark.parametrize("facets", [6, 14, 32])
def test_fewer_facets_enclose_the_points_as_closely_as_they_say(facets):
    """The corners that reach farthest are as far from the points as `excess`, none farther."""
    points = np.random.default_rng(2).normal(size=(300, 3))
    points *= np.array([0.5, 0.3, 0.3]) / np.linalg.norm(points, axis=1)[:, None]
    hull = ConvexHull(Frame(None), points, facets)
    solid = hull.solid
    assert len(solid.normals) <= facets
    assert np.all(solid.normals @ points.T <= solid.offsets[:, None] + 1e-9)
    beyond = [gap(points, corner[None]) for corner in solid.vertices]
    assert max(beyond) == pytest.approx(hull.excess, abs=1e-5)
    # A box about an ellipsoid is cut at its corners, and 32 facets about a ball leave a tenth.
    assert hull.excess < {6: 0.35, 14: 0.15, 32: 0.07}[facets]


def test_less_facets_than_those_of_a_box_are_refused():
    """A pyramid on a square has five, and so is enclosed by five, but not by four."""
    corners = np.array([[1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0], [0, 0, 1]], dtype=float)
    pyramid = polytope_of(corners)
    assert enclose(pyramid, 5) == (pyramid, 0.0)
    with pytest.raises(ValueError, match="facets must be 6 or more, those of a box, got 4"):
        enclose(pyramid, 4)


def test_a_hull_that_moves_stays_above_a_floor_by_its_lowest_corner():
    d, hand = assemble(ARM), ARM.bodies[-1]
    hull = ConvexHull(Frame(hand, (0.2, 0, 0)), CORNERS)
    floor = HalfSpace(Frame(None, (0, 0, -0.5)))
    q, still = ca.SX.sym("q", 2), ca.SX.zeros(2)
    m = NodeSample(d, ca.SX(0), q, still, still, ca.SX(0, 1))
    (bound,) = ClearOf(hull, floor, 0.05).along(m)
    place = ca.Function("place", [q], [m.motion(hull.frame).r, m.motion(hull.frame).A])
    lowest = ca.Function("lowest", [q], [ca.mmin(bound.value)])
    for at in np.random.default_rng(3).normal(size=(5, 2)):
        r, A = (np.asarray(x) for x in place(at))
        assert float(lowest(at)) == pytest.approx((r + A @ CORNERS.T)[2].min() + 0.5)
    assert np.all(bound.lower == 0.05)


def test_a_bar_goes_round_a_hull_that_is_in_its_way():
    """It would cut a wedge; kept off it is 0.03 m away at all times, at one hardly more."""
    d, hand = gantry()
    bar = [Frame(hand.body, (x, 0.02, 0)) for x in (-0.15, 0.15)]
    wedge = [(0.4, -0.3, z) for z in (-1, 1)] + [(0.6, -0.3, z) for z in (-1, 1)]
    wedge += [(0.5, 0.1, z) for z in (-1, 1)]
    clear = ClearOf(Capsule(*bar, 0.02), ConvexHull(Frame(None), wedge), by=0.01)
    ends = [StartAt([0, 0], [0, 0]), EndAt([1, 0], [0, 0])]
    result = optimize(
        d,
        Horizon(1.0, 20),
        [Effort()],
        [*ends, clear, replace(clear, by=0.0)],
        Quintic([0, 0], [1, 0]),
    )
    assert result.completed, result.stop_reason
    q = result.sample(5e-3)["q"].values
    offsets = np.array([(-0.15, 0.02, 0), (0.15, 0.02, 0)])
    away = [gap(np.array(wedge), offsets + np.array([x, y, 0])) for x, y in q]
    assert 0.03 - 2e-6 < min(away) < 0.0301
    drawn = Scene(result).obstacles
    assert sorted(map(str, drawn)) == sorted(map(str, clear.obstacle.solid.edges.round(9)))


@pytest.mark.parametrize(
    ("stated", "kind", "says"),
    [
        (lambda: ConvexHull(Frame(None), np.zeros((5, 3))), ValueError, "must not be in one plane"),
        (
            lambda: ConvexHull(Frame(None), CORNERS[CORNERS[:, 2] > 0]),
            ValueError,
            "the 4 points of ConvexHull must not be in one plane: give it a thickness",
        ),
        (lambda: ConvexHull(Frame(None), CORNERS[0]), ValueError, r"must have shape \(n, 3\)"),
        (lambda: ConvexHull(Frame(None), CORNERS * np.nan), ValueError, "must be finite"),
        (lambda: ConvexHull(Frame(None), CORNERS, 5), ValueError, "must be a number from 6 to 128"),
        (lambda: ConvexHull("a", CORNERS), TypeError, "frame of ConvexHull must be a Frame"),
        (
            lambda: ClearOf(ConvexHull(TILTED, CORNERS), Sphere(Frame(None), 0.1)),
            TypeError,
            "keeps clear of a HalfSpace alone, got the sphere: give it as the obstacle",
        ),
    ],
)
def test_what_is_no_hull_is_refused(stated, kind, says):
    with pytest.raises(kind, match=says):
        stated()
