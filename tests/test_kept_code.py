"""The folder of compiled code: where it is, and what makes way in it."""

import os
import sys
from pathlib import Path

import pytest

from nsopt import kept_code
from nsopt.kept_code import Entry, cache_folder, limit_folder

pytestmark = pytest.mark.unit

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a folder of Linux")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"NSOPT_CACHE": "/a/b", "XDG_CACHE_HOME": "/x"}, "/a/b"),
        ({"NSOPT_CACHE": "~/b"}, "/house/me/b"),
        pytest.param({"XDG_CACHE_HOME": "/x"}, "/x/nsopt", marks=ON_LINUX),
        pytest.param({}, "/house/me/.cache/nsopt", marks=ON_LINUX),
    ],
)
def test_cache_folder(environment, expected, monkeypatch):
    for name in ("NSOPT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/house/me", **environment}.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected)


def test_other_origins_have_other_keys():
    entries = [Entry({"a": text, "b": ""}, ".o") for text in ("1", "2", "1")]
    assert entries[0].key == entries[2].key != entries[1].key


def test_code_that_was_not_used_for_long_makes_way(tmp_path):
    entries = [Entry({"number": str(k)}, ".o") for k in range(3)]
    (tmp_path / "notes.json").write_text("not ours")
    for k, entry in enumerate(entries):
        entry.write(b"x" * 1000, tmp_path)
        for path in tmp_path.glob(f"{entry.key}*"):
            os.utime(path, (k, k))
    assert entries[0].read(tmp_path)  # used last
    limit_folder(tmp_path, 2800)
    assert [entry.read(tmp_path) is None for entry in entries] == [False, True, False]
    assert (tmp_path / "notes.json").exists()


def test_first_entry_of_a_process_limits_the_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_code, "_limited", set())
    old = tmp_path / f"{'0' * 64}.so"
    with old.open("wb") as file:
        file.truncate(kept_code.LIMIT)
    os.utime(old, (0, 0))
    Entry({"number": "1"}, ".o").write(b"code", tmp_path)
    assert not old.exists()
