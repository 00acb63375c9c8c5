"""Fixtures and options of all tests: processes and threads, what is compiled and kept."""

import importlib
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# One thread each, before NumPy is imported: processes take all cores, and matrices are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Whatever else the machine does: no example fails by its time.
settings.register_profile("nsopt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nsopt")

KEPT = 500_000_000
"""Bytes of compiled code that are kept from run to run; a run of all tests makes 160 million."""


@pytest.fixture(autouse=True)
def closed_figures():
    """Where pyplot is imported, as by pages of the docs, it keeps figures until they are closed."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One process for each core this one may use, two at least: some tests only wait."""
    usable = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    return max(2, len(usable(0)))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Give each process whole files, for what their tests share, and begin with what is slow.

    So none waits for a long last test, and models and runs of a file are made in one process.
    """
    files = {}
    for item in items:
        slow, fast = files.setdefault(item.path, ([], []))
        (slow if item.get_closest_marker("slow") else fast).append(item)
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    shares = [([], []) for _ in range(processes)]
    for tests in sorted(files.values(), key=lambda x: (len(x[0]), len(x[1])), reverse=True):
        share = min(shares, key=lambda x: len(x[0] if tests[0] else x[0] + x[1]))
        for part, more in zip(share, tests, strict=True):
            part.extend(more)
    items[:] = [item for slow, fast in shares for item in slow + fast]


def code_folder(config, tmp_path_factory):
    """With what pytest keeps from run to run, which ``--cache-clear`` empties; or of this run."""
    if kept := getattr(config, "cache", None):
        return Path(kept.mkdir("nsopt"), "compiled")
    base = tmp_path_factory.getbasetemp()
    return Path(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base, "compiled")


def pytest_sessionfinish(session):
    """Keep the latest of the compiled code: old code makes way for new."""
    kept = getattr(session.config, "cache", None)
    if kept is None or hasattr(session.config, "workerinput"):
        return
    folder = Path(kept.mkdir("nsopt"), "compiled")
    if folder.is_dir():
        importlib.import_module("nsopt.kept_code").limit_folder(folder, KEPT)


@pytest.fixture(scope="session", autouse=True)
def compiled_code(pytestconfig, tmp_path_factory):
    """One cache of compiled code for all processes of a run, and for the runs after it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NSOPT_CACHE", str(code_folder(pytestconfig, tmp_path_factory)))
        # A third of the time of the compiler, the same numbers.
        patch.setenv("NSOPT_CFLAGS", "-O0")
        yield


@pytest.fixture(scope="session", autouse=True)
def ctrl_c():
    """Hear Ctrl-C, here and in processes begun here, also in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def unchecked_runs(compiled_code):
    """Runs and optima are not repeated to tell their errors: most tests compare with truth."""
    trajectory = importlib.import_module("nsopt.trajectory")
    repeated = (
        importlib.import_module("nsopt").simulate,
        trajectory.optimize,
        trajectory.Optimization.solve,
    )
    with pytest.MonkeyPatch.context() as patch:
        for function in repeated:
            patch.setitem(function.__kwdefaults__, "check", None)
        yield
