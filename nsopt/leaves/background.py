"""One thread for work that may wait, a job after another; the process ends without waiting for it.

Daemon threads live on while a process ends, and LLVM must not work then: its memory is gone. So a
job consists of short turns, and after the one under way none begins. What comes before its turns
is Python alone, and may be left at any place by a process that ends. A fork waits for it: locks
that it holds would stay locked in the new process.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue

Job = Callable[[], Iterator[None]]
"""What is to be done before all turns; it returns these."""

_jobs: SimpleQueue[Job] = SimpleQueue()
_ending = threading.Event()
_lock = threading.Lock()
_turn = threading.Lock()  # held in a turn: a process forked while LLVM works would hang
_before_turns = threading.Lock()  # held in what comes before turns, see above
_thread: threading.Thread | None = None


def begin(job: Job) -> None:
    """Have a job done after those that were begun before."""
    global _thread  # noqa: PLW0603
    _jobs.put(job)
    with _lock:
        if _thread is None or not _thread.is_alive():  # a forked process has no other threads
            _thread = threading.Thread(target=_work, name="nsopt-leaves", daemon=True)
            _thread.start()
            atexit.register(_end)


def _work() -> None:
    while not _ending.is_set():
        try:
            job = _jobs.get()
            with _before_turns:
                turns = job()
            _work_on(turns)
        except Exception:  # reported as that of any thread; the other jobs are still done
            report = (*sys.exc_info(), threading.current_thread())
            threading.excepthook(threading.ExceptHookArgs(report))


def _work_on(turns: Iterator[None]) -> None:
    while True:
        with _turn:
            done = object()
            if _ending.is_set() or next(turns, done) is done:
                return


def _stop_at_fork() -> None:
    _before_turns.acquire()
    _turn.acquire()


def _release() -> None:
    _turn.release()
    _before_turns.release()


def _forget() -> None:
    """Begin anew in a process that was forked: the thread and its jobs are the other's."""
    global _jobs, _thread, _lock
    _jobs, _thread, _lock = SimpleQueue(), None, threading.Lock()
    _release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_stop_at_fork, after_in_parent=_release, after_in_child=_forget)


def _end() -> None:
    _ending.set()
    with _turn:  # the one under way has come to its end
        pass
