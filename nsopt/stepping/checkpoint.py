"""Long runs: what is kept on disk now and then, so that a run that was ended can go on.

A checkpoint is a folder of HDF5 files, each with its SHA-256 behind it::

    head.h5                     where the run is, of what it is a run, the hash of the last block
    000000-0123456789abcdef.h5  the steps kept up to the first checkpoint, named by their hash
    000001-...                  those up to the second, and the hash of the block before

A block is written once; ``head.h5`` is replaced at once, after the block it names. So a checkpoint
is whole at any time, and a run writes each of its steps once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from importlib.metadata import version
from numbers import Real
from pathlib import Path
from time import monotonic
from typing import Any

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Point
from nsopt.stepping.driver import Driver, Reached
from nsopt.stepping.history import History, model_hash
from nsopt.stepping.initial import Run, Start
from nsopt.stepping.packing import PARTIAL, Arrays, Facts, packed, read, stated_hash, write
from nsopt.stepping.taken import Taken

HEAD = "head.h5"
FORMAT = "1"
POINT = ("x", "lam_x", "lam_g")
_OURS = re.compile(rf"(head|\d{{6,}}-[0-9a-f]{{16}})\.h5({re.escape(PARTIAL)})?")
_MADE_WITH = ("nsopt", "casadi", "numpy", "scipy")
_SHOWN = 5
"""How many differences one message names."""


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often a run is kept, so that ``simulate(..., resume=path)`` can go on.

    It is written between blocks (a step of the solvers, or a chunk of the compiled chain), after
    ``steps`` steps or ``seconds`` of wall time, whichever is first, and when Ctrl-C ends the run.
    A checkpoint that is there already is replaced then, unless it is the one that is resumed. A
    run that came to its end leaves it as it was last written: `remove` it when the result is saved.

    Parameters
    ----------
    path : path
        A folder, which is made; for this run alone.
    steps : int, optional
    seconds : float, optional

    Raises
    ------
    ValueError
        If ``steps`` or ``seconds`` is not positive.

    Notes
    -----
    What was resumed ends as if it had never stopped, bit by bit, but for ``solve_time``. That
    holds for the same machine and versions, and for solvers that remember nothing from call to
    call: all but the QP solver `Osqp`.
    """

    path: str | Path
    steps: int | None = None
    seconds: float | None = 60.0

    def __post_init__(self) -> None:
        for name in ("steps", "seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} between checkpoints must be positive, got {value}")

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return Path(self.path)

    @property
    def exists(self) -> bool:
        """Whether there is something to resume."""
        return (self.folder / HEAD).is_file()

    def remove(self) -> None:
        """Delete its files, and the folder if there is nothing else in it."""
        (self.folder / HEAD).unlink(missing_ok=True)  # first: what is without a head is no more
        for file in _files(self.folder):
            file.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


class CheckpointError(OSError):
    """A checkpoint that could not be written; the one before is whole."""


@dataclass(frozen=True, eq=False)
class Saved:
    """What a checkpoint holds.

    Attributes
    ----------
    reached : Reached
    kept, waiting : Taken
        As of a `History`.
    count : int
        Steps taken.
    blocks : tuple of str
        Hashes of the blocks in order.
    """

    reached: Reached
    kept: Taken
    waiting: Taken
    count: int
    blocks: tuple[str, ...]


class Keeper:
    """Writes the checkpoints of one run.

    Parameters
    ----------
    checkpoint : Checkpoint
    made : mapping of name to text
        From `made_from`.
    saved : Saved, optional
        What the same folder holds of this run.

    Raises
    ------
    CheckpointError
        If nothing can be written there.

    Attributes
    ----------
    place : str
        The folder, once it holds a checkpoint of this run.
    """

    def __init__(self, checkpoint: Checkpoint, made: Mapping[str, str], saved: Saved | None = None):
        self._checkpoint, self._made, self._folder = checkpoint, made, checkpoint.folder
        self._blocks = list(saved.blocks) if saved else []
        self._told = int(bool(saved and len(saved.kept)))  # blocks of the history that are written
        self._count, self._time = saved.count if saved else 0, monotonic()
        self._tidy = False
        self.place = str(self._folder) if saved else ""
        _probe(self._folder)

    def offer(self, history: History, driver: Driver) -> None:
        """Write a checkpoint if one is due."""
        steps, seconds = self._checkpoint.steps, self._checkpoint.seconds
        due = steps is not None and history.count - self._count >= steps
        if due or (seconds is not None and monotonic() - self._time >= seconds):
            self.write(history, driver)

    def write(self, history: History, driver: Driver) -> None:
        """Write a checkpoint.

        Raises
        ------
        CheckpointError
            Naming the folder and the reason; the checkpoint before is left as it was.
        """
        block = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            block = self._add(history.news(self._told))
            self._told = len(history.kept)
            write(self._head(history, driver.reached), self._folder / HEAD)
        except OSError as error:
            if block is not None:
                with suppress(OSError):
                    block.unlink()
            raise CheckpointError(_told(self._folder, error)) from error
        self.place = str(self._folder)
        self._clean()
        self._count, self._time = history.count, monotonic()

    def _add(self, news: Taken) -> Path | None:
        """Write the steps that are new, if any."""
        if not len(news):
            return None
        content = packed(news.columns(), {"before": self._last})
        path = _place(self._folder, len(self._blocks), stated_hash(content))
        write(content, path)
        self._blocks.append(stated_hash(content))
        return path

    def _head(self, history: History, reached: Reached) -> bytes:
        waiting = history.waiting or Taken.none(history.dynamics)
        arrays, facts = _of_reached(reached)
        arrays |= {f"step_{name}": x for name, x in waiting.columns().items()}
        blocks = {"count": history.count, "blocks": len(self._blocks), "last": self._last}
        return packed(arrays, {"made": dict(self._made), **facts, **blocks})

    @property
    def _last(self) -> str:
        return self._blocks[-1] if self._blocks else ""

    def _clean(self) -> None:
        """Delete, once, what another run or a write that was killed left in the folder."""
        if self._tidy:
            return
        ours = {_place(self._folder, k, name) for k, name in enumerate(self._blocks)}
        for file in _files(self._folder):
            if file not in ours and file.name != HEAD:
                with suppress(OSError):
                    file.unlink()
        self._tidy = True


