"""Caveats of optima: friction, ends, and what happens when they are simulated."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from nsopt.arrays import Array
from nsopt.blocks import largest
from nsopt.caveats.errors import LargestError, find_error_of_motion
from nsopt.caveats.sizes import FEW, STILL, TINY, is_optimum, suggest_shorter
from nsopt.contact_modes import FREE, count_rigid
from nsopt.stored import ERROR

if TYPE_CHECKING:
    import xarray as xr

CREEP_COST = 0.3
"""Part of the cost with exact dry friction that an objective may leave out without a word."""

ABOVE_STEPS = 0.1
"""Part of the cost in steps by which an exact optimum may cost more without a word: dry friction
that turns round costs up to 8 % too little in 20 steps."""

NO_COST = 1e-8  # a cost that is zero to the tolerance of solvers

DEPARTURE = 0.05
"""Distance of a simulation from its optimum, over the largest range of a coordinate, from which it
counts as departed."""

BEYOND_CONE = 0.01
"""Friction beyond its limit, over the largest limit of its contact, up to which nothing is said."""

ALTERNATES = 0.1
"""Part of a contact's force that may alternate without a word. One that changes once to and fro in
six steps has 0.06; see `measure_alternation`."""

PRESSES = 1e-6  # force, over the largest one of contacts and drives, above which a contact presses


def measure_alternation(force: Array, least: float = 0.0) -> float:
    """Return which part of a force (n,) alternates from point to point; zero of less than 5 points.

    That is the root mean square of a quarter of the second differences over that of the force,
    where it is above ``least`` [N] for two points before and after.
    """
    presses = force > least
    inner = presses[:-4] & presses[1:-3] & presses[2:-2] & presses[3:-1] & presses[4:]
    if len(force) < 5 or not inner.any():
        return 0.0
    alternating = (force[1:-3] - 2 * force[2:-2] + force[3:-1])[inner] / 4
    return float(np.linalg.norm(alternating) / np.linalg.norm(force[2:-2][inner]))


def cap_exact_cost(in_steps: float) -> float:
    """Return what an exact optimum may cost without a word, given its cost in steps."""
    return in_steps + ABOVE_STEPS * max(abs(in_steps), NO_COST)


def _tell_reversals(data: xr.Dataset) -> Iterator[str]:
    a = data.attrs
    if "objective_in_steps" in a:  # its slip turns round where phases meet
        return
    if count := a.get("reversal_times", 0):
        where = _within_a_step(a, "reversal", "turns round", count)
        unit = 10.0 ** np.floor(np.log10(max(a["reversal_change"], TINY)))
        creep = np.ceil(a["reversal_change"] / unit * (1 - 1e-9)) * unit  # one digit, not below
        yield (
            f"dry friction of {where}: the optimum may be none, for derivatives leave out that the "
            "time of this moves; ExactContacts, of the default plan, may solve it in phases, or "
            "smooth the friction "
            f"by {a['scheme_name']}(slip_creep={creep:g}) or more; "
            "shorter steps need less. Contacts that friction should hold then slide at up to about "
            "this speed [m/s]; a WARNING tells where they get far"
        )


def _tell_crossed_bores(data: xr.Dataset) -> Iterator[str]:
    a = data.attrs
    if a.get("crossed_steps", 0):
        does, count = "crosses its bore and presses", f"{a['crossed_steps']} of {a['steps']}"
        yield (
            f"the pin of {_within_a_step(a, 'crossed', does, count)}: its force has "
            "any direction there, and normal_force no meaning; state where the pin starts, at the "
            "wall that it presses, take more steps, or normal_implicitness=1"
        )


def _within_a_step(a: Mapping[str, Any], event: str, does: str, count: int | str) -> str:
    """Return which contact does something within a step, when, and how often."""
    contact, t = a[f"{event}_contact"], a[f"{event}_time"]
    return f"contact {contact!r} {does} within a step (t = {t:.4g} s, {count} in all)"


def _tell_changes_at_steps(data: xr.Dataset) -> Iterator[str]:
    """Tell of contacts that open or close by complementarity, at the ends of given steps."""
    a = data.attrs
    if not a.get("stationarity_kind") or "modes" in a or "contact_mode" not in data:
        return
    rigid = count_rigid(data)
    closed = data["contact_mode"].values[1:, :rigid] != FREE
    changes = closed[1:] != closed[:-1]
    if changes.any():
        k, j = (int(x[0]) for x in np.nonzero(changes))
        name, t = str(data["contact"].values[j]), data["time"].values[k + 1]
        remedy = "the default plan makes them exact, by ExactContacts"
        if why := a.get("not_exact"):  # where that was tried
            remedy = f"compare several; they are not exact, for {why}"
        yield (
            f"contact {name!r} {'closes' if closed[k + 1, j] else 'opens'} at the end of a step "
            f"(t = {t:.4g} s, {int(changes.sum())} such changes in all): their times "
            "move by whole steps, and another number of steps may end at another cost; "
            f"{remedy}"
        )


def _tell_more_than_in_steps(data: xr.Dataset) -> Iterator[str]:
    """Tell of an exact optimum that costs more than steps give hope of."""
    a = data.attrs
    cost, in_steps = (a.get(x, np.nan) for x in ("objective", "objective_in_steps"))
    if cost > cap_exact_cost(in_steps):
        more = (cost - in_steps) / max(abs(in_steps), NO_COST)
        yield (
            f"exact in its sequence of contact the motion costs {100 * more:.2g} % more than in "
            "steps: these are too few, or another sequence is better; try twice as many, or give "
            "ExactContacts a sequence"
        )


def _tell_smoothed_friction(data: xr.Dataset) -> Iterator[str]:
    """Tell of the cost of dry friction that an objective leaves out, as it is smoothed there."""
    if "exact_cost" not in data.attrs:
        return
    exact, stated = (json.loads(data.attrs[x]) for x in ("exact_cost", "detailed_cost"))
    whole = sum(exact.values())
    part = (whole - sum(stated[name] for name in exact)) / max(abs(whole), TINY)
    if part > CREEP_COST:
        yield (
            f"with the exact sign of dry friction, {100 * part:.2g} % of the cost are not in the "
            "objective, where it is smoothed: joints creep that could rest, and a motion that "
            "rests may cost less; give the times of rest as phases (optimize_phases)"
        )


def _tell_closing(data: xr.Dataset) -> Iterator[str]:
    if contact := data.attrs.get("closing_contact"):
        yield (
            f"at the end {contact} is closed and moves into its wall at "
            f"{data.attrs['closing_speed']:.2g} m/s, for no step follows that would stop it: give "
            "the velocity there, such as EndAt(v=...)"
        )


def _tell_cone_excess(data: xr.Dataset) -> Iterator[str]:
    """Tell of friction in phases that exceeds its limit, as the tips of cones are rounded."""
    a = data.attrs
    if (excess := a.get("cone_excess", 0.0)) > BEYOND_CONE:
        yield (
            f"friction of {a['cone_excess_contact']} exceeds its limit by {100 * excess:.2g} % of "
            f"the largest (t = {a['cone_excess_time']:.4g} s): tips of cones in space are rounded "
            "by the weight of all bodies, beside which this contact bears little; state heavy "
            "bodies apart that it does not need, or as the ground"
        )


def _tell_departure(data: xr.Dataset) -> Iterator[str]:
    """Tell when the simulation of an optimum leaves it."""
    if "resimulated" not in data:
        return
    q = data["q"].values
    off = np.abs(data["resimulated"].values - q).max(axis=1)
    far = max(STILL, DEPARTURE * float(np.ptp(q, axis=0).max()))
    departed = np.flatnonzero(off > far)
    if departed.size:
        a, t = data.attrs, float(data["time"].values[departed[0]])
        yield (
            "simulated under its inputs and drives alone, the motion departs at "
            f"t = {t:.4g} s, by {a['resimulated_defect']:.2g} (m, rad) until "
            f"{a['resimulated_until']:.4g} s: as it is, it needs a controller; "
            f"{suggest_shorter(data)}"
        )


def _tell_alternating_forces(data: xr.Dataset) -> Iterator[str]:
    """Tell of forces of contacts that alternate from point to point of an optimum."""
    if not is_optimum(data) or not {"normal_force", "impulse", "impact_impulse"} <= {*data}:
        return
    loads = [largest(data[x]) for x in ("normal_force", "drive", "input") if x in data]
    least = PRESSES * float(np.fmax.reduce(loads))
    for k, name in enumerate(data["contact"].values[: count_rigid(data)]):
        part = max((measure_alternation(x, least) for x in _list_forces(data, k)), default=0.0)
        if part > ALTERNATES:
            yield (
                f"forces of contact {str(name)!r} alternate by {100 * part:.2g} % from node to "
                "node, though the objective may be right: a pin rolls round its bore, or a body "
                f"rattles, faster than the steps tell; {suggest_shorter(data)}, or take "
                "plan=IN_STEPS and Variational(normal_implicitness=0.5), which damps this in bores"
            )


def _list_forces(data: xr.Dataset, k: int) -> list[Array]:
    """Return the normal force of contact k [N] at the nodes of a motion in steps, (n,).

    Of an exact one those of each phase that lasts, also at midpoints, as impulses are by Simpson's
    rule. The node at which a phase ends has the force of the next one.
    """
    t, nodes = data["time"].values, np.nan_to_num(data["normal_force"].values[:, k])
    if "borders" not in data.attrs:
        return [nodes]
    impulse = (data["impulse"].values - data["impact_impulse"].values)[1:, k]
    points = np.empty(2 * len(t) - 1)
    points[::2] = nodes
    points[1::2] = (6 * impulse / np.diff(t) - nodes[:-1] - nodes[1:]) / 4
    borders = [int(np.abs(t - x).argmin()) for x in np.atleast_1d(data.attrs["borders"])]
    lasting = [(a, b) for a, b in pairwise(borders) if t[b] - t[a] > FEW * np.ptp(t)]
    return [points[2 * a : 2 * b + (1 if b == borders[-1] else -1)] for a, b in lasting]


def find_error_of_objective(data: xr.Dataset) -> LargestError | None:
    """Return by how much the objective of an optimum is off, over the sum of the sizes of costs.

    Of all phases, if it is one of several. None where it is not known.
    """
    if "objective_error" not in data.attrs:
        return None
    error, order = data.attrs["objective_error"], data.attrs["objective_order"]
    own = sum(map(abs, json.loads(data.attrs["detailed_cost"]).values()))
    size = data.attrs.get("cost_of_phases", own)
    return LargestError(error, error / max(size, NO_COST), order)


def _tell_error_of_grid(data: xr.Dataset) -> Iterator[str]:
    """Tell of an objective that is off by its grid, or by more than was asked for."""
    a, found = data.attrs, find_error_of_objective(data)
    if is_optimum(data) and a.get("accuracy_missed"):
        off = "the error is unknown"
        if found is not None:
            motion = find_error_of_motion(data).part if ERROR + "motion" in data else 0.0
            off = f"the objective is off by {found.part:.2g}, the motion by {motion:.2g}"
        yield f"the accuracy of {a['accuracy']:g} is not met: {off}, and {a['accuracy_why']}"
    elif found is not None and found.matters:
        in_phases = "cost_of_phases" in a
        yield (
            f"the objective is off by {100 * found.part:.2g} % "
            f"{'of all phases ' if in_phases else ''}by its grid: {suggest_shorter(data)}"
            f"{'' if in_phases else ', or ask for an accuracy'}"
        )


CHECKS = (
    _tell_cone_excess,
    _tell_error_of_grid,
    _tell_departure,
    _tell_closing,
    _tell_changes_at_steps,
    _tell_more_than_in_steps,
    _tell_reversals,
    _tell_crossed_bores,
    _tell_smoothed_friction,
    _tell_alternating_forces,
)
