"""The linear solver of programs over a horizon: its C code, compiled once, for IPOPT to load."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nsopt.mpcc.compiler import has_compiler
from nsopt.mpcc.native import compile_shared
from nsopt.mpcc.processor import vectors

SOURCES = Path(__file__).with_name("ldlt")

_INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)


@cache
def library() -> Path | None:
    """Return the compiled library with the functions of HSL_MA97; None without a compiler.

    IPOPT loads its linear solvers under these names. With this one an iteration over many steps
    takes about three fifths of what it takes with MUMPS, which is in CasADi: unknowns are
    eliminated in pairs with the equations that give them, so that few pivots have to be delayed,
    and memory is kept from one factorization to the next.
    """
    units = [_with_headers(path) for path in sorted(SOURCES.glob("*.c"))]
    flags = ("-pthread", *vectors().flags)
    return compile_shared("ldlt", "\n".join(units), lambda: units, flags)


@dataclass(frozen=True)
class Ldlt:
    """The linear solver of programs over a horizon in C; without a compiler of C it is MUMPS."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Options of IPOPT by which it takes it."""
        return options() if has_compiler() else {}


def options() -> Mapping[str, Any]:
    """Return options of IPOPT by which it takes that library; none where it is not compiled."""
    found = library()
    if found is None:
        return {}
    return {
        "ipopt.linear_solver": "ma97",
        "ipopt.hsllib": str(found),
        "ipopt.ma97_scaling": "none",
        "ipopt.ma97_u": THRESHOLD,
    }


THRESHOLD = 1e-6
"""Least pivot beside the entries of its column; what IPOPT asks of MUMPS."""


def _with_headers(path: Path) -> str:
    """Return C code with the headers of its folder in place; they are guarded."""
    return _INCLUDED.sub(lambda found: _with_headers(path.with_name(found[1])), path.read_text())
