"""Functions of a mechanism that recall how they were called."""

import pickle
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from nsopt import GROUND, Body, Frame, Mechanism, Revolute, assemble
from nsopt.mechanics import recall_calls

pytestmark = pytest.mark.unit


def swing():
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0)))
    return assemble(Mechanism([rod], [hinge], "relative"), gravity=(0.0, -9.81, 0.0))


def test_equal_expressions_are_one_and_others_are_not():
    d = swing()
    recalled = recall_calls(d)
    t, q, v, h = (ca.SX.sym(name) for name in "tqvh")
    p = ca.SX(0, 1)
    first = recalled.applied(t, q + h * v, v, p)
    assert recalled.applied(t, q + h * v, v, p) is not first  # equal, but two operations deep
    assert recalled.applied(t, h * v, v, p) is recalled.applied(t, h * v, v, p)
    assert recalled.applied(t, h * v, v, p) is not recalled.applied(t, h * q, v, p)
    assert recalled.applied(t, q, v, p) is not recalled.scheduled(t, q, v, p)


def test_values_are_those_of_the_mechanism():
    d = swing()
    recalled = recall_calls(d)
    rng = np.random.default_rng(0)
    t, q, v = (ca.SX.sym(name) for name in "tqv")
    arguments = (t, q, v, ca.SX(0, 1))
    for _ in range(2):
        made = ca.Function("made", [t, q, v], [recalled.applied(*arguments)])
        for numbers in rng.normal(size=(3, 3)):
            given = (*numbers, np.zeros(0))
            assert made(*numbers) == d.applied(*given) == recalled.applied(*given)


def test_a_mechanism_goes_to_another_process():
    d = swing()
    assert pickle.loads(pickle.dumps(d)).mass(0.3, []) == d.mass(0.3, [])


def test_parts_of_a_mechanism_are_not_replaced_alone():
    """Else a swing whose gravity is replaced would go on to fall as before."""
    d = swing()
    for whole in (d, recall_calls(d), pickle.loads(pickle.dumps(d))):
        for part in ({"gravity": (0.0, 0.0, 0.0)}, {"mass": d.momentum}, {"gap": d.closure}):
            with pytest.raises(ValueError, match=f"{next(iter(part))} of a Dynamics cannot be"):
                replace(whole, **part)
