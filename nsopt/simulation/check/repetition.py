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

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C or SIGTERM ended it."""
        return self.stop_reason.startswith("interrupted")


def repeat(
    dynamics: Dynamics,
    run: Run,
    method: Method,
    part: float,
    times: Array,
    progress: bool,
    most: float,
    whole: bool,
) -> Repetition:
    """Return the run again, with a part of its h, up to the last of some times.

    Parameters
    ----------
    part : float
    times : (n,) [s]
    progress : bool
    most : float [s]
        That it may take; it ends there.
    whole : bool
        Whether all of its steps are kept, for figures and for energies between them.
    """
    again = run.repeat(part, float(times[-1]))
    driver = Driver(dynamics, again, method)
    gains = method.scheme.gains
    history = History(dynamics, run.start, run.p, gains=gains, times=None if whole else times)
    stop_reason = advance_to_end(driver, history, None, progress, name_steps(part), most)
    figures: dict[str, Array] = {}
    wanted = STATES | {"lasting_force"} if has_contacts(dynamics) and whole else STATES
    if not (whole and len(steps := history.steps())):
        return Repetition(history.result({}, wanted=wanted).data, figures, stop_reason)
    needed = NEEDED if has_contacts(dynamics) else frozenset[str]()
    every = history.result({}, wanted={*needed, "total_energy"}).data
    if needed:
        figures = find_figures(every)
    rows, _ = OutputTimes(dynamics, times).rows(run.start, AcceptedSteps.none(dynamics), steps)
    kept = [rows] if len(rows) else []
    record = History(dynamics, run.start, run.p, gains=gains, times=times, kept=kept)
    states = record.result({}, wanted=wanted).data
    # That of states between steps would be off by as much as steps are: v is no derivative of q.
    energy = interpolate(states["time"].values, every["time"].values, every["total_energy"].values)
    states = states.assign(total_energy=("time", energy))
    return Repetition(states, figures, stop_reason)


def interpolate(t: Array, nodes: Array, values: Array) -> Array:
    """Return values (n,) at nodes (n,) between them, by cubics that keep jumps local."""
    from scipy.interpolate import Akima1DInterpolator  # takes long to import

    if len(nodes) < 5:
        return np.interp(t, nodes, values)
    found: Array = Akima1DInterpolator(nodes, values)(np.clip(t, nodes[0], nodes[-1]))
    return found


def has_contacts(dynamics: Dynamics) -> bool:
    """Return whether a mechanism has contacts, rigid or compliant."""
    return bool(dynamics.contact_names or dynamics.pressed_names)
