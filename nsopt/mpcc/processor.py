"""What compiled code depends on beside its source: the vectors of the machine."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path
from typing import NamedTuple

INFORMATION = Path("/proc/cpuinfo")


class Vectors(NamedTuple):
    """Numbers in a vector register, and the compiler's flags for such."""

    lanes: int
    flags: tuple[str, ...]


@cache
def vectors() -> Vectors:
    """Return those of this machine."""
    known = INFORMATION.read_text(errors="replace") if INFORMATION.exists() else ""
    if platform.machine() == "x86_64" and " avx2 " in known:
        return Vectors(4, ("-mavx2",))
    return Vectors(2, ())  # every 64-bit processor has these


def processes() -> int:
    """Return how many processes this one may run at the same time."""
    usable = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    return len(usable(0))
