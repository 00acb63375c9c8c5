"""The function of a constraint block and its derivatives, evaluated at all its instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.leaves import MappedLeaf
from nsopt.mpcc.statement.blocks import stack


class MappedCallback(ca.Callback):
    """A function at ``count`` instances, whose inputs and outputs stand side by side, for CasADi.

    Keep a reference as long as a CasADi function calls it. A leaf may be compiled between two
    calls; its results are the same bits. Backends are given derivatives; where CasADi asks for its
    own, they are interpreted.
    """

    def __init__(self, leaf: MappedLeaf, count: int) -> None:
        ca.Callback.__init__(self)
        self._leaf, self._count = leaf, count
        self.construct(leaf.function.name(), {})

    def get_n_in(self) -> int:
        return int(self._leaf.function.n_in())

    def get_n_out(self) -> int:
        return int(self._leaf.function.n_out())

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        pattern = self._leaf.function.sparsity_in(i)
        return ca.repmat(pattern, 1, self._count) if i < self._leaf.own else pattern

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return ca.repmat(self._leaf.function.sparsity_out(i), 1, self._count)

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(self, *_named: object) -> ca.Function:
        return self._leaf.interpreter(self._count).jacobian()

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(
        self, arguments: tuple[memoryview, ...], results: tuple[memoryview | None, ...]
    ) -> int:
        self._leaf.evaluate(self._count, arguments, results)
        return 0


LONG = 5000
"""Instructions from which the constants of a block are inputs of its functions: its machine code
takes seconds, and then serves any mass, clearance or scale."""

MANY = 10
"""Instances from which short functions, too, are evaluated by machine code: for fewer, the call of
Python takes longer than CasADi's virtual machine."""


@dataclass(frozen=True, eq=False)
class InstanceFunction:
    """A function of one instance of a block."""

    leaf: MappedLeaf  # its machine code
    numbers: ca.DM  # (k,) its last input, see `lift_numbers`; (0,) without that input
    _callbacks: dict[int, MappedCallback] = field(default_factory=dict)

    def pattern(self, i: int) -> ca.Sparsity:
        """Return the sparsity of output i of one instance."""
        return self.leaf.function.sparsity_out(i)

    def __call__(self, own: Sequence[ca.MX], common: Sequence[ca.MX], count: int) -> list[ca.MX]:
        """Return outputs with the columns of each instance side by side.

        ``own`` inputs (m, count) have a column for each instance, ``common`` ones (m,) are the same
        for all. The outputs can be evaluated as long as this function lives.
        """
        given = [*own, *common, *([ca.MX(self.numbers)] if self.numbers.numel() else [])]
        if count < MANY and self.leaf.function.n_instructions() < LONG:
            return list(self.leaf.interpreter(count).call(given))
        if count not in self._callbacks:
            self._callbacks[count] = MappedCallback(self.leaf, count)
        return list(self._callbacks[count].call(given))


class BlockFunctions(NamedTuple):
    """The function of a block and its derivatives, of own (w, data) and common p."""

    value: InstanceFunction  # -> sum of the terms of the objective
    rows: InstanceFunction  # -> rows (m,)
    slope: InstanceFunction  # -> sum of the terms, and its gradient (nw,)
    jacobian: InstanceFunction  # -> rows, and their Jacobian (m, nw)
    hessian: InstanceFunction  # (w, data, lam), (p, sigma) -> upper triangle, of the Lagrangian

    @classmethod
    def of(cls, function: ca.Function) -> BlockFunctions:
        """Return those of a function (w, data, p) -> (rows, terms), see `ConstraintBlock`."""
        long = function.n_instructions() >= LONG
        general, numbers = lift_numbers(function) if long else (function, ca.DM(0, 1))
        leaves = map(MappedLeaf, _derive(general), OWN)
        return cls(*(InstanceFunction(leaf, numbers) for leaf in leaves))


@dataclass(frozen=True, eq=False)
class DerivedFunctions:
    """What is made of functions of blocks, once for all programs that have the same one.

    They are the same where they are one in memory. Programs of one thread share it.
    """

    # By CasADi's hash of a function, its place in memory; the function is kept, or another one
    # might come to its place.
    _derivatives: dict[int, tuple[ca.Function, BlockFunctions]] = field(default_factory=dict)
    _parts: dict[tuple[int, bytes], tuple[ca.Function, ca.Function]] = field(default_factory=dict)

    def derive(self, function: ca.Function) -> BlockFunctions:
        """Return the derivatives of a function."""
        key = function.__hash__()
        if key not in self._derivatives:
            self._derivatives[key] = function, BlockFunctions.of(function)
        return self._derivatives[key][1]

    def drop_rows(self, function: ca.Function, rows: NDArray[np.intp]) -> ca.Function:
        """Return a function without some of its rows."""
        key = function.__hash__(), rows.tobytes()
        if key not in self._parts:
            self._parts[key] = function, _drop_rows(function, rows)
        return self._parts[key][1]


