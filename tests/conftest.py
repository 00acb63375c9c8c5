"""Fixtures and options of all tests: number of processes, the cache of compiled code."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Whatever else the machine does: no example fails by its time.
settings.register_profile("nsopt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nsopt")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One process for each core this one may use, two at least: some tests only wait."""
    usable = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    return max(2, len(usable(0)))


@pytest.fixture(scope="session", autouse=True)
def compiled_code(tmp_path_factory):
    """One cache of compiled code for all processes of a run, and no other run's."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NSOPT_CACHE", str(Path(shared, "compiled")))
        # Half the time of the compiler, the same numbers.
        patch.setenv("NSOPT_CFLAGS", "-O1")
        yield


@pytest.fixture(scope="session", autouse=True)
def ctrl_c():
    """Hear Ctrl-C, here and in processes begun here, also in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
