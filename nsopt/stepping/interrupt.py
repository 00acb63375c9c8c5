"""Ctrl-C, and the word of a system that ends a job, between steps, not inside a solver."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Hold back Ctrl-C and yield a function that tells whether it was pressed.

    Solvers swallow an interrupt or end with a half-solved step; so the first Ctrl-C only leaves a
    mark, to be asked for between steps. The second one interrupts at once. SIGTERM counts the
    same. Outside the main
    thread, where signals do not arrive, nothing is changed.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def mark(*_: object) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()
        print("\nstopping after this step; Ctrl-C again to stop at once", file=sys.stderr)

    before = {kind: signal.signal(kind, mark) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield pressed.is_set
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
