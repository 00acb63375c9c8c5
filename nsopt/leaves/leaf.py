"""An SX function to be called by address: interpreted at once, machine code after a while."""

from __future__ import annotations

import ctypes
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.leaves import background
from nsopt.leaves.interpreter import Interpreter
from nsopt.leaves.machine import GOOD, QUICK, count_lanes, load_objects, make_object, read_object
from nsopt.leaves.places import INDICES, NUMBERS
from nsopt.leaves.program import LeafText, find_text
from nsopt.leaves.structure import read_records
from nsopt.leaves.turns import Turns

_PREPARE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_EVALUATE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

INTERPRETED = -1
"""Level of what is interpreted: CasADi's instructions as they are stated."""

SOON, LATER = 0.05, 0.5
"""Seconds of use after which better code is begun: of what is interpreted, and of `QUICK` code."""


class LeafCode(NamedTuple):
    """Machine code of y = f(x, p); what depends on p alone is computed once.

    The code may run in many threads at once. Its arrays do not overlap.

    Attributes
    ----------
    prepare : int
        Address of ``void(const double *p, double *kept)``.
    evaluate : int
        Address of ``void(const double *x, double *kept, double *y)``: the first entries of y.
    complete : int
        Of the same: the others, for the x that was evaluated last.
    kept : int
        How many numbers they keep for each other.
    x, p, y : int
        Sizes.
    level : int
        LLVM's level of optimisation, `QUICK` or `GOOD`, or `INTERPRETED`.
    """

    prepare: int
    evaluate: int
    complete: int
    kept: int
    x: int
    p: int
    y: int
    level: int

    def keep(self, p: ArrayLike, kept: NDArray[np.float64]) -> None:
        """Write into ``kept`` what depends on p alone.

        Raises
        ------
        ValueError
            For another number of entries.
        """
        known = np.array(p, float).ravel()
        if known.size != self.p:
            raise ValueError(f"p has {known.size} entries, not {self.p}")
        _PREPARE(self.prepare)(known.ctypes.data, kept.ctypes.data)


class InTurnCode(NamedTuple):
    """Machine code of y_k = f_k(p, x_1, ..., x_k), and of functions of all of them.

    Attributes
    ----------
    prepare : tuple of int
        Addresses of ``void(const double *p, double *kept)``, where x_1, x_2, ... follow p.
    evaluate, complete : tuple of int
        Of ``void(const double *x, double *kept, double *y)``: the first entries of y, and the
        others for the x that was evaluated last.
    last : tuple of int
        Of ``void(const double *p, const double *kept, double *y)``, of each function of all; each
        x is the last one that was evaluated.
    kept : int
        How many numbers they keep for each other, in one array.
    level : int
        As of `LeafCode`.
    """

    prepare: tuple[int, ...]
    evaluate: tuple[int, ...]
    complete: tuple[int, ...]
    last: tuple[int, ...]
    kept: int
    level: int


Code = TypeVar("Code", LeafCode, InTurnCode)


class Improving(ABC, Generic[Code]):
    """Routines that are interpreted at once, and machine code after a while.

    The function is of dense columns. What calls others is machine code from the beginning.

    Raises
    ------
    ValueError
        For an operation that has no machine code, and for what is computed in another order.
    """

    def __init__(self, function: ca.Function, turns: Turns) -> None:
        self._function, self._turns = function, turns
        self._records = read_records(function, turns.entries)
        self._interpreter = None if self._records is None else Interpreter(self._records, turns)
        if self._interpreter is None:
            _ = self._text  # refuses now what has no machine code
        self._code: Code | None = None
        self._lock = threading.Lock()
        self._improving = 0  # the number of the process in which better code is made
        self._spent = 0.0  # seconds of use of the code that is ready

    @abstractmethod
    def _name_addresses(self, addresses: list[int], kept: int, level: int) -> Code:
        """Return code by the addresses of its routines, in the order of `Turns.routines`."""

    @property
    def code(self) -> Code:
        """The best code that is ready: to be taken once for calls that belong together."""
        with self._lock:
            if self._code is None:
                found = self._interpreter
                if found:
                    self._code = self._name_addresses(found.load(), found.kept, INTERPRETED)
                else:
                    self._code = self._read(GOOD) or self._make(QUICK)
            return self._code

    def compile(self, level: int) -> None:
        """Have code of one of LLVM's levels made now, and use it."""
        made = self._make(level)
        with self._lock:
            self._code = made

    def spend(self, seconds: float) -> None:
        """Count seconds of use; better code is begun in the background once they repay it."""
        self._spent += seconds
        if self._spent > (SOON if self._level == INTERPRETED else LATER):
            self.improve()

    def improve(self) -> None:
        """Have better code found or made in the background; ``code`` is that when it is done.

        `QUICK` code at first, `GOOD` code from there.
        """
        with self._lock:
            if self._improving != os.getpid() and self._level != GOOD:
                self._improving = os.getpid()  # a forked process has no thread of the other
                background.begin(self._improve)

    @property
    def _level(self) -> int:
        return self._code.level if self._code else INTERPRETED

    @cached_property
    def _text(self) -> LeafText:
        return find_text(self._function, self._records, self._turns, count_lanes())

    def _make(self, level: int) -> Code:
        return self._load(list(self._make_objects(level)), level)

    def _make_objects(self, level: int, tell: bool = True) -> Iterator[bytes]:
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
        _ = self._text  # by Python, before the turns of LLVM
        return self._improve_in_turns()

    def _improve_in_turns(self) -> Iterator[None]:
        """Make one module in each turn."""
        is_first = self._level == INTERPRETED
        better = self._read(GOOD) if is_first else None
        if better is None:
            level, objects = QUICK if is_first else GOOD, list[bytes]()
            for code in self._make_objects(level, tell=is_first):
                objects.append(code)
                yield
            better = self._load(objects, level)
        with self._lock:
            self._code, self._improving, self._spent = better, 0, 0.0

    def _load(self, objects: list[bytes], level: int) -> Code:
        text = self._text
        arrays = {
            NUMBERS: np.array(text.numbers, dtype=float),
            INDICES: np.array(text.indices, dtype=np.int32),
        }
        return self._name_addresses(load_objects(objects, text.names, arrays), text.kept, level)


