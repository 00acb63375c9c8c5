"""Compilers for tests, code for them to compile, and how a process forgets what it did."""

import os
import shutil
from functools import cache

import pytest

from nsopt import kept_code
from nsopt.mpcc.backends import linear_solver

COMPILERS = ["cc", "gcc", "clang"] if os.name == "posix" else []
CC = next((path for path in map(shutil.which, COMPILERS) if path), None)
needs_compiler = pytest.mark.skipif(CC is None, reason="no C compiler on this machine")


def forget(monkeypatch):
    """Put this process into the state of a fresh one."""
    fresh = cache(linear_solver._make_library.__wrapped__)
    monkeypatch.setattr(linear_solver, "_make_library", fresh)
    monkeypatch.setattr(kept_code, "_said", set())


def script(path, *lines):
    """Write a compiler."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o700)
    return str(path)
