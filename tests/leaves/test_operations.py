"""Every operation of SX against CasADi's virtual machine, bit by bit, also for special numbers."""

import ctypes
import itertools

import casadi as ca
import numpy as np
import pytest

from nsopt.leaves import INTERPRETED, Leaf
from nsopt.leaves.operations import OPERATIONS
from tests.leaves.functions import BINARY, SPECIAL, UNARY, assert_same_bits, compiled, interpret, sx

pytestmark = pytest.mark.usefixtures("folder")
PAIRS = np.array(list(itertools.product(SPECIAL, SPECIAL)))


def operations_in(function):
    return {function.instruction_id(k) for k in range(function.n_instructions())}


def all_operations():
    """Each of two arguments in turn: with both in x, both in p, and one in each."""
    x, p = sx(2, 2)
    of_one = [f(a) for f in UNARY.values() for a in (x[0], p[0])]
    pairs = ((x[0], x[1]), (p[0], p[1]), (x[0], p[1]), (p[0], x[1]))
    of_two = [f(a, b) for f in BINARY.values() for a, b in pairs]
    return ca.Function("all", [x, p], [ca.vertcat(*of_one, *of_two)])


@pytest.mark.parametrize("level", [INTERPRETED, 0, 2])
def test_operations_have_the_bits_of_the_virtual_machine(level):
    function = all_operations()
    leaf = Leaf(function) if level == INTERPRETED else compiled(Leaf(function), level)
    for pair in PAIRS:
        assert_same_bits(leaf(pair, pair), interpret(function, pair, pair))


def test_no_operation_is_left_out_above():
    others = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST}
    assert operations_in(all_operations()) - others == OPERATIONS - {ca.OP_PRINTME}


def test_print_me_prints_as_the_virtual_machine(capfd):
    x, p = sx(1, 1)
    function = ca.Function("f", [x, p], [x.printme(p)])
    printed = []
    for evaluate in (function, Leaf(function), compiled(Leaf(function))):
        assert evaluate(3.25, 2) == 3.25
        ctypes.CDLL(None).fflush(None)
        printed.append(capfd.readouterr().out)
    assert printed[0] == printed[1] == printed[2] != ""


def test_rounding_is_that_of_single_operations():
    """A fused multiply-add would give 2^-60 for the tail of this product."""
    x, p = sx(2, 1)
    tail = ca.Function("tail", [x, p], [x[0] * p - x[1]])
    a = 1 + 2.0**-30
    for leaf in (Leaf(tail), compiled(Leaf(tail), 0), compiled(Leaf(tail), 2)):
        assert leaf([a, a * a], a) == [0]


def test_operation_without_machine_code_is_named():
    x, p = sx(1, 1)
    with pytest.raises(ValueError, match="'outer' contains the operation 'erfinv'"):
        Leaf(ca.Function("outer", [x, p], [ca.erfinv(x)]))