class Leaf(Improving[LeafCode]):
    """An SX function (x, p) -> y of dense columns as machine code, with the bits of CasADi's.

    Parameters
    ----------
    function : ca.Function
        Columns may be empty. They are read and written whole.
    head : int, optional
        How many entries of y ``evaluate`` gives; all of them by default.

    Raises
    ------
    TypeError
        For what is no SX function.
    ValueError
        For other inputs and outputs, and operations without machine code.
    """

    def __init__(self, function: ca.Function, head: int | None = None) -> None:
        require_sx(function)
        if (function.n_in(), function.n_out()) != (2, 1):
            raise ValueError(
                f"{function.name()!r} has {function.n_in()} inputs and {function.n_out()} outputs:"
                " a leaf has the inputs x and p and the output y"
            )
        _require_columns(function, "xp", "y")
        super().__init__(function, Turns.alone(function, head))
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
        code, given = self.code, np.array(x, float).ravel()
        if given.size != code.x:
            raise ValueError(f"{self._name}: x has {given.size} entries, not {code.x}")
        kept, y = np.empty(code.kept), np.empty(code.y)
        code.keep(p, kept)
        for address in (code.evaluate, code.complete):
            _EVALUATE(address)(given.ctypes.data, kept.ctypes.data, y.ctypes.data)
        return y

    def _name_addresses(self, addresses: list[int], kept: int, level: int) -> LeafCode:
        prepare, evaluate, complete = addresses
        return LeafCode(prepare, evaluate, complete, kept, self._x, self._p, self._y, level)


class LeavesInTurn(Improving[InTurnCode]):
    """Functions as machine code that are evaluated in turn: what several need is computed once.

    Parameters
    ----------
    function : ca.Function
        Of SX, (p, x_1, ..., x_n) -> (y_1, ..., y_n, and more of all of them), dense columns. y_k
        depends on no x after x_k.
    heads : sequence of int
        How many entries of each y_k ``evaluate`` gives.

    Raises
    ------
    TypeError, ValueError
        As of a `Leaf`.
    """

    def __init__(self, function: ca.Function, heads: Sequence[int]) -> None:
        require_sx(function)
        _require_columns(function, function.name_in(), function.name_out())
        super().__init__(function, Turns.of(function, heads))

    def _name_addresses(self, addresses: list[int], kept: int, level: int) -> InTurnCode:
        end = 3 * self._turns.turn_count
        prepare, evaluate, complete = (tuple(addresses[k:end:3]) for k in range(3))
        return InTurnCode(prepare, evaluate, complete, tuple(addresses[end:]), kept, level)


def require_sx(function: ca.Function) -> None:
    """Refuse what is no SX function."""
    if not function.is_a("SXFunction"):
        raise TypeError(f"{function.name()!r} is no SX function: expand() it")


def _require_columns(function: ca.Function, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Refuse inputs and outputs that are no dense columns, by their names."""
    shapes = {name: function.sparsity_in(i) for i, name in enumerate(inputs)}
    shapes |= {name: function.sparsity_out(i) for i, name in enumerate(outputs)}
    for what, shape in shapes.items():
        if not shape.is_dense() or (shape.size2() != 1 and shape.numel()):
            found = f"{what} is {shape.dim(True)}, not a dense column"
            raise ValueError(f"{function.name()!r}: {found}")
