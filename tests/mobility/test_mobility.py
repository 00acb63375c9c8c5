"""Freedoms of linkages whose mobility is known, and examples 4 and 5 of [mobility 2016]."""

import numpy as np
import pytest

from nsopt import GROUND, Body, Frame, Mechanism, Revolute, Spherical
from nsopt.mobility import Finding, linkage, mobility
from problems.four_bar_slot import four_bar_slot
from problems.gough_platform import gough_platform
from problems.spherical_inline import spherical_inline
from tests.mobility.models import BRICARD, GENERIC, direction, of_screws, problem


def figures(x):
    return (x.gruebler, x.rank, x.differential_freedom, x.local_freedom, x.shakiness)


def test_bricard_moves_though_it_is_counted_rigid():
    x = of_screws(tuple(BRICARD))
    assert figures(x) == (0, 5, 1, 1, 0)
    assert x.overconstrained
    assert not x.singular


def test_a_generic_four_bar():
    x = of_screws(tuple(GENERIC))
    assert figures(x) == (-2, 3, 1, 1, 0)
    assert not x.singular
    assert not x.constraint_singular


def test_bennett():
    x = problem("bennett")
    assert figures(x) == (-2, 3, 1, 1, 0)
    assert x.overconstrained
    assert not x.underconstrained
    assert x.redundant_rows == {"hinge 4": 3}


def test_goldberg():
    """A loop of five with one freedom: rank 4 in place of 6."""
    assert figures(problem("goldberg")) == (-1, 4, 1, 1, 0)


@pytest.mark.slow
def test_a_constraint_singularity_in_a_regular_posture():
    """Goldberg's six-bar where the rank drops from 5 to 4: remark 1 of section 5.2."""
    x = problem("goldberg_six")
    assert figures(x) == (0, 4, 2, 1, 1)
    assert not x.singular
    assert x.constraint_singular
    assert x.underconstrained
    assert x.overconstrained


def test_delassus():
    """Turns as of a parallelogram, and pitches whose slides cancel."""
    x = problem("delassus")
    assert figures(x) == (-2, 3, 1, 1, 0)
    assert direction(x.branches[0]) == pytest.approx([1, -1, 1, -1], abs=1e-12)


def test_a_flat_parallelogram_has_two_motions():
    x = problem("parallelogram")
    assert figures(x) == (-2, 2, 2, 1, 1)
    assert x.singular
    assert x.constraint_singular
    assert x.cone_dimensions == (2, 1, 1, 1, 1, 1)
    lines = [direction(b) for b in x.branches if b.finding is Finding.CONFIRMED]
    assert sorted(lines) == [
        pytest.approx([1, -3, -1, 3], abs=1e-9),
        pytest.approx([1, -1, 1, -1], abs=1e-9),
    ]
    assert len(x.tangent_space["joint 1.rate"]) == 2


def test_a_flat_rhombus_has_two_motions():
    """It opens, by the same angle at each hinge; or two links turn about hinges 2 and 4 as one."""
    x = problem("rhombus")
    assert figures(x) == (-2, 2, 2, 1, 1)
    assert x.singular
    lines = [direction(b) for b in x.branches if b.finding is Finding.CONFIRMED]
    assert sorted(lines) == [
        pytest.approx([0, 1, 0, -1], abs=1e-9),
        pytest.approx([1, -1, 1, -1], abs=1e-9),
    ]


@pytest.mark.slow
def test_two_balls_leave_a_rod_its_spin_on_both_motions():
    """Crank and rocker square to the rod: sin(a / 2) (2 sin(a / 2) + cos(a / 2) sin(b)) = 0."""
    crank, rod, rocker = (Body(name, 0.0) for name in ("crank", "rod", "rocker"))
    near, far, about_x = (0.5, 0, 0), (2, 0, 1), (1, 0, 0)
    joints = [
        Revolute("crank pin", Frame(GROUND), Frame(crank)),
        Spherical("near", Frame(crank, near), Frame(rod, near)),
        Spherical("far", Frame(rod, far), Frame(rocker, far)),
        Revolute(
            "rocker pin", Frame(GROUND, (2, 0, 0), about_x), Frame(rocker, (2, 0, 0), about_x)
        ),
    ]
    x = mobility(Mechanism([crank, rod, rocker], joints), order=2)
    assert (x.cone_dimensions, x.local_freedom, x.singular) == ((3, 2), 2, True)
    spin = "near.wx 1, near.wz 0.6667, far.wx -1, far.wz -0.6667"
    assert spin in str(x)
    found = []
    for branch in x.branches[1:]:
        rates = np.array([branch.rates["crank pin.rate"], branch.rates["rocker pin.rate"]])
        assert np.linalg.matrix_rank(rates, tol=1e-9) == 1
        u = np.linalg.svd(rates)[0][:, 0]
        found.append(u[0] / u[1])
    assert sorted(found) == pytest.approx([-1, 0], abs=1e-9)


