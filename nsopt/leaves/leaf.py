"""A small SX function as machine code in the process: at once, and better after a while."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.leaves import background
from nsopt.leaves.kept_text import find_text
from nsopt.leaves.machine import GOOD, QUICK, lanes, load_objects, make_object, read_object
from nsopt.leaves.places import INDICES, NUMBERS
from nsopt.leaves.program import LeafText
from nsopt.leaves.turns import Turns

_PREPARE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_EVALUATE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


Code = TypeVar("Code")


class LeafCode(NamedTuple):
    """Machine code of y = f(x, p); what depends on p alone is computed once.

    The code may run in many threads at once. Its arrays do not overlap.

    Attributes
    ----------
    prepare : int
        Address of ``void(const double *p, double *kept)``.
    evaluate : int
        Address of ``void(const double *x, const double *kept, double *y)``.
    kept : int
        How many numbers ``prepare`` writes.
    x, p, y : int
        Sizes.
    level : int
        LLVM's level of optimisation.
    """

    prepare: int
    evaluate: int
    kept: int
    x: int
    p: int
    y: int
    level: int


class Improving(Generic[Code]):
    """Routines as machine code: at once, and better after a while.

    Parameters
    ----------
    text : LeafText
    """

    def __init__(self, text: LeafText) -> None:
        self._text = text
        self._arrays = {
            NUMBERS: np.array(text.numbers, dtype=float),
            INDICES: np.array(text.indices, dtype=np.int32),
        }
        self._code: Code | None = None
        self._level = QUICK
        self._lock = threading.Lock()
        self._asked = 0  # the process in which better code is made

    def _of(self, addresses: list[int], level: int) -> Code:
        """Return code by the addresses of its routines."""
        raise NotImplementedError

    @property
    def code(self) -> Code:
        """The best code that is ready.

        It is made by level 0 when it is first asked for, unless code of level 2 is on the disk.
        """
        with self._lock:
            if self._code is None:
                self._code = self._read(GOOD) or self._load([*self._make(QUICK)], QUICK)
            return self._code

    def compile(self, level: int) -> None:
        """Have code of one of LLVM's levels made now, and use it."""
        with self._lock:
            self._code = self._load([*self._make(level)], level)

    def improve(self) -> None:
        """Have code of level 2 made in the background; ``code`` is that when it is done."""
        with self._lock:
            if self._asked != os.getpid():  # a process that is forked has no thread of the other
                self._asked = os.getpid()
                background.begin(self._improve())

    def _make(self, level: int, tell: bool = True) -> Iterator[bytes]:
        for module in self._text.modules:
            yield read_object(module, level) or make_object(module, level, tell)

    def _read(self, level: int) -> Code | None:
        objects = []
        for module in self._text.modules:
            code = read_object(module, level)
            if code is None:
                return None
            objects.append(code)
        return self._load(objects, level)

    def _improve(self) -> Iterator[None]:
        """Make one module in each turn."""
        if self._code and self._level == GOOD:
            return
        objects = []
        for code in self._make(GOOD, tell=False):  # the code of level 0 has told
            objects.append(code)
            yield
        better = self._load(objects, GOOD)
        with self._lock:
            self._code = better

    def _load(self, objects: list[bytes], level: int) -> Code:
        self._level = level
        return self._of(load_objects(objects, self._text.names, self._arrays), level)


