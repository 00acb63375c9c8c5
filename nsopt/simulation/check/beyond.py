"""What is known of a motion beyond the time until which it is predictable: its statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nsopt.algebra import find_quantile
from nsopt.arrays import Array
from nsopt.contact_modes import IMPACT, contacts_of_joints
from nsopt.simulation.check.comparison import Estimate, Variable, make_error, make_figure
from nsopt.simulation.check.figures import find_forces
from nsopt.stored import ERROR

if TYPE_CHECKING:
    import xarray as xr


INTERVALS = 8  # of the time beyond, which tell how much statistics scatter
ROWS = 10  # times in each part at least, with fewer statistics tell nothing
SURE = 2.0  # standard errors that a statistic may be off by
ALIKE = 3.0  # standard errors by which two runs that are alike differ at most
STEEP = 1e-3  # part of the error at the predictable time from which on its growth is measured
GROWS = 10.0  # factor by which it grows at least where a rate is told
ROUNDING = 1e-9  # part of the kinetic energy, losses that are rounding


class Course(NamedTuple):
    """What contacts of joints did over a run, step by step."""

    t: Array  # (n,) [s], ends of the steps
    impacts: Array  # (n, joint), those that begin
    loss: Array  # (n, joint) [J]


def measure_growth(t: Array, error: Array, until: float) -> float:
    """Return the rate by which an error (time,) grows up to a time [1/s], NaN where it does not.

    The slope of the logarithm of the largest error so far, over its last three decades.
    """
    largest = np.maximum.accumulate(np.nan_to_num(error))
    last = largest[t <= until].max(initial=0.0)
    within = (t <= until) & (largest > STEEP * last)
    if within.sum() < ROWS or last < GROWS * largest[within][0]:
        return np.nan
    return float(np.polyfit(t[within], np.log(largest[within]), 1)[0])


def find_course(data: xr.Dataset) -> Course:
    """Return what contacts of joints did in each step of a run."""
    joints = contacts_of_joints(data).values()
    struck = data["contact_mode"].values == IMPACT
    begins, loss = struck[1:] & ~struck[:-1], np.nan_to_num(data["contact_loss"].values[1:])
    return Course(
        data["time"].values[1:],
        np.stack([begins[:, ks].sum(axis=1) for ks in joints], axis=1),
        np.stack([loss[:, ks].sum(axis=1) for ks in joints], axis=1),
    )


def compare_statistics(
    states: Sequence[xr.Dataset], courses: Sequence[Course], until: float
) -> dict[str, Variable]:
    """Return statistics of the first of some runs beyond a time, with their errors, by joint.

    There are none where too little time is left. A statistic is off by twice its standard error,
    from parts of the time, or by as much as it differs in the other runs if that is more. ``alike``
    says of each joint whether the runs differ by less than three standard errors, NaN where that is
    not known. The run's repetitions follow it in ``states``, at the same times with forces that are
    on record, and in ``courses``, empty of a mechanism without contacts.
    """
    t = states[0]["time"].values
    edges = np.linspace(until, t[-1], INTERVALS + 1)
    if np.histogram(t, edges)[0].min() < ROWS:
        return {}
    names = [str(x) for x in states[0]["joint"].values]
    forces = [_measure_forces(x, names) for x in states]
    found = dict[str, Variable]()
    for name, measure in OF_FORCES.items():
        found |= _compare(name, [_find_parts(measure, t, x, edges) for x in forces])
    if courses:
        at = [names.index(x) for x in contacts_of_joints(states[0])]
        exchanged = float(np.ptp(states[0]["kinetic_energy"].values))
        least = ROUNDING * exchanged / (t[-1] - until)  # [J/s] losses below it are rounding
        for name, what, rounding in (
            ("beyond_impact_rate", "impacts", 0.0),
            ("beyond_loss_rate", "loss", least),
        ):
            rates = np.full((len(courses), INTERVALS + 1, len(names)), np.nan)
            for k, course in enumerate(courses):
                rates[k][:, at] = _find_rates(course.t, getattr(course, what), edges)
            rates[np.abs(rates) < rounding] = 0.0
            found |= _compare(name, [*rates])
    return found


def _measure_forces(run: xr.Dataset, names: Sequence[str]) -> Array:
    """Return what joints carry, (time, joint) [N], NaN where it is not known."""
    size = np.full((run.sizes["time"], len(names)), np.nan)
    if "joint_reaction" in run:
        ideal = run.attrs["ideal_joints"]
        size[:, :ideal] = np.linalg.norm(run["joint_reaction"].values[:, :ideal], axis=-1)
        if "contact_mode" in run and run.sizes["contact"]:
            size[np.any(run["contact_mode"].values == IMPACT, axis=1)] = np.nan
    if "lasting_force" in run and run.sizes["contact"]:
        at = [names.index(x) for x in contacts_of_joints(run)]
        size[:, at] = np.linalg.norm(find_forces(run), axis=-1)
    return size


def _find_parts(
    measure: Callable[[Array, Array], float], t: Array, x: Array, edges: Array
) -> Array:
    """Return a statistic of the whole time beyond, then of its parts, (1 + part, joint)."""
    h, spans = np.append(0.0, np.diff(t)), [(edges[0], edges[-1]), *pairwise(edges)]
    found = np.full((len(spans), x.shape[1]), np.nan)
    for k, (begin, end) in enumerate(spans):
        for j, column in enumerate(x.T):
            known = (t > begin) & (t <= end) & np.isfinite(column)
            if known.any():
                found[k, j] = measure(column[known], h[known])
    return found


def _find_rates(t: Array, x: Array, edges: Array) -> Array:
    """Return what came per second in the time beyond, then in its parts, (1 + part, joint)."""
    begin, end = np.searchsorted(t, edges[:-1], "right"), np.searchsorted(t, edges[1:], "right")
    sums = np.append(np.zeros((1, x.shape[1])), np.cumsum(x, axis=0), axis=0)
    parts = (sums[end] - sums[begin]) / np.diff(edges)[:, None]
    return np.vstack([parts.mean(axis=0), parts])


def _compare(name: str, runs: Sequence[Array]) -> dict[str, Variable]:
    """Return a statistic (joint,) and its error, from values of (1 + part, joint) of each run."""
    values = [x[0] for x in runs]
    scatter = [np.std(x[1:], axis=0, ddof=1) / np.sqrt(INTERVALS) for x in runs]
    apart = [np.abs(x - values[0]) for x in values[1:]]
    error = np.max([SURE * scatter[0], *apart], axis=0)
    alike = np.all(
        [x <= ALIKE * np.hypot(scatter[0], s) for x, s in zip(apart, scatter[1:], strict=True)],
        axis=0,
    )
    alike = np.where(np.isnan(error), np.nan, alike)
    return {
        name: make_figure(name, values[0]),
        ERROR + name: make_error(name, Estimate(error, np.nan), alike=alike),
    }


OF_FORCES: MappingProxyType[str, Callable[[Array, Array], float]] = MappingProxyType(
    {
        "beyond_mean_force": lambda x, h: float(np.sum(x * h) / np.sum(h)),
        "beyond_median_force": lambda x, h: find_quantile(x, h, 0.5),
        "beyond_peak_force": lambda x, h: find_quantile(x, h, 0.95),
    }
)
"""Statistics of forces x [N] that lasted for h [s] each, by the names of variables."""
