"""Files that appear whole or not at all, also beside another process that writes the same file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

UNFINISHED = "partial"
"""Part of the name of a file that is not yet whole; a killed process leaves such a file behind."""


NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""Flag of `os.open` that refuses a link; Windows has none."""


class NotWrittenError(OSError):
    """A file that could not be written to its end; what was there before is whole."""

    def __init__(self, path: str | Path, error: OSError) -> None:
        super().__init__(error.errno, error.strerror or str(error))
        self.path = str(path)

    def __str__(self) -> str:
        """Return the path and the reason."""
        return f"cannot write {self.path!r}: {self.strerror}"


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """Yield a new path beside ``path``; what is written there becomes ``path`` when all went well.

    After an error ``path`` is as it was, and what was written is deleted. Nobody can know the new
    name before the file is there, so there is no link under it; `create` makes sure of that. If
    ``durable`` the file is on the disk before it gets its name, to survive a power failure.

    Raises
    ------
    NotWrittenError
        As on a full disk, also for an OSError of the caller within, and where ``path`` is a link.
    """
    new = _name_partial_file(path)
    try:
        check_no_link(path)
        yield new
        if durable:
            _sync(new)
        os.replace(new, path)
    except OSError as error:
        raise NotWrittenError(path, error) from error
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)
    if durable and os.name == "posix":
        with suppress(OSError):
            _sync(path.parent)


def create(path: Path, content: bytes | memoryview | str) -> None:
    """Write a file where there is none yet, nor a link."""
    data = content.encode() if isinstance(content, str) else content
    with open(path, "xb") as file:
        file.write(data)


def check_no_link(path: Path) -> None:
    """Refuse to write where a link is: which file is meant, it or its target, is not certain."""
    if path.is_symlink():
        reason = f"it is a link to {os.readlink(path)!r}: name that itself, or delete the link"
        raise OSError(errno.ELOOP, reason)


def tell_exposure(folder: Path) -> str:
    """Return why other users may replace what is written to a folder; empty if they may not.

    In a sticky folder, such as /tmp, only its owner may.
    """
    if os.name != "posix":
        return ""
    status = folder.stat()
    if not status.st_mode & stat.S_IWOTH:
        return ""
    if not status.st_mode & stat.S_ISVTX:
        return "its permissions let every user write there"
    is_theirs = status.st_uid not in (0, os.getuid())
    return f"it is shared, and belongs to user {status.st_uid}" if is_theirs else ""


def check_writable(path: str | Path) -> Path:
    """Return ``path``, if a file can be written there, and make its folder; else say why."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {str(path)!r}: it is a folder; name a file in it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_no_link(path)
        probe = _name_partial_file(path)
        create(probe, "")
        probe.unlink()
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError("the file is read-only")
    except OSError as error:
        reason = error.strerror or error
        raise OSError(f"cannot write {str(path)!r}: {reason}; name another place") from error
    return path


def _name_partial_file(path: Path) -> Path:
    """Return a name that no other process has, with the ending of ``path``."""
    return path.with_name(f"{path.stem}.{uuid4().hex[:12]}.{UNFINISHED}{path.suffix}")


def _sync(path: Path) -> None:
    """Have a file, or the names in a folder, written to the disk."""
    handle = os.open(path, os.O_RDONLY | (0 if path.is_dir() else NO_LINK))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
