"""An SX function evaluated at many instances in one call, several of them side by side."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.arrays import Array
from nsopt.kept_code import Entry, cache_folder
from nsopt.leaves import background
from nsopt.leaves.instructions import read_instances
from nsopt.leaves.lane_interpreter import LINE, LaneInterpreter
from nsopt.leaves.lanes import InstanceSizes, LanesText, write_lanes_text
from nsopt.leaves.leaf import require_sx
from nsopt.leaves.machine import (
    GOOD,
    QUICK,
    compile_module,
    count_lanes,
    hash_sources,
    load_objects,
    state_target,
)

SOON, LATER = 0.02, 1.0
"""Seconds of use, at least, before `QUICK` code is made, and `GOOD` code from there."""

MAKING = {QUICK: 2e-5, GOOD: 1e-4}
"""Seconds that LLVM takes for an instruction at its levels. Better code is made only after as long
a use: it is about twice as fast, but most of the time of a short run is not spent in leaves."""

BLOCK = 512  # instances that are evaluated together

FEW = 32
"""Instances in all, at first, that CasADi's virtual machine evaluates: to read the instructions for
evaluation side by side takes as long as a hundred of them."""

MOST = 8  # numbers of instances for which a leaf has memory, or the virtual machine, ready

_MAP = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 3)


class _CallMemory:
    """The memory of one call of machine code, at a known place.

    Inputs are copied there, which takes less time than to ask NumPy where they are.
    """

    def __init__(self, sizes: InstanceSizes, count: int, work: int) -> None:
        lengths = [*(count * n for n in sizes.own), *sizes.common]
        ends = list(accumulate(lengths, initial=0))
        self._all = np.empty(ends[-1] + work + LINE // 8)  # work begins at a line of the cache
        begin = self._all.ctypes.data
        self.given = [self._all[slice(*part)] for part in pairwise(ends)]
        self.inputs = (ctypes.c_void_p * len(lengths))(*(begin + 8 * x for x in ends[:-1]))
        self.outputs = ctypes.c_void_p * len(sizes.outputs)
        self.work = -(-(begin + 8 * ends[-1]) // LINE) * LINE


class _Code:
    """``map`` of `LanesText`, how many numbers it works on, and LLVM's level."""

    def __init__(self, call: Any, work: int, level: int) -> None:
        self.level, self._call, self._work = level, call, work
        self._memories: dict[int, _CallMemory] = {}  # those that no thread uses now

    def evaluate(
        self,
        sizes: InstanceSizes,
        count: int,
        given: Sequence[memoryview],
        found: Sequence[memoryview | None],
    ) -> None:
        """Evaluate as `MappedLeaf.evaluate`."""
        memory = self._memories.pop(count, None) or _CallMemory(sizes, count, self._work)
        for place, values in zip(memory.given, given, strict=True):
            place[:] = np.frombuffer(values)
        outputs = memory.outputs(*map(_address, found))
        self._call(count, memory.inputs, outputs, memory.work)
        if len(self._memories) < MOST:
            self._memories[count] = memory


