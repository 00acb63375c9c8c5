"""The part of a run that a checkpoint holds: `SavedRun`.

A folder has a head, head.h5, with the state from which the run goes on, and blocks, files of the
steps so far. What is read is checked to the last number: a damaged file must not go on silently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nsopt.mechanics import Dynamics, Start
from nsopt.mpcc import Point
from nsopt.simulation.acceptance import Fault
from nsopt.simulation.checkpoint.folder import HEAD, is_block
from nsopt.simulation.checkpoint.hdf5 import Arrays, Facts, make_damage_error, read
from nsopt.simulation.checkpoint.identity import Identity, check_same_run
from nsopt.simulation.driver import Driver, DriverState, StepCounts
from nsopt.simulation.fallback_chain import Backoff
from nsopt.simulation.record.accepted_steps import AcceptedSteps, FieldError
from nsopt.simulation.record.history import History
from nsopt.simulation.step_error import FailedAttempt
from nsopt.simulation.stepper import StepperState

POINT = ("x", "lam_x", "lam_g")  # arrays of a `Point`
FAULT = len(Fault._fields)  # of an `FailedAttempt`, the first of its values in a head

Check = Callable[[Any], bool]
"""Whether a value is of the kind that a run writes."""


def check_facts(facts: Facts) -> None:
    """Refuse facts of a head that lack something, or have it of another kind; by a FieldError."""
    if missing := {*FACTS} - {*facts}:
        raise FieldError(f"it lacks {', '.join(sorted(missing))}")
    for name, is_right in FACTS.items():
        if not is_right(facts[name]):
            raise FieldError(f"{name} is not what a run writes: {facts[name]!r:.60}")
    if len(facts["trial"]) != len(facts["warm"]):
        raise FieldError("trial and warm are of different solvers")


def check_arrays(arrays: Arrays, facts: Facts, dynamics: Dynamics) -> None:
    """Refuse arrays of a head that lack one, or have it of another shape; by a FieldError."""
    vectors: dict[str, int | None] = {"q": dynamics.nq, "v": dynamics.nv}
    if "z" in arrays:
        vectors["z"] = None
    for i, warms in enumerate(facts["warm"]):
        vectors |= {f"{x}_{i}_{k}": None for k in range(len(warms)) for x in POINT}
    for name, size in vectors.items():
        if name not in arrays:
            raise FieldError(f"it lacks {name}")
        x = arrays[name]
        if x.dtype != float or x.ndim != 1 or size not in (None, len(x)):
            wanted = "a vector" if size is None else f"{size} numbers"
            raise FieldError(f"{name} is of type {x.dtype} and shape {x.shape}, not {wanted}")
        if size and not np.all(np.isfinite(x)):
            raise FieldError(f"{name} has entries that are no finite numbers")
    for name in (n for n in vectors if n.startswith("lam_x")):
        of = name.removeprefix("lam_")
        if len(arrays[name]) != len(arrays[of]):
            sizes = f"{len(arrays[name])} and {len(arrays[of])} numbers"
            raise FieldError(f"{name} and {of} are of {sizes}, which must be alike")


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def _is_whole(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and x >= 0


def _all(is_right: Check, count: int | None = None) -> Check:
    return lambda x: isinstance(x, list) and count in (None, len(x)) and all(map(is_right, x))


def _is_text(x: Any) -> bool:
    return isinstance(x, str)


def _is_table(x: Any) -> bool:
    return isinstance(x, dict) and all(map(_is_text, x.values()))


def _is_attempt(x: Any) -> bool:
    kinds = [type(y) for y in (*Fault(""), *FailedAttempt(Fault(""), "")[1:])]
    return isinstance(x, list) and [type(y) for y in x] == kinds


FACTS: dict[str, Check] = {
    "identity": _is_table,
    "blocks": lambda x: _is_table(x) and all(map(is_block, x)),
    "count": _is_whole,
    "t": _is_number,
    "step_counts": _all(_is_number, len(StepCounts._fields)),
    "refused": _all(_is_attempt),
    "backoff": _all(_is_whole, len(Backoff._fields)),
    "trial": _all(_is_number),
    "warm": _all(_all(lambda x: isinstance(x, bool))),
}
"""Facts of a head, and whether each is right. "trial" and "warm" are of each `StepperState`."""


PENDING = "pending_"  # before the names of columns in a head
EXACT = 1e-9  # part of a time by which differences may be off by rounding
NORM_ERROR = 0.1  # of Euler parameters, far beyond that of steps


@dataclass(frozen=True, eq=False)
class SavedRun:
    """The state of a run that is resumed."""

    driver: DriverState
    kept: AcceptedSteps  # this and ``pending`` as of a `History`
    pending: AcceptedSteps
    count: int  # steps so far
    blocks: Mapping[str, str]  # names of the files of ``kept``, in order, and their hashes

    @classmethod
    def load(cls, folder: Path, run: Identity, dynamics: Dynamics) -> SavedRun:
        """Read the checkpoint of a run of a mechanism.

        Raises
        ------
        FileNotFoundError
            If there is none.
        ValueError
            If it is damaged, or of another run.
        """
        place = folder / HEAD
        if not place.is_file():
            raise FileNotFoundError(
                f"no checkpoint in {str(folder)!r}: there is nothing to resume. A run that ended "
                "or was shorter than the time between checkpoints has none: run it anew"
            )
        arrays, facts, _ = read(place)
        empty = AcceptedSteps.empty(dynamics)
        try:
            check_facts(facts)
            check_same_run(facts["identity"], run, folder)
            check_arrays(arrays, facts, dynamics)
            pending = AcceptedSteps.of_columns(arrays, empty, PENDING)
        except FieldError as error:
            raise make_damage_error(place, str(error)) from None
        blocks = [
            _read_steps(folder / name, known, empty) for name, known in facts["blocks"].items()
        ]
        kept = AcceptedSteps.join([*blocks, pending.at(slice(0))])
        every = int(run["store_every"])  # zero where rows are not steps
        if every:
            steps = AcceptedSteps.join([kept, pending])
            _check_follows(place, steps, arrays, facts)
            _check_steps(place, steps, every, dynamics)
        _check_chain(place, arrays, facts)
        stored = len(kept) * every + len(pending)
        if every and stored != facts["count"]:
            raise make_damage_error(
                place, f"blocks have {stored} of its {facts['count']} steps (count)"
            )
        return cls(_restore_state(arrays, facts), kept, pending, facts["count"], facts["blocks"])


def _check_follows(place: Path, steps: AcceptedSteps, arrays: Arrays, facts: Facts) -> None:
    """Refuse a head that does not go on from the last of its steps, or steps that go back."""
    if np.any(np.diff(steps.t) < 0):
        raise make_damage_error(place, "t of its steps does not rise")
    if not len(steps):
        return
    end = steps.end
    for name, found, last in (
        ("q", arrays["q"], end.q),
        ("v", arrays["v"], end.v),
        ("t", facts["t"], end.t),
    ):
        if not np.array_equal(found, last):
            raise make_damage_error(place, f"{name} is not that of the last of its steps")


def _check_chain(place: Path, arrays: Arrays, facts: Facts) -> None:
    """Refuse a state of the chain that is not that of the head: the run might never end."""
    z, state = arrays.get("z"), np.concatenate([[facts["t"]], arrays["q"], arrays["v"]])
    if z is None:
        return
    h, back, *others = z[len(state) :] if len(z) > len(state) + 2 else (np.nan, np.nan)
    if not np.array_equal(z[: len(state)], state) or not (h > 0 and back >= 0):
        raise make_damage_error(place, "z is not the state from which its steps go on")
    if not np.all(np.isfinite(others)):
        raise make_damage_error(place, "z has entries that are no finite numbers")


def _check_steps(place: Path, steps: AcceptedSteps, every: int, dynamics: Dynamics) -> None:
    """Refuse steps that contradict themselves, each the last of ``every`` or pending."""
    rises, h = np.diff(steps.t), steps.h[1:]
    most = h + EXACT * abs(steps.t[1:])
    if np.any(rises < h - EXACT * abs(steps.t[1:])) or (every == 1 and np.any(rises > most)):
        raise make_damage_error(place, "h is not what t of its steps rises by")
    # CasADi takes an empty array as zeros.
    norms = np.sqrt(np.array(dynamics.norms(steps.q.T))) if len(steps) else np.ones(1)
    if np.any(abs(norms - 1) > NORM_ERROR):
        raise make_damage_error(place, "q has Euler parameters whose norm is not one")


def _read_steps(path: Path, known: str, empty: AcceptedSteps) -> AcceptedSteps:
    """Return the steps of a block of which the head states the hash."""
    columns, _, found = read(path)
    if found != known:
        raise make_damage_error(
            path, "it is not the block that its head names under blocks, by its hash"
        )
    try:
        return AcceptedSteps.of_columns(columns, empty)
    except FieldError as error:
        raise make_damage_error(path, str(error)) from None


def make_head(
    run: Identity, history: History, driver: Driver, blocks: Mapping[str, str]
) -> tuple[Arrays, Facts]:
    """Return arrays and facts of ``head.h5``, of a checkpoint whose steps are in ``blocks``."""
    state = driver.state
    pending = history.pending or AcceptedSteps.empty(history.dynamics)
    arrays: Arrays = {f"{PENDING}{name}": x for name, x in pending.columns().items()}
    arrays |= {"q": state.start.q, "v": state.start.v}
    if state.chain is not None:
        arrays["z"] = state.chain
    for i, stepper in enumerate(state.steppers):
        for k, point in enumerate(stepper.points):
            arrays |= {f"{name}_{i}_{k}": getattr(point, name) for name in POINT}
    facts = {
        "identity": dict(run),
        "blocks": dict(blocks),
        "count": history.count,
        "t": state.start.t,
        "step_counts": list(state.counts),
        "refused": [[*attempt.fault, *attempt[1:]] for attempt in state.refused],
        "backoff": list(state.backoff),
        "trial": [stepper.trial for stepper in state.steppers],
        "warm": [[point.warm for point in stepper.points] for stepper in state.steppers],
    }
    return arrays, facts


def _restore_state(arrays: Arrays, facts: Facts) -> DriverState:
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
        tuple(FailedAttempt(Fault(*x[:FAULT]), *x[FAULT:]) for x in facts["refused"]),
        Backoff(*facts["backoff"]),
        tuple(steppers),
    )
