"""A child process that does not outlive this one, nor an interrupt."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from nsopt.interrupt import interruptible

# The pipe that the shell reads has no other writer than this process, so it ends when this process
# does, be it by kill -9; then the shell kills its group: the compiler and whatever that has begun.
_GUARDED = """
exec 3<&0
( cat <&3; kill -9 0 ) >/dev/null 2>&1 &
exec 3<&- </dev/null "$@"
"""


LONG = 60.0  # time [s] after which one is told what is waited for


def run_child(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; Ctrl-C is heard meanwhile, and ends the child with all its own."""
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
                    told = _answer(process)
            except BaseException:
                os.close(keep)
                keep = -1
                raise
            return subprocess.CompletedProcess(words, process.returncode, *told)
    finally:
        for pipe in (end, keep):
            with suppress(OSError):
                os.close(pipe)


def _answer(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return what a child has printed when it ends; tell what is waited for if that takes long."""
    with suppress(subprocess.TimeoutExpired):
        return process.communicate(timeout=LONG)
    print(f"note: the C compiler has taken {LONG:g} s so far; Ctrl-C ends it", file=sys.stderr)
    return process.communicate()
