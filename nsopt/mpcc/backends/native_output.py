"""What libraries print themselves: on standard error, for standard output is the caller's."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def printing_to_stderr() -> Iterator[None]:
    """Send to standard error what native code prints on standard output.

    HiGHS prints some of its warnings whatever it is told. Without these streams nothing is done.
    """
    try:
        sys.stdout.flush()
        _flush()
        kept = os.dup(1)
        os.dup2(2, 1)
    except (OSError, ValueError, AttributeError):
        yield
        return
    try:
        yield
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)


def _flush() -> None:
    """Write what the C library has in its buffers for standard output."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)
