"""A folder of code of its own for each test of leaves."""

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NSOPT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
