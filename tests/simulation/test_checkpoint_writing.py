"""When checkpoints are written, and where they cannot be."""

import os
import signal
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from nsopt import Checkpoint, StepBounds
from nsopt.interrupt import forget
from nsopt.simulation.checkpoint import hdf5, writer
from nsopt.simulation.driver import Driver
from tests.simulation.checkpoints import Full, assert_same, files, run


@pytest.mark.parametrize("write", [1, 3, 5, 7, 9, 11])
def test_a_full_disk_ends_the_run_and_leaves_the_checkpoint_whole(tmp_path, monkeypatch, write):
    """A write syncs the file, then the folder; blocks and heads take turns."""
    keep = Checkpoint(tmp_path / "run.checkpoint", steps=500)
    with monkeypatch.context() as patch:
        Full(patch, [k == write for k in range(1, 20)])
        result = run(checkpoint=keep)
    assert not result.completed
    reason = result.data.attrs["stop_reason"]
    for word in ("stopped at t = 0.", str(keep.path), "No space left"):
        assert word in reason
    assert result.data.attrs["steps"] == 500 * (1 + (write - 1) // 4)
    if write <= 3:
        assert not keep.exists
        assert files(keep) == []
        return
    assert len(files(keep)) == 1 + (write - 1) // 4
    assert not any("partial" in name for name in files(keep))
    assert_same(run(checkpoint=replace(keep, resume=True)), run())


def test_a_full_disk_where_the_run_is_interrupted(tmp_path, monkeypatch):
    keep = Checkpoint(tmp_path / "run.checkpoint")
    advance = Driver.advance

    def interrupted(driver):
        signal.raise_signal(signal.SIGINT)
        return advance(driver)

    monkeypatch.setattr(Driver, "advance", interrupted)
    result = run(checkpoint=keep)
    assert result.data.attrs["stop_reason"].startswith("interrupted at t = ")
    assert keep.exists
    keep.remove()
    assert not keep.folder.exists()
    Full(monkeypatch, [True])
    forget()
    result = run(checkpoint=keep)
    forget()
    assert "interrupted" in result.data.attrs["stop_reason"]
    assert "No space left" in result.data.attrs["stop_reason"]
    assert not keep.exists


def test_where_nothing_can_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(Driver, "advance", None)
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "x", Path("/proc/nothing")):
        with pytest.raises(OSError, match="cannot write the checkpoint") as error:
            run(checkpoint=Checkpoint(place))
        assert str(place) in str(error.value)
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.slow
def test_each_step_is_written_once(tmp_path, monkeypatch):
    """With ten times the checkpoints there is little more to write, and it grows with the run."""
    sizes = []

    def counted(path, *content, write=hdf5.write):
        write(path, *content)
        sizes[-1] += path.stat().st_size

    monkeypatch.setattr(writer, "write", counted)
    for duration, steps in ((0.3, 500), (0.6, 500), (0.6, 3000)):
        sizes.append(0)
        run(duration=duration, checkpoint=Checkpoint(tmp_path / str(len(sizes)), steps=steps))
    assert sizes[1] < 2.4 * sizes[0]  # the first writes 5 of 6 blocks, the second 11 of 12
    assert sizes[1] < 3 * sizes[2]
    assert sizes[1] > 5500 * 8 * 30


@pytest.mark.parametrize("pace", [{"steps": 0}, {"seconds": 0.0}, {"seconds": float("nan")}])
def test_pace_must_be_positive(pace):
    with pytest.raises(ValueError, match="must be positive"):
        Checkpoint("x", **pace)


def test_pace_by_the_clock(tmp_path, monkeypatch):
    """A checkpoint is due after 60 s; each reading of the clock is 21 s later here."""
    clock = iter(range(0, 10**6, 21))
    monkeypatch.setattr(writer, "monotonic", lambda: next(clock))
    counts = []
    monkeypatch.setattr(writer, "write", lambda path, *content: counts.append(path.name))
    run(checkpoint=Checkpoint(tmp_path / "x"))
    # Blocks at 500, 1000, ..., 2500 steps, none at the end: due at the third.
    assert counts.count("head.h5") == 1


@pytest.mark.slow
def test_memory_is_flat_where_few_steps_are_kept():
    """The least of three runs: in others machine code may be made at the same time."""

    def peak(duration):
        tracemalloc.start()
        run(duration=duration, steps=StepBounds(1e-5, 1e-5), store_every=1000)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    brief, long = (min(peak(duration) for _ in range(3)) for duration in (0.1, 0.8))
    assert long < 1.2 * brief + 1e5
