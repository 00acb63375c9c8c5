"""CasADi functions as native code: C is generated, compiled once, and kept in the user's cache."""

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
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import casadi as ca

from nsopt.kept_code import Entry, cache_folder
from nsopt.mpcc.c_units import units_of
from nsopt.mpcc.child import run_child
from nsopt.mpcc.compiler import Compiler, found_compiler
from nsopt.mpcc.processor import processes

# Hidden helpers can be inlined: up to 1.8 times faster. Without contraction the compiler has no
# choice in rounding: an update of it between a run and its resumption changes no bit, on ARM too.
# What stays undefined must fail at once: the loader binds lazily and would end the process later.
_HIDDEN = ("-fvisibility=hidden", "-DGCC_HASCLASSVISIBILITY")
# Generated solvers hold one memory for each use of them in a process; the default is one.
_MEMORIES = ("-DCASADI_MAX_NUM_THREADS=64",)
_UNDEFINED = () if sys.platform == "darwin" else ("-Wl,-z,defs",)
_FLAGS = ("-fPIC", "-shared", "-ffp-contract=off", *_HIDDEN, *_MEMORIES, *_UNDEFINED)

# Units one beside the other, then the library.
_TOGETHER = """
count=$1; shift; k=0; running=
while [ $k -lt $count ]; do
  "$@" -c native$k.c -o native$k.o &
  running="$running $!"; k=$((k + 1))
done
for one in $running; do wait $one || exit 1; done
exec "$@" native*.o -o native.so -lm
"""

LONG = 500_000
"""Length of generated C from which the compiler is asked for less in its long functions, and which
is two units of translation."""

LINES = 2000
"""Of such a function, at least. Without a branch gcc takes several times as long for it at -O2, for
code that is 15 % faster."""

_LESS = '__attribute__((optimize("O1", "inline-small-functions"))) '

_loaded: dict[str, tuple[ca.Function, ...]] = {}
_failed: dict[str, str] = {}
_said: set[str] = set()


@dataclass(frozen=True, eq=False)
class NativeFunction:
    """A function ready to be called, and how it came to be.

    Attributes
    ----------
    function : ca.Function
        The compiled function, or the given one where it could not be compiled. The compiled one
        has values only: for derivatives compile the derivative of the given one.
    native : bool
        Whether it is compiled code; else CasADi's virtual machine evaluates it.
    cached : bool
        Whether the compiled code was there already, from this process or an earlier one.
    seconds : float
        Wall time from the expressions to the function ready to be called [s].
    """

    function: ca.Function
    native: bool
    cached: bool
    seconds: float


def compile_native(function: ca.Function, *, folder: Path | None = None) -> NativeFunction:
    """Compile ``function``, or load it if that was done before.

    Without a compiler, or where compiling fails, the function itself is returned and a
    ``RuntimeWarning`` says why, once in a process.

    Parameters
    ----------
    function : ca.Function
    folder : Path, optional
        Where libraries are kept; by default ``cache_folder()``.
    """
    start = time.perf_counter()
    name = function.name()
    try:
        build = _Build.of(found_compiler(), function)
        (native,), cached = _obtain(build, folder or cache_folder())
    except (RuntimeError, OSError) as why:
        _say(str(why), f"{name!r} runs in CasADi's virtual machine, slower than compiled: {why}")
        return NativeFunction(function, False, False, time.perf_counter() - start)
    return NativeFunction(native, True, cached, time.perf_counter() - start)


def compile_shared(
    name: str, made_from: str, units: Callable[[], Sequence[str]], flags: Sequence[str]
) -> Path | None:
    """Compile a library that other code loads by its path, or find it if that was done before.

    Parameters
    ----------
    name : str
        Of the library, in its manifest.
    made_from : str
        A text that says all that the library holds: with it the library is found again.
    units : callable
        Returns the translation units in C, which are compiled at the same time; called where the
        library is not there.
    flags : sequence of str
        Further ones of the compiler.

    Returns
    -------
    Path or None
        A file of this process, which is there until it ends. None without a compiler, and where
        compiling fails; a ``RuntimeWarning`` then says why, once in a process.
    """
    stated = hashlib.sha256(made_from.encode()).hexdigest()
    try:
        build = _Shared(found_compiler(), (name,), stated, ("-O3", *flags), units)
        _obtain(build, cache_folder())
    except (RuntimeError, OSError) as why:
        _say(str(why), f"{name} is not compiled, and what takes its place is slower: {why}")
        return None
    return build.path


def _say(topic: str, message: str) -> None:
    if topic not in _said:
        _said.add(topic)
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def generated(function: ca.Function) -> str:
    """Return the C of a function and all that it calls."""
    generator = ca.CodeGenerator(function.name(), {"with_header": False})
    generator.add(function)
    return str(generator.dump())


def _user_flags() -> list[str]:
    return os.environ.get("NSOPT_CFLAGS", "").split()


