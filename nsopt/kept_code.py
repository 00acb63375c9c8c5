"""Compiled code kept on the disk from run to run, in a folder that its owner alone may write to.

An entry is a file of code, ``<key>.so``, ``<key>.o`` or ``<key>.text``, and its manifest,
``<key>.json``, which states what the code was made from and its hash. The folder may be deleted at
any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from platformdirs import user_cache_path

from nsopt.files import NO_LINK, create, replacing

LIMIT = 1_000_000_000
"""Bytes of code in the folder; beyond it the code that was not used for the longest time goes."""

_OURS = re.compile(r"[0-9a-f]{64}(\.[0-9a-f]{12}\.partial)?\.(so|o|text|json)")
"""Names of the files that this module writes."""
_said: set[Path] = set()
"""Folders of which a warning said that they cannot be used."""
_limited: set[Path] = set()
"""Folders that were brought below `LIMIT`, which is done once in a process."""


def cache_folder() -> Path:
    """Return where compiled code is kept: ``$NSOPT_CACHE``, or nsopt in the user's cache folder."""
    if stated := os.environ.get("NSOPT_CACHE"):
        return Path(stated).expanduser().absolute()
    return user_cache_path("nsopt", appauthor=False).absolute()


@dataclass(frozen=True)
class Entry:
    """A place for code that is made from what is stated."""

    origin: Mapping[str, str]  # all that the code depends on: with it the code is found again
    # Of the file of code: ``".so"``, ``".o"``, or ``".text"`` of what code is made from.
    suffix: str

    @cached_property
    def key(self) -> str:
        """Hash of the origin, the entry's name."""
        return hashlib.sha256(json.dumps(dict(self.origin)).encode()).hexdigest()

    def read(self, folder: Path) -> bytes | None:
        """Return the code if its manifest is what it must be, to the byte; else None."""
        try:
            _refuse_foreign(folder.stat())
            code, manifest = (_read_file(folder / name) for name in self._names)
        except OSError:
            return None
        if manifest != self._manifest(code):
            return None
        for name in self._names:
            with suppress(OSError):
                os.utime(folder / name)  # in use: it stays, see `limit_folder`
        return code

    def write(self, code: bytes, folder: Path, tell: bool = True) -> None:
        """Keep the code; two processes at once write the same.

        Where that cannot be done a ``RuntimeWarning`` says why, once in a process, unless ``tell``
        is false.
        """
        try:
            self._write(code, folder)
        except OSError as error:
            if tell:
                _warn(folder, error)

    def _write(self, code: bytes, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_foreign(folder.stat())
        for name, content in zip(self._names, (code, self._manifest(code)), strict=True):
            path = folder / name
            if path.is_symlink():  # not ours: nothing may be written through it
                path.unlink()
            with replacing(path) as new:
                create(new, content)
                new.chmod(0o600)  # whatever the umask lets others do
        if folder not in _limited:
            _limited.add(folder)
            limit_folder(folder)

    @property
    def _names(self) -> tuple[str, str]:
        return f"{self.key}{self.suffix}", f"{self.key}.json"

    def _manifest(self, code: bytes) -> bytes:
        stated = {**self.origin, "code": hashlib.sha256(code).hexdigest()}
        return json.dumps(stated, indent=1).encode()


def limit_folder(folder: Path, size: int = LIMIT) -> None:
    """Delete the code that was not used for the longest time, down to ``size`` bytes."""
    found = []
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # what another run has removed
            if _OURS.fullmatch(path.name):
                status = path.lstat()
                found.append((status.st_mtime, status.st_size, path))
    total = 0
    for _, length, path in sorted(found, reverse=True):
        total += length
        if total > size:
            path.unlink(missing_ok=True)


def _warn(folder: Path, error: OSError) -> None:
    if folder not in _said:
        _said.add(folder)
        remedy = "make it a folder that you alone may write to, or set NSOPT_CACHE to another"
        message = f"every run compiles anew, as {folder} cannot be used ({error}): {remedy}"
        warnings.warn(message, RuntimeWarning, stacklevel=4)


def _read_file(path: Path) -> bytes:
    """Return the content of a file; refuse a link, and a file that others may have written."""
    with open(os.open(path, os.O_RDONLY | NO_LINK), "rb") as file:
        _refuse_foreign(os.fstat(file.fileno()))
        return file.read()


def _refuse_foreign(status: os.stat_result) -> None:
    """Refuse what others may write to: manifests of theirs would fit their code."""
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise PermissionError("others may write to it")
