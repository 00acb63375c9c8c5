"""The same run in steps of a part of the size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.simulation.advance import advance_to_end
from nsopt.simulation.check.figures import NEEDED, find_figures
from nsopt.simulation.driver import Driver
from nsopt.simulation.method import Method
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.record.history import History
from nsopt.simulation.record.output_times import OutputTimes
from nsopt.simulation.run import Run

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

STATES = frozenset(
    {
        *("q", "v", "body_position", "body_quaternion"),
        *("kinetic_energy", "potential_energy", "total_energy"),
    }
)
"""Variables that are compared at the times of a run, beside forces of contacts."""


def name_steps(part: float) -> str:
    """Return the steps of a repetition in words: h/2, or 2 h."""
    return f"{part:g} h" if part > 1 else f"h/{1 / part:g}"


@dataclass(frozen=True, eq=False)
class Repetition:
    """A run in other steps.

    Attributes
    ----------
    states : xarray.Dataset
        `STATES` at the start and at the times asked for, as far as it came.
    figures : dict of name to (joint,)
        Of all of its steps.
    stop_reason : str
        Why it did not come to the last of the times, empty if it did.
    """

    states: xr.Dataset
    figures: dict[str, Array]
    stop_reason: str


def repeat(
    dynamics: Dynamics,
    run: Run,
    method: Method,
    part: float,
    times: Array,
    progress: bool,
    most: float,
) -> Repetition:
    """Return the run again, with a part of its h, up to the last of some times.

    Parameters
    ----------
    part : float
    times : (n,) [s]
    progress : bool
    most : float [s]
        That it may take; it ends there.
    """
    again = run.repeat(part, float(times[-1]))
    driver = Driver(dynamics, again, method)
    history = History(dynamics, run.start, run.p, gains=method.scheme.gains)
    stop_reason = advance_to_end(driver, history, None, progress, name_steps(part), most)
    steps = history.steps()
    if not len(steps):
        return Repetition(_at(times[:0], history, steps), {}, stop_reason)
    figures = find_figures(history.result({}, wanted=NEEDED).data) if has_contacts(dynamics) else {}
    return Repetition(_at(times, history, steps), figures, stop_reason)


def _at(times: Array, history: History, steps: AcceptedSteps) -> xr.Dataset:
    """Return the states of steps at the start and at times."""
    d, start = history.dynamics, history.start
    rows = steps
    if len(steps):
        rows, _ = OutputTimes(d, times).rows(start, AcceptedSteps.none(d), steps)
    kept = [rows] if len(rows) else []
    record = History(d, start, history.p, gains=history.gains, times=times, kept=kept)
    wanted = STATES | {"lasting_force"} if has_contacts(d) else STATES
    return record.result({}, wanted=wanted).data


def has_contacts(dynamics: Dynamics) -> bool:
    """Return whether a mechanism has contacts, rigid or compliant."""
    return bool(dynamics.contact_names or dynamics.pressed_names)
