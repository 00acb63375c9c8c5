"""Slip and friction of contacts: their directions, their power, their moments, their laws."""

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    Body,
    ContactLaw,
    CylinderContact,
    Frame,
    PlanarRevoluteClearance,
    PlaneContact,
    SphereContact,
    SphericalClearance,
)
from nsopt.elements.tangents import on_sphere
from tests.catalog import CLEARANCE, CLEARANCES, CONTACTS, IN_PLANE, RUBBING
from tests.states import (
    array,
    assembled,
    axes_of,
    couple,
    moved,
    moved_together,
    near,
    reactions,
    turn,
    wrenches,
)

pytestmark = pytest.mark.unit

joint_friction = pytest.mark.parametrize("row", RUBBING, ids=str)
anywhere = pytest.mark.parametrize("seed", range(3))
ROUGH = ContactLaw(friction=0.3)


def beside(c, seed, k):
    """A pose in which gap k is closed."""
    q = c.placed(near(seed, 1e-3, 0.03))
    return c.pushed(q, -c.at("distance", q)[k] * c.columns("contact_normals", q)[k])


def slips_of(c, k):
    """Which slips belong to gap k."""
    return [j for j, gap in enumerate(c.dynamics.slip_contacts) if gap == k]


def matrix(c, q):
    return c.at("slip_matrix", q).reshape(12, -1)


def relative_velocity(point, q, v, eps=1e-6):
    """Of the material of body b against that of body a at a point, by moving both bodies."""

    def apart(sign):
        ends = []
        for now, then in zip(q.reshape(-1, 7), moved(q, v, sign * eps).reshape(-1, 7), strict=True):
            inside = axes_of(now[3:]).T @ (point - now[:3])
            ends.append(then[:3] + axes_of(then[3:]) @ inside)
        return ends[1] - ends[0]

    return (apart(1) - apart(-1)) / (2 * eps)


def velocity(seed):
    return np.random.default_rng(seed).normal(size=12)


@joint_friction
def test_one_slip_a_gap_in_the_plane_and_two_in_space(row):
    c = couple(row)
    each = 1 if "planar" in row.name else 2
    assert c.dynamics.slip_contacts == tuple(np.repeat(range(row.size), each))
    assert c.at("slip_matrix", c.q).size == 12 * each * row.size


@joint_friction
@anywhere
@pytest.mark.parametrize("size", [1e-3, 0.05], ids=["in the joint", "far from it"])
def test_slips_are_orthonormal_and_tangent(row, seed, size):
    c = couple(row)
    q = c.placed(near(seed, size, 10 * size))
    normals, directions = c.columns("contact_normals", q), c.columns("slip_directions", q)
    for k, normal in enumerate(normals):
        basis = np.array([normal, *directions[slips_of(c, k)]])
        assert basis @ basis.T == pytest.approx(np.eye(len(basis)), abs=1e-10)


@joint_friction
@anywhere
def test_slip_is_the_velocity_of_material_points(row, seed):
    c, v = couple(row), velocity(seed)
    for k in range(row.size):
        q = beside(c, seed, k)
        moving = relative_velocity(c.columns("contact_points", q)[k], q, v)
        mine = slips_of(c, k)
        expected = c.columns("slip_directions", q)[mine] @ moving
        assert v @ matrix(c, q)[:, mine] == pytest.approx(expected, abs=1e-8)


@joint_friction
@anywhere
def test_power_of_friction_is_force_times_slip(row, seed):
    c, v = couple(row), velocity(seed)
    for k in range(row.size):
        q, mine = beside(c, seed, k), slips_of(c, k)
        impulse = np.random.default_rng(seed).normal(size=len(mine))
        force = impulse @ c.columns("slip_directions", q)[mine]
        moving = relative_velocity(c.columns("contact_points", q)[k], q, v)
        generalized = matrix(c, q)[:, mine] @ impulse
        assert generalized @ v == pytest.approx(force @ moving, abs=1e-7)


@joint_friction
@anywhere
def test_friction_acts_equally_on_both_bodies_at_the_contact_point(row, seed):
    c = couple(row)
    for k in range(row.size):
        q = beside(c, seed, k)
        point = c.columns("contact_points", q)[k]
        for j in slips_of(c, k):
            direction = c.columns("slip_directions", q)[j]
            on_a, on_b = wrenches(matrix(c, q)[:, j], q)
            assert on_b == pytest.approx([*direction, *np.cross(point, direction)], abs=1e-12)
            assert on_a == pytest.approx(-on_b, abs=1e-12)


