"""The C compiler of this machine, in a child process that ends where this one does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nsopt.interrupt import interruptible

PATIENCE = 30.0  # [s] within which a compiler must say its version, else it counts as none


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
        version = _ask_version(command) if command else ""
        if version:
            return Compiler(command, version)
    tried = f"CC={stated}" if stated else "cc, gcc, clang"
    raise RuntimeError(f"no C compiler (tried {tried}): install gcc or clang, or set CC")


@cache
def _ask_version(command: tuple[str, ...]) -> str:
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


# The pipe that the shell reads has no other writer than this process, so it ends when this process
# does, be it by kill -9; then the shell kills its group: the compiler and whatever that has begun.
_GUARDED = """
exec 3<&0
( cat <&3; kill -9 0 ) >/dev/null 2>&1 &
exec 3<&- </dev/null "$@"
"""


LONG = 60.0  # [s] after which the user is told what is waited for


def run_child(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; Ctrl-C meanwhile ends it and all its own children."""
    end, keep = os.pipe()
    try:
        with subprocess.Popen(
            ["/bin/sh", "-c", _GUARDED, "sh", *words],
            cwd=folder,
            stdin=end,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,  # a terminal's Ctrl-C is for this process alone
        ) as process:
            os.close(end)
            end = -1
            try:
                with interruptible():
                    told = _await_end(process)
            except BaseException:
                os.close(keep)
                keep = -1
                raise
            return subprocess.CompletedProcess(words, process.returncode, *told)
    finally:
        for pipe in (end, keep):
            with suppress(OSError):
                os.close(pipe)


def _await_end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for a child and return what it printed; tell the user if that takes long."""
    with suppress(subprocess.TimeoutExpired):
        return process.communicate(timeout=LONG)
    print(f"note: the C compiler has taken {LONG:g} s so far; Ctrl-C ends it", file=sys.stderr)
    return process.communicate()
