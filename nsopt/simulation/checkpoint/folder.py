"""The folder of a checkpoint, and how often a run writes there."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from nsopt.files import UNFINISHED

HEAD = "head.h5"
# The head, blocks such as 000001-0123456789abcdef.h5, and both while they are written.
_FILE = re.compile(rf"(head|\d{{6,}}-[0-9a-f]{{16}})(\.[0-9a-f]+\.{UNFINISHED})?\.h5")


@dataclass(frozen=True)
class Checkpoint:
    """A folder from which a run that was ended, by whatever, can go on.

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
    resume : bool
        Whether to go on from the checkpoint there. All other options of `simulate` but ``title``
        and ``progress`` must be as they were, the duration too: the last steps of a run share the
        time that is left, and scales are taken over all of it. To go beyond the end of a run start
        another one from its last state, by `consistent` where ideal joints are held at the
        velocity of the step's start (`PaperStep`, `MoreauJean`).

    Raises
    ------
    ValueError
        If ``steps`` or ``seconds`` is not positive.

    Notes
    -----
    A resumed run ends as if it had never stopped, bit by bit, but for ``solve_time``. That holds
    for the same machine and versions, and for solvers that remember nothing from call to call: all
    but the QP solver `Osqp`.
    """

    path: str | Path
    steps: int | None = None
    seconds: float | None = 60.0
    resume: bool = False

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
        """Whether the folder has a checkpoint to resume."""
        return (self.folder / HEAD).is_file()

    def files(self) -> list[Path]:
        """Return the files of checkpoints in the folder, unfinished ones included."""
        return [file for file in self.folder.glob("*.h5") if _FILE.fullmatch(file.name)]

    def remove(self) -> None:
        """Delete its files, and the folder if there is nothing else in it."""
        (self.folder / HEAD).unlink(missing_ok=True)  # first: without a head there is no checkpoint
        for file in self.files():
            file.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


class CheckpointError(OSError):
    """A checkpoint that could not be written; the one before is whole."""

    def __init__(self, folder: Path, error: OSError) -> None:
        reason = error.strerror or error
        super().__init__(f"cannot write the checkpoint {str(folder)!r}: {reason}")


def is_block(name: str) -> bool:
    """Return whether this is the name of a block, without a path to another folder."""
    return bool(_FILE.fullmatch(name)) and name != HEAD


def name_block(number: int) -> str:
    """Return a name for a block of steps that no other block has."""
    return f"{number:06d}-{uuid4().hex[:16]}.h5"
