"""LLVM: from text to object code, which is kept on the disk, and from there to addresses."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import llvmlite.binding as llvm

from nsopt.kept_code import Entry, cache_folder

_engines: list[llvm.ExecutionEngine] = []
"""What holds code; it stays as long as the process, which may call it from anywhere."""


class Processor(NamedTuple):
    """What code is made for, in LLVM's words."""

    triple: str
    name: str
    features: str


def read_object(module: str, level: int) -> bytes | None:
    """Return the object code of a module, if it is on the disk."""
    return _entry(module, level).read(cache_folder())


def make_object(module: str, level: int) -> bytes:
    """Return the object code of a module, and keep it on the disk.

    Parameters
    ----------
    module : str
        In LLVM's language.
    level : int
        Of optimisation, 0 to 3.
    """
    code: bytes = _target_machine(level).emit_object(llvm.parse_assembly(module))
    _entry(module, level).write(code, cache_folder())
    return code


def load_objects(objects: Sequence[bytes], names: Sequence[str]) -> list[int]:
    """Load objects, which may call each other, and return the addresses of functions in them."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine(0))
    for code in objects:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return [engine.get_function_address(name) for name in names]


def _entry(module: str, level: int) -> Entry:
    origin = {
        "module": hashlib.sha256(module.encode()).hexdigest(),
        "level": str(level),
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
        **processor()._asdict(),
    }
    return Entry(origin, ".o")


@cache
def processor() -> Processor:
    """Return that of this machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return Processor(llvm.get_default_triple(), llvm.get_host_cpu_name(), features)


def _target_machine(level: int) -> llvm.TargetMachine:
    triple, name, features = processor()
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(cpu=name, features=features, opt=level, jit=True)
