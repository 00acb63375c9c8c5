"""The summary of a result, in a few lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nsopt.blocks import largest
from nsopt.caveats import (
    caveats,
    find_error_of_motion,
    has_errors,
    tell_share_of_other_schemes,
    tell_slip,
)
from nsopt.contact_modes import statistics_of_modes
from nsopt.summary.contact_rows import (
    tell_contacts,
    tell_forces,
    tell_impacts,
    tell_modes,
    tell_thinning,
)
from nsopt.summary.energy_rows import Row, tell_energy
from nsopt.summary.error_rows import tell_beyond, tell_errors

if TYPE_CHECKING:
    import xarray as xr


MOST_STRATEGIES = 8  # lines of strategies of a search
MOST_WARNINGS = 3  # lines of warnings in a short summary

NOTABLE = 0.01
"""Part of the time in steps that go on past a change of contact, from which on to say so."""

EVEN = 1e-9  # relative difference of numbers that count as equal
SOLVED = 1e-7  # relative error of an objective that solvers leave

GRID_LIMITED = 0.5
"""Part of the error of an objective from which it is said to come from limits between nodes."""

SMOOTH = 1.5
"""Order from which the error of an objective is not said to come from limits that switch."""

KEPT = 1e-6  # violation of conditions up to which a guess counts as keeping them

RESIDUALS = (
    ("equations of motion", "motion_residual"),
    ("complementarity", "complementarity_residual"),
    ("gap violation", "gap_violation"),
    ("joint closure", "constraint_violation"),
    ("Euler-parameter norm", "euler_norm_error"),
)
"""Labels and variables of residuals."""


def summary(data: xr.Dataset, full: bool = False) -> str:
    """Return the summary of the dataset of a Result, short or with all there is to tell."""
    short, is_optimum = not full, "objective" in data.attrs
    beyond = [] if is_optimum else tell_beyond(data, short)
    rows = [("WARNING", text) for text in caveats(data)]
    most = MOST_WARNINGS - len(beyond)
    if short and len(rows) > most:
        rest = len(rows) - most + 1
        rows[most - 1 :] = [("WARNING", f"and {rest} more: result.warnings, nsopt info")]
    rows += tell_run(data) + (tell_optimum(data, short) if is_optimum else [])
    if data.sizes["time"] > 1:
        if is_optimum:
            rows += tell_solves(data, short)
        elif short:
            rows += tell_errors_in_short(data) + beyond + tell_steps_in_short(data)
        else:
            rows += tell_errors(data) + beyond + tell_steps(data)
        if short:
            rows += tell_energy(data)[:2]
            rows += tell_contacts_in_short(data) + tell_ranges_in_short(data)
        else:
            rows += tell_energy(data) + tell_residuals(data)
            rows += tell_contacts(data) + tell_ranges(data)
    return "\n".join(f"{label:<21} {text}" for label, text in rows)


def tell_steps_in_short(data: xr.Dataset) -> list[Row]:
    """Return step sizes, what else there is to them, and the solver's effort, in two lines."""
    attrs, rows = data.attrs, tell_steps(data)
    size, solver = rows[0], rows[-1]
    more = ""
    if attrs["steps_below_h_min"]:
        more += f", {attrs['steps_below_h_min']} below"
    if retried := int(np.sum(data["retries"].values[1:] > 0)):
        more += f", {retried} retried"
    if attrs["steps_by_other_schemes"]:
        more += f", {attrs['steps_by_other_schemes']} by other schemes"
    if (past := attrs.get("time_past_changes", 0.0)) > NOTABLE * float(np.nansum(data["h"])):
        more += f", {past:.3g} s in steps past a change of contact"
    return [(size[0], size[1] + more), solver]


def tell_errors_in_short(data: xr.Dataset) -> list[Row]:
    """Return the errors; where they are unknown the largest residuals too, which are no errors."""
    rows = tell_errors(data)
    if has_errors(data):
        return rows
    ((label, text),) = rows
    parts = [f"{label} {text.partition(' (')[0]}" for label, text in tell_residuals(data)]
    return [(label, f"{text}; residuals at most: {', '.join(parts)}{tell_thinning(data)}")]


