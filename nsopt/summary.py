"""The summary of a result, in a few lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nsopt.blocks import blocks, largest
from nsopt.caveats import by_other_schemes, caveats, tell_slip
from nsopt.contact_modes import (
    contacts_of_joints,
    count_unresolved,
    joint_of,
    largest_of,
    least_force,
    rise_above_steps_beside,
    statistics_of_modes,
)
from nsopt.energy_rows import Row, energy

if TYPE_CHECKING:
    import xarray as xr


MOST_WARNINGS = 3
"""Lines of warnings in a short summary."""

SETTLES = 0.02
"""Of the duration, the time at the start in which what is stated comes into motion."""

STANDS_OUT = 1.05
"""Factor on the largest force afterwards, from which that of the start is told too."""

RESOLVED = 0.05
"""By what part of itself the largest force is above those of the steps beside it at most."""

EVEN = 1e-9
"""By how much steps of one size differ at most, over their mean."""

KEPT = 1e-6
"""Largest violation of conditions with which a guess keeps them."""

MOST_JOINTS = 4
"""Joints whose modes are told."""

RESIDUALS = (
    ("equations of motion", "motion_residual"),
    ("complementarity", "complementarity_residual"),
    ("gap violation", "gap_violation"),
    ("joint closure", "constraint_violation"),
    ("Euler-parameter norm", "euler_norm_error"),
)


def summary(data: xr.Dataset, full: bool = False) -> str:
    """Return the summary of the dataset of a Result, short or with all there is to tell."""
    best = "objective" in data.attrs
    told = caveats(data)
    rows = [("WARNING", text) for text in told]
    if full:
        rows += [*head(data, "motion"), *optimum(data)] if best else head(data)
        if data.sizes["time"] > 1:
            rows += solves(data) if best else steps(data)
            rows += energy(data) + residuals(data) + contacts(data) + ranges(data)
    else:
        if len(told) > MOST_WARNINGS:
            rest = len(told) - MOST_WARNINGS + 1
            rows[MOST_WARNINGS - 1 :] = [
                ("WARNING", f"and {rest} more: result.warnings, nsopt info")
            ]
        rows += [*head(data, "motion"), *optimum(data, short=True)] if best else head(data)
        if data.sizes["time"] > 1:
            rows += solves(data) if best else short_steps(data)
            rows += energy(data)[:2] + ([] if best else short_residuals(data))
            rows += short_contacts(data) + short_ranges(data)
    return "\n".join(f"{label:<21} {text}" for label, text in rows)


def short_steps(data: xr.Dataset) -> list[Row]:
    """Return step sizes, what else there is to them, and the solver's effort, in two lines."""
    attrs, rows = data.attrs, steps(data)
    size, solver = rows[0], rows[-1]
    more = ""
    if attrs["steps_below_h_min"]:
        more += f", {attrs['steps_below_h_min']} below"
    if retried := int(np.sum(data["retries"].values[1:] > 0)):
        more += f", {retried} retried"
    if attrs["steps_by_other_schemes"]:
        more += f", {attrs['steps_by_other_schemes']} by other schemes"
    return [(size[0], size[1] + more), solver]


def short_residuals(data: xr.Dataset) -> list[Row]:
    """Return the largest residuals in one line."""
    parts = [f"{label} {text.partition(' (')[0]}" for label, text in residuals(data)]
    return [("residuals at most", ", ".join(parts) + tell_thinning(data))]


def short_contacts(data: xr.Dataset) -> list[Row]:
    """Return the largest force that lasts, impacts, and modes of the first joint with contacts."""
    known = ("largest", "impacts", "modes")
    rows = [row for row in contacts(data) if row[0].startswith(known)]
    if (count := data.attrs["redundant_contacts"]) and rows:
        label, text = rows[0]
        rows[0] = label, f"{text}; up to {count} redundant contacts: shares are one of many"
    told = [row for row in rows if row[0].startswith("modes")]
    best = "objective" in data.attrs  # has many lines of its own
    rows = [row for row in rows if row not in told[0 if best else 1 :]]
    if len(told) > 1 and not best:
        count = len(statistics_of_modes(data)) - 1
        label, text = told[0]
        rows[rows.index(told[0])] = (label, f"{text}; {count} more: `contact_modes`")
    return rows