class MappedLeaf:
    """An SX function at many instances, with the bits of CasADi's virtual machine.

    At first it is interpreted, a few instances one by one, more side by side. Where that has taken
    as long as LLVM would, machine code is made in the background, `QUICK` and, of what takes
    longer, `GOOD`; code on the disk is found again. So a call waits for no compiler, and all give
    the same bits.

    Parameters
    ----------
    function : ca.Function
        Of SX. What has no machine code stays with CasADi's virtual machine.
    own : int, optional
        How many of its inputs, the first, each instance has for itself; the others are common to
        all. By default all are its own.

    Raises
    ------
    TypeError
        For what is no SX function.
    """

    def __init__(self, function: ca.Function, own: int | None = None) -> None:
        require_sx(function)
        self.function = function
        self.own = function.n_in() if own is None else own
        inputs = [int(function.nnz_in(i)) for i in range(function.n_in())]
        outputs = tuple(int(function.nnz_out(i)) for i in range(function.n_out()))
        self._sizes = InstanceSizes(tuple(inputs[: self.own]), tuple(inputs[self.own :]), outputs)
        self._code: _Code | None = None
        self._virtual_machines: dict[int, _VirtualMachine] = {}
        self._interpreted = 0  # instances
        self._lock = threading.Lock()
        self._spent = 0.0  # seconds of use of the code that is ready
        self._improving = 0  # the number of the process in which better code is made
        self._is_final = False  # there will be no better code
        self._length = int(function.n_instructions())

    @property
    def level(self) -> int | None:
        """LLVM's level of optimisation of the code in use; None where it is interpreted."""
        code = self._code
        return None if code is None else code.level

    def compile(self, level: int) -> None:
        """Have code of one of LLVM's levels made now, and use it.

        Raises
        ------
        ValueError
            For an operation that has no machine code.
        """
        for _ in self._make(level):
            pass

    def __call__(self, own: Sequence[ArrayLike], common: Sequence[ArrayLike] = ()) -> list[Array]:
        """Return outputs, each (n, entries).

        Parameters
        ----------
        own : sequence of (n, entries) or (n,)
            Inputs of each of n instances.
        common : sequence of (entries,)
            Inputs that all instances share.
        """
        each = [np.ascontiguousarray(x, dtype=float) for x in own]
        count = len(each[0])
        given: list[Array] = [*each, *(np.array(x, dtype=float).ravel() for x in common)]
        sizes = (*(count * n for n in self._sizes.own), *self._sizes.common)
        for i, (x, size) in enumerate(zip(given, sizes, strict=True)):
            if x.size != size:
                name, input_name = self.function.name(), self.function.name_in(i)
                raise ValueError(f"{name!r}: {input_name} has {x.size} entries, not {size}")
        found = [np.empty((count, size)) for size in self._sizes.outputs]
        of_all = [x.data for x in given[self.own :]]
        for begin in range(0, count, BLOCK):
            block = slice(begin, begin + BLOCK)
            n = len(found[0][block])
            here = [*(x[block].data for x in given[: self.own]), *of_all]
            self.evaluate(n, here, [x[block].data for x in found])
        return found

    def evaluate(
        self, count: int, given: Sequence[memoryview], found: Sequence[memoryview | None]
    ) -> None:
        """Evaluate from and into memory in which the entries of an instance are side by side.

        Parameters
        ----------
        count : int
            Of instances, one or more.
        given, found : sequences of memoryview
            Doubles of all inputs and outputs; None for an output that is not needed.
        """
        begin, code = perf_counter(), self._code
        if code is None:
            self._interpret(count, given, found)
        else:
            code.evaluate(self._sizes, count, given, found)
        self._spent += perf_counter() - begin
        least, better = (SOON, QUICK) if code is None else (LATER, GOOD)
        if not self._is_final and self._spent > max(least, MAKING[better] * self._length):
            self.improve()

    def improve(self) -> None:
        """Take better code: that on the disk at once; else it is made in the background.

        `QUICK` code at first, `GOOD` code from there.
        """
        with self._lock:
            if self._improving == os.getpid() or self._is_final:
                return
            self._improving = os.getpid()  # a forked process has no thread of the other
        try:
            is_found = self.level is None and (self._read(GOOD) or self._read(QUICK))
        except (OSError, RuntimeError) as error:
            self._is_final, is_found = True, True
            name = self.function.name()
            warnings.warn(f"{name!r} stays interpreted, its code: {error}", stacklevel=2)
        if is_found:
            self._spent, self._improving = 0.0, 0
        else:
            background.begin(self._improve)

    def interpreter(self, count: int) -> ca.Function:
        """Return the function at so many instances by CasADi's virtual machine, side by side."""
        if count == 1:  # a map of one would leave out outputs that are always zero
            return self.function
        common = list(range(self.own, self.function.n_in()))
        name = f"{self.function.name()}_many"
        return self.function.map(name, "serial", count, common, [])

    def _interpret(
        self, count: int, given: Sequence[memoryview], found: Sequence[memoryview | None]
    ) -> None:
        with self._lock:  # an interpreter has one memory
            self._interpreted += count
            if self._interpreted > FEW and self._in_lanes:
                self._in_lanes.evaluate(count, given, found)
                return
            if count not in self._virtual_machines:
                while len(self._virtual_machines) >= MOST:
                    del self._virtual_machines[next(iter(self._virtual_machines))]
                self._virtual_machines[count] = _VirtualMachine(self.interpreter(count))
            self._virtual_machines[count].evaluate(given, found)

    @cached_property
    def _in_lanes(self) -> LaneInterpreter | None:
        """What interprets it, if its instructions are found; else the virtual machine does."""
        return LaneInterpreter.of(self.function, self.own)

    def _improve(self) -> Iterator[None]:
        try:
            yield from self._make(QUICK if self.level is None else GOOD, tell=False)
        except ValueError:  # an operation that has no machine code
            self._is_final = True
        except Exception:  # reported once, by the thread
            self._is_final = True
            raise
        finally:
            self._spent, self._improving = 0.0, 0

    def _make(self, level: int, tell: bool = True) -> Iterator[None]:
        """Have code made and use it, one module each time that the iterator is asked for more.

        ``tell``: whether to warn where it cannot be kept on the disk.
        """
        instructions = read_instances(self.function, self.own)
        yield
        text = write_lanes_text(instructions, self._sizes, count_lanes())
        yield
        objects = []
        for k, module in enumerate(text.modules):  # loops, the first, are made by GOOD in no time
            objects.append(compile_module(module, level if k else GOOD))
            yield
        self._entry(level).write(_pack(text, objects), cache_folder(), tell)
        self._load(objects, text.work, level)

    def _read(self, level: int) -> bool:
        kept = self._entry(level).read(cache_folder())
        if kept is None:
            return False
        self._load(*_unpack(kept), level)
        return True

    def _load(self, objects: list[bytes], work: int, level: int) -> None:
        (address,) = load_objects(objects, ("map",))
        self._code = _Code(_MAP(address), work, level)
        self._is_final = self._is_final or level == GOOD

    def _entry(self, level: int) -> Entry:
        origin = {"function": self._hash, "own": str(self.own), "writer": hash_sources()}
        return Entry({**origin, "lanes": str(count_lanes()), **state_target(level)}, ".o")

    @cached_property
    def _hash(self) -> str:
        return hashlib.sha256(self.function.serialize().encode()).hexdigest()


