"""A child process that does not outlive this one, nor an interrupt."""

from __future__ import annotations

import os
import subprocess
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


def run_child(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; Ctrl-C is heard meanwhile, and ends the child with all its own.

    Raises
    ------
    KeyboardInterrupt
    OSError
    """
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
                    told = process.communicate()
            except BaseException:
                os.close(keep)
                keep = -1
                raise
            return subprocess.CompletedProcess(words, process.returncode, *told)
    finally:
        for pipe in (end, keep):
            with suppress(OSError):
                os.close(pipe)