def short_ranges(data: xr.Dataset) -> list[Row]:
    """Return the largest excess over ranges, that of the first in words."""
    rows = ranges(data)
    if len(rows) < 2:
        return rows
    beyond = [row for row in rows if row[1] != "never"]
    label, text = (beyond or rows)[0]
    return [(label, f"{text}; {len(rows) - 1} more ranges, {len(beyond)} of all exceeded")]


def optimum(data: xr.Dataset, short: bool = False) -> list[Row]:
    """Return the objective, its parts, and by how much conditions are violated."""
    attrs = data.attrs
    rows = [("objective", f"{attrs['objective']:.10g} ({shares(attrs['detailed_cost'])})")]
    if guess := shares(attrs["guess_cost"]):
        off = attrs["guess_violation"]
        kept = "all conditions kept" if off < KEPT else f"conditions missed by up to {off:.2g}"
        rows.append(("that of the guess", f"{guess}; {kept}"))
    if (exact := attrs.get("exact_cost")) and not short:
        before = shares(attrs.get("guess_exact_cost", "{}"))
        guess = f", of the guess {before}" if before else ""
        smoothed = "" if "friction_modes" in attrs else "; smoothed in the objective"
        rows.append(("exact friction", f"{shares(exact)}{guess}{smoothed}"))
    elsewhere = "; from a guess that swings, for none was found from that given"
    status = f"{attrs['status']}, conditions to {attrs['violation']:.1e}"
    rows.append(("status", status + (elsewhere if "other_start" in attrs else "")))
    if "limits_exceeded" in attrs:
        rows.append(("between nodes", between_nodes(attrs)))
    if attrs.get("stationarity"):  # results of earlier versions have none
        rows.append(("kind", attrs["stationarity"]))
    if np.isfinite(attrs["defect"]):
        rows.append(("reintegrated", f"{attrs['defect']:.1e} (m, rad) from a node at most"))
    rows += given_modes(attrs)[: 1 if short else None]
    if (slid := tell_slip(data)) and not short:
        rows.append(("though held", slid))
    if "resimulated_defect" in attrs:
        off, until = attrs["resimulated_defect"], attrs["resimulated_until"]
        built = attrs.get("resimulated_compile_time")
        code = "" if built is None else f"; {built:.2g} s to make or find its code"
        rows.append(("resimulated", f"to {until:g} s, {off:.1e} (m, rad) off at most{code}"))
    return rows


def given_modes(attrs: Mapping[str, Any]) -> list[Row]:
    """Return the modes of contacts of a phase, what they leave, and impulses at its start."""
    if "modes" not in attrs:
        return []
    stated = json.loads(attrs["modes"])
    text = ", ".join(f"{name}: {mode.partition('(')[0]}" for name, mode in stated.items())
    if "modes_gap" in attrs:
        text += f"; closed to {attrs['modes_gap']:.1e} m"
        text += f", slip at most {attrs['modes_slip']:.1e} m/s where it sticks"
    rows = [("modes", text)]
    if "impact" in attrs:
        sizes = {name: np.linalg.norm(x) for name, x in json.loads(attrs["impact"]).items()}
        rows.append(("impact", ", ".join(f"{name}: {x:.4g} N s" for name, x in sizes.items())))
    return rows


def between_nodes(attrs: Mapping[str, Any]) -> str:
    """Return in words how far limits are kept at all times."""
    beyond, times = attrs["limits_exceeded"], attrs["limits_tightened"]
    state = "kept to" if attrs["completed"] else "exceeded by"
    how = f", tightened {times} times" if times else ""
    return f"limits {state} {beyond:.1e} of their size{how}" if beyond else f"limits kept{how}"


def shares(costs: str) -> str:
    """Return the shares of costs, from their JSON."""
    return ", ".join(f"{name}: {value:.6g}" for name, value in json.loads(costs).items())


def solves(data: xr.Dataset) -> list[Row]:
    """Return step sizes of an optimum, and the solver's effort."""
    h, seconds = data["h"].values[1:], float(np.nansum(data["solve_time"]))
    each = (
        f"{h.mean():.4g} s" if np.ptp(h) < EVEN * h.mean() else f"{h.min():.3g} ... {h.max():.3g} s"
    )
    count = round(float(np.nansum(data["iterations"])))
    built = data.attrs["compile_time"]
    effort = f"{count} iterations in {seconds:.3g} s; {built:.2g} s to state the problem"
    return [("step size h", each), ("solver", effort)]


