"""Runs of case A that can be ended and resumed, whether two are the same, and a full disk."""

import errno
import os

from nsopt import StepBounds, load_problem, simulate
from nsopt import files as whole_files
from nsopt.schemes import Variational
from nsopt.simulation import Compiled

CASE_A = load_problem("case_a")
FINE = StepBounds(1e-4, 1e-4)


def run(**options):
    options = {
        "duration": 0.3,
        "steps": FINE,
        "scheme": Variational(),
        "solver": Compiled(chunk=500),  # a run has several blocks
        "progress": False,
    } | options
    return simulate(CASE_A.dynamics, **options)


def assert_same(result, expected, but=("solve_time",)):
    assert result.completed == expected.completed
    assert result.data.attrs["steps"] == expected.data.attrs["steps"]
    assert result.data.attrs["steps_below_h_min"] == expected.data.attrs["steps_below_h_min"]
    assert set(result.data.variables) == set(expected.data.variables)
    for name in set(result.data.variables) - set(but):
        a, b = result.data[name].values, expected.data[name].values
        assert a.dtype.kind == b.dtype.kind, name
        assert a.shape == b.shape, name
        assert a.tolist() == b.tolist() if a.dtype.kind in "OUT" else a.tobytes() == b.tobytes(), (
            name
        )


def files(keep):
    return sorted(file.name for file in keep.folder.iterdir())


class Full:
    """A disk on which some of the next writes fail."""

    def __init__(self, monkeypatch, bad):
        self.sync, self.left = os.fsync, iter(bad)
        monkeypatch.setattr(whole_files.os, "fsync", self)

    def __call__(self, handle):
        if next(self.left, False):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.sync(handle)
