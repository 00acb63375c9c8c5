"""One thread for work that may wait, a job after another; the process ends without waiting for it.

Daemon threads live on while a process ends, and LLVM must not work then: its memory is gone. So a
job consists of short turns, and after the one under way none begins.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Iterator
from queue import SimpleQueue

_jobs: SimpleQueue[Iterator[None]] = SimpleQueue()
_ending = threading.Event()
_lock = threading.Lock()
_thread: threading.Thread | None = None


def begin(job: Iterator[None]) -> None:
    """Have a job done after those that were begun before.

    Parameters
    ----------
    job : iterator
        Each of its steps is a short turn of work.
    """
    global _thread  # noqa: PLW0603
    _jobs.put(job)
    with _lock:
        if _thread is None or not _thread.is_alive():  # a forked process has no other threads
            _thread = threading.Thread(target=_work, name="nsopt-leaves", daemon=True)
            _thread.start()
            atexit.register(_end, _thread)


def _work() -> None:
    while not _ending.is_set():
        try:
            _work_on(_jobs.get())
        except Exception:  # told as that of any thread; the other jobs are still done
            told = (*sys.exc_info(), threading.current_thread())
            threading.excepthook(threading.ExceptHookArgs(told))


def _work_on(job: Iterator[None]) -> None:
    for _ in job:
        if _ending.is_set():
            return


def _end(thread: threading.Thread) -> None:
    _ending.set()
    _jobs.put(iter(()))  # where it waits for a job
    thread.join()
