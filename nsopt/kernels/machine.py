"""Calls of machine code by its address, and views of arrays; in Python too, for a debugger."""

from __future__ import annotations

import ctypes
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from nsopt.kernels.plan import LANES

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def view(x: Any, begin: Any, end: Any) -> Any:
        """Return entries of an array, which its owner keeps alive as long as they are used."""
        return x[begin:end]

    _SIGNATURE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)

    def call(address: Any, a: Any, b: Any, c: Any) -> None:
        """Call machine code at an address with pointers to three arrays of doubles."""
        _SIGNATURE(int(address))(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)))

    def index(i: Any) -> Any:
        """Return an index as one that does not count from the end of an array."""
        return i

    def add_multiple(x: Any, target: Any, factor: Any, source: Any) -> None:
        """Add to `LANES` entries of an array the multiple of as many others."""
        x[target : target + LANES] += factor * x[source : source + LANES]

else:

    @intrinsic
    def _call(context: Any, address: Any, a: Any, b: Any, c: Any) -> Any:
        """Call void(double *, double *, double *), all four given as integers.

        An address that is an argument, not a constant, lets numba keep what calls it.
        """
        del context, address, a, b, c

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            pointer = ir.DoubleType().as_pointer()
            code = ir.FunctionType(ir.VoidType(), [pointer] * 3).as_pointer()
            function, *arrays = arguments
            given = [builder.inttoptr(x, pointer) for x in arrays]
            builder.call(builder.inttoptr(function, code), given)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64, types.int64), generate

    _CALL: Any = _call

    @intrinsic
    def _pointer(context: Any, address: Any) -> Any:
        """Return an address as a pointer."""
        del context, address

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.voidptr(types.int64), generate

    _POINTER: Any = _pointer

    @intrinsic
    def _add_multiple(context: Any, target: Any, factor: Any, source: Any) -> Any:
        """Add at an address the multiple of the numbers at another, as vectors."""
        del context, target, factor, source

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            target, factor, source = arguments
            vector = ir.VectorType(ir.DoubleType(), LANES)
            factors = ir.Constant(vector, None)
            for k in range(LANES):
                factors = builder.insert_element(factors, factor, ir.Constant(ir.IntType(32), k))
            to, of = (builder.inttoptr(x, vector.as_pointer()) for x in (target, source))
            product = builder.fmul(factors, builder.load(of, align=8))
            builder.store(builder.fadd(builder.load(to, align=8), product), to, align=8)
            return context.get_dummy_value()

        return types.void(types.int64, types.float64, types.int64), generate

    _ADD_MULTIPLE: Any = _add_multiple

    @numba.njit(nogil=True, inline="always")
    def view(x: Any, begin: Any, end: Any) -> Any:
        """Return entries of an array, which its owner keeps alive as long as they are used.

        They are not counted as a reference: each call of a kernel with some forty arrays would
        count all of them, which takes longer than small steps do.
        """
        address = x.ctypes.data + begin * x.itemsize
        return carray(_POINTER(address), end - begin, x.dtype)

    @numba.njit(nogil=True, inline="always")
    def call(address: Any, a: Any, b: Any, c: Any) -> None:
        """Call machine code at an address with pointers to three arrays of doubles."""
        _CALL(address, a.ctypes.data, b.ctypes.data, c.ctypes.data)

    @numba.njit(nogil=True, inline="always")
    def index(i: Any) -> Any:
        """Return an index as one that does not count from the end of an array.

        Whether it does takes a third of the time of a loop that adds numbers at such places.
        """
        return np.uint64(i)

    @numba.njit(nogil=True, inline="always")
    def add_multiple(x: Any, target: Any, factor: Any, source: Any) -> None:
        """Add to `LANES` entries of an array the multiple of as many others.

        Compilers do not find by themselves that the two do not overlap.
        """
        size = x.itemsize
        _ADD_MULTIPLE(x.ctypes.data + target * size, factor, x.ctypes.data + source * size)