def _long_ones_optimized_less(source: str) -> str:
    """Return generated C whose long functions ask for less; compilers other than gcc ignore it."""
    before, *functions = re.split(r"(?m)^(?=static int casadi_f\d+\()", source)
    ends = [text.index("\n}\n") for text in functions]
    marks = [
        _LESS * (text.count("\n", 0, end) > LINES)
        for text, end in zip(functions, ends, strict=True)
    ]
    return before + "".join(mark + text for mark, text in zip(marks, functions, strict=True))


@dataclass(frozen=True, eq=False)
class _Build:
    """One library: its functions, what it is made from, and how it is made and loaded."""

    compiler: Compiler
    names: tuple[str, ...]
    stated: str
    optimization: tuple[str, ...]
    units: Callable[[], Sequence[str]]

    @classmethod
    def of(cls, compiler: Compiler, function: ca.Function) -> _Build:
        """Return the library of one function."""
        source = generated(function)

        def units() -> list[str]:
            unit = source
            if len(source) >= LONG and not any(word.startswith("-O") for word in _user_flags()):
                unit = _long_ones_optimized_less(unit)
            return units_of(unit, min(processes(), 2 * len(unit) // LONG))

        stated = hashlib.sha256(source.encode()).hexdigest()
        return cls(compiler, (function.name(),), stated, ("-O2",), units)

    @cached_property
    def origin(self) -> dict[str, str]:
        return {
            "function": " ".join(self.names),
            "source": self.stated,
            "compiler": self.compiler.version,
            "flags": " ".join([*self.compiler.command[1:], *self.flags]),
            "casadi": ca.CasadiMeta.version(),
            "machine": platform.machine(),
        }

    @property
    def flags(self) -> tuple[str, ...]:
        return (*self.optimization, *_FLAGS, *_user_flags())

    @cached_property
    def entry(self) -> Entry:
        """Where the library is kept."""
        return Entry(self.origin, ".so")

    @property
    def key(self) -> str:
        return self.entry.key

    def compile(self, folder: Path) -> bytes:
        """Return the library; names are relative, so that no path of this run gets into it."""
        sources = []
        for k, unit in enumerate(self.units()):
            sources.append(f"native{k}.c")
            (folder / sources[-1]).write_text(unit)
        command = [*self.compiler.command, *self.flags]
        words = [*command, *sources, "-o", "native.so", "-lm"]
        if len(sources) > 1:
            words = ["/bin/sh", "-c", _TOGETHER, "sh", str(len(sources)), *command]
        done = run_child(words, folder)
        if done.returncode != 0:
            first_lines = "\n".join(done.stderr.splitlines()[:5])
            raise RuntimeError(f"{command[0]} failed with\n{first_lines}")
        return (folder / "native.so").read_bytes()

    def load(self, library: bytes, folder: Path) -> tuple[ca.Function, ...]:
        """Load from a copy in the private ``folder``: what was verified, and stays as it is."""
        copy = folder / "verified.so"
        copy.write_bytes(library)
        try:
            return tuple(ca.external(name, str(copy)) for name in self.names)
        except RuntimeError as error:
            raise _unloadable(error, folder) from error


def _unloadable(error: Exception, folder: Path) -> RuntimeError:
    why = f"its library does not load: {str(error).splitlines()[-1].strip()}"
    return RuntimeError(f"{why}; if {folder.parent} allows no code, set TMPDIR")


class _Shared(_Build):
    """A library that other code loads by its path."""

    @property
    def path(self) -> Path:
        return _of_this_process() / f"{self.key}.so"

    def load(self, library: bytes, folder: Path) -> tuple[ca.Function, ...]:
        self.path.write_bytes(library)
        try:
            ctypes.CDLL(str(self.path))  # stays loaded, with what it keeps
        except OSError as error:
            raise _unloadable(error, folder) from error
        return ()


@cache
def _of_this_process() -> Path:
    """Return a folder that is removed when this process ends."""
    folder = tempfile.mkdtemp(prefix="nsopt-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _obtain(build: _Build, folder: Path) -> tuple[tuple[ca.Function, ...], bool]:
    """Return the compiled functions, and whether they were there already."""
    if build.key in _failed:
        raise RuntimeError(_failed[build.key])
    if build.key in _loaded:
        return _loaded[build.key], True
    try:
        with tempfile.TemporaryDirectory(prefix="nsopt-", ignore_cleanup_errors=True) as private:
            functions, cached = _from_cache_or_compiler(build, folder, Path(private))
    except (RuntimeError, OSError) as error:
        _failed[build.key] = str(error)
        raise
    _loaded[build.key] = functions
    return functions, cached


def _from_cache_or_compiler(
    build: _Build, folder: Path, private: Path
) -> tuple[tuple[ca.Function, ...], bool]:
    cached = build.entry.read(folder)
    if cached is not None:
        with suppress(RuntimeError):
            return build.load(cached, private), True
    library = build.compile(private)
    functions = build.load(library, private)
    build.entry.write(library, folder)
    return functions, False
