"""A sphere on the faces and edges of a box."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    BoxContact,
    ContactLaw,
    Frame,
    Mechanism,
    StepBounds,
    assemble,
    simulate,
)

R, G, SPEED = 0.1, 9.81, 0.5


def ball_on(size, **start):
    """Return a ball of radius R, without inertia about its centre, on a box without friction."""
    ball = Body("ball", 1.0, point_mass=True, **start)
    contact = BoxContact("table", Frame(GROUND), Frame(ball), size, R)
    return assemble(Mechanism([ball]), [contact], gravity=(0.0, 0.0, -G))


def test_a_ball_leaves_the_edge_of_a_table_at_the_angle_of_energy_and_weight():
    """By v^2 = SPEED^2 + 2 g R (1 - cos) about the edge, and g cos = v^2 / R where it leaves."""
    d = ball_on((1.0, 1.0, 1.0), position=(0.45, 0.0, 0.5 + R), velocity=(SPEED, 0.0, 0.0))
    result = simulate(d, duration=0.4, steps=StepBounds(1e-7, 1e-4), check=None, progress=False)
    x, _, z = result["body_position"].sel(body="ball").values.T
    touching = np.abs(result["gap"].values[:, 0]) < 1e-9
    last = np.flatnonzero(touching)[-1]
    cosine = (2 + SPEED**2 / (G * R)) / 3
    assert (z[last] - 0.5) / R == pytest.approx(cosine, abs=2e-3)
    assert x[last] == pytest.approx(0.5 + R * np.sqrt(1 - cosine**2), abs=2e-4)
    assert not touching[last + 1 :].any()


@pytest.mark.parametrize("where", [(0.0, 0.0), (0.3, -0.2), (-0.45, 0.4)])
def test_a_ball_that_falls_on_a_face_bounces_as_on_a_plane(where):
    ball = Body("ball", 1.0, (4e-3, 4e-3, 4e-3), position=(*where, 0.5 + R + 0.2))
    law = ContactLaw(restitution=0.5)
    box = BoxContact("box", Frame(GROUND), Frame(ball), (1.0, 1.0, 1.0), R, law=law)
    d = assemble(Mechanism([ball]), [box], gravity=(0.0, 0.0, -G))
    fall = np.sqrt(2 * 0.2 / G)
    result = simulate(
        d, duration=1.5 * fall, steps=StepBounds(1e-8, 1e-3), check=None, progress=False
    )
    top = result["body_position"].sel(body="ball", axis="z").values[-1] - 0.5 - R
    assert top == pytest.approx(0.2 / 4, abs=1e-6)


def test_refusals():
    ball = Body("ball", 1.0, point_mass=True, position=(0.0, 0.0, 1.0))
    with pytest.raises(
        ValueError, match="each edge in the size of BoxContact 'b' must be positive"
    ):
        BoxContact("b", Frame(GROUND), Frame(ball), (1.0, 0.0, 1.0), R)
    with pytest.raises(ValueError, match="radius of BoxContact 'b' must be positive, got 0"):
        BoxContact("b", Frame(GROUND), Frame(ball), (1.0, 1.0, 1.0), 0.0)
