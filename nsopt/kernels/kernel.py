"""What makes a function a kernel: it is compiled by numba, with all the kernels that it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,  # Python calls none of them but those in `entries`
    "no_cfunc_wrapper": True,
}


def kernel(function: F) -> F:
    """Return a function of numbers and arrays that numba compiles where another kernel calls it.

    With NUMBA_DISABLE_JIT=1 it stays Python, for a debugger. Divisions by zero give infinities, as
    in the machine code that kernels call; the GIL is free.
    """
    compiled: F = numba.njit(**OPTIONS)(function)
    return compiled


def inline(function: F) -> F:
    """Return a kernel that becomes part of those that call it.

    For what each iteration does: a call hands over all numbers of some forty arrays, which takes
    longer than the work of a small program.
    """
    compiled: F = numba.njit(**OPTIONS, forceinline=True)(function)
    return compiled


@inline
def copy(source: Any, target: Any) -> None:
    """Copy an array; numba takes a quarter of a second for each assignment to a slice."""
    for i in range(len(source)):
        target[i] = source[i]


def merge(function: F) -> F:
    """Return a kernel whose statements become part of the one kernel that calls it.

    For what each step does once: a call hands over all numbers of some twenty arrays, which takes
    a third of the time of a small step. Where numba merges them they are compiled once.
    """
    compiled: F = numba.njit(**OPTIONS, inline="always")(function)
    return compiled
