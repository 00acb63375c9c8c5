"""Frames: local and world statements agree, and bad axes are refused by name."""

import re

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsopt import GROUND, Body, Frame, Parameter
from nsopt.mechanics import State
from nsopt.mechanics.coordinates.absolute import AbsoluteCoordinates
from nsopt.parameter import constant
from tests.states import array, moved

pytestmark = pytest.mark.unit

TILT = Rotation.from_rotvec([0.3, -2.0, 1.0]).as_matrix()
BODY = Body("arm", 1.0, (1, 1, 1), position=(1, 2, 3), orientation=TILT)


def motion(frame, q, v):
    """Origin, axes, velocity, angular velocity of a frame on the body, as numbers."""
    x, u = ca.SX.sym("q", 7), ca.SX.sym("v", 6)
    state = State(ca.SX(0), AbsoluteCoordinates((BODY,)).motions(x, u, constant), {})
    return [array(y) for y in ca.Function("motion", [x, u], [*state.motion(frame)])(q, v)]


def test_frame_at_a_world_point_is_there():
    frame = Frame.at(BODY, (0.5, 0, -1), TILT.T)
    r, axes, _, _ = motion(frame, *AbsoluteCoordinates((BODY,)).start())
    assert r == pytest.approx([0.5, 0, -1])
    assert axes == pytest.approx(TILT.T)


def test_frame_at_a_world_point_is_a_local_frame():
    frame = Frame.at(BODY, (0.5, 0, -1), TILT)
    assert frame.origin == pytest.approx(TILT.T @ (np.array([0.5, 0, -1]) - [1, 2, 3]))
    assert frame.axes == pytest.approx(np.eye(3))


def test_axis_alone_is_the_z_of_the_frame():
    for frame, z in (
        (Frame(BODY, axes=(0, 3, 4)), [0, 0.6, 0.8]),
        (Frame.at(GROUND, (0, 0, 0), (-2, 0, 0)), [-1, 0, 0]),
        (Frame.at(BODY, (0, 0, 0), (0, 0, 2)), TILT.T @ [0, 0, 1]),
    ):
        assert frame.axes[:, 2] == pytest.approx(z)
        assert frame.axes.T @ frame.axes == pytest.approx(np.eye(3), abs=1e-15)
        assert np.linalg.det(frame.axes) == pytest.approx(1)


def test_default_axes_are_those_of_the_body():
    assert np.all(Frame(BODY).axes == np.eye(3))


def test_velocities_are_the_rates_of_the_pose():
    frame, eps = Frame(BODY, (0.3, -0.2, 0.5), (1, 2, 3)), 1e-6
    q, _ = AbsoluteCoordinates((BODY,)).start()
    v = np.array([0.3, -0.5, 0.7, 1.0, -2.0, 0.5])
    _, A, velocity, w = motion(frame, q, v)
    (r1, A1, *_), (r0, A0, *_) = (motion(frame, moved(q, v, s * eps), v) for s in (1, -1))
    assert velocity == pytest.approx((r1 - r0) / (2 * eps), abs=1e-8)
    assert (A1 - A0) / (2 * eps) == pytest.approx(np.cross(w, A.T).T, abs=1e-8)


@pytest.mark.parametrize("body", [BODY, GROUND])
@pytest.mark.parametrize("make", [Frame, Frame.at])
@pytest.mark.parametrize(
    "bad",
    [
        {"origin": (0, np.nan, 0)},
        {"origin": (0, 0)},
        {"axes": (0, 0, np.inf)},
        {"axes": (0, 0, 0)},
        {"axes": (1, 0, 0, 0)},
        {"axes": -np.eye(3)},
        {"axes": 2 * np.eye(3)},
        {"axes": np.full((3, 3), np.nan)},
        {"axes": "up"},
    ],
    ids=str,
)
def test_bad_numbers_are_refused_with_the_place(make, body, bad):
    place = "ground" if body is GROUND else "'arm'"
    arguments = {"origin": (0, 0, 0), "axes": (0, 0, 1)} | bad
    with pytest.raises(ValueError, match=re.escape(place)):
        make(body, arguments["origin"], arguments["axes"])


def test_frame_at_needs_a_known_pose():
    body = Body("slider", 1.0, position=(Parameter("x", 1.0), 0, 0))
    with pytest.raises(ValueError, match=r"'slider'.*body axes"):
        Frame.at(body, (0, 0, 0))


def test_frame_at_of_a_point_mass_ignores_no_orientation():
    bead = Body("bead", 1.0, position=(1, 0, 0), point_mass=True)
    assert Frame.at(bead, (1, 2, 0)).origin == pytest.approx([0, 2, 0])
