"""Calls by joblib: on the cores of one machine, or on a dask cluster by the same call."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from inspect import getsource
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky.backend import resource_tracker as loky_tracker
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import LokyBackend, get_active_backend

from nsopt.interrupt import SIGNALS, guard, interruptible
from nsopt.parallel import follow as following
from nsopt.parallel.packed import pack, run_packed

X = TypeVar("X")
T = TypeVar("T")

AHEAD = 2  # calls handed out for each process, of which one runs and the others wait

DIED = "the process died during this run"
"""What is told of a call that ended its process."""


def run_all(
    task: Callable[[X], T],
    todo: dict[int, X],
    workers: int | None,
    workers_timeout: float | None = None,
) -> Generator[tuple[int, T | None]]:
    """Yield what the calls of ``task`` return as they finish.

    Parameters
    ----------
    task : function
        Which does not return None.
    todo : dict of int to argument
        By the number of the call.
    workers : int, optional
        Processes; by default as the user's configuration of joblib has it, or one on each core.
    workers_timeout : float [s], optional
        How long to wait where a dask cluster has no worker; without end by default.

    Yields
    ------
    tuple of int and what the task returns
        None where the call ended its process.

    Raises
    ------
    ConnectionError
        If the scheduler of a dask cluster is lost and does not come back.
    TimeoutError
        If a dask cluster has no worker for longer than the timeout.
    """
    backend, _ = get_active_backend()
    if getattr(backend, "client", None) is not None:
        from nsopt.parallel.cluster import Cluster

        cluster = Cluster(backend.client, backend.submit_kwargs, workers_timeout)
        yield from cluster.run_all(task, todo)
    else:
        yield from _run_on_this_machine(task, todo, workers)


def wait_interruptibly(arriving: Generator[T]) -> Generator[T]:
    """Yield results as they arrive; Ctrl-C interrupts the wait, not the caller's work on one."""
    with guard():
        try:
            while True:
                with interruptible():
                    result = next(arriving, None)
                if result is None:
                    return
                yield result
        finally:
            arriving.close()


def _run_on_this_machine(
    task: Callable[[X], T], todo: dict[int, X], workers: int | None
) -> Generator[tuple[int, T | None]]:
    packed, arguments = pack(task, todo)
    todo = dict(todo)  # what is left
    suspects = 0  # calls among the next, one of which ended its process: they are run alone
    while todo:
        parallel = _make_parallel(workers)
        batch = [*todo][: 1 if suspects else None]
        calls = (delayed(run_packed)(packed, os.getpid(), k, arguments[k]) for k in batch)
        try:
            with _end_after(_begin(parallel, calls)) as arriving:
                for k, value in arriving:
                    del todo[k]
                    yield k, value
            suspects = max(suspects - 1, 0)
        except TerminatedWorkerError:
            if suspects:
                (k,) = batch
                del todo[k]
                yield k, None
                suspects = 0
            else:
                suspects = AHEAD * effective_n_jobs(parallel.n_jobs)


def _begin(parallel: Parallel, calls: Iterator[Any]) -> Generator[tuple[int, Any]]:
    """Begin calls; processes that are started do not hear Ctrl-C, not even before they `follow`."""
    arriving: Generator[tuple[int, Any]]
    with guard():
        if not hasattr(signal, "pthread_sigmask") or effective_n_jobs(parallel.n_jobs) == 1:
            arriving = parallel(calls)
            return arriving
        from multiprocessing import resource_tracker  # there is none on Windows

        for tracker in (resource_tracker, loky_tracker):
            tracker.ensure_running()  # now, for it unblocks the signals as it starts
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            arriving = parallel(calls)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return arriving


@contextmanager
def _end_after(arriving: Generator[tuple[int, Any]]) -> Iterator[Generator[tuple[int, Any]]]:
    """Close the generator at last, without joblib's warning that calls under way were in vain."""
    try:
        with interruptible():  # what was pressed while the processes were started
            pass
        yield arriving
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arriving.close()


def _make_parallel(workers: int | None) -> Parallel:
    """Return joblib's Parallel in the user's configuration, or in our own."""
    options: dict[str, Any] = {
        "return_as": "generator_unordered",
        "batch_size": 1,  # so that each value is kept as soon as it is there
        "pre_dispatch": f"{AHEAD} * n_jobs",
    }
    backend, jobs = get_active_backend()
    if isinstance(backend, LokyBackend):
        in_main_thread = threading.current_thread() is threading.main_thread()
        source = f"{getsource(following)}\nfollow({os.getpid()}, {in_main_thread})"
        options |= {"initializer": exec, "initargs": (source, {})}  # it imports no nsopt
    if jobs is not None or not backend.supports_inner_max_num_threads:
        return Parallel(n_jobs=workers, **options)
    # One thread for each process: the matrices are small.
    with parallel_config("loky", inner_max_num_threads=1):
        return Parallel(n_jobs=-1 if workers is None else workers, **options)
