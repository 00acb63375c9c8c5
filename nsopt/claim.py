"""A file that one process at a time writes, held from before its content is computed."""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nsopt.files import NO_LINK

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

HOLDER = re.compile(r"(process \d+ on .*)?")
"""The text of a lock file."""

TAKEN = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES}
"""Errors of a lock that another process has."""


class ClaimedError(OSError):
    """A file that another process is about to write."""


@contextmanager
def claim_file(path: Path, remedy: str) -> Iterator[None]:
    """Hold a file that is to be written against all others who would hold it, on any machine.

    Beside it, in a folder that exists, is ``NAME.lock`` meanwhile, which says who holds it. What
    holds it is a lock of the operating system, which ends with its process: a lock file that is
    left over holds nothing. Where there are no such locks, nothing is held.

    Raises
    ------
    ClaimedError
        At once, where another holds it; ``remedy`` is what to do then.
    OSError
        If something else has the name of the lock file: a link, a folder, a file of others.
    """
    if fcntl is None:
        yield
        return
    place = path.with_name(f"{path.name}.lock")
    lock = _lock(path, place, remedy)
    try:
        yield
    finally:
        with suppress(OSError):
            place.unlink()  # before the lock ends: then it is nobody else's
        os.close(lock)


def _lock(path: Path, place: Path, remedy: str) -> int:
    """Return the open lock file, locked."""
    while True:
        lock = _open(place)
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
        os.close(lock)  # its holder has deleted it just now: try again with a new one
    with suppress(OSError):  # on a full disk it holds without a name
        os.ftruncate(lock, 0)
        os.write(lock, f"process {os.getpid()} on {socket.gethostname()}".encode())
    return lock


def _open(place: Path) -> int:
    """Return a lock file, open; refuse a link, a second name of a file and another content.

    Where others may write to the folder they could have us truncate a file of the user's.
    """
    try:
        lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | NO_LINK, 0o666)
    except OSError:
        if not place.is_symlink():
            raise
        raise _not_a_lock(place, f"is a link to {os.readlink(place)!r}") from None
    status = os.fstat(lock)
    alone = stat.S_ISREG(status.st_mode) and status.st_nlink <= 1
    if alone and HOLDER.fullmatch(os.pread(lock, 1000, 0).decode(errors="replace")):
        return lock
    os.close(lock)
    raise _not_a_lock(place, "is there, but is no lock file of nsopt")


def _not_a_lock(place: Path, what: str) -> OSError:
    return OSError(f"{str(place)!r} {what}: delete it, or name another place")