def head(data: xr.Dataset, label: str = "simulated") -> list[Row]:
    """Return scheme, solver, duration and state of the run."""
    attrs, t = data.attrs, data["time"].values
    failed = "NO SOLUTION" if label == "motion" else "STOPPED EARLY"
    # Of many lines the first says why, the others where.
    why = attrs["stop_reason"].partition("\n")[0]
    state = "complete" if attrs["completed"] else f"{failed}: {why}"
    kept = f", every {attrs['store_every']}th kept" if attrs["store_every"] > 1 else ""
    if attrs["output_times"]:
        kept = f", kept at {len(t) - 1} times"
    kind = attrs.get("generalized_coordinates")
    made = (
        attrs.get("title"),
        kind and f"{kind} coordinates",
        attrs.get("scheme_name"),
        attrs.get("solver_name"),
    )
    return [
        ("run", ", ".join(filter(None, made))),
        (label, f"{t[-1] - t[0]:.6g} s in {attrs['steps']} steps{kept}, {state}"),
    ]


def steps(data: xr.Dataset) -> list[Row]:
    """Return step sizes, retries and the solver's effort."""
    attrs, h = data.attrs, data["h"].values[1:]
    below, retried = attrs["steps_below_h_min"], int(np.sum(data["retries"].values[1:] > 0))
    seconds, count = float(np.nansum(data["solve_time"])), max(int(attrs["steps"]), 1)
    each, unit = 1e3 * seconds / count, "ms"
    if each < 0.1:
        each, unit = 1e3 * each, "us"
    built = attrs["compile_time"]
    code = f"; {built:.2g} s to make or find its code" if built else ""
    bounds = f"{attrs['h_min']:.3g} ... {attrs['h_max']:.3g}"
    others = "by other schemes", by_other_schemes(data)
    return [
        (
            "step size h",
            f"{h.min():.3g} ... {h.max():.3g} s, mean {h.mean():.3g} (bounds {bounds})",
        ),
        ("h below h_min", f"{below} steps ({100 * below / count:.2g} %), events not counted"),
        ("retried steps", str(retried)),
        *([others] if attrs["steps_by_other_schemes"] else []),
        (
            "solver",
            f"{seconds:.3g} s, {each:.3g} {unit} and "
            f"{np.nansum(data['iterations']) / count:.3g} iterations a step{code}",
        ),
    ]


def residuals(data: xr.Dataset) -> list[Row]:
    """Return the largest residuals; joint closure only where there are ideal joints."""
    ideal = data.isel(joint=slice(data.attrs["ideal_joints"]))
    return [
        (
            label,
            f"{largest(ideal[name]):.2e} {data[name].attrs['units']}{tell_thinning(data)}",
        )
        for label, name in RESIDUALS
        if name in ideal and ideal[name].size
    ]


def tell_thinning(data: xr.Dataset) -> str:
    """Return the remark that numbers are of the kept steps alone, for a thinned run."""
    if data.attrs["output_times"]:
        return " (at the times kept)"
    return " (kept steps)" if data.attrs["store_every"] > 1 else ""


def contacts(data: xr.Dataset) -> list[Row]:
    """Return forces that last, impulses of impacts, modes of joints, and what is redundant.

    Forces of impacts are left out: they are impulses over h, without a limit as h falls.
    """
    rows, attrs = [], data.attrs
    if data.sizes["contact"] and {"lasting_force", "impulse"} <= {*data.variables}:
        compliant = int(attrs["pressed"]) == data.sizes["contact"]
        rows.append((f"largest{'' if compliant else ' lasting'} force", largest_force(data)))
    if data.sizes["contact"] and {"contact_mode", "impact_impulse"} <= {*data.variables}:
        rows += impacts(data) + modes(data)
    if count := attrs["redundant_joint_rows"]:
        owners = json.loads(attrs["redundant_rows"]).items()
        names = ", ".join(f"{rows} of {joint!r}" for joint, rows in owners)
        rows.append(("redundant joint rows", f"{count}, {names}: reactions are of least norm"))
    if count := attrs["redundant_contacts"]:
        rows.append(("redundant contacts", f"up to {count}: their shares are one of many"))
    return rows


