"""Calls on a dask cluster: also after its workers died, and after its scheduler came back.

joblib's own backend waits without end for a call that ended its worker, or whose scheduler is gone.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

from distributed import CancelledError, Client, KilledWorker, as_completed, get_worker
from distributed.comm.core import CommClosedError

from nsopt.parallel.packed import pack, run_packed

X = TypeVar("X")
T = TypeVar("T")

AT_ONCE = 10_000
"""Calls that the scheduler knows of at a time: each takes some kilobytes of its memory."""
PAUSE = 0.1  # time between looks at a connection, or for what has finished [s]
LOOK = 1.0
"""Time between looks for workers, while nothing finishes; a value is waited for as long [s]."""
LONG = 60.0  # time without a worker after which there is a warning [s]


@dataclass(frozen=True)
class Cluster:
    """The workers of a client.

    Parameters
    ----------
    options : mapping
        Of ``client.submit``, such as resources that a worker must have.
    timeout : float [s], optional
        How long calls wait for a worker where there is none; without end by default.
    """

    client: Client
    options: Mapping[str, Any]
    timeout: float | None = None

    def run_all(
        self, task: Callable[[X], T], todo: dict[int, X]
    ) -> Generator[tuple[int, T | None]]:
        """Yield what the calls return as they finish, as `nsopt.parallel.run_all`."""
        packed, arguments = pack(task, todo)
        suspects = dict[int, bytes]()  # calls of workers that died: each is made again alone
        if not self.client.nthreads():
            warnings.warn(
                "the dask cluster has no worker yet: runs begin when there is one", stacklevel=2
            )
        for k, value in self._call(packed, arguments):
            if value is None:  # this call, or another in the same worker, ended it
                suspects[k] = arguments[k]
            else:
                yield k, value
        for k, argument in suspects.items():
            yield from self._call(packed, {k: argument})

    def _call(self, packed: bytes, arguments: Mapping[int, bytes]) -> Generator[tuple[int, Any]]:
        """Yield the values of calls, None where the worker died as often as dask allows."""
        waiting, under_way = deque(arguments), dict[Any, int]()  # numbers of calls, by future
        finished = as_completed(loop=self.client.loop)
        try:
            while waiting or under_way:
                self._connect()
                # Many at a time: handed out again when half of them are done.
                room = AT_ONCE - len(under_way) if 2 * len(under_way) <= AT_ONCE else 0
                new = [waiting.popleft() for _ in range(min(room, len(waiting)))]
                futures = self._submit(packed, {k: arguments[k] for k in new})
                under_way |= dict(zip(futures, new, strict=True))
                finished.update(futures)
                future = self._wait_for_next(finished, len(waiting) + len(under_way))
                try:
                    is_known, value = _take_outcome(future)
                except _LostValueError:
                    finished.add(future)
                    continue
                k = under_way.pop(future)
                if is_known:
                    yield k, value
                else:
                    waiting.append(k)
        finally:
            if under_way and self.client.status == "running":
                self.client.cancel([*under_way])

    def _wait_for_next(self, finished: Any, count: int) -> Any:
        """Return the next of the futures that finishes, while ``count`` calls are left.

        A cluster without workers is warned of once, and is a TimeoutError after the timeout.
        """
        looked, absent_since, is_warned = time.monotonic(), math.inf, False
        while not finished.has_ready():
            with finished.thread_condition:
                finished.thread_condition.wait(PAUSE)
            if time.monotonic() - looked > LOOK:
                looked = time.monotonic()
                absent_since = math.inf if self._has_workers() else min(absent_since, looked)
                is_warned |= self._warn_of_absence(looked - absent_since, count, is_warned)
        return next(finished)

    def _has_workers(self) -> bool:
        """Return whether there are workers, or the scheduler is not to be asked."""
        if self.client.status != "running":
            return True
        try:
            return bool(self.client.nthreads())
        except OSError:  # it was lost at that moment
            return True

    def _warn_of_absence(self, gone: float, count: int, is_warned: bool) -> bool:
        """Warn, unless that was done, where no worker was there for ``gone`` [s]; return if so."""
        address = getattr(self.client.scheduler, "address", "an unknown address")
        what = f"the dask cluster at {address} has had no worker for {gone:.0f} s"
        if self.timeout is not None and gone >= self.timeout:
            raise TimeoutError(
                f"{what}, and {count} runs are left: start workers and call again; a sweep "
                "with a folder goes on with the points that it lacks, or wait longer"
            )
        if gone < LONG or is_warned:
            return False
        warnings.warn(
            f"{what}: {count} runs wait for one. Start workers, as dask worker {address} "
            "--nthreads 1, or interrupt; workers_timeout=... gives up by itself",
            stacklevel=2,
        )
        return True

    def _connect(self) -> None:
        """Wait for the client, which tries to connect again as long as its timeout."""
        while self.client.status == "connecting":
            time.sleep(PAUSE)
        if self.client.status != "running":
            raise ConnectionError(
                "the scheduler of the dask cluster is gone: start one and call again; a sweep with "
                "a folder goes on with the points that it lacks. Client(timeout=...) waits longer "
                "for one to come back"
            )

    def _submit(self, packed: bytes, arguments: Mapping[int, bytes]) -> list[Any]:
        if not arguments:
            return []
        # The function is a task of its own, run again where the worker that had it is gone.
        function = self.client.submit(bytes, packed, key=f"task-{uuid4().hex}")
        count = len(arguments)
        futures: list[Any] = self.client.map(
            _run_alone,
            *([function] * count, [os.getpid()] * count, [*arguments], [*arguments.values()]),
            key=[f"run-{k}-{uuid4().hex}" for k in arguments],
            pure=False,
            **self.options,
        )
        return futures


def _run_alone(packed: bytes, parent: int, k: int, argument: bytes) -> Any:
    """Return a value, in a worker that does nothing else at the time."""
    worker = get_worker()
    if worker.state.nthreads > 1:
        raise ValueError(
            f"the dask worker {worker.address} has {worker.state.nthreads} threads, and runs need "
            "a process each: start workers with one, LocalCluster(threads_per_worker=1), "
            "SLURMCluster(cores=1), dask worker --nthreads 1"
        )
    return run_packed(packed, parent, k, argument)[1]


class _LostValueError(Exception):
    """The worker that had the value of a finished call is gone, and dask makes the call again."""


def _take_outcome(future: Any) -> tuple[bool, Any]:
    """Return whether the scheduler knows the call, and its value, None if it ended its worker.

    What the call raised is raised.
    """
    try:
        return True, _fetch(future)
    except KilledWorker:
        return True, None
    except CommClosedError:  # on the way of the value, unless the call itself raised it
        if future.status == "error":
            raise
    except (Exception, CancelledError):
        if not future.cancelled():
            raise
    return False, None  # the scheduler that knew it is gone


def _fetch(future: Any) -> Any:
    """Return the value of a finished call; without a limit in time only while it is on its way."""
    while True:
        try:
            return future.result(LOOK)
        except TimeoutError:
            if future.status == "error":  # the call itself raised it
                raise
            if future.status != "finished":
                raise _LostValueError from None
