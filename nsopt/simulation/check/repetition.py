"""The same run in steps of a part of the size: `repeat`, for `Check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.simulation.advance import Stop, advance_to_end
from nsopt.simulation.check.beyond import Course, find_course
from nsopt.simulation.check.comparison import REACTIONS, RECORDED
from nsopt.simulation.check.figures import NEEDED, find_figures
from nsopt.simulation.driver import Driver
from nsopt.simulation.method import Method
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.record.history import History
from nsopt.simulation.record.output_times import OutputTimes
from nsopt.simulation.run import Run

if TYPE_CHECKING:
    import xarray as xr


STATES = frozenset(
    {
        *("q", "v", "body_position", "body_quaternion"),
        *("kinetic_energy", "potential_energy", "total_energy"),
    }
)
"""Variables that are compared at the times of a run, beside forces of contacts."""


CARRIED = frozenset({*REACTIONS, "contact_mode", "lasting_force"})
"""Variables that are compared at some of the times alone, for they take longest to compute: what
joints carry, with the modes of contacts, by which impacts are left out."""

MOST_CARRIED, MOST_STATES = 4000, 40_000  # times at which these are compared at most, and states


def name_recorded(data: xr.Dataset) -> frozenset[str]:
    """Return the variables that a result has and that are compared, beside `STATES`."""
    return frozenset({*RECORDED, *REACTIONS, "contact_mode"} & {*map(str, data.variables)})


def pick_rows(count: int, most: int) -> NDArray[np.int_]:
    """Return ``most`` of so many rows, or all, with the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))


def name_steps(part: float) -> str:
    """Return the steps of a repetition in words: h/2, or 2 h."""
    return f"{part:g} h" if part > 1 else f"h/{1 / part:g}"


class CheckedRun(NamedTuple):
    """A run that is checked: what it was, its record, and the time that it took [s]."""

    dynamics: Dynamics
    run: Run
    method: Method
    history: History
    seconds: float  # of its steps alone: of the processor, by machine code
    start_seconds: float  # before the first of them
    record_seconds: float  # after the last of them


@dataclass(frozen=True, eq=False)
class Repetition:
    """A run in other steps."""

    states: xr.Dataset  # `STATES` at the start and at the times asked for, as far as it came
    forces: xr.Dataset  # `CARRIED` at some of these, `pick_rows`
    figures: dict[str, Array]  # (joint,) by name, of all of its steps; none if they were not kept
    stop: Stop  # why it did not come to the last of the times
    course: Course | None = None  # what its contacts did, if it has any


def repeat(
    checked: CheckedRun,
    part: float,
    times: Array,
    recorded: frozenset[str],
    progress: bool,
    time_limit: float,
) -> Repetition:
    """Return a run again, with a part of its h, up to the last of some times (n,) [s].

    Where the run kept all of its steps, so does this one, for figures and for energies between
    them: there is room for them. Beside `STATES` what is ``recorded`` is compared, of many times
    at some. After ``time_limit`` [s] it ends.
    """
    dynamics, run, whole = checked.dynamics, checked.run, checked.history.keeps_all
    picked = pick_rows(len(times) + 1, MOST_CARRIED)
    driver = Driver(dynamics, run.repeat(part, float(times[-1])), checked.method)
    gains = checked.method.scheme.gains
    history = History(dynamics, run.start, run.p, gains=gains, times=None if whole else times)
    stop = advance_to_end(driver, history, None, progress, name_steps(part), time_limit)
    wanted = STATES | recorded
    if has_contacts(dynamics) and whole:
        wanted |= {"lasting_force"}
    if not (whole and len(steps := history.steps())):
        states = history.tabulate(wanted)
        return Repetition(states, states.isel(time=picked[picked < states.sizes["time"]]), {}, stop)
    needed = NEEDED if has_contacts(dynamics) else frozenset[str]()
    every = history.tabulate({*needed, "total_energy"})
    rows, _ = OutputTimes(dynamics, times).interpolate(
        run.start, AcceptedSteps.empty(dynamics), steps
    )

    def tabulate(some: AcceptedSteps, names: frozenset[str]) -> xr.Dataset:
        kept = [some] if len(some) else []
        record = History(dynamics, run.start, run.p, gains=gains, times=times, kept=kept)
        return record.tabulate(names)

    if len(picked) > len(times):
        states = forces = tabulate(rows, wanted)
    else:
        states = tabulate(rows, wanted - CARRIED)
        picked = picked[picked <= len(rows)]
        forces = tabulate(rows.at(picked[1:] - 1), wanted & CARRIED)
    # Energies are interpolated themselves. Those of interpolated states would be off by as much as
    # interpolation is, for an interpolated v is not the derivative of an interpolated q.
    energy = interpolate(states["time"].values, every["time"].values, every["total_energy"].values)
    states = states.assign(total_energy=("time", energy))
    if not needed:
        return Repetition(states, forces, {}, stop)
    return Repetition(states, forces, find_figures(every), stop, find_course(every))


def interpolate(t: Array, nodes: Array, values: Array) -> Array:
    """Return at t (m,) what is ``values`` (n,) at ``nodes`` (n,), by cubics that keep jumps local.

    Outside the nodes it is that of the nearest.
    """
    from scipy.interpolate import Akima1DInterpolator  # takes long to import

    if len(nodes) < 5:
        return np.interp(t, nodes, values)
    found: Array = Akima1DInterpolator(nodes, values)(np.clip(t, nodes[0], nodes[-1]))
    return found


def has_contacts(dynamics: Dynamics) -> bool:
    """Return whether a mechanism has contacts, rigid or compliant."""
    return bool(dynamics.contact_names or dynamics.pressed_names)
