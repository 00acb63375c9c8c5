"""Caveats of errors that repetitions in other steps have measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import find_quantile
from nsopt.caveats.sizes import ROUND_OFF, TINY, is_optimum, measure_exchange, suggest_shorter
from nsopt.contact_modes import SETTLES
from nsopt.stored import ERROR

if TYPE_CHECKING:
    import xarray as xr

ACCURATE = 0.05  # relative error up to which there is no caveat
SURE = 0.95  # estimate of an error over the error itself at least: it may be some 5 % too small
LASTS = 0.1  # part of the time that a contact must last for its force to count

FORCES = ("largest_force", "peak_force", "rms_force")
"""Figures of forces without impacts: the largest after the start, the largest for 95 % of the time
in contact, and the root mean square over all time."""

IMPACTS = {
    "impact_impulse_sum": "the impulses of impacts in {!r} are",
    "contact_loss_sum": "the energy that contacts take in {!r} is",
}
"""Figures of impacts, in words."""

MATTERS = 0.05
"""Impulses of impacts over all that their joint transfers, and losses over what a motion exchanges,
from which their errors matter."""

SMALL = 0.01  # figure of a joint, over the largest of all joints, up to which it does not matter
MOSTLY = 0.95  # part of the time in which the error of a force is below that of the caveat

AIM = 0.5
"""Error at which suggested tolerances aim, over `ACCURATE`: they set h by another estimate."""

BELOW = 0.99  # usual step, over h_max, up to which something else than h_max sets h
HUNDRED = 99.5  # percent from which they would read 1e+02 in two digits
HIDDEN = 10  # growth of an error, over that on record, from which the record says nothing of h
PREDICTABLE = 0.05  # error of a motion, over its size, up to which it is predictable


class LargestError(NamedTuple):
    """The largest error of one kind."""

    value: float  # in the unit of the figure
    part: float  # over the size of the figure, infinite if that is zero
    order: float = np.nan  # in h, as seen in repetitions
    where: str = ""  # the joint, if it is of one

    @property
    def matters(self) -> bool:
        """Whether there is a caveat."""
        return self.part > SURE * ACCURATE


def has_errors(data: xr.Dataset) -> bool:
    """Return whether the errors of a run were measured; those of optima are of their grid."""
    return ERROR + "motion" in data.variables and not is_optimum(data)


def cover_all(data: xr.Dataset) -> bool:
    """Return whether the errors of a run are known up to its end."""
    return has_errors(data) and bool(np.isfinite(data[ERROR + "motion"].values[-1]))


def find_error_of_motion(data: xr.Dataset) -> LargestError:
    """Return by how much the body that is farthest off is off [m], over the size of the motion."""
    error = data[ERROR + "motion"]
    value = float(np.nanmax(error.values))
    return LargestError(value, value / error.attrs["size"], error.attrs["order"])


def find_error_of_energy(data: xr.Dataset) -> LargestError:
    """Return by how much the energy is off [J], over what the motion exchanges.

    That is the largest of kinetic energy and the ranges of potential energy and external work.
    """
    error = data[ERROR + "total_energy"]
    value = float(np.nanmax(error.values))
    return LargestError(value, value / measure_exchange(data), error.attrs["order"])


def find_error_of_figure(
    data: xr.Dataset, name: str, among: NDArray[np.bool_] | None = None
) -> LargestError | None:
    """Return the largest error of a figure of contacts over its size, None where none is known.

    Of all joints, or of those ``among`` (contact_joint,). None is known of figures that do not
    follow from the motion alone, nor where no joint has any of the figure.
    """
    if ERROR + name not in data.variables or not data.sizes["contact_joint"]:
        return None
    error, values = data[ERROR + name], np.abs(data[name].values)
    if not error.attrs["unique"]:
        return None
    largest = values + error.values  # that the figure may be
    counts = largest > SMALL * largest.max()
    if among is not None:
        counts &= among
    if name in FORCES:
        counts &= data["lasting_share"].values + data[ERROR + "lasting_share"].values > LASTS
    if not counts.any():
        return None
    least = ROUND_OFF * measure_exchange(data) if name == "contact_loss_sum" else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(counts, error.values / np.maximum(values, least), 0.0)
    k = int(np.argmax(parts))
    order, joint = np.atleast_1d(error.attrs["orders"])[k], str(data["contact_joint"].values[k])
    return LargestError(float(error.values[k]), float(parts[k]), float(order), joint)


def find_error_of_force(data: xr.Dataset) -> LargestError | None:
    """Return by how much forces of contacts are off over time [N], over the largest of them.

    The error that is not exceeded in 95 % of the time after the start, in the joint where that is
    largest; None where none is known.
    """
    largest = find_error_of_figure(data, "largest_force")
    if largest is None:
        return None
    t, error, h = (np.nan_to_num(data[x].values) for x in ("time", ERROR + "force", "h"))
    later = t >= t[0] + SETTLES * (t[-1] - t[0])
    value = max(find_quantile(x[later], h[later], MOSTLY) for x in error.T)
    whole = float(data["largest_force"].max())
    return LargestError(value, value / max(whole, value, TINY))


def find_error_of_reactions(data: xr.Dataset) -> LargestError | None:
    """Return by how much forces of ideal joints are off over time [N], over the largest of them.

    As `find_error_of_force`; None where no error of them is known, or nothing is carried.
    """
    if ERROR + "joint_reaction" not in data.variables:
        return None
    ideal = slice(data.attrs["ideal_joints"])
    error, force = (data[x].isel(joint=ideal) for x in (ERROR + "joint_reaction", "joint_reaction"))
    off, size = (np.linalg.norm(x.values, axis=-1) for x in (error, force))
    t, h = data["time"].values, np.nan_to_num(data["h"].values)
    later = t >= t[0] + SETTLES * (t[-1] - t[0])
    known = np.isfinite(off) & later[:, None]
    largest = float(size[known].max(initial=0.0))
    if not largest:
        return None
    values = [find_quantile(x[k], h[k], MOSTLY) for x, k in zip(off.T, known.T, strict=True)]
    k = int(np.argmax(values))
    names = data["joint"].values
    return LargestError(values[k], values[k] / largest, error.attrs["order"], str(names[k]))


def find_predictable_time(data: xr.Dataset) -> float:
    """Return the time [s] until which the motion is known to `PREDICTABLE` of its size."""
    error = data[ERROR + "motion"]
    off = np.flatnonzero(~(error.values <= PREDICTABLE * error.attrs["size"]))
    return float(data["time"].values[max(off[0] - 1, 0) if off.size else -1])


def tell_percent(part: float) -> str:
    """Return a part in percent, in two digits; of 100 % or more in whole ones."""
    return f"{100 * part:.2g}" if 100 * part < HUNDRED else f"{100 * part:.0f}"


def tell_error_of_motion(data: xr.Dataset) -> Iterator[str]:
    """Yield a warning of the motion, if it is off by too much."""
    found = find_error_of_motion(data)
    if found.matters:
        until, before = find_predictable_time(data), ""
        if until < data["time"].values[-1]:
            before = f" (at most {100 * PREDICTABLE:.2g} % until {until:.4g} s)"
        yield (
            f"bodies are off by up to {found.value:.2g} m, {tell_percent(found.part)} % of the "
            f"motion{before}: {_tell_chaos(data, found, until) or suggest_steps(data, found)}"
        )


def _tell_chaos(data: xr.Dataset, found: LargestError, until: float) -> str:
    """Return why no h is told: errors are as large as the motion, and hide how much they grew."""
    rate = data[ERROR + "motion"].attrs.get("growth_rate", np.nan)
    grown = rate * (data["time"].values[-1] - until)  # NaN where no growth was seen
    if not grown > np.log(HIDDEN * max(found.part, PREDICTABLE) / PREDICTABLE):
        return ""
    longer = (found.order if np.isfinite(found.order) else 1) * np.log(10) / rate
    return (
        f"errors grow by e in {1 / rate:.2g} s, so a tenth of h moves this time by about "
        f"{longer:.2g} s, and no h brings all of it to {100 * ACCURATE:.2g} %"
    )


def _tell_error_of_energy(data: xr.Dataset) -> Iterator[str]:
    found = find_error_of_energy(data)
    if found.matters:
        yield (
            f"the energy is off by up to {found.value:.2g} J, {tell_percent(found.part)} % of what "
            f"the motion exchanges: {suggest_steps(data, found)}"
        )


def _tell_error_of_forces(data: xr.Dataset) -> Iterator[str]:
    found = find_error_of_figure(data, "peak_force")
    if found is not None and found.matters:
        yield (
            f"the lasting force in {found.where!r} is off by {found.value:.2g} N, "
            f"{_tell_part(found, 'N')} (peaks of 5 % of the time left out): "
            f"{suggest_steps(data, found)}"
        )


def _tell_error_of_impacts(data: xr.Dataset) -> Iterator[str]:
    for name, words in IMPACTS.items():
        if name not in data.variables:
            continue
        found = find_error_of_figure(data, name, _matter(data, name))
        # A sum of few impacts is off by whole ones: its estimate is never a little too small, as
        # that of a force may be, so it must be larger here.
        if found is not None and SURE * found.part > ACCURATE:
            unit = data[name].attrs["units"]
            yield (
                f"{words.format(found.where)} off by {found.value:.2g} {unit}, "
                f"{_tell_part(found, unit)}: {suggest_steps(data, found)}"
            )


def _tell_part(found: LargestError, unit: str) -> str:
    """Return an error in percent of its figure; beside a smaller figure, that in its unit."""
    if found.part <= 1:
        return f"{tell_percent(found.part)} %"
    return f"where this run has {found.value / found.part:.2g} {unit}"


def _matter(data: xr.Dataset, name: str) -> NDArray[np.bool_]:
    """Return in which joints impulses or losses are large enough to matter, (contact_joint,)."""
    value = np.abs(data[name].values) + data[ERROR + name].values
    whole = measure_exchange(data)
    if name == "impact_impulse_sum":
        whole = value + data["rms_force"].values * np.ptp(data["time"].values)
    return np.asarray(value >= MATTERS * whole)


def suggest_steps(data: xr.Dataset, found: LargestError) -> str:
    """Return the h that makes an error small enough by its order, or the tolerance that sets h."""
    h, tolerance = data["h"].values[1:], data.attrs.get("error_tolerance", np.nan)
    usual = find_quantile(h, h, 0.5)  # the median over time
    if by_tolerance := bool(np.isfinite(tolerance)) and usual < BELOW * data.attrs["h_max"]:
        remedy = "lower the tolerance and compare"
    else:
        remedy = suggest_shorter(data)
    if not (np.isfinite(found.order) and np.isfinite(found.part)):
        return f"steps of other sizes do not agree on it, {remedy}"
    factor = (SURE * ACCURATE / found.part) ** (1 / found.order)  # below 1 wherever it is told
    if by_tolerance:
        factor *= AIM ** (1 / found.order)
        least = tolerance * factor ** data.attrs["error_tolerance_power"]
        return f"a tolerance of {least:.1g} m or less"
    return f"h_max of {cut_to_two_digits(min(usual, data.attrs['h_max']) * factor):.2g} s or less"


def cut_to_two_digits(value: float) -> float:
    """Return the first two digits of a positive number: never more than it."""
    unit = 10.0 ** (np.floor(np.log10(value)) - 1)
    return float(f"{np.floor(value / unit) * unit:.1e}")


def _tell_missed_accuracy(data: xr.Dataset) -> Iterator[str]:
    if not data.attrs.get("accuracy_missed") or is_optimum(data):
        return
    if not has_errors(data):
        asked, reason = (data.attrs[x] for x in ("accuracy", "error_unknown"))
        yield f"the accuracy of {asked:g} is not met, for the error is unknown: {reason}"
        return
    part, h = max(x(data).part for x in OVERALL), data.attrs.get("accuracy_h", np.nan)
    if np.isfinite(h):
        why = f"it takes steps of {h:.1g} s, too many of them: ask for less, or give such bounds"
    else:
        until = find_predictable_time(data)
        why = f"shorter steps hardly help; motion is predictable until {until:.4g} s"
    yield (
        f"the accuracy of {data.attrs['accuracy']:g} is not met: this run is off by {part:.2g}, "
        f"and {why}"
    )


OVERALL = (find_error_of_motion, find_error_of_energy)  # what an accuracy is of
CHECKS = (_tell_missed_accuracy,)  # caveats of all runs that asked for an accuracy

ERRORS = (
    tell_error_of_motion,
    _tell_error_of_energy,
    _tell_error_of_forces,
    _tell_error_of_impacts,
)
"""Caveats of runs whose errors are known."""
