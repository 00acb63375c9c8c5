"""A cache of compiled code of its own, for tests of the compiler."""

import pytest

from tests.mpcc.compilers import forget


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache of its own, and no memory of what was loaded before."""
    monkeypatch.setenv("NSOPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    forget(monkeypatch)
    return tmp_path / "cache"
