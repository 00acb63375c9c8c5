"""Finished points as files, each named by all that its numbers depend on."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Literal

import casadi as ca
import numpy as np

from nsopt.files import NotWrittenError, create, replacing
from nsopt.stored_hash import make_netcdf
from nsopt.versions import version

if TYPE_CHECKING:
    import xarray as xr

Engine = Literal["h5netcdf", "scipy"]
SOURCES = ("algebra", "mpcc", "mechanics", "elements", "schemes", "simulation", "sweep")
"""Packages whose source code makes the numbers."""

SMALL: Engine = "scipy"
"""netCDF 3, ten times faster than HDF5 for a few numbers."""


def list_content(x: Any) -> Any:
    """Return the content of ``x`` as nested lists of text and numbers, the same in every process.

    The content of a function is its code, its defaults and its closure, without functions it calls.
    """
    if isinstance(x, ca.Function):
        return x.serialize()
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        compared = (f.name for f in dataclasses.fields(x) if f.compare)
        members = [[name, list_content(getattr(x, name))] for name in compared]
        return [type(x).__qualname__, members]
    if isinstance(x, Mapping):
        return sorted([str(name), list_content(value)] for name, value in x.items())
    if isinstance(x, (list, tuple)):
        return [list_content(value) for value in x]
    if isinstance(x, (set, frozenset)):
        return sorted(map(repr, x))
    if isinstance(x, np.ndarray):
        return [list(x.shape), list_content(x.ravel().tolist())]
    if isinstance(x, partial):
        return list_content([x.func, x.args, x.keywords])
    if isinstance(x, FunctionType):
        closure = [cell.cell_contents for cell in x.__closure__ or ()]
        others = [value for value in closure if value is not x]  # itself, where it is recursive
        return list_content([x.__code__, x.__defaults__, x.__kwdefaults__, others])
    if isinstance(x, CodeType):
        return [x.co_code.hex(), list(x.co_names), list_content(x.co_consts)]
    return repr(x)


def digest(*parts: Any) -> str:
    """Return a hash of the content of ``parts``."""
    text = json.dumps([list_content(part) for part in parts])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@lru_cache
def name_versions() -> str:
    """Return the versions of the programs that make the numbers."""
    return ", ".join(f"{name} {version(name)}" for name in ("nsopt", "casadi", "numpy"))


@lru_cache
def hash_sources() -> str:
    """Return a hash of the source code that makes the numbers, which changes between versions."""
    package = Path(__file__).parents[1]
    files = sorted(file for name in SOURCES for file in (package / name).rglob("*.py"))
    return digest([file.read_text(encoding="utf-8") for file in files])


def name_program() -> str:
    """Return the versions and the source code that make the numbers, as a text."""
    return f"{name_versions()}, source code {hash_sources()}"


def write(data: xr.Dataset, path: Path, engine: Engine = "h5netcdf") -> None:
    """Write netCDF by an engine of xarray; the file appears whole, or an OSError names the path."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWrittenError(path, error) from error
    with replacing(path) as new:
        create(new, make_netcdf(data) if engine == "h5netcdf" else data.to_netcdf(engine=engine))


@dataclasses.dataclass(frozen=True)
class Store:
    """Finished points in a folder, or nowhere."""

    folder: Path | None

    def save(self, key: str, data: xr.Dataset) -> None:
        """Keep a finished point."""
        if self.folder is not None:
            write(data.assign_attrs(key=key, check=_digest_data(data)), self._file(key), SMALL)

    def load(self, key: str) -> xr.Dataset | None:
        """Return a finished point; None if there is none, or its file is damaged."""
        import xarray as xr

        if self.folder is None or not self._file(key).is_file():
            return None
        try:
            data = xr.load_dataset(self._file(key), engine=SMALL)
            stored = data.attrs.pop("key"), data.attrs.pop("check")
            whole = stored == (key, _digest_data(data))
        except Exception:  # a damaged file may raise anything
            return None
        return data if whole else None

    def _file(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / "points" / f"{key}.nc"


def _digest_data(data: xr.Dataset) -> str:
    """Return a hash of all variables, by which a damaged file is known."""
    return digest([[name, x.dims, x.values] for name, x in sorted(data.variables.items())])
