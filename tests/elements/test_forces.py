"""Springs, dampers and applied loads: their potentials, their power, their moments."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Bushing,
    Cone,
    CubicLaw,
    ExponentialLaw,
    ExtensionSpring,
    Frame,
    Mechanism,
    Parameter,
    RangeOfMotion,
    SlideRange,
    Spherical,
    SpringDamper,
    TorsionSpringDamper,
    TurnRange,
    assemble,
)
from tests.catalog import FILMS, LOADS, SPRINGS
from tests.catalog_ranges import CONES, PRINTED_CONES, RANGES
from tests.states import (
    array,
    assembled,
    axes_of,
    couple,
    derivative,
    moved,
    near,
    quaternion,
    turn,
    wrenches,
)

springs = pytest.mark.parametrize("row", SPRINGS + CONES + RANGES, ids=str)
loads = pytest.mark.parametrize("row", LOADS, ids=str)
anywhere = pytest.mark.parametrize("seed", range(3))
AT_REST = np.zeros(12)
LAW = CubicLaw(20.0, 0.4)


def velocity(seed):
    return np.random.default_rng(seed).normal(size=12)


@springs
@anywhere
def test_force_is_the_negative_gradient_of_the_energy(row, seed):
    c = couple(row)
    q = c.placed(near(seed, 0.1, 0.4))
    energy = derivative(lambda x: c.with_velocity("potential", x, AT_REST), q, 1e-5)[0]
    assert c.with_velocity("applied", q, AT_REST) == pytest.approx(-energy, rel=1e-7, abs=1e-6)


@springs
@anywhere
def test_power_is_stored_or_lost(row, seed):
    """Potential energy and damping loss take all that the element does on the bodies."""
    c, v, eps = couple(row), velocity(seed), 1e-6
    q = c.placed(near(seed, 0.1, 0.4))
    ahead, behind = moved(q, v, eps), moved(q, v, -eps)
    stored = (c.with_velocity("potential", ahead, v) - c.with_velocity("potential", behind, v)) / (
        2 * eps
    )
    lost = -(v @ c.with_velocity("applied", q, v) + stored[0])
    if not np.any(getattr(c.element, "damping", 0)):
        assert lost == pytest.approx(0, abs=1e-6)
    else:
        speed = rate(c, q, v, eps)
        damping = np.ravel(c.element.damping)
        if isinstance(c.element, Bushing):
            damping = np.append(damping, c.element.turning_damping)
        assert lost == pytest.approx(np.sum(damping * speed**2), rel=1e-5, abs=1e-6)
        assert lost > 0


def rate(c, q, v, eps):
    """Rate of the length of a spring, relative angular velocity, or that about an axis, (k,).

    Of a bushing both velocities of frame b as seen from a.
    """
    turning = axes_of(q[10:14]) @ v[9:12] - axes_of(q[3:7]) @ v[3:6]
    z = [axes_of(p) @ f.axes[:, 2] for p, f in zip((q[3:7], q[10:14]), c.frames, strict=True)]
    if isinstance(c.element, Bushing):
        return seen(c, q, v, eps, turning)
    if isinstance(c.element, RangeOfMotion):
        return turning
    if isinstance(c.element, TurnRange):
        ahead, behind = (c.with_velocity("outputs", moved(q, v, e), v)[0] for e in (eps, -eps))
        return np.array([(ahead - behind) / (2 * eps)])
    if isinstance(c.element, TorsionSpringDamper):
        return np.array([z[0] @ turning])

    def length(x):
        a, b = c.element.a, c.element.b
        span = x[7:10] + axes_of(x[10:14]) @ b.origin - x[:3] - axes_of(x[3:7]) @ a.origin
        if isinstance(c.element, SlideRange):
            return np.array([span @ axes_of(x[3:7]) @ a.axes[:, 2]])
        return np.array([np.linalg.norm(span)])

    return (length(moved(q, v, eps)) - length(moved(q, v, -eps))) / (2 * eps)


def seen(c, q, v, eps, turning):
    """Rates of the offset of frame b in the axes of a, and its angular velocity there, (6,)."""

    def offset(x):
        a, b = c.element.a, c.element.b
        span = x[7:10] + axes_of(x[10:14]) @ b.origin - x[:3] - axes_of(x[3:7]) @ a.origin
        return (axes_of(x[3:7]) @ a.axes).T @ span

    speed = (offset(moved(q, v, eps)) - offset(moved(q, v, -eps))) / (2 * eps)
    return np.append(speed, (axes_of(q[3:7]) @ c.element.a.axes).T @ turning)


@pytest.mark.parametrize("row", SPRINGS + CONES + RANGES + PRINTED_CONES + FILMS, ids=str)
@anywhere
def test_action_equals_reaction(row, seed):
    c = couple(row)
    q = c.placed(near(seed, 0.1, 0.4))
    on_a, on_b = wrenches(c.with_velocity("applied", q, velocity(seed)), q)
    assert on_a == pytest.approx(-on_b, abs=1e-10)
    assert np.linalg.norm(on_a) > 0.1


@springs
def test_is_no_work_from_outside(row):
    c = couple(row)
    q = c.placed(near(1, 0.1, 0.4))
    assert np.all(c.with_velocity("external", q, velocity(1)) == 0)


def test_spring_of_zero_length_is_smooth_where_its_ends_meet():
    # At the origin, where the span is zero without round-off.
    a, b = (Body(name, 1.0, (0.1, 0.1, 0.1)) for name in "ab")
    d = assembled([a, b], [SPRINGS[1].build(Frame(a), Frame(b))], gravity=(0.0, 0.0, 0.0))
    q, _ = d.stated_start()
    assert array(d.applied(0, q, velocity(1), d.values())) == pytest.approx(0, abs=1e-6)
    moved_apart = q + 1e-3 * np.eye(len(q))[7]
    assert np.abs(array(d.applied(0, moved_apart, velocity(1), d.values()))).max() > 0.1


@pytest.mark.parametrize(("length", "force"), [(0.2, -40.0), (0.5, 20.0), (0.4, 0.0)])
def test_spring_pulls_when_long_and_pushes_when_short(length, force):
    b = Body("b", 1.0, position=(length, 0, 0), point_mass=True)
    d = assembled([b], [SpringDamper("s", Frame(None), Frame(b), 200.0, free_length=0.4)])
    q, v = d.stated_start()
    assert array(d.potential(0, q, v, [])) == pytest.approx(100 * (length - 0.4) ** 2)
    assert array(d.applied(0, q, v, []))[0] == pytest.approx(-force)


@pytest.mark.parametrize("angle", [-3.0, -1.0, 0.0, 0.5, 2.0, 3.0])
def test_torsion_spring_turns_back_to_its_free_angle(angle):
    p = (np.cos(angle / 2), 0, 0, np.sin(angle / 2))
    b = Body("b", 1.0, (1, 1, 1), orientation=p)
    d = assembled(
        [b], [TorsionSpringDamper("s", Frame(None), Frame(b), 5.0, free_angle=0.1)], (0, 0, 0)
    )
    q, v = d.stated_start()
    assert array(d.potential(0, q, v, [])) == pytest.approx(2.5 * (angle - 0.1) ** 2)
    assert array(d.applied(0, q, v, [])) == pytest.approx(
        [0, 0, 0, 0, 0, -5 * (angle - 0.1)], abs=1e-12
    )


@loads
@pytest.mark.parametrize("t", [0.0, 0.8])
def test_load_acts_at_its_frame(row, t):
    c = couple(row)
    q = c.placed(near(2, 0.3, 0.8))
    A = axes_of(q[10:14])
    vector = c.element.vector(t) if callable(c.element.vector) else c.element.vector
    world = (
        A @ c.frames[1].axes @ vector if c.element.body_axes else np.asarray(vector, dtype=float)
    )
    point = q[7:10] + A @ c.frames[1].origin
    expected = [*world, *np.cross(point, world)] if "force" in row.name else [0, 0, 0, *world]
    applied = c.with_velocity("applied", q, velocity(1), t)
    on_a, on_b = wrenches(applied, q)
    assert on_b == pytest.approx(expected, abs=1e-13)
    assert np.all(on_a == 0)
    assert c.with_velocity("external", q, velocity(1), t) == pytest.approx(applied, abs=0)


def test_gravity_has_the_energy_of_height():
    a = Body("a", 2.0, (1, 1, 1), position=(1, 2, 3))
    b = Body("b", 0.5, position=(-1, 0, 4), point_mass=True)
    d = assembled([a, b], [], gravity=(1.0, 0.0, -9.0))
    q, v = d.stated_start()
    assert array(d.potential(0, q, v, [])) == pytest.approx(-2 * (1 - 27) - 0.5 * (-1 - 36))
    assert array(d.applied(0, q, v, [])) == pytest.approx([2, 0, -18, 0, 0, 0, 0.5, 0, -4.5])


def test_kinetic_energy_is_that_of_rigid_bodies():
    J = np.array([[0.3, 0.05, 0.0], [0.05, 0.4, 0.02], [0.0, 0.02, 0.5]])
    a = Body("a", 2.0, J, velocity=(1, 2, 3), angular_velocity=(0.5, -1, 2))
    b = Body("b", 0.5, velocity=(0, 4, 0), point_mass=True)
    d = assembled([a, b], [])
    q, v = d.stated_start()
    w = np.array([0.5, -1, 2])
    assert array(d.kinetic(0, q, v, [])) == pytest.approx(14 + w @ J @ w / 2 + 4)
    assert array(d.bias(q, v, [])) == pytest.approx([0, 0, 0, *np.cross(w, J @ w), 0, 0, 0])


def test_a_function_of_time_may_return_parameters():
    b = Body("b", 1.0, point_mass=True)
    push = AppliedForce("push", Frame(b), lambda t: (Parameter("F", 3.0), t, 0))
    d = assembled([b], [push], gravity=(0, 0, 0))
    q, v = d.stated_start()
    assert array(d.applied(2.0, q, v, d.values())) == pytest.approx([3, 2, 0])


@pytest.mark.parametrize("free_length", [0.0, Parameter("L", 0.0)], ids=["number", "parameter"])
def test_a_free_length_of_zero_is_smooth_given_either_way(free_length):
    b = Body("b", 1.0, point_mass=True)
    d = assembled(
        [b], [SpringDamper("s", Frame(None), Frame(b), 200.0, free_length=free_length)], (0, 0, 0)
    )
    q, v = d.stated_start()
    assert array(d.applied(0, q, v, d.values())) == pytest.approx([0, 0, 0])


@pytest.mark.parametrize("spring", [SpringDamper, TorsionSpringDamper, ExtensionSpring])
def test_damping_is_not_taken_for_a_free_length(spring):
    ends = Frame(GROUND), Frame(Body("b", 1.0, point_mass=True))
    with pytest.raises(TypeError, match=f"{spring.__name__}.*positional arguments"):
        spring("s", *ends, 200.0, 2.0)
    assert spring("s", *ends, 200.0, damping=2.0).damping == 2.0


@pytest.mark.parametrize(("lower", "upper"), [(-0.5, 3.0), (2.0, 4.0), (-0.2, 0.3)])
def test_a_turn_range_pushes_back_from_both_ends(lower, upper):
    """Also where the angle passes half a turn."""
    limit = TurnRange("e", Frame(None), Frame(body := Body("b", 1.0, (1, 1, 1))), lower, upper, LAW)
    d = assembled([body], [limit], (0, 0, 0))
    for angle in np.linspace(lower - 0.3, upper + 0.3, 25):
        q = np.array([0, 0, 0, np.cos(angle / 2), 0, 0, np.sin(angle / 2)])
        torque = array(d.applied(0, q, np.zeros(6), []))[5]
        over = max(angle - upper, 0) - max(lower - angle, 0)
        assert np.sign(torque) == -np.sign(np.round(over, 12))
        assert array(d.outputs(0, q, np.zeros(6), []))[0] == pytest.approx(angle)


def test_the_passive_moment_of_a_hip_differs_at_both_ends():
    """Two terms, as [Anderson, Pandy 1999] have it: flexion stiffens early, extension late."""
    law = (ExponentialLaw(1.51, 21.88), ExponentialLaw(2.44, 5.05))
    body = Body("thigh", 1.0, (1, 1, 1))
    d = assembled(
        [body], [TurnRange("hip", Frame(None), Frame(body), -0.6981, 1.81, law)], (0, 0, 0)
    )
    for angle in (-0.9, -0.6981, 0.0, 1.5, 1.81, 2.0):
        q = np.array([0, 0, 0, np.cos(angle / 2), 0, 0, np.sin(angle / 2)])
        moment = 1.51 * np.exp(-21.88 * (angle + 0.6981)) - 2.44 * np.exp(5.05 * (angle - 1.81))
        assert array(d.applied(0, q, np.zeros(6), []))[5] == pytest.approx(moment, rel=1e-9)
        assert array(d.outputs(0, q, np.zeros(6), []))[2] == pytest.approx(moment, rel=1e-9)


def test_a_turn_range_takes_a_law_or_two():
    with pytest.raises(TypeError, match="of TurnRange 'e' must be a Law, or a pair of them"):
        TurnRange("e", Frame(None), Frame(Body("b", 1.0, (1, 1, 1))), -1.0, 1.0, (LAW, LAW, LAW))


def test_a_turn_range_is_less_than_a_turn():
    with pytest.raises(ValueError, match="less than a full turn"):
        TurnRange("e", Frame(None), Frame(Body("b", 1.0, (1, 1, 1))), -3.0, 3.5, LAW)


def test_a_law_that_acts_inside_sets_in_smoothly_at_a_cone():
    """No moment inside, and no kink of it at the edge."""
    quarters = Cone(np.radians([0, 90, 180, 270, 360]), np.radians([30] * 5))
    body = Body("b", 1.0, (1, 1, 1))
    limit = RangeOfMotion("e", Frame(None), Frame(body), quarters, ExponentialLaw(5.0, 8.0))
    d = assembled([body], [limit], (0, 0, 0))

    def torque(latitude):
        q = np.array([0, 0, 0, np.cos(latitude / 2), np.sin(latitude / 2), 0, 0])
        return array(d.applied(0, q, np.zeros(6), []))[3]

    edge = np.radians(30)
    assert [torque(x) for x in (0.0, 0.01, 0.3, edge)] == pytest.approx([0] * 4, abs=1e-12)
    for x in (1e-3, 0.1):
        assert torque(edge + x) == pytest.approx(-5 * (np.exp(8 * x) - 1 - 8 * x), rel=1e-6)


def test_a_composite_joint_takes_a_cone_for_each_axis():
    """Two cones on one joint: energies and moments add up, and both resist in it."""
    body = Body("b", 1.0, (1, 1, 1))
    quadrants = np.radians([0, 90, 180, 270, 360])
    sideways = np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])  # z along x
    ends = [(Frame(None), Frame(body)), (Frame(None, axes=sideways), Frame(body, axes=sideways))]
    cones = [
        RangeOfMotion(f"cone{k}", *pair, Cone(quadrants, np.radians([10 + 5 * k] * 5)), LAW, 2.0)
        for k, pair in enumerate(ends)
    ]
    joint = Spherical("joint", Frame(None), Frame(body))
    q = np.array([0, 0, 0, *quaternion(turn(0.3, 0.4, 0.2))])
    v = np.array([0, 0, 0, 0.5, -0.2, 0.7])

    def of(elements):
        d = assemble(Mechanism([body], [joint], "absolute"), elements)
        resistance = array(d.resistance(0, q, v, [], 1, np.zeros((6, 0))))
        return [array(d.potential(0, q, v, [])), array(d.applied(0, q, v, [])), resistance]

    for together, *alone in zip(of(cones), of(cones[:1]), of(cones[1:]), strict=True):
        assert together == pytest.approx(sum(alone))
    _, applied, resistance = of(cones)
    assert np.linalg.norm(applied[3:]) > 1
    assert resistance[3:] == pytest.approx(axes_of(q[3:]) @ applied[3:])
