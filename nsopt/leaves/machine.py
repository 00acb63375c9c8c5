"""LLVM: from text to object code, which is kept on the disk, and from there to addresses."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.kept_code import Entry, cache_folder

Array = NDArray[np.float64] | NDArray[np.int32]

QUICK, GOOD = 0, 2
"""LLVM's levels of optimisation: compiled in an eighth of the time, and code that is twice as fast
or more."""

_libraries: list[Any] = []
"""What holds code; it stays as long as the process, which may call it from anywhere."""

_arrays: list[Array] = []
"""What code reads; they stay as well."""

_names = count()
_lock = threading.Lock()  # one linker, and libraries of different names


def _llvm() -> Any:
    """Return LLVM, which takes a tenth of the time of all other imports."""
    import llvmlite.binding as llvm

    return llvm


def read_object(module: str, level: int) -> bytes | None:
    """Return the object code of a module, if it is on the disk."""
    return _entry(module, level).read(cache_folder())


def make_object(module: str, level: int, tell: bool = True) -> bytes:
    """Return the object code of a module, and keep it on the disk.

    Parameters
    ----------
    module : str
        In LLVM's language.
    level : int
        Of optimisation, 0 to 3.
    tell : bool
        Whether to warn where it cannot be kept.
    """
    code = compile_module(module, level)
    _entry(module, level).write(code, cache_folder(), tell)
    return code


def compile_module(module: str, level: int) -> bytes:
    """Return the object code of a module, which is not kept."""
    code: bytes = _target_machine(level).emit_object(_llvm().parse_assembly(module))
    return code


def load_objects(
    objects: Sequence[bytes], names: Sequence[str], arrays: Mapping[str, Array] | None = None
) -> list[int]:
    """Load objects, which may call each other, and return the addresses of functions in them.

    ``arrays``: what they read by name.
    """
    library = _llvm().JITLibraryBuilder().add_current_process()
    for name, array in (arrays or {}).items():
        library.import_symbol(name, array.ctypes.data)
        _arrays.append(array)
    for code in objects:
        library.add_object_img(code)
    for name in names:
        library.export_symbol(name)
    with _lock:
        loaded = library.link(_linker(), f"leaf {next(_names)}")
        _libraries.append(loaded)
    return [loaded[name] for name in names]


def _entry(module: str, level: int) -> Entry:
    content = hashlib.sha256(module.encode()).hexdigest()
    return Entry({"module": content, **state_target(level)}, ".o")


@cache
def hash_sources() -> str:
    """Return what changes whenever modules of functions are written otherwise."""
    total = hashlib.sha256(ca.CasadiMeta.version().encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        total.update(path.read_bytes())
    return total.hexdigest()


def state_target(level: int) -> dict[str, str]:
    """Return all that object code depends on beside its text."""
    return {
        "level": str(level),
        "model": "small pic",
        "llvm": ".".join(map(str, _llvm().llvm_version_info)),
        **find_processor(),
    }


@cache
def find_processor() -> dict[str, str]:
    """Return what code is made for on this machine, in LLVM's words."""
    llvm = _llvm()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return {"triple": llvm.get_default_triple(), "name": name, "features": features}


@cache
def count_lanes() -> int:
    """Return how many numbers are side by side: as many as the widest registers have.

    Narrower ones take two or four.
    """
    return 8 if "+avx512f" in find_processor()["features"].split(",") else 4


@cache
def _linker() -> Any:
    """Return LLVM's linker, which puts an object in one stretch: see `_target_machine`."""
    return _llvm().create_lljit_compiler(_target_machine(0), use_jit_link=True)


def _target_machine(level: int) -> Any:
    """Return a machine for code of the small model, as of any library.

    The large one, for code anywhere in memory, has longer calls and constants, and level 0 takes
    35 us for a call in place of 10.
    """
    processor, how = find_processor(), {"reloc": "pic", "codemodel": "small", "jit": True}
    target = _llvm().Target.from_triple(processor["triple"])
    return target.create_target_machine(
        cpu=processor["name"], features=processor["features"], opt=level, **how
    )
