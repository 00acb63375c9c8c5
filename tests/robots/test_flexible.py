"""Flexible links against the theory of beams, and what they replace."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

from nsopt import (
    GROUND,
    AppliedForce,
    AppliedTorque,
    Body,
    Compiled,
    Driven,
    Fixed,
    Frame,
    Mechanism,
    Parameter,
    Revolute,
    RungeKutta,
    SpringDamper,
    Variational,
    assemble,
    consistent,
    equilibrium,
)
from nsopt.robots import CrossSection, FlexibleLink, LinkMaterial, flexible_link, replace_link
from tests.states import array, axes_of, run

LENGTH, SECTION = 1.0, CrossSection.rectangle(0.01, 0.02)
METAL = LinkMaterial(density=2700.0, young=7e10, shear=2.6e10)
BENDING = METAL.young * SECTION.Iz
FIRST, SECOND = 1.8751040687119611, 4.694091132974174  # of a cantilever, times its length


def beam(elements, material=METAL, along=(1, 0, 0)):
    return flexible_link("beam", (0, 0, 0), along, LENGTH, SECTION, material, elements)


@cache
def cantilever(elements, loaded, coordinates="relative"):
    link = beam(elements)
    clamp = Fixed("clamp", Frame(GROUND, axes=link.begin.axes), link.begin)
    load = {
        "": [],
        "force": [AppliedForce("load", link.end, (0.0, Parameter("size", 1e-3), 0.0))],
        "moment": [AppliedTorque("load", Frame(link.bodies[-1]), (0, 0, Parameter("size", 0.0)))],
    }[loaded]
    mechanism = Mechanism(link.bodies, [clamp, *link.joints], coordinates)
    return link, assemble(mechanism, [*link.forces, *load])


def tip(link, d, start):
    position, turned, *_ = (array(x) for x in d.poses(start.q, start.v, d.values()))
    return position[:, -1] + axes_of(turned[:, -1]) @ np.asarray(link.end.origin)


@pytest.mark.parametrize(
    ("elements", "coordinates"), [(1, "relative"), (3, "relative"), (2, "absolute")]
)
def test_a_load_at_the_tip_bends_too_little_by_a_quarter_over_n_squared(elements, coordinates):
    link, d = cantilever(elements, "force", coordinates)
    bent = tip(link, d, equilibrium(d))[1]
    exact = 1e-3 * LENGTH**3 / (3 * BENDING)
    assert bent / exact - 1 == pytest.approx(-1 / (4 * elements**2), abs=1e-6)


def frequencies(d):
    q, still, p = ca.SX.sym("q", d.nq), np.zeros(d.nv), d.values()
    stiffness = ca.Function("K", [q], [-ca.jacobian(d.applied(0, q, still, p), q)])
    straight = np.zeros(d.nq)
    return np.sqrt(eigh(array(stiffness(straight)), array(d.mass(straight, p)))[0])


@pytest.mark.slow
@pytest.mark.parametrize("elements", [4, 8])
def test_first_frequencies_are_too_high_by_about_a_quarter_over_n_squared(
    elements,
):
    found = frequencies(cantilever(elements, "")[1])
    for I in (SECTION.Iy, SECTION.Iz):
        line = METAL.density * SECTION.area
        exact = (FIRST / LENGTH) ** 2 * np.sqrt(METAL.young * I / line)
        nearest = found[np.argmin(np.abs(found - exact))]
        assert (nearest / exact - 1) * elements**2 == pytest.approx(0.23, abs=0.01)


@pytest.mark.slow
def test_a_moment_at_the_end_closes_the_polygon():
    link, d = cantilever(6, "moment")
    start, whole = None, 2 * np.pi * BENDING / LENGTH
    for share in (0.25, 0.5, 0.75, 1.0):
        start = equilibrium(d, start, {"size": share * whole})
    assert tip(link, d, start) == pytest.approx(0, abs=1e-9)
    assert start.q[2::3] == pytest.approx(2 * np.pi / 6, abs=1e-9)


@pytest.mark.parametrize("along", [(0.3, -1.0, 0.4), (0, 0, -1)])
def test_its_elements_are_together_the_rod(along):
    link = beam(5, along=along)
    origin, x = link.axis
    assert x == pytest.approx(np.array(along) / np.linalg.norm(along))
    assert origin == pytest.approx(0, abs=1e-15)
    m = np.array([body.mass for body in link.bodies])
    r = np.array([body.position for body in link.bodies])
    A, line = link.bodies[0].rotation, METAL.density
    assert m.sum() == pytest.approx(line * SECTION.area * LENGTH)
    assert m @ r / m.sum() == pytest.approx(LENGTH / 2 * x)
    J = sum(
        A @ np.diag(body.inertia) @ A.T + body.mass * (y @ y * np.eye(3) - np.outer(y, y))
        for body, y in zip(link.bodies, r - LENGTH / 2 * x, strict=True)
    )
    rod = m.sum() * LENGTH**2 / 12
    moments = line * LENGTH * np.array([SECTION.Iy + SECTION.Iz, SECTION.Iy, SECTION.Iz])
    assert pytest.approx(A @ np.diag(moments + np.array([0, rod, rod])) @ A.T, abs=1e-12) == J


def test_sections_of_bars_and_tubes():
    tube, rod = CrossSection.circle(0.02, hole=0.015), CrossSection.circle(0.02)
    assert tube.Iy == pytest.approx(np.pi / 4 * (0.02**4 - 0.015**4))
    assert tube.area == pytest.approx(np.pi * (0.02**2 - 0.015**2))
    assert rod.It == pytest.approx(2 * rod.Iz)
    square, flat = CrossSection.rectangle(0.1, 0.1), CrossSection.rectangle(0.1, 0.001)
    assert square.It == pytest.approx(0.1406 * 0.1**4, rel=3e-3)  # Timoshenko and Goodier's table
    assert flat.It == pytest.approx(0.1 * 0.001**3 / 3, rel=0.01)
    assert flat.Iz / flat.Iy == pytest.approx(1e4)


def slewing(elements):
    """A hinged beam, turned by the quintic by 0.2 rad in 0.25 s."""
    link = beam(elements)
    hub = Revolute("hub", Frame(GROUND, axes=link.begin.axes), link.begin)
    motor = Driven("motor", hub, slew)
    d = assemble(Mechanism(link.bodies, [hub, *link.joints, motor], "relative"), link.forces)
    return link, d


def slew(t):
    x = 4 * t
    return 0.2 * x**3 * (10 - 15 * x + 6 * x**2)


def modal(t):
    """Deflection of the tip of a slewed Euler-Bernoulli beam, by its first two modes."""
    line, y = METAL.density * SECTION.area, np.linspace(0, 1, 20001)
    total = np.zeros_like(t)
    for k in (FIRST, SECOND):
        s = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k))
        shape = np.cosh(k * y) - np.cos(k * y) - s * (np.sinh(k * y) - np.sin(k * y))
        share = np.trapezoid(y * shape, y) / np.trapezoid(shape**2, y)
        w = k**2 * np.sqrt(BENDING / line)

        def rate(t, x, w=w, share=share):
            u = 4 * t
            return [x[1], -(w**2) * x[0] - share * 0.2 * 16 * 60 * u * (1 - u) * (1 - 2 * u)]

        answer = solve_ivp(rate, (0, t[-1]), [0, 0], t_eval=t, rtol=1e-9, atol=1e-12)
        total += shape[-1] * answer.y[0]
    return total


@pytest.mark.slow
def test_a_slewed_beam_follows_the_theory_with_the_square_of_its_elements():
    """Small and slow enough for centrifugal forces to be below a part in a hundred."""
    errors = []
    for elements in (2, 4):
        link, d = slewing(elements)
        result = run(
            d, 0.25, 2e-5, consistent(d), scheme=Variational(), solver=Compiled(), store_every=50
        )
        t, last = result["time"].values, len(link.bodies) - 1
        r, p = (result[x].values[:, last] for x in ("body_position", "body_quaternion"))
        ends = np.array(
            [x + axes_of(y) @ np.asarray(link.end.origin) for x, y in zip(r, p, strict=True)]
        )
        across = ends[:, 1] * np.cos(slew(t)) - ends[:, 0] * np.sin(slew(t))
        exact = modal(t)
        errors.append(np.max(np.abs(across - exact)) / np.max(np.abs(exact)))
    assert errors[1] < 0.08
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.5)


@pytest.mark.slow
def test_a_link_of_a_robot_is_replaced_where_it_is_attached():
    """An arm of two links of which the first becomes flexible, a spring on its middle."""
    low = Body("low", 0.54, (0.001, 0.045, 0.045), position=(0.5, 0, 0))
    high = Body("high", Parameter("load", 0.3), (0.001, 0.01, 0.01), position=(1.25, 0, 0))
    y = (0.0, 1.0, 0.0)
    shoulder = Revolute("shoulder", Frame(GROUND, axes=y), Frame.at(low, (0, 0, 0), y))
    elbow = Revolute("elbow", Frame.at(low, (1, 0, 0), y), Frame.at(high, (1, 0, 0), y))
    motor = Driven("motor", shoulder, 0.0)
    ends = Frame(GROUND, (0.5, 0, 1)), Frame.at(low, (0.5, 0, 0))
    stay = SpringDamper("stay", *ends, 50.0, free_length=1.0)
    rigid = Mechanism([low, high], [shoulder, elbow, motor], "relative")
    link = beam(3)
    mechanism, elements = replace_link(rigid, "low", link, [stay])
    names = [body.name for body in mechanism.bodies]
    assert names == ["high", "beam_0", "beam_1", "beam_2", "beam_3"]
    joints = {joint.name: joint for joint in mechanism.joints}
    assert joints["shoulder"].b.body is link.bodies[0]
    assert joints["elbow"].a.body is link.bodies[3]
    assert joints["motor"].joint is joints["shoulder"]
    assert elements[0].b.body in link.bodies[1:3]
    d = assemble(mechanism, elements, gravity=(0, 0, -9.81))
    q, _ = d.stated_start()
    assert q == pytest.approx(0, abs=1e-14)
    result = run(d, 1e-3, 2e-5, scheme=RungeKutta())
    assert float(result["constraint_violation"].max()) < 1e-9
    with pytest.raises(ValueError, match=r"names the body 'arm', .*: one of low, high"):
        replace_link(rigid, "arm", link)


def test_damping_takes_energy():
    link, d = beam(2, LinkMaterial(2700.0, 7e10, 2.6e10, damping=1e-3)), None
    assert isinstance(link, FlexibleLink)
    assert [joint.link for joint in link.joints] == ["beam", "beam"]
    clamp = Fixed("clamp", Frame(GROUND, axes=link.begin.axes), link.begin)
    d = assemble(Mechanism(link.bodies, [clamp, *link.joints], "relative"), link.forces)
    q = np.array([0, 0, 1e-3, 0, 0, 1e-3])
    rate = np.array([0, 0, 2.0, 0, 0, -1.0])
    taken = -float(ca.dot(d.applied(0, q, rate, []) - d.applied(0, q, 0 * rate, []), rate))
    part = LENGTH / 2
    assert taken == pytest.approx(1e-3 * BENDING / part * 5.0, rel=1e-4)


BAD = [
    (lambda: beam(0), "elements of the flexible link 'beam' must be a whole number, 1 or more"),
    (lambda: beam(1.5), "must be a whole number"),
    (lambda: beam(2, along=(0, 0, 0)), "along of the flexible link 'beam' must be a direction"),
    (
        lambda: flexible_link("b", (0, 0, 0), (1, 0, 0), 0.0, SECTION, METAL, 1),
        "length .* positive",
    ),
    (lambda: LinkMaterial(2700.0, 0.0, 1.0), "young of a LinkMaterial must be positive"),
    (lambda: LinkMaterial(Parameter("rho", 1), 1.0, 1.0), "must be plain numbers"),
    (lambda: LinkMaterial(1.0, 1.0, 1.0, Parameter("c", 1)), "damping .* must be plain numbers"),
    (lambda: CrossSection(1.0, 1.0, -1.0, 1.0), "Iz of a CrossSection must be positive"),
    (lambda: CrossSection.circle(0.01, hole=0.02), "must be within"),
]


@pytest.mark.parametrize(("make", "says"), BAD)
def test_what_is_no_link_is_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make()
