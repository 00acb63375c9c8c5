"""Checkpoints: files from which a run that was ended goes on, to the same end bit by bit.

A checkpoint is a folder of HDF5 files, each of which states its own name and the hash of each of
its arrays::

    head.h5                     state and identity of the run, names and hashes of the blocks
    000000-0123456789abcdef.h5  the steps kept up to the first checkpoint
    000001-...                  those up to the second

A block is written once; ``head.h5`` is replaced at once, after the block it names. So a checkpoint
is whole at any time, and a run writes each of its steps once.
"""

from nsopt.simulation.checkpoint.folder import Checkpoint, CheckpointError
from nsopt.simulation.checkpoint.saved_run import SavedRun
from nsopt.simulation.checkpoint.writer import CheckpointWriter, open_checkpoint

__all__ = ["Checkpoint", "CheckpointError", "CheckpointWriter", "SavedRun", "open_checkpoint"]
