"""Calls of machine code by its address, and views of arrays; in Python too, for a debugger."""

from __future__ import annotations

import ctypes
from typing import Any

import numba
from llvmlite import ir
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def view(x: Any, begin: Any, end: Any) -> Any:
        """Return entries of an array, which its owner keeps alive as long as they are used."""
        return x[begin:end]

    _SIGNATURE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)

    def call(address: Any, a: Any, b: Any, c: Any) -> None:
        """Call machine code at an address with pointers to three arrays of doubles."""
        _SIGNATURE(int(address))(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)))

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
