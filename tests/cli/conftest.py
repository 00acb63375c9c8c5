"""Folders with a problem file, and with its results."""

import shutil
from pathlib import Path

import pytest

from tests.cli.commands import DROP, call


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drop.py").write_text(DROP.replace("HEIGHT", "0.05"))
    return tmp_path


@pytest.fixture(scope="session")
def drop(tmp_path_factory):
    """The results of one run of the ball."""
    there = tmp_path_factory.mktemp("drop")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(there)
        Path("drop.py").write_text(DROP.replace("HEIGHT", "0.05"))
        call("run", "drop.py", "--solver", "sqp")
    return there / "results"


@pytest.fixture
def dropped(folder, drop):
    """A folder where the ball was run."""
    shutil.copytree(drop, folder / "results")
    return folder
