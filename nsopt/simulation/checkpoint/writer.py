"""Checkpoints written while a run goes on."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from nsopt.files import check_no_link, check_writable
from nsopt.mechanics import Dynamics
from nsopt.simulation.checkpoint.folder import HEAD, Checkpoint, CheckpointError, name_block
from nsopt.simulation.checkpoint.hdf5 import write
from nsopt.simulation.checkpoint.identity import Identity, identify
from nsopt.simulation.checkpoint.saved_run import SavedRun, make_head
from nsopt.simulation.driver import Driver
from nsopt.simulation.method import Method
from nsopt.simulation.record.history import History
from nsopt.simulation.run import Run


class CheckpointWriter:
    """Writes the checkpoints of one run.

    Parameters
    ----------
    checkpoint : Checkpoint
    run : Identity
    saved : SavedRun, optional
        From where the run goes on.

    Raises
    ------
    CheckpointError
        If nothing can be written there.

    Attributes
    ----------
    written_to : str
        The folder, once it holds a checkpoint of this run.
    """

    def __init__(self, checkpoint: Checkpoint, run: Identity, saved: SavedRun | None) -> None:
        self._checkpoint, self._run, self._folder = checkpoint, run, checkpoint.folder
        self._blocks = dict(saved.blocks) if saved else {}
        self._written = int(bool(saved and len(saved.kept)))  # blocks of the history so far
        self._count, self._time = saved.count if saved else 0, monotonic()  # at the last checkpoint
        self._is_alone = False  # whether files of others are deleted
        self.written_to = str(self._folder) if saved else ""
        self._check_folder()

    def write_if_due(self, history: History, driver: Driver) -> None:
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
        steps, blocks = history.keep_after(self._written), dict(self._blocks)
        new: Path | None = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if len(steps):
                new = self._folder / name_block(len(blocks))
                blocks[new.name] = write(new, steps.columns(), {})
            write(self._folder / HEAD, *make_head(self._run, history, driver, blocks))
        except OSError as error:
            if new is not None:
                with suppress(OSError):
                    new.unlink()
            raise CheckpointError(self._folder, error) from error
        self._blocks, self._written = blocks, len(history.kept)
        self.written_to = str(self._folder)
        self._remove_others()
        self._count, self._time = history.count, monotonic()

    def _remove_others(self) -> None:
        """Delete, once, the files that another run or a write that was killed left behind."""
        if self._is_alone:
            return
        own = {HEAD, *self._blocks}
        for file in self._checkpoint.files():
            if file.name not in own:
                with suppress(OSError):
                    file.unlink()
        self._is_alone = True

    def _check_folder(self) -> None:
        """Refuse a folder that cannot be written; leave nothing there."""
        try:
            check_no_link(self._folder)  # which might lead to the checkpoint of another run
            self._folder.mkdir(parents=True, exist_ok=True)
            check_writable(self._folder / HEAD)
            if not any(self._folder.iterdir()):
                self._folder.rmdir()
        except OSError as error:
            raise CheckpointError(self._folder, error) from error


def open_checkpoint(
    checkpoint: Checkpoint | None,
    dynamics: Dynamics,
    run: Run,
    method: Method,
    kept: int | NDArray[np.float64],
) -> tuple[CheckpointWriter | None, SavedRun | None]:
    """Return the writer of a run's checkpoints, and the state from where the run goes on, if any.

    ``kept`` as for `identify`.

    Raises
    ------
    OSError
        If there is no checkpoint to resume, or none can be written.
    ValueError
        If the checkpoint is damaged, or of another run.
    """
    if checkpoint is None:
        return None, None
    own = identify(dynamics, run, method, kept)
    saved = SavedRun.load(checkpoint.folder, own, dynamics) if checkpoint.resume else None
    return CheckpointWriter(checkpoint, own, saved), saved
