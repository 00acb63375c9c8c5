"""Parameters: one symbol each, checked where they are used."""

import re

import numpy as np
import pytest

from nsopt import Body, CylindricalClearance, Frame, Parameter, SphericalClearance, SpringDamper
from tests.states import array, assembled

pytestmark = pytest.mark.unit


def slider(clearance=1e-3):
    b = Body("b", Parameter("mass", 2.0), (1, 1, 1))
    joint = CylindricalClearance(
        "joint",
        Frame(None),
        Frame(b),
        Parameter("length", 0.1),
        1.0,
        Parameter("clearance", clearance),
    )
    return assembled([b], [joint])


def test_each_parameter_is_one_entry_of_p():
    d = slider()
    assert {p.name for p in d.parameters} == {"mass", "length", "clearance"}
    p = dict(zip((p.name for p in d.parameters), d.values({"mass": 5.0}), strict=True))
    assert p == {"mass": 5.0, "length": 0.1, "clearance": 1e-3}


def test_other_values_give_the_functions_of_a_mechanism_stated_with_them():
    d, stated = slider(), slider(clearance=4e-3)
    q, _ = d.stated_start()
    q[:3] = 2e-4, 3e-4, 0
    given, own = d.values({"clearance": 4e-3}), stated.values()
    for name in ("distance", "gap", "gap_matrix"):
        assert array(getattr(d, name)(0, q, given)) == pytest.approx(
            array(getattr(stated, name)(0, q, own))
        )


def test_stated_start_follows_the_parameters():
    b = Body(
        "b",
        1.0,
        position=(Parameter("x", 1.0), 0, 0),
        velocity=(0, Parameter("u", 2.0), 0),
        point_mass=True,
    )
    q, v = assembled([b], []).stated_start({"x": 7.0, "u": -1.0})
    assert q == pytest.approx([7, 0, 0])
    assert v == pytest.approx([0, -1, 0])


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=r"unknown parameter 'c'.*mass.*length.*clearance"):
        slider().values({"c": 1.0})


def test_a_mechanism_without_parameters_says_so():
    d = assembled([Body("b", 1.0, point_mass=True)], [])
    with pytest.raises(ValueError, match="none"):
        d.values({"mass": 1.0})


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("clearance", -1.0, r"clearance of CylindricalClearance 'joint'.*-1"),
        ("clearance", 0.0, r"clearance of CylindricalClearance 'joint'.*0"),
        ("clearance", np.nan, r"'clearance'.*nan"),
        ("mass", -2.0, r"mass of body 'b'.*-2"),
        ("mass", 0.0, r"'b'.*inertia"),
        ("length", 3.0, r"'joint'.*longer.*3"),
    ],
)
def test_new_values_pass_the_checks_of_the_stated(name, value, says):
    with pytest.raises(ValueError, match=says):
        slider().values({name: value})


def test_one_name_has_one_value():
    b = Body("b", Parameter("m", 1.0), (1, 1, 1))
    spring = SpringDamper("s", Frame(None), Frame(b, (1, 0, 0)), Parameter("m", 2.0))
    with pytest.raises(ValueError, match=r"'m'.*twice.*1\.0.*2\.0"):
        assembled([b], [spring])


def test_one_parameter_may_be_used_twice():
    c = Parameter("c", 1e-3)
    b = Body("b", 1.0, (1, 1, 1))
    joints = [
        SphericalClearance(n, Frame(None, (x, 0, 0)), Frame(b, (x, 0, 0)), c)
        for n, x in (("i", 0), ("j", 1))
    ]
    d = assembled([b], joints)
    q, _ = d.stated_start()
    assert array(d.distance(0, q, d.values({"c": 2e-3}))) == pytest.approx([2e-3, 2e-3])


@pytest.mark.parametrize("value", [np.nan, np.inf, True, "much"])
def test_a_parameter_is_a_finite_number(value):
    with pytest.raises(ValueError, match=f"'k'.*{value}"):
        Parameter("k", value)


@pytest.mark.parametrize("name", ["", "my clearance", "2c", "a-b"])
def test_a_parameter_has_the_name_of_a_variable(name):
    with pytest.raises(ValueError, match=re.escape(repr(name))):
        Parameter(name, 1.0)
