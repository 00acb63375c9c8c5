"""Repetitions of a run in other steps, which tell its errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nsopt.contact_modes import contacts_of_joints
from nsopt.mechanics import Dynamics
from nsopt.simulation.check.comparison import (
    compare_figures,
    compare_forces,
    compare_states,
    tell_figure,
)
from nsopt.simulation.check.distances import find_gyration_radii
from nsopt.simulation.check.figures import (
    NEEDED,
    are_forces_unique,
    find_changes,
    find_figures,
    find_forces,
)
from nsopt.simulation.check.repetition import (
    STATES,
    Repetition,
    has_contacts,
    name_steps,
    repeat,
)
from nsopt.simulation.method import Method
from nsopt.simulation.record.history import History
from nsopt.simulation.run import Run
from nsopt.stored import ERROR

if TYPE_CHECKING:
    import xarray as xr

FINER, COARSER = (1 / 2, 1 / 4), (2.0, 4.0)
"""Parts of h of the repetitions."""

SLOWER = 2.0
"""What a repetition may take, over what it was expected to."""

RECORDED = 2
"""What a step takes with the record of it, over what it takes by itself, roughly."""


class CheckedRun(NamedTuple):
    """What a check has to know of a run: what it was, what is on record, what it took [s]."""

    dynamics: Dynamics
    run: Run
    method: Method
    history: History
    seconds: float  # of its steps alone
    start_seconds: float  # before the first of them


@dataclass(frozen=True)
class Check:
    """The same run in other steps, by which its errors are known.

    Bounds of h, and what the step control allows a step, are scaled alike: to 1/2 and 1/4 where
    such runs take little time, otherwise to 2 and 4 times, which takes three quarters of the run.

    Parameters
    ----------
    seconds : float [s]
        That runs in shorter steps may take, six times what the run took; or as long as its start
        did. With 0 steps are longer in any case, with inf shorter.
    """

    seconds: float = 5.0

    def __post_init__(self) -> None:
        if not isinstance(self.seconds, Real) or not float(self.seconds) >= 0:
            raise ValueError(f"seconds of Check must be zero or more, got {self.seconds!r}")

    def measure(self, of: CheckedRun, data: xr.Dataset, progress: bool) -> xr.Dataset:
        """Return the dataset of a run with its errors, or with why they are not known."""
        times = data["time"].values[1:]
        if not times.size:
            return leave_unknown(data, "no step was made")
        cost = RECORDED * of.seconds * sum(1 / part for part in FINER)
        finer = cost <= max(self.seconds, of.start_seconds) if self.seconds else False
        # Of a duration of few steps longer ones would be the same.
        few = COARSER[1] * of.run.steps.h_max > of.run.t_end - of.run.start.t
        parts = FINER if finer or few else COARSER
        # Where longer steps fail, what takes their place may take much longer than the run did.
        most = SLOWER * max(self.seconds, of.start_seconds, of.seconds)
        whole = of.history.keeps_all  # then there is room for them
        again: list[Repetition] = []
        for part in parts:
            again.append(repeat(of.dynamics, of.run, of.method, part, times, progress, most, whole))
            if again[-1].interrupted:
                return leave_unknown(data, "its repetition was interrupted")
            if again[-1].states.sizes["time"] < 2:
                reason = again[-1].stop_reason.partition("\n")[0]
                return leave_unknown(
                    data, f"nothing came of the run in {name_steps(part)}: {reason}"
                )
        return _with_errors(of, data, again, parts)


def leave_unknown(data: xr.Dataset, reason: str) -> xr.Dataset:
    """Return a dataset that says why no errors are known."""
    return data.assign_attrs(error_parts=np.full(2, np.nan), error_unknown=reason)


def _with_errors(
    of: CheckedRun, data: xr.Dataset, again: Sequence[Repetition], parts: tuple[float, float]
) -> xr.Dataset:
    finer, rows = parts[0] < 1, data.sizes["time"]
    own = _complete(of.history, data, STATES)
    radii = find_gyration_radii(of.dynamics, of.run.p)
    states = [x.states for x in again]
    changes = np.zeros(rows, dtype=bool)
    if has_contacts(of.dynamics):
        changes = find_changes(_complete(of.history, data, NEEDED))
    step = max(1.0, *parts) * float(np.nanmax(data["h"].values))
    errors = compare_states([own, *states], radii, finer, rows, changes, step)
    joints: list[str] = []
    if all(x.figures for x in again) and not any(x.stop_reason for x in again):
        whole = _complete(of.history, data, NEEDED)
        joints = [*contacts_of_joints(whole)]
        forces = compare_forces([find_forces(x) for x in (whole, *states)], finer, rows)
        slips = np.bincount(of.dynamics.slip_contacts, minlength=whole.sizes["contact"])
        _, _, about = errors[ERROR + "motion"]
        slow = about["size"] / (of.run.t_end - of.run.start.t)
        unique = are_forces_unique(whole, np.minimum(slips, 2), slow)
        figures = [find_figures(whole), *(x.figures for x in again)]
        errors |= forces | compare_figures(figures, finer, unique)
        errors |= {name: tell_figure(name, x) for name, x in figures[0].items()}
    ended = [
        f"the run in {name_steps(part)} ended early: {x.stop_reason.partition(chr(10))[0]}"
        for x, part in zip(again, parts, strict=True)
        if x.stop_reason
    ]
    coords = {"contact_joint": joints} if joints else {}
    about = {"error_parts": np.array(parts), "error_unknown": "; ".join(ended)}
    return data.assign(errors).assign_coords(coords).assign_attrs(about)


def _complete(history: History, data: xr.Dataset, wanted: frozenset[str]) -> xr.Dataset:
    """Return a dataset that has the variables wanted, also where the user did not want them."""
    if wanted <= {*data.variables}:
        return data
    return history.result({}, wanted=wanted).data
