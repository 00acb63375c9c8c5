"""The function of a constraint block and its derivatives, evaluated at all its instances.

They are interpreted by CasADi, or compiled for several instances at once (`Code`). Compiled
code is found by the function of the block with its numbers as inputs. So it serves any number of
steps and any mass, clearance or scale, and where it is there, nothing is differentiated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca

from nsopt.mpcc.lifted_numbers import lifted_numbers
from nsopt.mpcc.native import compile_library
from nsopt.mpcc.processor import hash_of, processes, vectors
from nsopt.mpcc.vector_code import VectorCode
from nsopt.mpcc.vector_program import VectorProgram, calls_others

GENERATORS = (
    *("block_functions", "lifted_numbers"),
    *("vector_code", "vector_operations", "vector_program"),
)
"""Modules on which compiled code depends."""

MANY = 200
"""Instances from which functions that call others are compiled where tables are asked for."""


class Code(ABC):
    """What functions of many instances are compiled from; a new kind is one class."""

    @abstractmethod
    def writer(self, function: ca.Function, count: int) -> VectorCode | VectorProgram | None:
        """Return what writes the C of a function of ``count`` instances; None to interpret it."""


@dataclass(frozen=True)
class Statements(Code):
    """Straight-line code, in many seconds, up to twice as fast as tables."""

    def writer(self, function: ca.Function, count: int) -> VectorCode:
        del function, count
        return VectorCode(vectors().lanes)


@dataclass(frozen=True)
class Tables(Code):
    """Tables of instructions, in a second; of functions that call others, statements if many."""

    def writer(self, function: ca.Function, count: int) -> VectorCode | VectorProgram | None:
        if not calls_others(function):
            return VectorProgram()
        return Statements().writer(function, count) if count >= MANY else None


@dataclass(frozen=True, eq=False)
class InstanceFunction:
    """A function of one instance of a block, or of as many as there are lanes.

    Parameters
    ----------
    function : Function
    lanes : int
        Instances of a call; 1 if interpreted.
    numbers : DM (k,)
        Its last input if compiled.
    """

    function: ca.Function
    lanes: int = 1
    numbers: ca.DM = field(default_factory=lambda: ca.DM(0, 1))

    def pattern(self, i: int) -> ca.Sparsity:
        """Return the pattern of an output of one instance."""
        pattern = self.function.sparsity_out(i)
        return ca.horzsplit(pattern, pattern.size2() // self.lanes)[0]

    def __call__(self, own: Sequence[ca.MX], common: Sequence[ca.MX], count: int) -> list[ca.MX]:
        """Return outputs with the columns of each instance side by side.

        Parameters
        ----------
        own : sequence of MX (m, count)
            Inputs of each instance.
        common : sequence of MX (m,)
            Inputs that all instances share.
        count : int
        """
        calls = -(-count // self.lanes)
        spare = calls * self.lanes - count
        if spare:  # the last instance, again
            own = [ca.horzcat(x, ca.repmat(x[:, -1], 1, spare)) for x in own]
        if self.lanes > 1:
            common = [*common, ca.MX(self.numbers)]
        mapped = self.function.map(calls)(*own, *(ca.repmat(x, 1, calls) for x in common))
        outputs = [mapped] if self.function.n_out() == 1 else list(mapped)
        if not spare:
            return outputs
        return [x[:, : x.size2() // (calls * self.lanes) * count] for x in outputs]


class BlockFunctions(NamedTuple):
    """The function of a block and its derivatives, of (w, data) and common p.

    Attributes
    ----------
    value : -> sum of the terms of the objective
    rows : -> rows (m,)
    slope : -> sum of the terms, and its gradient (nw,)
    jacobian : -> rows, and their Jacobian (m, nw)
    hessian : (w, data, lam), (p, sigma) -> upper triangle of the Hessian of the Lagrangian
    """

    value: InstanceFunction
    rows: InstanceFunction
    slope: InstanceFunction
    jacobian: InstanceFunction
    hessian: InstanceFunction


OWN = (2, 2, 2, 2, 3)
"""Inputs that each instance has for itself."""


def interpreted(function: ca.Function, often: bool) -> BlockFunctions:
    """Return the functions of a block for CasADi's virtual machine.

    Merging what is alike in the Hessian takes most of the time to state a program, and pays where
    it is evaluated ``often``.
    """
    return BlockFunctions(*(InstanceFunction(f) for f in _derive(function, often)))


def compiled(function: ca.Function, code: Code, count: int) -> BlockFunctions:
    """Return compiled functions of a block; interpreted ones where they cannot be compiled.

    Parameters
    ----------
    function : Function
    code : Code
    count : int
        Of instances.
    """
    writer = code.writer(function, count)
    if writer is None:
        return interpreted(function, True)
    general, numbers = lifted_numbers(function)
    names = [f"{function.name()}_{name}" for name in BlockFunctions._fields]
    library = _library(
        writer, general, names, lambda: zip(_derive(general, True), OWN, strict=True)
    )
    if library is None:
        return interpreted(function, True)
    return BlockFunctions(*(InstanceFunction(f, writer.lanes, numbers) for f in library))


def over_instances(
    function: ca.Function, own: int, count: int, compiled: Code | None = None
) -> ca.Function:
    """Return a function of many instances, whose inputs and outputs have a column for each.

    Parameters
    ----------
    function : Function
        Of vectors.
    own : int
        How many of its inputs, the first, each instance has for itself; the others are common.
    count : int
        Of instances.
    compiled : Code, optional
        None interprets it.
    """
    one = InstanceFunction(function) if compiled is None else _alone(function, own, compiled, count)
    sizes = enumerate(function.numel_in(i) for i in range(function.n_in()))
    given = [ca.MX.sym("x", n, count if i < own else 1) for i, n in sizes]
    return ca.Function(function.name(), given, one(given[:own], given[own:], count))


def _alone(function: ca.Function, own: int, code: Code, count: int) -> InstanceFunction:
    """Return a compiled function without derivatives; interpreted where it cannot be compiled."""
    writer = code.writer(function, count)
    if writer is None:
        return InstanceFunction(function)
    general, numbers = lifted_numbers(function)
    library = _library(writer, general, [function.name()], lambda: [(general, own)])
    if library is None:
        return InstanceFunction(function)
    return InstanceFunction(library[0], writer.lanes, numbers)


def _library(
    writer: VectorCode | VectorProgram,
    general: ca.Function,
    names: Sequence[str],
    functions: Callable[[], Iterable[tuple[ca.Function, int]]],
) -> tuple[ca.Function, ...] | None:
    """Return functions made from a general one, compiled; None where they cannot be."""

    def units() -> list[str]:
        for f, own in functions():
            writer.add(f, own)
        return writer.units(processes())

    made_from = f"{hash_of(GENERATORS)} {writer.lanes} {general.serialize()}"
    try:
        return compile_library(names, made_from, units, vectors().flags)
    except NotImplementedError:
        return None


def _derive(function: ca.Function, often: bool) -> list[ca.Function]:
    """Return the functions of `BlockFunctions`; inputs after p are common ones too."""
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
    name, options = function.name(), {"cse": often}
    return [ca.Function(f"{name}_{x}", *outputs[x], options) for x in BlockFunctions._fields]