@joint_friction
@anywhere
def test_bodies_that_move_as_one_do_not_slip(row, seed):
    c = couple(row)
    q = c.placed(near(seed, 5e-3, 0.2))
    translation, w = np.random.default_rng(seed).normal(size=(2, 3))
    v = [
        x
        for b in q.reshape(-1, 7)
        for x in (translation + np.cross(w, b[:3]), axes_of(b[3:]).T @ w)
    ]
    assert np.concatenate(v) @ matrix(c, q) == pytest.approx(0, abs=1e-12)


@joint_friction
def test_directions_turn_with_the_mechanism(row):
    c, turned = couple(row), turn(1.0, -0.4, 2.0)
    q = c.placed(near(2, 3e-3, 0.05))
    together = moved_together(q, [0.3, -1.0, 0.7], turned)
    assert c.columns("slip_directions", together) == pytest.approx(
        c.columns("slip_directions", q) @ turned.T, abs=1e-10
    )


@joint_friction
def test_slip_matrix_and_its_derivatives_are_finite_at_the_centre(row):
    c = couple(row)
    d, q = c.dynamics, ca.SX.sym("q", 14)
    T = d.slip_matrix(0, q, d.values())
    derivative = ca.Function("derivative", [q], [T, ca.jacobian(ca.vec(T), q)])
    for value in derivative(c.placed(np.zeros(6))):
        assert ca.DM(value).is_regular()


@pytest.mark.parametrize(
    ("plain", "row"), list(zip(CLEARANCES + CONTACTS + IN_PLANE, RUBBING, strict=True)), ids=str
)
def test_friction_leaves_the_gaps_as_they_are(plain, row):
    q = couple(row).placed(near(1, 3e-3, 0.05))
    for name in ("distance", "gap", "gap_matrix", "contact_points", "contact_normals"):
        assert couple(row).at(name, q) == pytest.approx(couple(plain).at(name, q), abs=0)


@pytest.mark.parametrize("row", CLEARANCES + CONTACTS, ids=str)
def test_a_contact_without_friction_has_no_slip(row):
    c = couple(row)
    assert c.dynamics.slip_contacts == ()
    assert c.dynamics.slip_matrix.size_out(0) == (12, 0)
    assert c.dynamics.slip_directions.size_out(0) == (3, 0)


@joint_friction
@anywhere
def test_reported_friction_reaction_is_the_force_at_the_contact_point(row, seed):
    c = couple(row)
    q = beside(c, seed, 0)
    impulse = np.zeros(len(c.dynamics.slip_contacts))
    impulse[slips_of(c, 0)] = np.random.default_rng(seed).normal(size=len(slips_of(c, 0)))
    force = impulse @ c.columns("slip_directions", q)
    frame = q[7:10] + axes_of(q[10:]) @ c.frames[1].origin
    arm = c.columns("contact_points", q)[0] - frame
    wrench = reactions(c.dynamics, q, slip=impulse)[:, 0]
    assert wrench == pytest.approx([*force, *np.cross(arm, force)], abs=1e-12)


# Rolling: body b alone moves, its centre with velocity u along t, turning with w about z.
RADIUS, BALL, SPEED = 0.15, 0.04, 0.7
AT_REST = Frame(None)


def rolling(contact, centre, u, w):
    """The slip of a body with its frame at its centre, in the xy plane of the world."""
    body = Body("ball", 1.0, (1, 1, 1), position=centre, velocity=u, angular_velocity=(0, 0, w))
    d = assembled([body], [contact(Frame(body))])
    q, v = d.stated_start()
    assert array(d.distance(0, q, [])) == pytest.approx([0], abs=1e-15)
    return v @ np.asarray(d.slip_matrix(0, q, []))


