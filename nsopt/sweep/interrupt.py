"""Ctrl-C while many runs are under way."""

import signal
import threading
from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def interruptible(arriving: Generator[T]) -> Generator[T]:
    """Yield results as they arrive; Ctrl-C interrupts the wait, but not the caller's work on one.

    Python drops a KeyboardInterrupt that arises while an object is deleted; one that was dropped is
    heard when the next result has arrived. Outside the main thread, or where a program handles
    Ctrl-C by itself, nothing is changed.
    """
    pressed, waiting = threading.Event(), threading.Event()

    def interrupt(*_: object) -> None:
        pressed.set()
        if waiting.is_set():
            raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield from arriving
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        while True:
            waiting.set()
            result = next(arriving, None)
            waiting.clear()
            if result is None:
                return
            yield result
            if pressed.is_set():
                raise KeyboardInterrupt
    finally:
        waiting.clear()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        arriving.close()