def largest_force(data: xr.Dataset) -> str:
    """Return in words the largest force that lasts; that of the start apart where it is larger."""
    t, least = data["time"].values, least_force(data)
    settled = int(np.searchsorted(t, t[0] + SETTLES * (t[-1] - t[0])))
    whole = max(map(largest_of, blocks(data["lasting_force"])))
    if whole[0] <= least:
        return "no lasting contact"
    if "objective" in data.attrs or -whole[1] >= settled:
        return _force_in_words(data, whole)
    rest = blocks(data["lasting_force"][settled:])
    later = max(largest_of((settled + begin, x)) for begin, x in rest)
    if whole[0] <= STANDS_OUT * later[0]:
        return _force_in_words(data, later)
    if later[0] <= least:
        return f"{_force_in_words(data, whole)}, while the start settles"
    start = f"({whole[0]:.4g} N as the motion starts, t = {t[-whole[1]]:.6g} s)"
    return f"{_force_in_words(data, later)} {start}"


def _force_in_words(data: xr.Dataset, found: tuple[float, int, int]) -> str:
    force, k, j = found
    where, when = str(data["contact"].values[j]), data["time"].values[-k]
    text = f"{force:.4g} N at {where}, t = {when:.6g} s{tell_thinning(data)}"
    if (above := rise_above_steps_beside(data, -k, j)) > RESOLVED:
        text += f", {100 * above:.2g} % above the steps beside it: a smaller h resolves it"
    beside = contacts_of_joints(data)[joint_of(where)]
    if len(beside) == 1:
        return text
    # Contacts of one joint press against each other: what it carries is their sum.
    sums = [
        np.linalg.norm(x[:, beside].sum(axis=1), axis=1) for _, x in blocks(data["lasting_force"])
    ]
    most = np.nanmax(np.concatenate(sums))
    if abs(most - force) < 1e-3 * most:  # within the digits told
        return text
    whole = f"{most:.4g} N in all of {joint_of(where)}"
    if force > most:
        return f"{whole}, whose contacts press against each other: {text}"
    return f"{whole}, of it at most {text}"


def impacts(data: xr.Dataset) -> list[Row]:
    """Return the number of impacts and their impulses, those in successive steps as one."""
    count = sum(x.impacts for x in statistics_of_modes(data).values())
    total, most, last = 0.0, (0.0, 0, 0), np.zeros(data.sizes["contact"])
    for begin, x in blocks(data["impact_impulse"]):
        impulse = np.nan_to_num(x)
        sums = last + np.cumsum(impulse, axis=0)
        of_each = sums - np.maximum.accumulate(np.where(impulse > 0, 0.0, sums), axis=0)
        k, j = np.unravel_index(int(np.argmax(of_each)), of_each.shape)
        most = max(most, (float(of_each[k, j]), -(begin + int(k)), int(j)))
        total, last = total + float(impulse.sum()), of_each[-1]
    more = count_unresolved(data)
    others = f"{more} that only a smaller h tells from lasting contact" if more else ""
    if not count:
        return [("impacts", f"none but {others}")] if more else []
    if not most[0]:
        return [("impacts", f"{count}, over between the ends of steps: a smaller h resolves them")]
    where, when = data["contact"].values[most[2]], data["time"].values[-most[1]]
    largest_one = f"up to {most[0]:.4g} N s (at {where}, t = {when:.6g} s)"
    text = f"{count} of {largest_one}, {total:.4g} N s in all{tell_thinning(data)}"
    return [("impacts", f"{text}, and {others}" if more else text)]


def modes(data: xr.Dataset) -> list[Row]:
    """Return how the first joints with contacts spent the time."""
    rows, found = [], [*statistics_of_modes(data).items()]
    for joint, x in found[:MOST_JOINTS]:
        parts = f"{100 * x.free:.3g} % free, {100 * x.lasting:.3g} % in lasting contact"
        rows.append((f"modes of {joint}", f"{parts}, {x.impacts} impacts{tell_thinning(data)}"))
    if len(found) > MOST_JOINTS:
        rows.append(("modes of others", f"{len(found) - MOST_JOINTS} more: `contact_modes`"))
    return rows


def ranges(data: xr.Dataset) -> list[Row]:
    """Return the largest excess over each range."""
    rows = []
    for name, variable in data.data_vars.items():
        most = variable.attrs.get("most", np.inf)
        if not np.isfinite(most):
            continue
        unit = variable.attrs["units"]
        factor, unit = (np.degrees(1.0), "deg") if unit == "rad" else (1.0, unit)
        k = int(np.argmax(variable.values))
        worst, when = variable.values[k], data["time"].values[k]
        text = f"{factor * worst:.3g} {unit} at most, t = {when:.6g} s{tell_thinning(data)}"
        rows.append((str(name), text if worst > 0 else "never"))
    return rows
