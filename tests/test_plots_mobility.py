"""Pictures of a mobility: what they show is what it says."""

import numpy as np
import pytest

from nsopt.mobility import mobility
from nsopt.plots import mobility as draw
from problems.four_bar_slot import four_bar_slot
from tests.mobility.models import problem


@pytest.fixture(scope="module")
def flat():
    x = problem("parallelogram")
    return x, draw(x)


def panel(figure, title):
    (found,) = [ax for ax in figure.axes if title in ax.get_title()]
    return found


def test_the_graph_has_an_edge_for_each_joint_and_cut_ones_are_dashed():
    x = mobility(four_bar_slot.model(), order=1)
    edges = {line.get_label(): line for line in panel(draw(x), "2 loops").lines}
    assert set(edges) == set(x.topology.joints)
    dashed = {name for name, line in edges.items() if line.get_linestyle() == "--"}
    assert dashed == {"joint 3", "joint 5"}


def test_freedom_over_order(flat):
    x, figure = flat
    steps, finite = panel(figure, "Freedom over order").lines
    assert tuple(steps.get_ydata()) == x.cone_dimensions
    assert set(finite.get_ydata()) == {1}


def test_motions_close_the_loop_and_leave_the_posture(flat):
    """By the lengths of the links, in all ghosts of both motions."""
    x, figure = flat
    assert len([ax for ax in figure.axes if "Motions" in ax.get_title()]) == 2
    places = x.reduction.constraints.joint_places
    lengths = [1.0, 2.0, 1.0]
    for branch in x.branches[1:]:
        ways = x.motions(branch)
        assert len(ways) == 2
        for way in ways:
            assert not np.any(way[0])
            assert np.max(np.abs(way[-1])) > 0.4
            for u in way:
                ends = np.asarray(places(u)).T
                found = [np.linalg.norm(ends[2 * k + 2] - ends[2 * k + 1]) for k in range(3)]
                assert found == pytest.approx(lengths, abs=1e-9)
                assert ends[6] == pytest.approx(ends[7], abs=1e-9)


def test_axes_of_joints(flat):
    """All along the view, so that each is a ring on its hinge."""
    _, figure = flat
    rings = [line for line in panel(figure, "Axes").lines if line.get_markersize() == 11]
    assert sorted(float(ring.get_xdata()[0]) for ring in rings) == [0, 1, 2, 3]