class Leaf(Improving[LeafCode]):
    """An SX function (x, p) -> y of dense columns as machine code, with the bits of CasADi's.

    Parameters
    ----------
    function : ca.Function
        Columns may be empty. They are read and written whole.

    Raises
    ------
    TypeError
        For what is no SX function.
    ValueError
        For other inputs and outputs, and operations without machine code.
    """

    def __init__(self, function: ca.Function) -> None:
        check_function(function)
        super().__init__(find_text(function, Turns.alone(function), lanes()))
        self._x, self._p = int(function.numel_in(0)), int(function.numel_in(1))
        self._y = int(function.numel_out(0))
        self._name = function.name()

    def __call__(self, x: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
        """Return y.

        Raises
        ------
        ValueError
            For arrays of other sizes.
        """
        code = self.code
        given = [np.array(values, float).ravel() for values in (x, p)]
        for name, values, size in zip("xp", given, (code.x, code.p), strict=True):
            if values.size != size:
                raise ValueError(f"{self._name}: {name} has {values.size} entries, not {size}")
        kept, y = np.empty(code.kept), np.empty(code.y)
        _PREPARE(code.prepare)(given[1].ctypes.data, kept.ctypes.data)
        _EVALUATE(code.evaluate)(given[0].ctypes.data, kept.ctypes.data, y.ctypes.data)
        return y

    def prepare(self, p: ArrayLike, kept: NDArray[np.float64]) -> None:
        """Write what depends on p alone, for calls of the code by its address."""
        known = np.array(p, float).ravel()
        if known.size != self._p:
            raise ValueError(f"{self._name}: p has {known.size} entries, not {self._p}")
        _PREPARE(self.code.prepare)(known.ctypes.data, kept.ctypes.data)

    def _of(self, addresses: list[int], level: int) -> LeafCode:
        prepare, evaluate = addresses
        return LeafCode(prepare, evaluate, self._text.kept, self._x, self._p, self._y, level)


class InTurnCode(NamedTuple):
    """Machine code of y_k = f_k(p, x_1, ..., x_k), and of what follows from all of them.

    Attributes
    ----------
    prepare : tuple of int
        Addresses of ``void(const double *p, double *kept)``, where x_1, x_2, ... follow p.
    evaluate : tuple of int
        Of ``void(const double *x, const double *kept, double *y)``.
    last : int
        Of ``void(const double *p, const double *kept, double *y)``.
    kept : int
        How many numbers they keep for each other, in one array.
    level : int
        LLVM's level of optimisation.
    """

    prepare: tuple[int, ...]
    evaluate: tuple[int, ...]
    last: int
    kept: int
    level: int


class LeavesInTurn(Improving[InTurnCode]):
    """Functions as machine code that are evaluated in turn: what several need is computed once.

    Parameters
    ----------
    function : ca.Function
        Of SX, (p, x_1, ..., x_n) -> (y_1, ..., y_n, what follows from all), dense columns. y_k
        depends on no x after x_k.

    Raises
    ------
    TypeError, ValueError
        As of a `Leaf`.
    """

    def __init__(self, function: ca.Function) -> None:
        _check_kind(function)
        _check_columns(function, function.name_in(), function.name_out())
        super().__init__(find_text(function, Turns.of(function), lanes()))

    def _of(self, addresses: list[int], level: int) -> InTurnCode:
        *of_each, last = addresses
        prepare, evaluate = tuple(of_each[::2]), tuple(of_each[1::2])
        return InTurnCode(prepare, evaluate, last, self._text.kept, level)


def check_function(function: ca.Function) -> None:
    """Refuse what is no SX function (x, p) -> y of dense columns."""
    _check_kind(function)
    if (function.n_in(), function.n_out()) != (2, 1):
        raise ValueError(
            f"{function.name()!r} has {function.n_in()} inputs and {function.n_out()} outputs:"
            " a leaf has the inputs x and p and the output y"
        )
    _check_columns(function, "xp", "y")


def _check_kind(function: ca.Function) -> None:
    if not function.is_a("SXFunction"):
        raise TypeError(f"{function.name()!r} is no SX function: expand() it")


def _check_columns(function: ca.Function, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Refuse inputs and outputs that are no dense columns, by their names."""
    shapes = {name: function.sparsity_in(i) for i, name in enumerate(inputs)}
    shapes |= {name: function.sparsity_out(i) for i, name in enumerate(outputs)}
    for what, shape in shapes.items():
        if not shape.is_dense() or (shape.size2() != 1 and shape.numel()):
            found = f"{what} is {shape.dim(True)}, not a dense column"
            raise ValueError(f"{function.name()!r}: {found}")