def _drop_rows(f: ca.Function, dropped: NDArray[np.intp]) -> ca.Function:
    inputs = [ca.SX.sym("x", f.numel_in(i)) for i in range(f.n_in())]
    rows, terms = f(*inputs)
    others = stack(rows[i] for i in range(rows.numel()) if i not in dropped)
    return ca.Function(f.name(), inputs, [others, terms])


OWN = (2, 2, 2, 2, 3)  # number of own inputs of each of these functions, which come first


def _derive(function: ca.Function) -> list[ca.Function]:
    """Return the functions of `BlockFunctions`; a last input of numbers is common too."""
    names = ["w", "data", "p", "numbers"][: function.n_in()]
    w, data, *common = (ca.SX.sym(x, function.numel_in(i)) for i, x in enumerate(names))
    rows, terms = function(w, data, *common)
    f = ca.densify(ca.sum1(terms))
    lam, sigma = ca.SX.sym("lam", function.numel_out(0)), ca.SX.sym("sigma")
    H = ca.triu(ca.hessian(sigma * f + ca.dot(lam, rows), w)[0])
    known, rows = [w, data, *common], ca.densify(rows)
    weighted = [w, data, lam, common[0], sigma, *common[1:]]
    outputs = {
        "value": (known, [f]),
        "rows": (known, [rows]),
        "slope": (known, [f, ca.gradient(f, w)]),
        "jacobian": (known, [rows, ca.jacobian(rows, w)]),
        "hessian": (weighted, [H]),
    }
    return [ca.Function(f"{function.name()}_{x}", *outputs[x]) for x in BlockFunctions._fields]


KEPT = (0.0, 1.0, -1.0, 2.0)  # constants that belong to the structure of an expression


def lift_numbers(f: ca.Function) -> tuple[ca.Function, ca.DM]:
    """Return an SX function with its constants (k,) as a last input, and their values."""
    inputs = [ca.SX.sym(f"x{i}", f.sparsity_in(i)) for i in range(f.n_in())]
    outputs = [ca.SX(f.sparsity_out(i)) for i in range(f.n_out())]
    values: list[list[ca.SX]] = [[ca.SX(0)] * f.nnz_out(i) for i in range(f.n_out())]
    work: dict[int, ca.SX] = {}
    symbols: dict[float, ca.SX] = {}
    expressions = None
    for k in range(f.n_instructions()):
        kind, out, given = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
        if kind == ca.OP_INPUT:
            work[out[0]] = inputs[given[0]].nz[given[1]]
        elif kind == ca.OP_OUTPUT:
            values[out[0]][out[1]] = work[given[0]]
        elif kind == ca.OP_CONST:
            number = f.instruction_constant(k)
            structural = number in KEPT or not abs(number) < float("inf")
            if not structural and number not in symbols:
                symbols[number] = ca.SX.sym(f"c{len(symbols)}")
            work[out[0]] = ca.SX(number) if structural else symbols[number]
        elif kind == ca.OP_CALL:
            expressions = f.instructions_sx() if expressions is None else expressions
            results = _call(expressions[k].which_function(), [work[x] for x in given])
            work.update((x, y) for x, y in zip(out, results, strict=True) if x >= 0)
        elif len(given) == 2:
            work[out[0]] = ca.SX.binary(kind, work[given[0]], work[given[1]])
        else:
            work[out[0]] = ca.SX.unary(kind, work[given[0]])
    for matrix, entries in zip(outputs, values, strict=True):
        if entries:
            matrix.nz[:] = ca.vertcat(*entries)
    numbers = ca.vertcat(ca.SX(0, 1), *symbols.values())
    function = ca.Function(f.name(), [*inputs, numbers], outputs)
    return function, ca.DM(list(symbols)) if symbols else ca.DM(0, 1)


def _call(f: ca.Function, given: list[ca.SX]) -> list[ca.SX]:
    """Return the entries of the outputs of a call, from those of its inputs."""
    arguments, first = [], 0
    for i in range(f.n_in()):
        last = first + f.nnz_in(i)
        arguments.append(ca.SX(f.sparsity_in(i), ca.vertcat(ca.SX(0, 1), *given[first:last])))
        first = last
    results = f.call(arguments)
    return [x for result in results for x in ca.vertsplit(ca.SX(result.nz[:]))]