def tell_contacts_in_short(data: xr.Dataset) -> list[Row]:
    """Return the largest force that lasts, impacts, and modes of the first joint with contacts."""
    is_optimum = "objective" in data.attrs  # has many lines of its own
    modes = [] if is_optimum else tell_modes(data)
    if len(modes) > 1:
        label, text = modes[0]
        more = len(statistics_of_modes(data)) - 1
        modes = [(label, f"{text}; {more} more: `contact_modes`")]
    rows = [*tell_forces(data), *tell_impacts(data), *modes]
    if (count := data.attrs["redundant_contacts"]) and rows:
        label, text = rows[0]
        rows[0] = label, f"{text}; up to {count} redundant contacts: shares are one of many"
    return rows


def tell_ranges_in_short(data: xr.Dataset) -> list[Row]:
    """Return the largest excess over ranges, that of the first in words."""
    rows = tell_ranges(data)
    if len(rows) < 2:
        return rows
    beyond = [row for row, x in zip(rows, find_excesses(data), strict=True) if x.max() > 0]
    label, text = (beyond or rows)[0]
    return [(label, f"{text}; {len(rows) - 1} more ranges, {len(beyond)} of all exceeded")]


def tell_optimum(data: xr.Dataset, short: bool = False) -> list[Row]:
    """Return the objective, its parts, and by how much conditions are violated."""
    attrs = data.attrs
    costs, off_by_grid = tell_costs(attrs["detailed_cost"]), tell_grid_error(data)
    rows = [("objective", f"{attrs['objective']:.10g} ({costs}){off_by_grid}")]
    rows += tell_accuracy(data)
    if guess := tell_costs(attrs["guess_cost"]):
        off = attrs["guess_violation"]
        kept = "all conditions kept" if off < KEPT else f"conditions missed by up to {off:.2g}"
        rows.append(("that of the guess", f"{guess}; {kept}"))
    if (exact := attrs.get("exact_cost")) and not short:
        before = tell_costs(attrs.get("guess_exact_cost", "{}"))
        guess = f", of the guess {before}" if before else ""
        smoothed = "" if "friction_modes" in attrs else "; smoothed in the objective"
        rows.append(("exact friction", f"{tell_costs(exact)}{guess}{smoothed}"))
    elsewhere = "; from a guess that swings, for none was found from that given"
    status = f"{attrs['status']}, conditions to {attrs['violation']:.1e}"
    rows.append(("status", status + (elsewhere if "other_start" in attrs else "")))
    if "limits_exceeded" in attrs:
        rows.append(("between nodes", tell_limits_between_nodes(attrs)))
    if attrs.get("stationarity"):  # results of earlier versions have none
        rows.append(("kind", attrs["stationarity"]))
    if np.isfinite(attrs["defect"]):
        rows.append(("reintegrated", f"{attrs['defect']:.1e} (m, rad) from a node at most"))
    rows += tell_phase_modes(attrs)[: 1 if short else None]
    if (slip := tell_slip(data)) and not short:
        rows.append(("though held", slip))
    if "resimulated_defect" in attrs:
        off, until = attrs["resimulated_defect"], attrs["resimulated_until"]
        seconds = attrs.get("resimulated_compile_time")
        code = "" if seconds is None else f"; {seconds:.2g} s to make or find its code"
        rows.append(("resimulated", f"to {until:g} s, {off:.1e} (m, rad) off at most{code}"))
    return rows


def tell_grid_error(data: xr.Dataset) -> str:
    """Return by how much an objective is off by its grid, or why that is unknown."""
    attrs = data.attrs
    if "objective_error" not in attrs:
        unknown = attrs.get("error_unknown", "not measured")
        return f", error unknown: {unknown}{tell_grid_limits(attrs)}" if attrs["completed"] else ""
    error, order = attrs["objective_error"], attrs["objective_order"]
    how = f"order {order:.2g}" if np.isfinite(order) else "no order seen"
    how += tell_grid_limits(attrs)
    small = error <= SOLVED * abs(attrs["objective"]) * (1 + EVEN)
    how = "no more than solvers leave" if small else how
    coarser = "half and a quarter of the steps"
    by = "half and twice the steps" if min(np.atleast_1d(attrs["error_parts"])) < 1 else coarser
    motion = ""
    if "error_motion" in data.variables:
        found = find_error_of_motion(data)
        motion = f"; motion off by {100 * found.part:.2g} % ({found.value:.2g} m)"
    return f", off by {error:.2g} (by {by}: {how}){motion}"


