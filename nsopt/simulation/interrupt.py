"""Ctrl-C and SIGTERM between steps, not inside a solver."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Defer Ctrl-C and yield a function that returns whether it was pressed.

    Inside a solver an interrupt would be lost or leave a step half solved; so the first Ctrl-C only
    sets a flag, which the caller checks between steps. The second one interrupts at once. SIGTERM
    is treated alike. Outside the main thread, where signals do not arrive, nothing is changed.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def request_stop(*_: object) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()
        print("\nstopping after this step; Ctrl-C again to stop at once", file=sys.stderr)

    previous = {
        number: signal.signal(number, request_stop) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield pressed.is_set
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
