"""The C compiler of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache

PATIENCE = 30.0  # time [s] in which a compiler must say its version


def has_compiler() -> bool:
    """Return whether there is a C compiler."""
    try:
        return bool(find_compiler())
    except RuntimeError:
        return False


@dataclass(frozen=True)
class Compiler:
    """A compiler that was found."""

    command: tuple[str, ...]  # what calls it: its path, and options stated with it
    version: str  # the first line of what it says of itself


def find_compiler() -> Compiler:
    """Return the compiler of the environment's CC, or else the machine's; RuntimeError if none."""
    stated = os.environ.get("CC", "").strip()
    for words in [stated] if stated else ["cc", "gcc", "clang"]:
        program, *options = words.split()
        found = shutil.which(program) if os.name == "posix" else None
        command = (os.path.abspath(found), *options) if found else ()
        version = _version(command) if command else ""
        if version:
            return Compiler(command, version)
    tried = f"CC={stated}" if stated else "cc, gcc, clang"
    raise RuntimeError(f"no C compiler (tried {tried}): install gcc or clang, or set CC")


@cache
def _version(command: tuple[str, ...]) -> str:
    """Return the first line of what a compiler says of itself, which holds no path; or nothing."""
    words = [*command, "--version"]
    try:
        answer = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.partition("\n")[0] if answer.returncode == 0 else ""
