"""The part of a run that a checkpoint holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from nsopt.mechanics import Start
from nsopt.mpcc import Point
from nsopt.simulation.checkpoint.folder import HEAD
from nsopt.simulation.checkpoint.hdf5 import Arrays, Facts, damaged, read
from nsopt.simulation.checkpoint.identity import Identity, check_same_run
from nsopt.simulation.driver import Driver, DriverState, StepCounts
from nsopt.simulation.fallback_chain import Backoff
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.record.history import History
from nsopt.simulation.stepper import StepperState

POINT = ("x", "lam_x", "lam_g")
"""Arrays of a `Point`."""

FACTS = {"identity", "blocks", "count", "t", "step_counts", "refused", "backoff", "trial", "warm"}
"""Facts of a head."""

PENDING = "pending_"
"""Before the names of columns in a head."""


@dataclass(frozen=True, eq=False)
class SavedRun:
    """The state of a run that is resumed.

    Attributes
    ----------
    driver : DriverState
    kept, pending : AcceptedSteps
        As of a `History`.
    count : int
        Steps so far.
    blocks : tuple of str
        Names of the files of ``kept``, in order.
    """

    driver: DriverState
    kept: AcceptedSteps
    pending: AcceptedSteps
    count: int
    blocks: tuple[str, ...]

    @classmethod
    def load(cls, folder: Path, run: Identity) -> SavedRun:
        """Read the checkpoint of a run.

        Raises
        ------
        FileNotFoundError
            If there is none.
        ValueError
            If it is damaged, or of another run.
        """
        if not (folder / HEAD).is_file():
            raise FileNotFoundError(
                f"no checkpoint in {str(folder)!r}: there is nothing to resume. A run that ended "
                "or was shorter than the time between checkpoints has none: run it anew"
            )
        arrays, facts = read(folder / HEAD)
        if missing := FACTS - {*facts}:
            raise damaged(folder / HEAD, f"it lacks {', '.join(sorted(missing))}")
        check_same_run(facts["identity"], run, folder)
        blocks = [AcceptedSteps.of_columns(read(folder / name)[0]) for name in facts["blocks"]]
        pending = AcceptedSteps.of_columns(
            {name.removeprefix(PENDING): x for name, x in arrays.items() if PENDING in name}
        )
        kept = AcceptedSteps.joined([*blocks, pending.at(slice(0))])
        every = int(run["store_every"])  # zero where rows are not steps
        stored = len(kept) * every + len(pending)
        if every and stored != facts["count"]:
            raise damaged(folder / HEAD, f"it has {stored} of {facts['count']} steps")
        state = _driver_state(arrays, facts)
        return cls(state, kept, pending, facts["count"], tuple(facts["blocks"]))


class Head(NamedTuple):
    """The content of ``head.h5``."""

    arrays: Arrays
    facts: Facts


def head(run: Identity, history: History, driver: Driver, blocks: Sequence[str]) -> Head:
    """Return the head of a checkpoint whose steps are in ``blocks``."""
    state = driver.state
    pending = history.pending or AcceptedSteps.none(history.dynamics)
    arrays: Arrays = {f"{PENDING}{name}": x for name, x in pending.columns().items()}
    arrays |= {"q": state.start.q, "v": state.start.v}
    if state.chain is not None:
        arrays["z"] = state.chain
    for i, stepper in enumerate(state.steppers):
        for k, point in enumerate(stepper.points):
            arrays |= {f"{name}_{i}_{k}": getattr(point, name) for name in POINT}
    facts = {
        "identity": dict(run),
        "blocks": list(blocks),
        "count": history.count,
        "t": state.start.t,
        "step_counts": list(state.counts),
        "refused": list(state.refused),
        "backoff": list(state.backoff),
        "trial": [stepper.trial for stepper in state.steppers],
        "warm": [[point.warm for point in stepper.points] for stepper in state.steppers],
    }
    return Head(arrays, facts)


def _driver_state(arrays: Arrays, facts: Facts) -> DriverState:
    def point(i: int, k: int, warm: bool) -> Point:
        return Point(**{name: arrays[f"{name}_{i}_{k}"] for name in POINT}, warm=warm)

    steppers = (
        StepperState(trial, tuple(point(i, k, warm) for k, warm in enumerate(warms)))
        for i, (trial, warms) in enumerate(zip(facts["trial"], facts["warm"], strict=True))
    )
    return DriverState(
        Start(arrays["q"], arrays["v"], facts["t"]),
        StepCounts(*facts["step_counts"]),
        arrays.get("z"),
        tuple(facts["refused"]),
        Backoff(*facts["backoff"]),
        tuple(steppers),
    )
