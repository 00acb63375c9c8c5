"""The restricting moment: its laws, its sizes, its work around closed loops."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    Body,
    Chord,
    CubicLaw,
    Frame,
    Law,
    MeasuredLaw,
    PrintedExcess,
    RangeOfMotion,
    SphericalAngle,
)
from nsopt.elements.range_of_motion.nearest import nearest
from nsopt.leaves import MappedLeaf
from nsopt.mechanics import State
from tests.catalog_ranges import MEASURED, RANGE_LAWS
from tests.elements.range_of_motion.test_cone import PAPER, deg, direction, random_cone
from tests.states import array, assembled, axes_of, quaternion

KAPPA, PEAK, D = ca.SX.sym("kappa"), 226.0, deg(11.5)


def numbers(expression, at):
    return np.asarray(ca.Function("f", [KAPPA], [expression]).map(len(at))(at)).ravel()


@pytest.mark.parametrize("law", RANGE_LAWS, ids=lambda law: type(law).__name__)
def test_moment_is_the_derivative_of_the_potential(law):
    s = State(ca.SX(0), {}, {})
    moment, energy = law.moment(s, KAPPA), law.potential(s, KAPPA)
    at = np.linspace(0.003, 0.9, 300)
    expected = numbers(energy, at + 1e-6) - numbers(energy, at - 1e-6)
    assert numbers(moment, at) == pytest.approx(expected / 2e-6, rel=1e-7, abs=1e-7)
    assert np.all(np.diff(numbers(moment, at)) >= 0)


def test_cubic_law_is_eq_32():
    moment = RANGE_LAWS[0].moment(State(ca.SX(0), {}, {}), KAPPA)
    at = np.linspace(0, D, 50)
    assert numbers(moment, at) == pytest.approx(PEAK * (3 * (at / D) ** 2 - 2 * (at / D) ** 3))
    assert numbers(moment, [D, 2 * D, 1.0]) == pytest.approx([PEAK] * 3)


def test_measured_law_passes_its_table_and_stays_constant():
    moment = MEASURED.moment(State(ca.SX(0), {}, {}), KAPPA)
    assert numbers(moment, MEASURED.excess) == pytest.approx(MEASURED.moments)
    assert numbers(moment, [0.7, 2.0]) == pytest.approx([MEASURED.moments[-1]] * 2)


@pytest.mark.parametrize(
    ("excess", "moments", "says"),
    [
        ([0, 0.1], [0, 1, 2], "shape"),
        ([0.1, 0.2], [0, 1], "ascend from zero"),
        ([0, 0.2, 0.1], [0, 1, 2], "ascend from zero"),
        ([0, 0.1], [1, 2], "start at zero"),
        ([0, 0.1, 0.2], [0, 2, 1], "never fall"),
    ],
)
def test_measured_law_refuses_what_is_no_table(excess, moments, says):
    with pytest.raises(ValueError, match=says):
        MeasuredLaw(excess, moments).check("of it")


def model(cone, law, **options):
    b = Body("b", 1.0, (1, 1, 1))
    return assembled(
        [b], [RangeOfMotion("r", Frame(None), Frame(b), cone, law, **options)], (0,) * 3
    )


def pose(u):
    """Coordinates of a body whose z axis is u."""
    x = np.cross([0.3, 0.5, -0.8], u)
    x /= np.linalg.norm(x)
    return np.array([0, 0, 0, *quaternion(np.column_stack([x, np.cross(u, x), u]))])


def torque(d, u):
    """Torque on the body in world axes."""
    q = pose(u)
    return axes_of(q[3:]) @ array(d.applied(0, q, np.zeros(6), []))[3:]


def test_sizes_by_measure():
    """Full size for the angle; cos(theta) of it as printed, which is the gradient by chord."""
    u = direction(deg(150), deg(104))
    theta, chord = deg(6.335), deg(6.322)
    sizes = {
        "angle": np.linalg.norm(torque(model(PAPER, RANGE_LAWS[0]), u)),
        "printed": np.linalg.norm(torque(model(PAPER, RANGE_LAWS[0], printed=True), u)),
        "chord": np.linalg.norm(torque(model(PAPER, RANGE_LAWS[0], excess=Chord()), u)),
    }

    def m(k):
        return PEAK * (3 * (k / D) ** 2 - 2 * (k / D) ** 3)

    assert sizes["angle"] == pytest.approx(m(theta), rel=3e-4)
    assert sizes["printed"] == pytest.approx(m(theta) * np.cos(theta), rel=3e-4)
    assert sizes["chord"] == pytest.approx(m(chord) * np.cos(theta), rel=3e-4)


def test_printed_moment_and_gradient_have_one_direction():
    u = direction(deg(320), deg(60))
    one, other = (
        torque(model(PAPER, RANGE_LAWS[0]), u),
        torque(model(PAPER, RANGE_LAWS[0], printed=True), u),
    )
    assert np.cross(one, other) == pytest.approx(0, abs=1e-9)
    assert one @ other > 0
    back = np.cross(one, u)  # where the pointer is moved to
    assert direction(deg(320), deg(40)) @ back > u @ back


def test_inside_there_is_no_moment():
    d = model(PAPER, RANGE_LAWS[0])
    for longitude in deg([0, 100, 135, 200, 315]):
        assert np.all(torque(d, direction(longitude, deg(25))) == 0)


@pytest.mark.parametrize(
    ("excess", "count"),
    [
        (SphericalAngle(), 10),
        pytest.param(Chord(), 50, marks=pytest.mark.slow),
    ],
    ids=["angle-10", "chord-50"],
)
def test_no_work_around_closed_loops(excess, count):
    """Loops through SO(3), at least 20 % outside, around random points of the edge."""
    power, energy = loops(model(PAPER, RANGE_LAWS[0], excess=excess))
    rng = np.random.default_rng(11)
    edge = np.transpose(PAPER.edge(2000))
    s = np.linspace(0, 2 * np.pi, 101)[:-1]
    chosen, heights = [], []
    while len(chosen) < count:
        start = pose(direction(*edge[rng.integers(2000)]))[3:]
        loop = np.concatenate([rng.normal(size=12) * np.repeat([0.12, 0.04], 6), start])
        stored = at(energy, s, np.tile(loop[:, None], 100))
        if np.mean(stored > 0) >= 0.2:
            chosen.append(loop)
            heights.append(np.max(stored))
    assert np.max(np.abs(integrals(power, energy, np.transpose(chosen)))) <= 1e-10
    assert np.median(heights) > 0.1


@pytest.mark.slow
def test_printed_excess_does_work_around_a_loop():
    """As the erratum has it: the law of cosines is no measure with a potential."""
    power, _ = loops(model(PAPER, RANGE_LAWS[0], excess=PrintedExcess()))
    _, energy = loops(model(PAPER, RANGE_LAWS[0]))
    start = pose(direction(deg(300), deg(48)))[3:]
    loop = np.concatenate([0.1 * np.cos(np.arange(12.0)), start])
    assert abs(integrals(power, energy, loop[:, None], steered=False)[0]) > 1e-3


def loops(d):
    """Return power and energy at (s, loop): rotations of Fourier series about a start.

    The loop is 12 coefficients and the Euler parameters of the start.
    """
    s, loop = ca.SX.sym("s"), ca.SX.sym("loop", 16)
    waves = [g((k + 1) * s) for k in range(2) for g in (ca.cos, ca.sin)]
    x = sum((loop[3 * k : 3 * k + 3] * wave for k, wave in enumerate(waves)), ca.SX.zeros(3))
    e0, e = loop[12], loop[13:]
    p = ca.vertcat(e0 - ca.dot(e, x), e + e0 * x + ca.cross(e, x))
    p /= ca.norm_2(p)
    q, qdot, rest = (ca.vertcat(0, 0, 0, y) for y in (p, ca.jacobian(p, s), ca.SX.zeros(3)))
    power = ca.dot(d.applied(0, q, rest, []), d.velocity(q, qdot))
    energy = d.potential(0, q, rest, [])
    return [
        MappedLeaf(ca.Function(name, [s, loop], [x], {"cse": True}))
        for name, x in (("power", power), ("energy", energy))
    ]


def at(f, s, loop):
    return f([s, np.broadcast_to(loop.T, (s.size, len(loop)))])[0].ravel()


def crossings(energy, chosen, s):
    """Where the energy starts or ends, by bisection from a grid: (owner, s)."""
    n = chosen.shape[1]
    values = at(energy, np.tile(s, n), np.repeat(chosen, s.size, axis=1)).reshape(n, -1) > 0
    owner, k = np.nonzero(values[:, 1:] != values[:, :-1])
    low, high, first = s[k], s[k + 1], values[owner, k]
    for _ in range(48):
        middle = (low + high) / 2
        same = (at(energy, middle, chosen[:, owner]) > 0) == first
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return owner, low


def integrals(power, energy, chosen, steered=True):
    """Integrals over s from 0 to 2 pi: Gauss's rule on intervals that are halved where it is off.

    They end where the edge of the cone is crossed. The energy tells where else the power is not
    smooth (the nearest point moves fast, or jumps); the integrals are of the power alone.
    """
    x, w = np.polynomial.legendre.leggauss(8)

    def rule(low, high, owner):
        s = (low + high)[:, None] / 2 + (high - low)[:, None] / 2 * x
        values = at(power, s.ravel(), np.repeat(chosen[:, owner], x.size, axis=1))
        return values.reshape(s.shape) @ w * (high - low) / 2

    def stored(s, owner):
        return at(energy, s, chosen[:, owner])

    n, grid = chosen.shape[1], np.linspace(0, 2 * np.pi, 401)
    whose, where = crossings(energy, chosen, grid)
    ends = [np.unique([*grid[::16], *where[whose == k]]) for k in range(n)]
    low, high = (np.concatenate([e[part] for e in ends]) for part in (np.s_[:-1], np.s_[1:]))
    owner, total = np.repeat(np.arange(n), [e.size - 1 for e in ends]), np.zeros(n)
    whole = rule(low, high, owner)
    while low.size:
        middle = (low + high) / 2
        left, right = rule(low, middle, owner), rule(middle, high, owner)
        fallen = stored(low, owner) - stored(high, owner) if steered else left + right
        off = np.maximum(np.abs(left + right - whole), np.abs(left + right - fallen))
        done = (off < 1e-13) | (high - low < 1e-12)
        np.add.at(total, owner[done], (left + right)[done])
        go = ~done
        low, high = (np.concatenate(ab) for ab in ((low[go], middle[go]), (middle[go], high[go])))
        whole, owner = np.concatenate([left[go], right[go]]), np.tile(owner[go], 2)
    return total


@pytest.mark.parametrize("cones", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_the_short_way_out_is_never_taken_outside(cones):
    """The moment with its search left out inside, against the search everywhere, random cones."""
    rng = np.random.default_rng(5)
    for _ in range(cones):
        cone = random_cone(rng)
        d = model(cone, CubicLaw(1.0, 0.1))
        u = ca.SX.sym("u", 3)
        theta = ca.Function("theta", [u], [nearest(cone.curve(), u).theta])
        longitudes, latitudes = cone.edge(400)
        for psi, sigma in zip(longitudes[::8], latitudes[::8], strict=True):
            x = direction(psi, min(sigma + 2e-3, np.pi))
            outside = float(theta(x))
            size = np.linalg.norm(torque(d, x))
            k = max(outside, 0) / 0.1
            assert size == pytest.approx(3 * k**2 - 2 * k**3, abs=1e-9)


def test_a_law_of_ones_own_must_agree_with_its_potential():
    @dataclass(frozen=True)
    class Linear(Law):
        stiffness: float
        wrong: float = 1.0

        def check(self, of_element):
            assert self.stiffness > 0, of_element

        def moment(self, s, excess):
            return self.stiffness * excess

        def potential(self, s, excess):
            return self.wrong * self.stiffness * excess**2 / 2

    d = model(PAPER, Linear(30.0))
    u = direction(deg(320), deg(60))
    theta = float(ca.Function("t", [x := ca.SX.sym("u", 3)], [nearest(PAPER.curve(), x).theta])(u))
    assert np.linalg.norm(torque(d, u)) == pytest.approx(30 * theta)
    with pytest.raises(ValueError, match=r"has moment .* but its potential rises by"):
        model(PAPER, Linear(30.0, 7.0))
