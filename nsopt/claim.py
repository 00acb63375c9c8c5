"""A file that one process at a time writes, held from before its content is computed."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

TAKEN = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES}


class ClaimedError(OSError):
    """A file that another process is about to write."""


@contextmanager
def claimed(path: Path, remedy: str) -> Iterator[None]:
    """Hold a file that is to be written against all others who would hold it, on any machine.

    Beside it is ``NAME.lock`` meanwhile, which says who holds it. What holds it is a lock of the
    operating system, which ends with its process: a lock file that is left over holds nothing.
    Where there are no such locks, nothing is held.

    Parameters
    ----------
    path : Path
        In a folder that exists.
    remedy : str
        What to do where another holds it, for the message.

    Raises
    ------
    ClaimedError
        At once, where another holds it.
    """
    if fcntl is None:
        yield
        return
    place = path.with_name(f"{path.name}.lock")
    lock = _locked(path, place, remedy)
    try:
        yield
    finally:
        with suppress(OSError):
            place.unlink()  # before the lock ends: then it is nobody else's
        os.close(lock)


def _locked(path: Path, place: Path, remedy: str) -> int:
    """Return the open lock file, locked."""
    while True:
        lock = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in TAKEN:  # a disk without locks
                return lock
            holder = os.read(lock, 1000).decode(errors="replace") or "another process"
            os.close(lock)
            raise ClaimedError(f"{str(path)!r} is being written by {holder}: {remedy}") from None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock), place.stat()):
                break
        os.close(lock)  # the one who held it has deleted it just now
    with suppress(OSError):  # on a full disk it holds without a name
        os.ftruncate(lock, 0)
        os.write(lock, f"process {os.getpid()} on {socket.gethostname()}".encode())
    return lock