def tell_grid_limits(attrs: Mapping[str, Any]) -> str:
    """Return in words how limits bind an optimum to its grid; empty if it is not off by that."""
    cost, error = abs(attrs.get("limits_cost", 0.0)), attrs.get("objective_error", 0.0)
    if cost > max(GRID_LIMITED * error, SOLVED * abs(attrs["objective"])):
        return f", grid-limited: {cost:.2g} of it to keep limits within steps"
    order, limits = attrs.get("objective_order", np.nan), attrs.get("switching_limits", "")
    if not (error and limits) or order >= SMOOTH:
        return ""
    first, _, more = limits.partition(", ")
    return f", grid-limited: limits of {first}{' and others' if more else ''} switch at nodes"


def tell_accuracy(data: xr.Dataset) -> list[Row]:
    """Return the accuracy that was asked for, and the steps that meet it."""
    attrs = data.attrs
    if "accuracy" not in attrs or attrs["accuracy_missed"]:
        return []
    asked, steps = attrs["accuracy"], attrs["accuracy_steps"]
    if "error_motion" not in data.variables or find_error_of_motion(data).part <= asked:
        return [("accuracy", f"{asked:g} of objective and motion, met by {steps} steps")]
    undecided = "the motion does not settle on finer grids: costs hardly decide it"
    return [("accuracy", f"{asked:g} of the objective, met by {steps} steps; {undecided}")]


def tell_phase_modes(attrs: Mapping[str, Any]) -> list[Row]:
    """Return the modes of contacts of an optimum, how exact they are, and impacts at its start."""
    if "objective_in_steps" in attrs:
        cost = attrs["objective_in_steps"]
        in_steps = f"in steps the objective is {cost:.6g}" if np.isfinite(cost) else "none in steps"
        if "contact_sequence" not in attrs:
            return [("exact", in_steps)]
        changes = ", ".join(f"{t:.5g}" for t in np.atleast_1d(attrs["borders"])[1:-1])
        when = f"change at {changes} s" if changes else "do not change"
        return [("contacts", f"{attrs['contact_sequence']} ({when}; {in_steps})")]
    if why := attrs.get("not_exact"):
        return [("not exact", f"in steps alone: {why}")]
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


def tell_limits_between_nodes(attrs: Mapping[str, Any]) -> str:
    """Return in words how far limits are kept at all times."""
    beyond, times = attrs["limits_exceeded"], attrs["limits_tightened"]
    state = "kept to" if attrs["completed"] else "exceeded by"
    how = f", tightened {times} times" if times else ""
    return f"limits {state} {beyond:.1e} of their size{how}" if beyond else f"limits kept{how}"


def tell_costs(costs: str) -> str:
    """Return each cost with its value in words, from JSON of values by name."""
    return ", ".join(f"{name}: {value:.6g}" for name, value in json.loads(costs).items())


def tell_solves(data: xr.Dataset, short: bool = False) -> list[Row]:
    """Return step sizes of an optimum, and the solver's effort."""
    h, seconds = data["h"].values[1:], float(np.nansum(data["solve_time"]))
    each = f"{h.min():.3g} ... {h.max():.3g} s"
    if np.ptp(h) < EVEN * h.mean():
        each = f"{h.mean():.4g} s"
    count = round(float(np.nansum(data["iterations"])))
    setup = data.attrs["compile_time"]
    effort = f"{count} iterations in {seconds:.3g} s; {setup:.2g} s to state the problem"
    return [("step size h", each), ("solver", effort), *tell_strategies(data.attrs, short)]


def tell_strategies(attrs: Mapping[str, Any], short: bool) -> list[Row]:
    """Return the strategies that led to an optimum, each on a line; in short those that solved."""
    ran = json.loads(attrs.get("search", "[]"))
    if short:
        solved = [f"{x['strategy']} {x['iterations']}" for x in ran if x["iterations"]]
        return [("search", f"{', '.join(solved)} iterations")] if len(solved) > 1 else []
    texts = [
        f"{x['strategy']}, {x['iterations']} iterations, {x['seconds']:.2g} s: {x['why']}"
        for x in ran[:MOST_STRATEGIES]
    ]
    return [("" if k else "search", text) for k, text in enumerate(texts)]


