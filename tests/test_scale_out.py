"""Sweeps and starts on a dask cluster of which processes end, against the same in this process."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread

import dask
import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.comm.core import CommClosedError

from nsopt import Grid
from nsopt.parallel import cluster
from nsopt.problem import load_optimization
from nsopt.sweep.job import Job
from nsopt.trajectory import multi_start
from tests.sweeps import drop, run, same

MASSES = [1.0, 1.5, 2.0, 2.5]
OVER = Grid({"mass": MASSES})
LONG = 120  # s that a busy machine may take


def mass_of(result):
    return json.loads(result.data.attrs["parameters"])["mass"]


def wait_for(path):
    wait_until(path.exists, path)


def wait_until(holds, what):
    for _ in range(LONG * 100):
        if holds():
            return
        time.sleep(0.01)
    raise TimeoutError(what)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def workers(count, **options):
    """Have runs within go to a cluster."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0"} | options
    with (
        LocalCluster(n_workers=count, **options) as local,
        Client(local) as client,
        joblib.parallel_config("dask"),
    ):
        yield client


@pytest.fixture
def started():
    """Return a function that starts a part of dask as a process, which ends after the test."""
    processes = []

    def start(kind, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *map(str, arguments)]
        processes.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()  # told to end while its scheduler is gone, one may wait without end
        process.wait()


@pytest.mark.slow
def test_a_killed_worker_and_a_point_that_kills_each_worker(tmp_path):
    """Runs of a worker that died are run again; the one that ends each worker has failed."""
    parent, killed = os.getpid(), tmp_path / "killed"

    def measure(result):
        if os.getpid() != parent and mass_of(result) == MASSES[1] and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if os.getpid() != parent and mass_of(result) == MASSES[2]:
            os._exit(1)
        return mass_of(result)

    limits = {"distributed.scheduler.allowed-failures": 0}  # each dead worker makes a suspect
    with dask.config.set(limits), workers(2):
        data = run(drop(), OVER, workers=None, measure={"seen": measure}, folder=tmp_path)
    assert killed.exists()
    assert data["completed"].values.tolist() == [1, 1, 0, 1]
    assert data["stop_reason"].values[2] == "the process died during this run"
    whole = [0, 1, 3]
    alone = run(drop(), OVER, measure={"seen": measure})
    assert same(data.isel(mass=whole), alone.isel(mass=whole))


@pytest.mark.slow
def test_a_scheduler_that_is_killed_and_started_again(tmp_path, started):
    port = free_port()
    address, reached, restarted = f"tcp://127.0.0.1:{port}", tmp_path / "a", tmp_path / "b"

    def begin():
        scheduler = started("scheduler", "--port", port, "--dashboard-address", ":0")
        started("worker", address, "--nthreads", 1)
        return scheduler

    def measure(result):
        if mass_of(result) == MASSES[1]:
            reached.touch()
            wait_for(restarted)
        return mass_of(result)

    def restart(scheduler):
        wait_for(reached)
        scheduler.kill()
        scheduler.wait()
        begin()
        restarted.touch()

    first = begin()
    with Client(address, timeout=LONG) as client, joblib.parallel_config("dask"):
        client.wait_for_workers(1, LONG)
        thread = Thread(target=restart, args=(first,))
        thread.start()
        data = run(drop(), OVER, workers=None, measure={"seen": measure})
        thread.join()
    assert restarted.exists()
    assert same(data, run(drop(), OVER, measure={"seen": measure}))


@pytest.mark.slow
def test_a_cluster_that_lost_its_workers_is_told_and_given_up(tmp_path, started, monkeypatch):
    """What was finished is kept: with another worker, only the points that are missing run."""
    monkeypatch.setattr(cluster, "LONG", 0.5)
    address, reached, lost = f"tcp://127.0.0.1:{free_port()}", tmp_path / "a", tmp_path / "b"
    started("scheduler", "--port", address.rsplit(":", 1)[1], "--dashboard-address", ":0")
    options = {"workers": None, "folder": tmp_path}

    def start_worker():
        return started("worker", address, "--nthreads", 1, "--no-nanny")

    def measure(result):
        if mass_of(result) == MASSES[1] and not lost.exists():
            reached.touch()
            wait_for(lost)
        return mass_of(result)

    def lose(worker):
        wait_for(reached)
        worker.kill()
        worker.wait()

    thread = Thread(target=lose, args=(start_worker(),))
    thread.start()
    with Client(address, timeout=LONG) as client, joblib.parallel_config("dask"):
        client.wait_for_workers(1, LONG)
        left = f"dask cluster at {address} has had no worker for .* 3 runs"
        with pytest.warns(UserWarning, match=left), pytest.raises(TimeoutError, match=left):
            run(drop(), OVER, measure={"seen": measure}, workers_timeout=3.0, **options)
        thread.join()
        assert len([*tmp_path.glob("points/*.nc")]) == 1
        lost.touch()
        start_worker()
        client.wait_for_workers(1, LONG)
        data = run(drop(), OVER, measure={"seen": measure}, workers_timeout=LONG, **options)
    assert same(data, run(drop(), OVER, measure={"seen": measure}))