class _VirtualMachine:
    """A function evaluated by CasADi's virtual machine on given memory."""

    def __init__(self, function: ca.Function) -> None:
        buffer: Any
        buffer, self._trigger = function.buffer()
        self._buffer, self._function = buffer, function
        # Where outputs go that nobody asks for.
        self._spare = [np.zeros(function.nnz_out(i)).data for i in range(function.n_out())]

    def evaluate(self, given: Sequence[memoryview], found: Sequence[memoryview | None]) -> None:
        for i, values in enumerate(given):
            self._buffer.set_arg(i, values)
        for i, result in enumerate(found):
            self._buffer.set_res(i, self._spare[i] if result is None else result)
        self._trigger()


def _address(memory: memoryview | None) -> int | None:
    """Return where an output is, None where it is empty or not needed."""
    if memory is None or not memory.nbytes:
        return None
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _pack(text: LanesText, objects: Sequence[bytes]) -> bytes:
    head = json.dumps({"work": text.work, "lengths": [len(x) for x in objects]})
    return b"\n".join([head.encode(), b"".join(objects)])


def _unpack(kept: bytes) -> tuple[list[bytes], int]:
    head, _, body = kept.partition(b"\n")
    stated, objects, begin = json.loads(head), [], 0
    for length in stated["lengths"]:
        objects.append(body[begin : begin + length])
        begin += length
    return objects, int(stated["work"])