def load(path: str | Path, made: Mapping[str, str]) -> Saved:
    """Read the checkpoint of a run.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If it is damaged, or of a run made from something else.
    """
    folder = Path(path)
    if not (folder / HEAD).is_file():
        raise FileNotFoundError(f"no checkpoint in {str(folder)!r}: there is nothing to resume")
    arrays, facts = read(folder / HEAD, "made")
    _check_same(facts["made"], made, folder)
    name, names, kept = facts["last"], [], []
    for k in reversed(range(facts["blocks"])):
        columns, before = read(_place(folder, k, name), "before", name)
        names.append(name)
        kept.append(Taken.of_columns(columns))
        name = before["before"]
    step = "step_"
    waiting = Taken.of_columns(
        {name.removeprefix(step): x for name, x in arrays.items() if name.startswith(step)}
    )
    steps = Taken.joined([*kept[::-1], waiting.at(slice(0))])
    return Saved(_as_reached(arrays, facts), steps, waiting, facts["count"], tuple(names[::-1]))


def made_from(dynamics: Dynamics, run: Run, options: Mapping[str, Any]) -> dict[str, str]:
    """Return in words by name all that decides the numbers of a run, outer names before inner.

    Parameters
    ----------
    dynamics : Dynamics
    run : Run
    options : mapping
        All else that was chosen.
    """
    start = {
        "t": run.start.t,
        "q": dict(zip(dynamics.q_names, run.start.q, strict=True)),
        "v": dict(zip(dynamics.v_names, run.start.v, strict=True)),
    }
    names = (parameter.name for parameter in dynamics.parameters)
    stated = {
        "format": FORMAT,
        "version": {name: version(name) for name in _MADE_WITH},
        "model": model_hash(dynamics),
        "parameter": dict(zip(names, run.p, strict=True)),
        "start": start,
        "duration": run.t_end - run.start.t,
        "steps": run.steps,
        **options,
    }
    return dict(_stated("", stated))


def _stated(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if is_dataclass(value) and not isinstance(value, type):
        yield name, type(value).__qualname__
        value = {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _stated(f"{name}.{key}" if name else str(key), member)
    elif isinstance(value, Real):
        yield name, repr(float(value)).removesuffix(".0")
    else:
        yield name, str(value)


def _check_same(was: Mapping[str, str], made: Mapping[str, str], folder: Path) -> None:
    names = [name for name in {**was, **made} if was.get(name) != made.get(name)]
    outer = [name for name in names if not any(name.startswith(f"{o}.") for o in names)]
    if not outer:
        return
    told = [f"{n} was {was.get(n, 'absent')}, is {made.get(n, 'absent')}" for n in outer]
    more = f"; and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    raise ValueError(
        f"the checkpoint {str(folder)!r} is of another run: {'; '.join(told[:_SHOWN])}{more}. "
        "Resume with what it was, or start the run anew"
    )


def _of_reached(reached: Reached) -> tuple[Arrays, Facts]:
    arrays: Arrays = {"q": reached.now.q, "v": reached.now.v}
    if reached.z is not None:
        arrays["z"] = reached.z
    for i, (_, memory) in enumerate(reached.steppers):
        for k, point in enumerate(memory):
            arrays |= {f"{name}_{i}_{k}": getattr(point, name) for name in POINT}
    facts = {
        "t": reached.now.t,
        "below_h_min": reached.below_h_min,
        "waiting": list(reached.waiting),
        "trial": [trial for trial, _ in reached.steppers],
        "warm": [[point.warm for point in memory] for _, memory in reached.steppers],
    }
    return arrays, facts


def _as_reached(arrays: Arrays, facts: Facts) -> Reached:
    memories = (
        tuple(
            Point(**{name: arrays[f"{name}_{i}_{k}"] for name in POINT}, warm=warm)
            for k, warm in enumerate(warms)
        )
        for i, warms in enumerate(facts["warm"])
    )
    return Reached(
        Start(arrays["q"], arrays["v"], facts["t"]),
        facts["below_h_min"],
        arrays.get("z"),
        tuple(facts["waiting"]),
        tuple(zip(facts["trial"], memories, strict=True)),
    )


def _place(folder: Path, number: int, name: str) -> Path:
    return folder / f"{number:06d}-{name[:16]}.h5"


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.glob("*.h5*") if _OURS.fullmatch(file.name)]


def _probe(folder: Path) -> None:
    """Refuse a folder that cannot be written; leave nothing there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f"{HEAD}{PARTIAL}"
        probe.touch()
        probe.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()
    except OSError as error:
        raise CheckpointError(_told(folder, error)) from error


def _told(folder: Path, error: OSError) -> str:
    return f"cannot write the checkpoint {str(folder)!r}: {error.strerror or error}"