@pytest.mark.slow
def test_a_worker_that_is_lost_with_the_value_of_a_run(tmp_path, started, monkeypatch):
    """The run is made again, by a worker that comes later, or the sweep gives up in time."""
    address, fetch = f"tcp://127.0.0.1:{free_port()}", cluster._take_outcome
    started("scheduler", "--port", address.rsplit(":", 1)[1], "--dashboard-address", ":0")
    options = {"workers": None, "folder": tmp_path, "measure": {"seen": mass_of}}

    def start_worker():
        return started("worker", address, "--nthreads", 1, "--no-nanny")

    left = [start_worker()]

    def lose_first(future):
        while left:
            worker = left.pop()
            worker.kill()
            worker.wait()
        return fetch(future)

    monkeypatch.setattr(cluster, "_take_outcome", lose_first)
    with Client(address, timeout=LONG) as client, joblib.parallel_config("dask"):
        client.wait_for_workers(1, LONG)
        with pytest.raises(TimeoutError, match="has had no worker for"):
            run(drop(), OVER, workers_timeout=2.0, **options)
        left.append(start_worker())
        client.wait_for_workers(1, LONG)
        again = Thread(target=lambda: (wait_until(lambda: not left, left), start_worker()))
        again.start()
        data = run(drop(), OVER, workers_timeout=LONG, **options)
        again.join()
    assert same(data, run(drop(), OVER, measure={"seen": mass_of}))


def test_a_time_to_wait_for_workers_is_positive():
    with pytest.raises(ValueError, match="workers_timeout must be positive, got 0"):
        run(drop(), OVER, workers_timeout=0.0)
    with pytest.raises(ValueError, match="workers_timeout must be positive, got -1"):
        multi_start(short(), 2, workers_timeout=-1.0)


@pytest.mark.slow
def test_workers_of_several_threads_are_refused():
    with (
        workers(1, threads_per_worker=2, processes=False),
        pytest.raises(ValueError, match=r"has 2 threads.*--nthreads 1"),
    ):
        run(drop(), OVER, workers=None)


def test_workers_with_another_program_are_refused():
    job = Job(drop(), None, {}, {}, "drop", "nsopt 0.0, casadi 0.0")
    with pytest.raises(RuntimeError, match=r"a worker has nsopt .* the sweep nsopt 0\.0"):
        job.run({"mass": 1.0})


def short():
    stated = load_optimization("brachistochrone")
    return replace(stated, horizon=replace(stated.horizon, steps=20))


def alike(one, other):
    a, b = (x.data.drop_vars("solve_time") for x in (one, other))
    return a.equals(b) and one.data.attrs["starts"] == other.data.attrs["starts"]


@pytest.mark.slow
def test_starts_in_several_processes_and_on_a_cluster():
    """The statement is of a file with a module beside it, which workers cannot import."""
    alone = multi_start(short(), 3)
    assert alike(multi_start(short(), 3, workers=2), alone)
    with workers(1):
        assert alike(multi_start(short(), 3, workers=None), alone)
    assert np.isfinite(json.loads(alone.data.attrs["starts"])).all()


@pytest.mark.parametrize("status", ["finished", "cancelled", "error"])
def test_a_connection_lost_while_a_value_is_fetched(status):
    """The run is made again, unless it was the run that raised."""

    class Lost:
        def __init__(self):
            self.status = status

        def result(self, timeout):
            assert timeout > 0
            raise CommClosedError("reset by peer")

    if status == "error":
        with pytest.raises(CommClosedError):
            cluster._take_outcome(Lost())
    else:
        assert cluster._take_outcome(Lost()) == (False, None)
