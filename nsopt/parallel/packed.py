"""A function as bytes, for other processes."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import cloudpickle
from tqdm import tqdm


def pack(
    task: Callable[[Any], Any], arguments: Mapping[int, Any]
) -> tuple[bytes, dict[int, bytes]]:
    """Return a function and its arguments for other processes, with modules they cannot import.

    Raises
    ------
    TypeError
        If something in them cannot be sent.
    """
    path = {Path(folder).resolve() for folder in sys.path}
    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        is_single = "." not in module.__name__ and not hasattr(module, "__path__")  # no package
        if file and is_single and Path(file).resolve().parent not in path:
            cloudpickle.register_pickle_by_value(module)  # such as one beside a problem's file
    try:
        return cloudpickle.dumps(task), {k: cloudpickle.dumps(x) for k, x in arguments.items()}
    except Exception as error:  # pickle raises anything
        raise TypeError(
            f"what runs in other processes cannot be sent there: {error}. Measures, costs and "
            "options may not hold locks, open files or generators: make them within the function"
        ) from error


def run_packed(packed: bytes, parent: int, k: int, argument: bytes) -> tuple[int, Any]:
    """Return k and the value at an argument; ``parent`` is the process that packed both."""
    task = _unpack(packed)
    if os.getpid() != parent:
        _give_own_lock()
    return k, task(cloudpickle.loads(argument))


@lru_cache(maxsize=2)
def _unpack(packed: bytes) -> Callable[[Any], Any]:
    """Return the function, one for all calls in a process."""
    task: Callable[[Any], Any] = cloudpickle.loads(packed)
    return task


@lru_cache
def _give_own_lock() -> None:
    """Give tqdm a lock of this process: one between processes is left over when they are killed."""
    tqdm.set_lock(threading.RLock())
