"""Cones of more than two dimensions, curved ones and branches that touch."""

import numpy as np
import pytest

from nsopt import GROUND, Body, Distance, Frame, Mechanism, PointOnLine, Relative, Revolute
from nsopt.mobility import Finding, linkage, mobility
from problems.linkages import double_watt
from tests.mobility.models import direction


def rods(places):
    """Points on a line, each joined to the next by a rod; the first and the last are fixed."""
    points = [
        Body(f"p{k}", 0.0, point_mass=True, position=(x, 0, 0))
        for k, x in enumerate(places[1:-1], 1)
    ]
    around = [GROUND, *points, GROUND]
    ends = [
        Frame(GROUND, (x, 0, 0)) if body is None else Frame(body)
        for x, body in zip(places, around, strict=True)
    ]
    lengths = np.abs(np.diff(places))
    joints = [
        Distance(f"rod {k + 1}", ends[k], ends[k + 1], float(length))
        for k, length in enumerate(lengths)
    ]
    return Mechanism(points, joints)


@pytest.mark.parametrize("places", [(0, 1, 2.5), (0, 1, 0.4)], ids=["stretched", "folded"])
def test_a_point_on_two_rods_in_line_is_shaky(places):
    """Both ways across are free to first order, and the second is a definite form."""
    x = mobility(rods(places), order=3)
    assert x.cone_dimensions == (2, 0, 0)
    assert (x.local_freedom, x.shakiness, x.singular) == (0, 1, False)


def test_three_rods_in_line_leave_a_curved_cone():
    """Lengths 1, 0.6, 0.7 of a folded chain: |p1|^2 (1 - 5/3) + ... = 0 across the line."""
    x = mobility(rods((0, 1, 0.4, 1.1)), order=2)
    assert x.cone_dimensions == (4, 3)
    assert (x.local_freedom, x.singular) == (3, True)
    (branch,) = [b for b in x.branches if b.finding is Finding.CONFIRMED]
    assert not branch.piece.linear
    first, last, mixed = 1 - 1 / 0.6, 1 / 0.7 - 1 / 0.6, 2 / 0.6
    (text,) = branch.equations
    for value, pair in ((first, "(p1.vy)^2"), (mixed, "(p1.vy) (p2.vy)"), (last, "(p2.vz)^2")):
        assert f"{value / mixed:+.4g} {pair}" in text


def flat_row(loops):
    """Cranks of 1 m on feet 2 m apart, joined by couplers, all in line."""
    feet = [np.array([2.0 * k, 0, 0]) for k in range(loops + 1)]
    ends = [foot + np.array([1.0, 0, 0]) for foot in feet]
    cranks = [Body(f"crank {k}", 0.0, position=foot) for k, foot in enumerate(feet)]
    couplers = [Body(f"coupler {k}", 0.0, position=ends[k]) for k in range(loops)]
    joints = [
        Revolute(f"foot {k}", Frame(GROUND, foot), Frame(cranks[k])) for k, foot in enumerate(feet)
    ]
    for k, coupler in enumerate(couplers):
        near, far = (Frame.at(cranks[i], ends[i]) for i in (k, k + 1))
        joints.append(Revolute(f"left {k}", near, Frame.at(coupler, ends[k])))
        joints.append(PointOnLine(f"right {k}", far, Frame.at(coupler, ends[k + 1])))
    return Mechanism([*cranks, *couplers], joints, Relative([f"right {k}" for k in range(loops)]))


@pytest.mark.slow
def test_a_flat_row_of_two_four_bars_has_four_motions():
    """Each is a parallelogram, or an antiparallelogram whose next crank turns back by thrice."""
    x = mobility(flat_row(2), order=2)
    assert x.cone_dimensions == (3, 1)
    assert (x.local_freedom, x.singular) == (1, True)
    lines = [b for b in x.branches if b.finding is Finding.CONFIRMED]
    feet = [
        [float(b.rates[f"foot {k}.rate"][0] / b.rates["foot 0.rate"][0]) for k in range(3)]
        for b in lines
    ]
    expected = [[1, s, s * t] for s in (-3, 1) for t in (-3, 1)]
    assert len(feet) == 4
    feet.sort(key=lambda ratios: [round(x) for x in ratios])  # else by round-off
    assert feet == [pytest.approx(x, abs=1e-6) for x in sorted(expected)]


@pytest.mark.slow
def test_motions_with_the_same_direction_are_singular():
    """Two Watt linkages turned alike: both couplers as one, or with a lead of fourth order."""
    x = mobility(double_watt.model(mirrored=False), order=5)
    assert x.cone_dimensions == (2, 1, 1, 1, 1)
    assert (x.local_freedom, x.singular) == (1, True)
    (branch,) = [b for b in x.branches if b.finding is Finding.CONFIRMED]
    assert branch.both_ways
    assert not branch.smooth
    rates = direction(branch)[:8]
    assert np.abs(rates) == pytest.approx(1, abs=1e-6)


def four_bar_with_arm(places, arm):
    """Hinges of a four-bar linkage, and a chain of as many more on its coupler."""
    loop = linkage([(0, 0, 1, y, -x, 0) for x, y in places])
    links = [Body(f"arm {k}", 0.0) for k in range(arm)]
    before = [loop.bodies[1], *links]
    hinges = [
        Revolute(f"wrist {k}", Frame.at(before[k], (0, 0, 0)), Frame(link))
        for k, link in enumerate(links)
    ]
    return Mechanism([*loop.bodies, *links], [*loop.joints, *hinges], Relative(["joint 4"]))


def test_many_freedoms_beside_rows_that_are_redundant_everywhere():
    x = mobility(four_bar_with_arm([(0, 0), (0.5, 1), (1.6, 1.2), (2, 0)], 20), order=6)
    assert x.cone_dimensions == (21,) * 6
    assert (x.local_freedom, x.singular) == (21, False)


def test_more_terms_than_can_be_computed_are_refused():
    flat = four_bar_with_arm([(0, 0), (1, 0), (3, 0), (2, 0)], 20)
    with pytest.raises(ValueError, match=r"in 22 free directions have .* take a lower order"):
        mobility(flat, order=4)
