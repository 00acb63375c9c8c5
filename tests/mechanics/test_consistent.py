"""The nearest start: closed, nearest by the mass matrix, the same in both coordinates."""

import numpy as np
import pytest
from scipy.optimize import minimize

from nsopt import (
    GROUND,
    Body,
    Fixed,
    Frame,
    Mechanism,
    PlaneContact,
    Relative,
    Revolute,
    Spherical,
    Start,
    assemble,
    consistent,
)

LENGTHS, BASE = (1.0, 2.0, 1.5), 2.2


def four_bar(angles, coordinates, masses=(1.0, 1.0, 1.0)):
    """A chain of three rods whose tip is to be pinned at (2.2, 0)."""
    bodies, joints, p, a, previous = [], [], np.zeros(2), 0.0, None
    for k, (l, m) in enumerate(zip(LENGTHS, masses, strict=True)):
        a += angles[k]
        u = l * np.array([np.cos(a), np.sin(a)])
        turned = (np.cos(a / 2), 0, 0, np.sin(a / 2))
        pose = {"position": (*(p + u / 2), 0), "orientation": turned}
        body = Body(f"b{k}", m, (m * l * l / 12,) * 3, **pose)
        last = Frame.at(previous, (*p, 0)) if previous else Frame(GROUND)
        joints.append(Revolute(f"j{k}", last, Frame.at(body, (*p, 0))))
        bodies.append(body)
        previous, p = body, p + u
    pin = Frame(GROUND, (BASE, 0, 0)), Frame.at(previous, (*p, 0))
    return Mechanism(bodies, [*joints, Revolute("pin", *pin)], coordinates)


def gap_of_tip(angles):
    a = np.cumsum(angles)
    return np.array([LENGTHS @ np.cos(a) - BASE, LENGTHS @ np.sin(a)])


def positions(d, start):
    return np.asarray(d.poses(start.q, start.v, d.values())[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("angles", "masses"), [((0.4, -1.1, 0.8), (1, 1, 1)), ((-0.7, 0.9, 1.1), (1e-5, 1, 1e-5))]
)
def test_a_loop_stated_well_open_closes_nearest_in_both_coordinates(angles, masses):
    d = assemble(four_bar(angles, Relative(["pin"]), masses))
    start = consistent(d)
    M = np.asarray(d.mass(np.zeros(3), d.values()))
    size, found = np.sqrt(np.diag(M)), []
    for guess in np.random.default_rng(5).uniform(-1, 1, (12, 3)):
        found.append(
            minimize(
                lambda x: x / size @ M @ (x / size),
                guess * size,
                constraints={"type": "eq", "fun": lambda x: gap_of_tip(angles + x / size)},
                options={"ftol": 1e-13, "maxiter": 500},
            )
        )
    least = min(x.fun for x in found if x.success)
    assert start.q @ M @ start.q <= least * (1 + 1e-6)
    assert gap_of_tip(angles + start.q) == pytest.approx(np.zeros(2), abs=1e-9)
    other = assemble(four_bar(angles, "absolute", masses))
    assert positions(other, consistent(other)) == pytest.approx(positions(d, start), abs=1e-7)


def test_a_closed_start_stays_as_it_is():
    rod = Body("rod", 1.0, (0.1,) * 3, position=(0.3, 0.4, 0), orientation=(0.8, 0, 0, 0.6))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(rod, (0, 0, 0)))
    d = assemble(Mechanism([rod], [hinge]))
    q, v = d.stated_start()
    start = consistent(d)
    assert np.array_equal(start.q, q)
    assert np.array_equal(start.v, v)


@pytest.mark.slow
def test_what_cannot_close_is_refused_with_how_far_it_got():
    """Rods of 1 and 0.5 m reach 1.5 m, half a metre short of the ball joint at 2 m."""
    a = Body("a", 1.0, (0.1,) * 3, position=(0.5, 0, 0))
    b = Body("b", 1.0, (0.1,) * 3, position=(1.0, 0.25, 0))
    joints = [
        Revolute("root", Frame(GROUND), Frame.at(a, (0, 0, 0))),
        Revolute("elbow", Frame.at(a, (1, 0, 0)), Frame.at(b, (1, 0, 0))),
        Spherical("hook", Frame(GROUND, (2, 0, 0)), Frame.at(b, (1, 0.5, 0))),
    ]
    for coordinates in ("absolute", "relative"):
        d = assemble(Mechanism([a, b], joints, coordinates))
        with pytest.raises(ValueError, match=r"'hook' stays open by 0\.5 "):
            consistent(d)


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_velocities_are_nearest_by_kinetic_energy(coordinates):
    """A rod about its end, told w but no velocity of its centre: J w / (J + m l^2 / 4)."""
    rod = Body("rod", 1.0, (0.01, 0.1, 0.1), position=(0.5, 0, 0), angular_velocity=(0, 0, 5.0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(rod, (0, 0, 0)))
    d = assemble(Mechanism([rod], [hinge], coordinates))
    v = consistent(d).v
    assert v[-1] == pytest.approx(0.5 / 0.35)


def test_a_body_inside_a_floor_is_lifted_by_the_least():
    ball = Body("ball", 1.0, (0.1,) * 3, position=(0.3, 0, -0.2))
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball))
    d = assemble(Mechanism([ball]), [floor])
    q = consistent(d, Start(*d.stated_start())).q
    assert q[:3] == pytest.approx([0.3, 0, 0], abs=1e-9)


def test_a_hinge_stated_a_little_open_closes_by_the_lighter_body():
    """Two free carts along x, 1 and 3 kg, 0.04 m apart: they close by 0.03 and 0.01 m."""
    a = Body("a", 1.0, (0.1,) * 3)
    b = Body("b", 3.0, (0.1,) * 3, position=(1.04, 0, 0))
    ball = Spherical("ball", Frame(a, (0.5, 0, 0)), Frame(b, (-0.5, 0, 0)))
    for coordinates in ("absolute", "relative"):
        d = assemble(Mechanism([a, b], [ball], coordinates))
        r = positions(d, consistent(d))
        assert r == pytest.approx(np.array([[0.03, 1.03], [0, 0], [0, 0]]), abs=1e-9)


def test_velocities_of_what_a_massless_link_carries():
    """A rod on a link without mass, as of a URDF file: what is left is its turn at the hinge.

    Of v and w of a rod about its end, the turn that is nearest in the mass: (I w + m a v) / I_end.
    """
    m, a, inertia, v, w = 2.0, 0.3, 0.05, 0.7, -1.1
    turn = (inertia * w + m * a * v) / (inertia + m * a**2)
    moving = {"velocity": (0.4, v, 0.2), "angular_velocity": (0.1, 0.3, w)}
    base, light = Body("base", 0.0), Body("light", 1e-8, (1e-12,) * 3)
    rod = Body("rod", m, (inertia,) * 3, position=(a, 0, 0), **moving)
    joints = [
        Fixed("ground", Frame(GROUND), Frame(base)),
        Fixed("glued", Frame(base), Frame(light)),
        Revolute("hinge", Frame(base), Frame(rod, (-a, 0, 0))),
    ]
    start = consistent(assemble(Mechanism([base, light, rod], joints), []))
    assert start.v[-6:] == pytest.approx([0, a * turn, 0, 0, 0, turn], abs=1e-8)
    assert start.v[:-6] == pytest.approx(np.zeros(12), abs=1e-8)
