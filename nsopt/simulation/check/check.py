"""Repetitions of a run in other steps, which tell its errors: `Check`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from nsopt.arrays import Array
from nsopt.caveats import FORCES, find_predictable_time
from nsopt.contact_modes import contacts_of_joints, find_changes
from nsopt.simulation.check.beyond import (
    Course,
    compare_statistics,
    find_course,
    measure_growth,
)
from nsopt.simulation.check.comparison import (
    compare_figures,
    compare_forces,
    compare_reactions,
    compare_states,
    estimate_figures,
    make_figure,
    spread_over,
)
from nsopt.simulation.check.distances import find_gyration_radii
from nsopt.simulation.check.figures import (
    NEEDED,
    count_slips,
    find_figures,
    find_forces,
    find_shared_figures,
)
from nsopt.simulation.check.repetition import (
    MOST_CARRIED,
    MOST_STATES,
    STATES,
    CheckedRun,
    Repetition,
    has_contacts,
    name_recorded,
    name_steps,
    pick_rows,
    repeat,
)
from nsopt.simulation.control import ErrorControl
from nsopt.stored import ERROR

if TYPE_CHECKING:
    import xarray as xr


FINER, COARSER = (1 / 2, 1 / 4), (2.0, 4.0)  # parts of h of the repetitions
FINEST = 1 / 8  # part of h of a third one, where two figures may agree by chance
SLOWER = 2.0  # time that a repetition may take, over the expected one, ...
SHORT = 1.0  # ... or over this time [s], if that is longer
RECORDS = 5.0  # time [s] that records of forces and angles of both repetitions may take in any case
RECORDED = 2  # time that a step takes with its record, over that of the step alone, roughly


@dataclass(frozen=True)
class Check:
    """The same run in other steps, by which its errors are known.

    Bounds of h, and what the step control allows a step, are scaled alike: to 1/2 and 1/4 where
    such runs take little time, otherwise to 2 and 4 times, which takes three quarters of the run.

    Parameters
    ----------
    seconds : float [s]
        Time that both runs in shorter steps may take, in all about six times that of the run; as
        long as the start of the run took they always may. With 0 steps are longer in any case, with
        inf shorter.
    """

    seconds: float = 5.0

    def __post_init__(self) -> None:
        if not isinstance(self.seconds, Real) or not float(self.seconds) >= 0:
            raise ValueError(f"seconds of Check must be zero or more, got {self.seconds!r}")

    def measure(self, checked: CheckedRun, data: xr.Dataset, progress: bool) -> xr.Dataset:
        """Return the dataset of a run with its errors, or with why they are not known."""
        t = data["time"].values
        times = t[pick_rows(len(t), MOST_STATES)][1:]
        if not times.size:
            return explain_missing(data, "no step was made")
        cost = RECORDED * checked.seconds * sum(1 / part for part in FINER)
        allowed = max(self.seconds, checked.start_seconds)
        finer = self.seconds > 0 and cost <= allowed
        # Where the duration is a few steps, longer ones would be the same.
        few = COARSER[1] * checked.run.steps.h_max > checked.run.t_end - checked.run.start.t
        parts = FINER if finer or few else COARSER
        # Where longer steps fail, what takes their place may take much longer than the run did.
        time_limit = SLOWER * max(allowed, checked.seconds, SHORT)
        repetitions: list[Repetition] = []
        share = min(1.0, MOST_CARRIED / len(t))  # of a record, most of which are forces
        records = 2 * share * checked.record_seconds <= max(allowed, RECORDS)
        recorded = name_recorded(data) if records else frozenset[str]()
        for part in parts:
            repetitions.append(repeat(checked, part, times, recorded, progress, time_limit))
            stop = repetitions[-1].stop
            if stop.interrupted:
                return explain_missing(data, "its repetition was interrupted")
            if repetitions[-1].states.sizes["time"] < 2:
                reason = f"nothing came of the run in {name_steps(part)}: {stop.first_line}"
                return explain_missing(data, reason)
        found = _add_errors(checked, data, repetitions, parts)
        once_more = cost + RECORDED * checked.seconds / FINEST <= allowed
        if parts == FINER and once_more and _may_agree_by_chance(found):
            last = repeat(checked, FINEST, times, recorded, progress, time_limit)
            if not last.stop.reason:
                return _add_errors(checked, data, [*repetitions, last], (*parts, FINEST))
        return found


def estimate_in_halves(again: Callable[[float], Array]) -> Array:
    """Return the errors of figures (k, ...) of a run, with their signs, of the same shape.

    Each of the k has an order of its own, of its numbers together.

    Parameters
    ----------
    again : callable
        Returns the figures of the run in steps of a part of the size; 1 is the run itself.
    """
    runs = [again(part) for part in (1.0, *FINER)]
    return np.copysign(estimate_figures(runs, finer=True)[0], runs[0] - runs[-1])


def explain_missing(data: xr.Dataset, reason: str) -> xr.Dataset:
    """Return a dataset that says why no errors are known."""
    return data.assign_attrs(error_parts=np.full(2, np.nan), error_unknown=reason)


def _may_agree_by_chance(data: xr.Dataset) -> bool:
    """Tell whether a figure of a motion that is known to its end shows no order.

    Then three runs may agree on it by chance. Of a chaotic motion a fourth tells nothing more.
    """
    if find_predictable_time(data) < data["time"].values[-1]:
        return False
    figures = (data[ERROR + name] for name in FORCES if ERROR + name in data.variables)
    return any(x.attrs["unique"] and np.isnan(x.attrs["orders"]).any() for x in figures)


def _add_errors(
    checked: CheckedRun,
    data: xr.Dataset,
    repetitions: Sequence[Repetition],
    parts: tuple[float, ...],
) -> xr.Dataset:
    """Return the dataset of a run with its errors, by repetitions with parts of its h."""
    finer, all_times = parts[0] < 1, data["time"].values
    rows = pick_rows(len(all_times), MOST_STATES)
    t, picked = all_times[rows], pick_rows(len(rows), MOST_CARRIED)
    needed = STATES | NEEDED if has_contacts(checked.dynamics) else STATES
    needed |= name_recorded(data)
    own = data
    if not needed <= {*data.variables}:  # what the user did not want is needed all the same
        own = checked.history.result({}, wanted=needed).data
    radii = find_gyration_radii(checked.dynamics, checked.run.p)
    states = [own.isel(time=rows), *(x.states for x in repetitions)]
    step = max(1.0, *parts) * float(np.nanmax(data["h"].values))
    changes = np.add.reduceat(find_changes(own), np.append(0, rows[:-1] + 1)) > 0
    errors = compare_states(states, radii, finer, len(rows), changes, step)
    forces = [states[0].isel(time=picked), *(x.forces for x in repetitions)]
    errors |= compare_reactions(forces, finer, t, picked)
    coords, courses = {}, list[Course]()
    if all(x.figures and not x.stop.reason for x in repetitions):
        coords["contact_joint"] = [*contacts_of_joints(own)]
        slips = count_slips(checked.dynamics, own, checked.run.p)
        size = errors[ERROR + "motion"][2]["size"]
        slow = size / (checked.run.t_end - checked.run.start.t)
        shared = find_shared_figures(own, slips, slow)
        figures = [find_figures(own), *(x.figures for x in repetitions)]
        courses = [find_course(own), *(x.course for x in repetitions if x.course is not None)]
        errors |= compare_forces([find_forces(x) for x in forces], finer, t, picked)
        has_order = bool(np.isfinite(errors[ERROR + "force"][2]["order"]))
        errors |= compare_figures(figures, finer, shared, has_order)
        errors |= {name: make_figure(name, x) for name, x in figures[0].items()}
    ended = [
        f"the run in {name_steps(part)} ended early: {x.stop.first_line}"
        for x, part in zip(repetitions, parts, strict=True)
        if x.stop.reason
    ]
    about: dict[str, Any] = {
        "error_parts": np.array(parts),
        "error_unknown": "; ".join(ended),
    }
    if isinstance(control := checked.method.own_control, ErrorControl):
        about["error_tolerance"] = control.tolerance
        about["error_tolerance_power"] = checked.method.scheme.error_order + 1
    errors = {
        name: (dims, spread_over(all_times, rows, x) if "time" in dims else x, attrs)
        for name, (dims, x, attrs) in errors.items()
    }
    found = data.assign(errors).assign_coords(coords) if coords else data.assign(errors)
    found.attrs |= about
    return found if ended else _look_beyond(found, forces, courses)


def _look_beyond(
    data: xr.Dataset, forces: Sequence[xr.Dataset], courses: Sequence[Course]
) -> xr.Dataset:
    """Return a run with what is known of it beyond the time until which it is predictable."""
    until, motion, t = find_predictable_time(data), ERROR + "motion", data["time"].values
    if until >= t[-1]:
        return data
    growth = measure_growth(t, data[motion].values, until)
    told = data[motion].assign_attrs(growth_rate=growth)
    return data.assign({motion: told, **compare_statistics(forces, courses, until)})
