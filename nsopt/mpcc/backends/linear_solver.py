"""The linear solver of programs over a horizon: its C code, compiled once, for IPOPT to load.

The code is in the folder ldlt; IPOPT loads it in place of PARDISO, another linear solver.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
import threading
import warnings
import weakref
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nsopt.kept_code import Entry, cache_folder
from nsopt.mpcc.backends.compiler import Compiler, find_compiler, has_compiler, run_child

PARDISO = "ipopt.pardisolib"
"""Option of IPOPT that names a library with the functions of PARDISO."""

SOURCES = Path(__file__).with_name("ldlt")  # L D L^T of symmetric indefinite matrices

# Without contraction the compiler has no choice in rounding: an update of it between a run and its
# resumption changes no bit, on ARM too. What stays undefined must fail at once: the loader binds
# lazily and would end the process later.
_UNDEFINED = () if sys.platform == "darwin" else ("-Wl,-z,defs",)
_FLAGS = ("-O3", "-fPIC", "-shared", "-ffp-contract=off", "-fvisibility=hidden", *_UNDEFINED)

# Units one beside the other, then the library.
_TOGETHER = """
count=$1; shift; k=0; running=
while [ $k -lt $count ]; do
  "$@" -c unit$k.c -o unit$k.o &
  running="$running $!"; k=$((k + 1))
done
for one in $running; do wait $one || exit 1; done
exec "$@" unit*.o -o library.so -lm
"""

_INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)
_PROCESSOR = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Ldlt:
    """The linear solver of programs over a horizon in C; without a compiler of C it is MUMPS.

    The order of elimination is found from the first matrix of a pattern, and kept for later ones of
    the same program. So a solve depends on that program and its own earlier solves alone, not on
    others before it or in other threads.
    """

    @property
    def options(self) -> Mapping[str, Any]:
        """Options by which IPOPT uses this linear solver."""
        return options() if has_compiler() else {}


def options() -> Mapping[str, Any]:
    """Return options by which IPOPT loads the compiled library; none where it is not compiled."""
    found = library()
    if found is None:
        return {}
    return {"ipopt.linear_solver": "pardiso", PARDISO: str(found)}


class Trees:
    """Elimination trees that a program keeps for its later solves; ``with`` them it is solved."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(str(library()))
        self._library.new_trees.restype = ctypes.c_void_p
        self._kept = ctypes.c_void_p(self._library.new_trees())
        # At exit a thread may still be solving.
        weakref.finalize(self, self._library.free_trees, self._kept).atexit = False

    @staticmethod
    def of(built: dict[Hashable, Any], options: Mapping[str, Any]) -> Trees | None:
        """Return those among what is ``built`` for a program; None with another linear solver."""
        if PARDISO not in options or options[PARDISO] != str(library()):
            return None
        trees: Trees = built.setdefault(Trees, Trees())
        return trees

    def __enter__(self) -> None:
        self._library.use_trees(self._kept)

    def __exit__(self, *_: object) -> None:
        self._library.use_trees(None)


def library() -> Path | None:
    """Return the compiled library with the functions of PARDISO.

    None without a compiler, and where compiling fails; a ``RuntimeWarning`` then says why.

    IPOPT loads a linear solver under these names. With this one an iteration over many steps
    takes about three fifths of what it takes with MUMPS, which is in CasADi: unknowns are
    eliminated in pairs with the equations that give them, so that few pivots have to be delayed,
    and memory is kept from one factorization to the next.
    """
    with _making:
        return _make_library()


@cache
def _make_library() -> Path | None:
    units = [_with_headers(path) for path in sorted(SOURCES.glob("*.c"))]
    try:
        return compile_library("ldlt", units, ("-pthread", *_vector_flags()))
    except (RuntimeError, OSError) as why:
        message = f"ldlt is not compiled, and MUMPS, which takes its place, is slower: {why}"
        warnings.warn(message, RuntimeWarning, stacklevel=3)
        return None


_making = threading.Lock()  # without it two threads would load a library each


def compile_library(name: str, units: Sequence[str], flags: Sequence[str] = ()) -> Path:
    """Compile units of C into a library that other code loads by its path, or find a kept one.

    The file is this process's, and there until it ends. RuntimeError without a compiler, where it
    fails, and where the library does not load.
    """
    compiler = find_compiler()
    flags = (*_FLAGS, *flags, *os.environ.get("NSOPT_CFLAGS", "").split())
    origin = {
        "library": name,
        "source": hashlib.sha256("\n".join(units).encode()).hexdigest(),
        "compiler": compiler.version,
        "flags": " ".join([*compiler.command[1:], *flags]),
        "machine": platform.machine(),
    }
    entry, folder = Entry(origin, ".so"), cache_folder()
    kept = entry.read(folder)
    if kept is not None:
        with suppress(RuntimeError):
            return _load(kept)
    made = _compile(compiler, flags, units)
    path = _load(made)
    entry.write(made, folder)
    return path


def _compile(compiler: Compiler, flags: Sequence[str], units: Sequence[str]) -> bytes:
    """Return the library; names are relative, so that no path of this run gets into it."""
    with tempfile.TemporaryDirectory(prefix="nsopt-", ignore_cleanup_errors=True) as private:
        folder = Path(private)
        for k, unit in enumerate(units):
            (folder / f"unit{k}.c").write_text(unit)
        command = [*compiler.command, *flags]
        words = ["/bin/sh", "-c", _TOGETHER, "sh", str(len(units)), *command]
        done = run_child(words, folder)
        if done.returncode != 0:
            first_lines = "\n".join(done.stderr.splitlines()[:5])
            raise RuntimeError(f"{command[0]} failed with\n{first_lines}")
        return (folder / "library.so").read_bytes()


def _load(code: bytes) -> Path:
    """Load the verified bytes from a private copy, which no other process can change."""
    folder = Path(tempfile.mkdtemp(prefix="nsopt-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "library.so"
    path.write_bytes(code)
    try:
        ctypes.CDLL(str(path))  # stays loaded, with what it keeps
    except OSError as error:
        why = f"its library does not load: {str(error).splitlines()[-1].strip()}"
        hint = f"if {folder.parent} allows no code, set TMPDIR"
        raise RuntimeError(f"{why}; {hint}") from error
    return path


def _vector_flags() -> tuple[str, ...]:
    """Return the compiler's flags for the vectors of this machine."""
    known = _PROCESSOR.read_text(errors="replace") if _PROCESSOR.exists() else ""
    return ("-mavx2",) if platform.machine() == "x86_64" and " avx2 " in known else ()


def _with_headers(path: Path) -> str:
    """Return C code with the headers of its folder in place; they are guarded."""
    return _INCLUDED.sub(lambda found: _with_headers(path.with_name(found[1])), path.read_text())
