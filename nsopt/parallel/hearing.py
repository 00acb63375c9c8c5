"""Ctrl-C while many calls are under way."""

from collections.abc import Generator
from typing import TypeVar

from nsopt.interrupt import interruptible, suspend_interrupts

T = TypeVar("T")


def heard_between(arriving: Generator[T]) -> Generator[T]:
    """Yield results as they arrive; Ctrl-C interrupts the wait, not the caller's work on one."""
    with suspend_interrupts():
        try:
            while True:
                with interruptible():
                    result = next(arriving, None)
                if result is None:
                    return
                yield result
        finally:
            arriving.close()