def tell_run(data: xr.Dataset) -> list[Row]:
    """Return scheme, solver, duration and state of the run."""
    attrs, t, label, failed = data.attrs, data["time"].values, "simulated", "STOPPED EARLY"
    if "objective" in attrs:
        label, failed = "motion", "NO SOLUTION"
    # Of many lines the first says why, the others where.
    why = attrs["stop_reason"].partition("\n")[0]
    state = "complete" if attrs["completed"] else f"{failed}: {why}"
    kept = f", every {attrs['store_every']}th kept" if attrs["store_every"] > 1 else ""
    if attrs["output_times"]:
        kept = f", kept at {len(t) - 1} times"
    kind = attrs.get("generalized_coordinates")
    title, scheme, solver = (attrs.get(x) for x in ("title", "scheme_name", "solver_name"))
    made = (title, kind and f"{kind} coordinates", scheme, solver)
    return [
        ("run", ", ".join(filter(None, made))),
        (label, f"{t[-1] - t[0]:.6g} s in {attrs['steps']} steps{kept}, {state}"),
    ]


def tell_steps(data: xr.Dataset) -> list[Row]:
    """Return step sizes, retries and the solver's effort."""
    attrs, h = data.attrs, data["h"].values[1:]
    below, retried = attrs["steps_below_h_min"], int(np.sum(data["retries"].values[1:] > 0))
    seconds, count = float(np.nansum(data["solve_time"])), max(int(attrs["steps"]), 1)
    each, unit = 1e3 * seconds / count, "ms"
    if each < 0.1:
        each, unit = 1e3 * each, "us"
    setup = attrs["compile_time"]
    code = f"; {setup:.2g} s to make or find its code" if setup else ""
    bounds = f"{attrs['h_min']:.3g} ... {attrs['h_max']:.3g}"
    if (part := attrs.get("h_part", 1.0)) != 1:
        bounds += f", part {part:.3g}"
    sizes = f"{h.min():.3g} ... {h.max():.3g} s, mean {h.mean():.3g} (bounds {bounds})"
    iterations = f"{np.nansum(data['iterations']) / count:.3g} iterations a step{code}"
    others = "by other schemes", tell_share_of_other_schemes(data)
    return [
        ("step size h", sizes),
        ("h below h_min", f"{below} steps ({100 * below / count:.2g} %), events not counted"),
        ("retried steps", str(retried)),
        *([others] if attrs["steps_by_other_schemes"] else []),
        ("solver", f"{seconds:.3g} s, {each:.3g} {unit} and {iterations}"),
    ]


def tell_residuals(data: xr.Dataset) -> list[Row]:
    """Return the largest residuals; joint closure only where there are ideal joints."""
    ideal = data.isel(joint=slice(data.attrs["ideal_joints"]))
    known = {label: ideal[x] for label, x in RESIDUALS if x in ideal and ideal[x].size}
    return [
        (label, f"{largest(x):.2e} {x.attrs['units']}{tell_thinning(data)}")
        for label, x in known.items()
    ]


def tell_ranges(data: xr.Dataset) -> list[Row]:
    """Return the largest excess over each range."""
    rows = []
    for variable in find_excesses(data):
        unit = variable.attrs["units"]
        factor, unit = (np.degrees(1.0), "deg") if unit == "rad" else (1.0, unit)
        k = int(np.argmax(variable.values))
        worst, when = variable.values[k], data["time"].values[k]
        text = f"{factor * worst:.3g} {unit} at most, t = {when:.6g} s{tell_thinning(data)}"
        rows.append((str(variable.name), text if worst > 0 else "never"))
    return rows


def find_excesses(data: xr.Dataset) -> list[xr.DataArray]:
    """Return how far joints are beyond their ranges, of each that has one."""
    every = data.data_vars.values()
    return [x for x in every if np.isfinite(x.attrs.get("most", np.inf))]
