"""Points by joblib: on the cores of one machine, or on a dask cluster by the same call."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import lru_cache
from inspect import getsource
from pathlib import Path
from typing import Any

import cloudpickle
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky.backend import resource_tracker as loky_tracker
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import LokyBackend, get_active_backend
from tqdm import tqdm

from nsopt.interrupt import SIGNALS, interruptible, uninterrupted
from nsopt.sweep import follow as following
from nsopt.sweep.job import Job, SweepPoint
from nsopt.sweep.measures import notes
from nsopt.sweep.points import Row

AHEAD = 2  # runs handed out for each process
DIED = "the process died during this run"

Arrived = tuple[int, SweepPoint]


def run_all(job: Job, todo: dict[int, Row], workers: int | None) -> Generator[Arrived]:
    """Yield points as they finish, ``todo`` becoming empty; one that ends its process has failed.

    Parameters
    ----------
    job : Job
    todo : values by the number of the point
    workers : int, optional
        Processes; None for the user's configuration of joblib, or for one on each core.
    """
    packed, suspects = _pack(job), 0
    while todo:
        parallel = _parallel(workers)
        batch = dict([*todo.items()][: 1 if suspects else None])
        calls = (delayed(_run_packed)(packed, k, row) for k, row in batch.items())
        try:
            with _ended(_begun(parallel, calls)) as arriving:
                for k, point in arriving:
                    del todo[k]
                    yield k, point
            suspects = max(suspects - 1, 0)
        except TerminatedWorkerError:
            if suspects:
                (k,) = batch
                del todo[k]
                yield k, SweepPoint(notes(None, DIED, float("nan")), final=False)
                suspects = 0
            else:
                # Run alone, those that were under way show which one it was.
                suspects = AHEAD * effective_n_jobs(parallel.n_jobs)


def _begun(parallel: Parallel, calls: Iterator[Any]) -> Generator[Arrived]:
    """Begin runs; processes that are started do not hear Ctrl-C, not even before they `follow`."""
    arriving: Generator[Arrived]
    with uninterrupted():
        if not hasattr(signal, "pthread_sigmask") or effective_n_jobs(parallel.n_jobs) == 1:
            arriving = parallel(calls)
            return arriving
        from multiprocessing import resource_tracker  # there is none on Windows

        for tracker in (resource_tracker, loky_tracker):
            tracker.ensure_running()  # which unblocks the signals
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            arriving = parallel(calls)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return arriving


@contextmanager
def _ended(arriving: Generator[Arrived]) -> Iterator[Generator[Arrived]]:
    """End the runs under way in the end, without joblib's warning that they were in vain."""
    try:
        with interruptible():  # what was pressed while the processes were started
            pass
        yield arriving
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arriving.close()


def _parallel(workers: int | None) -> Parallel:
    """Return joblib's Parallel in the user's configuration, or in our own."""
    options: dict[str, Any] = {
        "return_as": "generator_unordered",
        "batch_size": 1,  # so that each point is kept as soon as it is finished
        "pre_dispatch": f"{AHEAD} * n_jobs",
    }
    backend, jobs = get_active_backend()
    if isinstance(backend, LokyBackend):
        main = threading.current_thread() is threading.main_thread()
        source = f"{getsource(following)}\nfollow({os.getpid()}, {main})"
        options |= {"initializer": exec, "initargs": (source, {})}
    if jobs is not None or not backend.supports_inner_max_num_threads:
        return Parallel(n_jobs=workers, **options)
    # One thread for each process: the matrices are small.
    with parallel_config("loky", inner_max_num_threads=1):
        return Parallel(n_jobs=-1 if workers is None else workers, **options)


def _pack(job: Job) -> bytes:
    """Return the job for other processes, with the modules that they could not import."""
    path = {Path(folder).resolve() for folder in sys.path}
    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        top = "." not in module.__name__ and not hasattr(module, "__path__")
        if file and top and Path(file).resolve().parent not in path:
            cloudpickle.register_pickle_by_value(module)  # beside a problem's file
    packed: bytes = cloudpickle.dumps(job)
    return packed


@lru_cache(maxsize=2)
def _unpack(packed: bytes) -> Job:
    """Return the job, one for all points that a process runs."""
    job: Job = cloudpickle.loads(packed)
    return job


def _run_packed(packed: bytes, k: int, row: Row) -> Arrived:
    job = _unpack(packed)
    if os.getpid() != job.process:
        _own_lock()
    return k, job.run(row)


@lru_cache
def _own_lock() -> None:
    """Give tqdm a lock of this process: one between processes is left over when they are killed."""
    tqdm.set_lock(threading.RLock())