@pytest.mark.parametrize("angle", [0.0, 0.9, 2.5, -1.3])
@pytest.mark.parametrize(
    ("contact", "reach", "spin"),
    [
        # Outside a round body the centre runs on the sum of radii; spin = u / radius of the ball.
        (
            lambda b: SphereContact("e", AT_REST, b, RADIUS, BALL, law=ROUGH),
            RADIUS + BALL,
            SPEED / BALL,
        ),
        (
            lambda b: CylinderContact("e", AT_REST, b, RADIUS, BALL, law=ROUGH),
            RADIUS + BALL,
            SPEED / BALL,
        ),
        (
            lambda b: CylinderContact("e", AT_REST, b, RADIUS, BALL, planar=True, law=ROUGH),
            RADIUS + BALL,
            SPEED / BALL,
        ),
        # A ring around a pin: its centre runs on the clearance; spin = u / radius of the ring.
        (
            lambda b: PlanarRevoluteClearance("e", AT_REST, b, CLEARANCE, BALL, law=ROUGH),
            CLEARANCE,
            SPEED / (BALL + CLEARANCE),
        ),
        (
            lambda b: SphericalClearance("e", AT_REST, b, CLEARANCE, BALL, law=ROUGH),
            CLEARANCE,
            SPEED / (BALL + CLEARANCE),
        ),
    ],
    ids=["sphere", "cylinder", "planar cylinder", "ring", "socket"],
)
def test_rolling_is_no_slip(contact, reach, spin, angle):
    out, along = (np.cos(angle), np.sin(angle), 0.0), (-np.sin(angle), np.cos(angle), 0.0)
    centre, u = np.multiply(reach, out), np.multiply(SPEED, along)
    assert rolling(contact, centre, u, spin) == pytest.approx(0, abs=1e-13)
    assert np.linalg.norm(rolling(contact, centre, u, 0.0)) == pytest.approx(SPEED)


def test_a_ball_rolls_on_a_plane():
    def on_wall(ball):
        wall = Frame(None, axes=np.column_stack([(1, 0, 0), (0, 0, -1), (0, 1, 0)]))
        return PlaneContact("e", wall, ball, BALL, law=ROUGH)

    centre, u = (0.3, BALL, 0.1), (SPEED, 0, 0)
    assert rolling(on_wall, centre, u, -SPEED / BALL) == pytest.approx(0, abs=1e-15)
    assert rolling(on_wall, centre, u, 0.0) == pytest.approx([SPEED, 0])


def test_friction_turns_the_pin_by_its_radius():
    """The same force at a thicker pin has a longer arm; without a radius it has none."""
    ring = Body("ring", 1.0, (1, 1, 1), position=(CLEARANCE, 0, 0))
    for radius in (0.0, 0.01, 0.03):
        pin = Body("pin", 1.0, (1, 1, 1))
        joint = PlanarRevoluteClearance(
            "e", Frame(pin), Frame(ring), CLEARANCE, radius, law=ContactLaw(friction=0.3)
        )
        d = assembled([pin, ring], [joint])
        T = np.asarray(d.slip_matrix(0, d.stated_start()[0], [])).ravel()
        assert abs(T[5]) == pytest.approx(radius, abs=1e-12)
        assert abs(T[11]) == pytest.approx(radius + CLEARANCE, abs=1e-12)


OPPOSITE = -np.array([2, 3, 6]) / 7  # to the pole


def sphere_basis(normal):
    return np.asarray(ca.evalf(on_sphere(ca.SX(ca.DM(normal)), ca.SX.eye(3))))


def test_the_basis_on_a_sphere_is_orthonormal_everywhere():
    points = np.random.default_rng(0).normal(size=(300, 3))
    special = [*np.eye(3), *-np.eye(3), OPPOSITE, -OPPOSITE]
    close = [s * OPPOSITE + 10.0**-k * np.array([3, -6, 2]) for k in range(1, 18) for s in (1, -1)]
    for point in [*points, *special, *close]:
        normal = point / np.linalg.norm(point)
        basis = np.column_stack([normal, sphere_basis(normal)])
        assert basis.T @ basis == pytest.approx(np.eye(3), abs=1e-14)


def test_the_basis_on_a_sphere_turns_smoothly():
    """Away from the point opposite its pole, it turns about as fast as the normal."""
    rng = np.random.default_rng(1)
    for point in rng.normal(size=(300, 3)):
        normal = point / np.linalg.norm(point)
        beside = normal + 1e-5 * rng.normal(size=3)
        beside /= np.linalg.norm(beside)
        turned = np.linalg.norm(sphere_basis(beside) - sphere_basis(normal), 2)
        distance = np.linalg.norm(normal - OPPOSITE)
        assert turned < 4 / distance * np.linalg.norm(beside - normal)


def test_a_planar_joint_slips_in_its_plane():
    for name, seen in [("rubbing planar revolute", [0, 1]), ("rubbing planar prismatic", [0])]:
        c = couple(next(row for row in RUBBING if row.name == name))
        q = c.placed(near(1, 2e-3, 0.05))
        local = c.columns("slip_directions", q) @ c.axes  # body a is as stated
        hidden = [k for k in range(3) if k not in seen]
        assert local[:, hidden] == pytest.approx(0, abs=1e-12)
