"""Printed equations of [mobility 2016], with its errata: closures and polynomials by SymPy."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    Parameter,
    PinInSlot,
    Relative,
    Revolute,
    Screw,
    Spherical,
)
from nsopt.mobility import LoopConstraints, constraint_expressions, constraint_polynomials
from problems.four_bar_slot import four_bar_slot
from problems.spherical_inline import spherical_inline

s = pytest.importorskip("sympy")
a, b, d = s.symbols("a b d", real=True)
q1, q2, q3 = s.symbols("q1 q2 q3", real=True)
ROOT = s.sqrt(3)


def slot_with_parameters(third, fifth):
    """The mechanism of Figs. 5 and 6, of any size, with these joints 3 and 5."""
    A, B, D = Parameter("a", 3.0), Parameter("b", 1.0), Parameter("d", 5.0)
    minus_a, minus_b = Parameter("minus_a", -3.0), Parameter("minus_b", -1.0)
    one, three = Body("link 1", 0.0), Body("link 3", 0.0)
    two = Body("link 2", 0.0, position=(0, D, 0))
    axes = np.eye(3)
    joints = [
        Revolute("joint 1", Frame(GROUND, (minus_a, 0, 0)), Frame(one, (minus_a, 0, 0))),
        Revolute("joint 2", Frame(one, (B, D, 0)), Frame(two, (B, 0, 0))),
        third("joint 3", Frame(GROUND, (0, D, 0), axes), Frame(two, (0, 0, 0), axes)),
        Revolute("joint 4", Frame(two, (minus_b, 0, 0)), Frame(three, (minus_b, D, 0))),
        fifth("joint 5", Frame(GROUND, (A, 0, 0)), Frame(three, (A, 0, 0))),
    ]
    loops = LoopConstraints(Mechanism([one, two, three], joints, Relative(["joint 3", "joint 5"])))
    given = {s.Symbol("minus_a", real=True): -a, s.Symbol("minus_b", real=True): -b}
    return {
        name: [row.subs(given) for row in rows]
        for name, rows in constraint_expressions(loops).items()
    }


def same(x, y):
    return s.expand(s.expand(x - y, trig=True)).rewrite(s.exp).expand() == 0


def test_displacement_in_the_slot():
    """Eq. 7, by a joint that holds all of it."""
    rows = slot_with_parameters(Spherical, Revolute)["joint 3"]
    c1, s1, c12, s12 = s.cos(q1), s.sin(q1), s.cos(q1 + q2), s.sin(q1 + q2)
    assert same(rows[0], (a + b) * c1 - b * c12 - d * s1 - a)
    assert same(rows[1], (a + b) * s1 + d * c1 - b * s12 - d)
    assert rows[2] == 0


def test_pin_in_slot():
    """Eqs. 8 to 10: one row is left in the plane."""
    rows = slot_with_parameters(PinInSlot, Revolute)["joint 3"]
    assert same(rows[0], (a + b) * s.sin(q1) + d * s.cos(q1) - b * s.sin(q1 + q2) - d)
    assert rows[1:] == [0, 0, 0]


def test_cut_hinge():
    """Eq. 29."""
    rows = slot_with_parameters(PinInSlot, Revolute)["joint 5"]
    c1, s1, c12, s12 = s.cos(q1), s.sin(q1), s.cos(q1 + q2), s.sin(q1 + q2)
    c124, s124 = s.cos(q1 + q2 + q3), s.sin(q1 + q2 + q3)
    first = (a + b) * c1 - 2 * b * c12 - 2 * a + (a + b) * c124 - d * s1 + d * s124
    assert same(rows[0], first)
    assert same(rows[1], d * c1 - d * c124 + (a + b) * s1 - 2 * b * s12 + (a + b) * s124)
    assert rows[2:] == [0, 0, 0]


def given(text, **more):
    return s.expand(s.sympify(text, locals={"r3": ROOT, **more}))


def test_polynomials_of_example_4():
    """Of joints 1, 2 and 4; all other rows are zero."""
    H = constraint_polynomials(LoopConstraints(four_bar_slot.model()), 2)
    kept = [[s.expand(row) for row in rows if row != 0] for rows in H]
    assert kept[0] == [
        given("3*x1 - x2"),
        given("4*r3*(x2 + x3)"),
        given("2*(3*x1 + x2 + 2*x3)"),
    ]
    assert kept[1] == [
        given("-4*r3*x1**2 + 3*y1 - y2"),
        given("-2*(3*x1**2 + 2*x1*x2 + x2**2 + 4*(x1 + x2)*x3 + 2*x3**2) + 4*r3*(y2 + y3)"),
        given("2*(2*r3*(x2 + x3)*(2*x1 + x2 + x3) + 3*y1 + y2 + 2*y3)"),
    ]


def test_slot_leaves_the_path_of_the_coupler_to_order_6():
    """h_3 = 8 sqrt(3) q_1^6 along the four-bar linkage, exactly."""
    loops = LoopConstraints(four_bar_slot.model())
    inverse = s.Matrix([[4 * ROOT, 4 * ROOT], [2, 4]]).inv()  # of joint 5 by q_2 and q_4
    motion = {}
    for k, rows in enumerate(constraint_polynomials(loops, 6), 1):
        names = [f"{'xyz'[k - 1]}{i}" if k < 4 else f"u{k}_{i}" for i in (1, 2, 3)]
        one, *others = map(s.Symbol, names)
        motion |= {one: s.S.One if k == 1 else s.S.Zero}  # q_1 is the time
        off = s.Matrix([rows[j].xreplace(motion | dict.fromkeys(others, s.S.Zero)) for j in (4, 5)])
        motion |= dict(zip(others, (-inverse * off).expand(), strict=True))
        slot = s.expand(rows[0].xreplace(motion))
        assert slot == (0 if k < 6 else s.factorial(6) * 8 * ROOT)


@pytest.fixture(scope="module")
def inline():
    return LoopConstraints(spherical_inline.model())


def test_closures_of_example_5(inline):
    """F_1 with c_(1-2) in the place of one c_12 (erratum); rows are along axes 3 and 1."""
    c1, c2, c3, s1, s2, s3 = (f(x) for f in (s.cos, s.sin) for x in (q1, q2, q3))
    c12, s12 = s.cos(q1 + q2), s.sin(q1 + q2)
    cd, sd = s.cos(q1 - q2), s.sin(q1 - q2)
    F1 = 13 + 2 * c1 - cd + 2 * c2 + 2 * c12 - 2 * ROOT * s1 + ROOT * sd
    F1 += (
        -2
        * c3
        * (-1 + c2 * (4 + ROOT * s1) + 2 * s1 * (ROOT - 3 * s2) + c1 * (4 + 2 * c2 + 3 * ROOT * s2))
    )
    F1 += -2 * ROOT * s12 + 2 * ROOT * (1 - 4 * c2 + c1 * (2 + c2) - 3 * s1 * s2) * s3
    F2 = -13 - 2 * c1 + cd + c2 + 4 * c12 + 2 * ROOT * s1 + ROOT * sd + ROOT * s2
    F2 += c3 * (
        -2
        - c2 * (4 + 7 * ROOT * s1)
        - 4 * ROOT * s2
        + s1 * (4 * ROOT + 3 * s2)
        + c1 * (8 + 7 * c2 - 5 * ROOT * s2)
    )
    F2 -= (
        2 * ROOT * (1 + 2 * c1)
        - c2 * (-4 * ROOT + ROOT * c1 + 9 * s1)
        + 3 * (4 - c1 + ROOT * s1) * s2
    ) * s3
    third, first = constraint_expressions(inline)["joint 4"]
    assert same(first, F1 / 27)
    assert same(third, F2 / 27)


def test_polynomials_of_example_5(inline):
    """Eq. 46, of length 1."""
    printed = [
        ("-(x1 + x2)/r3", "-(x2 + x3)/r3"),
        (
            "(x1**2 + 2*x1*x2 + x2**2 + 2*x3**2 - r3*y1 - r3*y2)/3",
            "(-2*x1**2 + 2*x1*x3 - x2**2 - 2*x2*x3 - x3**2 - r3*y2 - r3*y3)/3",
        ),
        (
            "(r3*x1**3 + r3*x1**2*(3*x2 - 2*x3)"
            " + x1*(r3*(x2**2 - 4*x2*x3 + 2*x3**2) + 3*(y1 + y2))"
            " + r3*x2**3 + 2*r3*x2**2*x3 + x2*(2*r3*x3**2 + 3*(y1 + y2))"
            " + 6*x3*y3 - r3*(z1 + z2))/3",
            "(r3*x1**2*(2*x2 + x3) + x1*(r3*(2*x2**2 - 2*x2*x3 + x3**2) - 6*y1 + 3*y3)"
            " + r3*x2**3 + r3*x2**2*x3 + 3*x2*(r3*x3**2 - y2 - y3)"
            " + r3*x3**3 + 3*x3*(y1 - y2 - y3) - r3*(z2 + z3))/3",
        ),
    ]
    for (third, first), (one, two) in zip(constraint_polynomials(inline, 3), printed, strict=True):
        assert s.expand(first) == given(one)
        assert s.expand(third) == given(two)


def test_polynomials_are_the_numbers():
    """Also with a screw, whose residual is no polynomial, and with a Parameter."""
    body, end = Body("arm", 0.0), Body("end", 0.0, position=(1, 0, 0))
    joints = [
        Revolute("hinge", Frame(GROUND), Frame(body)),
        Revolute("elbow", Frame(body, (Parameter("arm_length", 1.0), 0, 0)), Frame(end)),
        Screw("screw", Frame(GROUND, (1, 0, 0)), Frame(end), 0.5),
    ]
    loops = LoopConstraints(Mechanism([body, end], joints, Relative(["screw"])))
    order = 3
    motion = np.random.default_rng(0).normal(size=(order, loops.n))
    values = {"arm_length": 1.0}
    names = [[f"{letter}{k + 1}" for k in range(loops.n)] for letter in "xyz"]
    values |= dict(zip(np.ravel(names), motion.ravel(), strict=True))
    exact = [
        [float(row.subs({x: values[x.name] for x in row.free_symbols})) for row in rows]
        for rows in constraint_polynomials(loops, order)
    ]
    assert loops.derivatives(*motion) == pytest.approx(np.array(exact), abs=1e-12)


def test_numbers_that_stand_for_none_are_refused():
    bar = Body("bar", 0.0)
    joints = [
        Revolute("hinge", Frame(GROUND), Frame(bar)),
        Spherical("end", Frame(GROUND, (0.1234567, 0, 0)), Frame(bar, (0.1234567, 0, 0))),
    ]
    loops = LoopConstraints(Mechanism([bar], joints))
    with pytest.raises(ValueError, match=r"0\.1234567 is no fraction, root or fraction of pi"):
        constraint_polynomials(loops, 1)
