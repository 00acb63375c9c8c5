"""Trackers: where the point is, and that they do nothing."""

import numpy as np
import pytest

from nsopt import Body, Frame, Tracker
from tests.catalog import TRACKERS
from tests.states import axes_of, couple, near

pytestmark = pytest.mark.unit

rows = pytest.mark.parametrize("row", TRACKERS, ids=str)


@rows
def test_reads_where_its_point_is(row):
    c = couple(row)
    q = c.placed(near(1, 0.3, 0.8))
    assert c.dynamics.output_names == ("e.x", "e.y", "e.z")
    point = q[7:10] + axes_of(q[10:14]) @ c.element.frame.origin
    assert c.with_velocity("outputs", q, np.zeros(12)) == pytest.approx(point, abs=1e-14)


@rows
def test_exerts_nothing(row):
    c = couple(row)
    v = np.random.default_rng(1).normal(size=12)
    for name in ("applied", "external", "potential"):
        assert np.all(c.with_velocity(name, c.q, v) == 0)


def test_is_drawn_as_a_cross_at_its_point():
    lines = Tracker("e", Frame(Body("b", 1.0), (1, 2, 3))).outline()
    assert len(lines) == 3
    for line in lines:
        assert np.sum(line.points, axis=0) == pytest.approx(np.zeros(3))


def test_follows_a_point_on_a_body():
    with pytest.raises(ValueError, match="Tracker 'e' follows a point on the ground"):
        Tracker("e", Frame(None))
    with pytest.raises(TypeError, match="Tracker 'e' follows a frame, got Body: use Frame"):
        Tracker("e", Body("b", 1.0))