def test_four_screws_that_move_to_first_order_only():
    x = problem("shaky_4h")
    assert figures(x) == (-2, 3, 1, 0, 1)
    assert x.cone_dimensions == (1, 0, 0, 0, 0, 0)
    assert x.underconstrained
    assert not x.singular


def test_example_4_is_shaky_of_order_5():
    x = problem("four_bar_slot")
    assert x.cone_dimensions == (1, 1, 1, 1, 1, 0)
    assert (x.differential_freedom, x.local_freedom, x.shakiness) == (1, 0, 5)
    assert not x.singular
    assert x.underconstrained
    (branch,) = x.branches
    rates = [float(branch.rates[f"joint {k}.rate"][0]) for k in (1, 2, 4)]
    assert np.array(rates) / rates[0] == pytest.approx([1, 3, -3], abs=1e-12)


def test_example_4_below_order_6_is_undecided_by_its_cones_but_not_by_tracing():
    x = mobility(four_bar_slot.model(), order=5)
    assert x.cone_dimensions == (1, 1, 1, 1, 1)
    assert x.local_freedom == 0
    assert x.shakiness is None


def test_example_5():
    x = problem("spherical_inline")
    assert x.cone_dimensions == (1, 1, 1, 1, 1, 1)
    assert (x.differential_freedom, x.local_freedom) == (1, 1)
    assert direction(x.branches[0]) == pytest.approx([1, -1, 1], abs=1e-12)
    assert not x.singular
    assert not x.overconstrained
    assert not x.redundant_rows


def test_a_spherical_linkage_is_overconstrained():
    x = mobility(spherical_inline.model(inline=False))
    assert (x.differential_freedom, x.local_freedom) == (1, 1)
    assert x.overconstrained
    assert x.redundant_rows == {"joint 4": 3}


@pytest.mark.slow
def test_double_watt_moves_through_a_cusp():
    """The cones end at zero, yet it moves: a limit of the method, and the page says so."""
    x = problem("double_watt")
    assert x.cone_dimensions == (2, 1, 1, 1, 0, 0)
    assert x.local_freedom == 1
    assert x.shakiness is None
    assert x.singular
    (branch,) = [b for b in x.branches if b.finding is Finding.CONFIRMED]
    assert not branch.both_ways
    assert "the cones end with 0: a cusp" in str(x)


def test_a_gough_platform_of_legs_with_six_freedoms_has_no_redundant_rows():
    from tests.schemes.loops_in_space import gough_mechanism

    x = mobility(gough_mechanism("absolute"), order=2)
    assert (x.gruebler, x.differential_freedom, x.local_freedom) == (6, 6, 6)
    assert not x.redundant_rows
    assert x.topology.gamma == 5


@pytest.mark.parametrize("order", [0, -1, 1.5, True])
def test_it_refuses_an_order_that_is_none(order):
    with pytest.raises(ValueError, match="order must be a whole number, 1 or more"):
        mobility(linkage(GENERIC), order=order)


def lines_of(legs):
    """Pluecker coordinates of the legs of a Gough platform, (number, 6)."""
    ends = [(np.array(leg.a.origin), leg.b.origin + np.array([0, 0, 1])) for leg in legs]
    return np.array([[*(b - a), *np.cross(a, b - a)] for a, b in ends])


@pytest.mark.parametrize(
    ("seventh", "turn", "cones", "implied"),
    [
        (True, 0.0, (0, 0), {"leg 7": 1}),
        (False, 0.0, (0, 0), {}),
        (False, np.pi / 2, (1, 0), {"leg 6": 1}),
    ],
    ids=["seven legs", "six legs", "six legs, turned"],
)
def test_a_gough_platform(seventh, turn, cones, implied):
    """Held by the lines of its legs; the redundant row is named."""
    platform = gough_platform.model(seventh, turn)
    x = mobility(platform, order=2)
    rank = np.linalg.matrix_rank(lines_of(platform.joints), tol=1e-9)
    assert x.differential_freedom == cones[0] == 6 - rank
    assert x.cone_dimensions == cones
    assert x.local_freedom == 0
    assert x.redundant_rows == implied
    if cones[0]:
        rates = {name: float(r[0]) for name, r in x.branches[0].rates.items() if abs(r[0]) > 1e-9}
        assert set(rates) == {"platform.vz", "platform.wz"}
