"""Compilers for tests, a function for them to compile, and how a process forgets what it did."""

import os
import shutil

import casadi as ca
import pytest

from nsopt import kept_code
from nsopt.mpcc import native

COMPILERS = ["cc", "gcc", "clang"] if os.name == "posix" else []
CC = next((path for path in map(shutil.which, COMPILERS) if path), None)
needs_compiler = pytest.mark.skipif(CC is None, reason="no C compiler on this machine")


def swing(length=10):
    """Steps of a pendulum, explicit: compiles in a fifth of the time."""
    s, h = ca.SX.sym("s", 2), ca.SX.sym("h")
    v = s[1] - h * ca.sin(s[0])
    step = ca.Function("swing", [s, h], [ca.vertcat(s[0] + h * v, v)])
    return step.mapaccum("swings", length)


def forget(monkeypatch):
    """Put this process into the state of a fresh one."""
    for memory in ("_loaded", "_failed", "_said"):
        monkeypatch.setattr(native, memory, type(getattr(native, memory))())
    monkeypatch.setattr(kept_code, "_said", set())


def script(path, *lines):
    """Write a compiler."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o700)
    return str(path)
