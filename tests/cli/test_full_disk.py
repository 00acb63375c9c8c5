"""Commands on a full disk: one error, and no half file."""

import errno
import importlib
import io
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from nsopt import Result
from nsopt.cli import BAD_INPUT, NOT_SAVED, STOPPED_EARLY, app, command
from nsopt.simulation.checkpoint import writer
from tests.cli.commands import call


@pytest.mark.slow
def test_a_full_disk_ends_a_run_with_one_error(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writer, "write", full)
    outcome = call("run", "drop.py", "--solver", "sqp", "--checkpoint-every", 1e-9,
                   code=STOPPED_EARLY)  # fmt: skip
    lines = [line for line in outcome.stderr.splitlines() if "error: " in line]
    assert len(lines) == 1
    for word in ("stopped at t = 0.0", "results/drop.checkpoint", "No space left"):
        assert word in lines[0]
    assert "--resume" not in outcome.stderr  # nothing is there
    assert Result.open("results/drop.nc")["time"].values[-1] == pytest.approx(0.01)


@pytest.mark.parametrize("options", [["--help"], ["--version"], ["run", "--help"]], ids=" ".join)
def test_help_that_cannot_be_written_is_one_error(options, monkeypatch, capsys):
    class Full(io.StringIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(SystemExit) as ended:
        app(options)
    assert ended.value.code == NOT_SAVED
    assert capsys.readouterr().err == "error: cannot write the output: No space left on device\n"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes")
def test_a_full_disk_where_the_result_is_saved(folder):
    """A file may not become larger than 50 kB."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    command = [sys.executable, "-m", "nsopt", "run", "drop.py", "--solver", "sqp"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == NOT_SAVED
    errors = [line for line in done.stderr.splitlines() if line and "%|" not in line]
    assert errors == ["error: cannot write 'results/drop.nc': File too large"]
    assert not list(Path("results").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "file"),
    [
        (["plot"], "x.png"),
        (["plot"], "x.pdf"),
        (["plot", "--what", "animation"], "x.gif"),
        (["view"], "x.html"),
    ],
)
def test_a_full_disk_where_a_picture_is_drawn(dropped, command, file):
    """A file may not become larger than 5 kB: one error, no half picture."""
    was = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, was[1]))
    try:
        told = call(*command, "results/drop.nc", "--out", file, code=NOT_SAVED)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)
    assert told.stderr.splitlines() == [f"error: cannot write '{file}': File too large"]
    assert sorted(x.name for x in Path().iterdir()) == ["drop.py", "results"]


@pytest.mark.slow
def test_a_full_disk_where_a_sweep_is_saved(folder):
    """Points are smaller than 8 kB, the whole is not."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, 8_000))

    command = [sys.executable, "-m", "nsopt", "sweep", "drop.py", "--solver", "sqp", "--workers",
               "1", "--set", "mass=1,2"]  # fmt: skip
    for _ in range(2):
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, preexec_fn=limit
        )
        errors = [x for x in done.stderr.splitlines() if x and "%|" not in x]
        assert errors == ["error: cannot write 'results/drop_sweep/sweep.nc': File too large"]
        assert done.returncode == NOT_SAVED
        assert [x.name for x in Path("results/drop_sweep").iterdir()] == ["points"]
        assert len(list(Path("results/drop_sweep/points").iterdir())) == 2
    call(*command[3:])
    assert Path("results/drop_sweep/sweep.nc").is_file()


def in_a_shell(line):
    """Return code and words of ``nsopt list`` with the shell's ``line`` behind it."""
    command = ["bash", "-c", f"{sys.executable} -m nsopt list {line}"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is full")
def test_output_that_cannot_be_written_is_one_error():
    code, told = in_a_shell("> /dev/full")
    assert (code, told) == (
        NOT_SAVED,
        "error: cannot write the output: No space left on device\n",
    )


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="shells")
@pytest.mark.parametrize("line", [">&-", "| true"])
def test_a_reader_that_has_gone_is_no_fault(line):
    assert in_a_shell(line)[1] == ""


@pytest.mark.unit
def test_too_little_memory_is_one_error(folder, monkeypatch):
    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr(importlib.import_module("nsopt.cli.look"), "problem_files", exhausted)
    assert "not enough memory" in call("list", code=BAD_INPUT).stderr


@pytest.mark.unit
def test_letters_that_a_terminal_has_not_are_no_fault(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "ascii"))
    with command():
        print("Zahnräder")
    assert written.getvalue() == b"Zahnr?der\n"
