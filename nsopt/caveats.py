"""Caveats of a result: what its reader must know before using its figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsopt.blocks import blocks, largest

if TYPE_CHECKING:
    import xarray as xr

FEW = 0.01
"""Part of the steps, or of the time, that may be taken otherwise than asked for, without a word."""

NOTABLE_GAIN = 0.01
"""Energy gained in steps, or lost where nothing dissipates, over the largest kinetic energy, from
which there is a caveat."""

NET_GAIN = 1e-3
"""The same, from start to end of a run that nothing drives."""

UNPLACED = 3e-3
"""Of the largest kinetic energy, the part that impacts may be off by without a word."""

ROOM = 0.1
"""Of h_max, the h_min below which steps can end at impacts."""

BLIND = "contacts=None"
"""In the step control, that it leaves steps alone where contacts need shorter ones."""

GIVEN = 5e-3
"""Energy that a contact gave, over the same, from which there is a caveat."""

DEEP = 0.1
"""Depth inside a wall, over the opening of the gap, from which there is a caveat."""

CLOSED = 1e-10
"""How far [m] a joint or gap may be off in an accepted step."""

OPTIMAL = 1e-6
"""How far [m] a joint or gap may be off in an optimum."""

TINY = 1e-300
"""Kinetic energy [J] of what is at rest."""

CREPT = 0.3
"""Of a cost by the exact sign of dry friction, what an objective may leave out without a word."""

DEPARTED = 0.05
"""Of the largest change of a coordinate, the distance from an optimum at which its simulation has
departed from it."""

STILL = 1e-3
"""Distance [m, rad] that an optimum may be left by without a word, however little it moves."""

HELD_SLIP = 0.01
"""Of the way of the body that moves farthest, what contacts may slide without a word where dry
friction should hold them."""

LARGEST_TURN = 1.0
"""Angle [rad] that a body may turn in a step."""


def caveats(data: xr.Dataset) -> tuple[str, ...]:
    """Return the caveats of the dataset of a Result, each with a remedy; none if all is well."""
    if data.sizes["time"] < 2:
        return ()
    return tuple(text for check in CHECKS for text in check(data))


def _smaller(data: xr.Dataset) -> str:
    halved = "double the steps" if "objective" in data.attrs else "halve the bounds of h"
    return f"{halved} and compare"


def _other_schemes(data: xr.Dataset) -> Iterator[str]:
    if max(parts_by_other_schemes(data)) > FEW:
        yield (
            f"{by_other_schemes(data)}, were taken by another scheme than "
            f"{data.attrs['scheme_name']} (step_reason tells which): lower h_min, {_smaller(data)}"
        )


def parts_by_other_schemes(data: xr.Dataset) -> tuple[float, float]:
    """Return the parts of the steps and of the time that other schemes than the run's took."""
    t, a = data["time"].values, data.attrs
    return a["steps_by_other_schemes"] / a["steps"], a["time_by_other_schemes"] / (t[-1] - t[0])


def by_other_schemes(data: xr.Dataset) -> str:
    """Return these parts in words."""
    _, time = parts_by_other_schemes(data)
    a = data.attrs
    return f"{a['steps_by_other_schemes']} of {a['steps']} steps, {100 * time:.3g} % of the time"


def _other_laws(data: xr.Dataset) -> Iterator[str]:
    count, steps = data.attrs["steps_by_other_laws"], data.attrs["steps"]
    if count:
        yield (
            f"in {count} of {steps} steps contacts would have given energy by their law of impact, "
            "and another one took its place (step_reason tells which): take that for the whole run"
        )


def _below_h_min(data: xr.Dataset) -> Iterator[str]:
    count, steps = data.attrs["steps_below_h_min"], data.attrs["steps"]
    if count > FEW * steps:
        yield f"{count} of {steps} steps had to be below h_min: lower it, {_smaller(data)}"


def _reversals(data: xr.Dataset) -> Iterator[str]:
    count = data.attrs.get("reversal_times", 0)
    if count:
        a = data.attrs
        yield (
            f"dry friction of contact {a['reversal_contact']!r} turns round within a step "
            f"(t = {a['reversal_time']:.4g} s, {count} in all): the optimum may be none, for "
            "derivatives miss that the time of it moves; smooth it by "
            f"{a['scheme_name']}(slip_creep={_rounded_up(a['reversal_change']):g}) or more, which "
            "may be less as steps are shorter; at up to about this speed [m/s] contacts then slide "
            "that friction should hold, and a WARNING tells where they get far"
        )


def _crossed_bores(data: xr.Dataset) -> Iterator[str]:
    count = data.attrs.get("crossed_steps", 0)
    if count:
        a = data.attrs
        yield (
            f"the pin of contact {a['crossed_contact']!r} crosses its bore and presses within a "
            f"step (t = {a['crossed_time']:.4g} s, {count} of {a['steps']} in all): its force has "
            "any direction there, and normal_force no meaning; state where the pin starts, at the "
            "wall that it presses, take more steps, or normal_implicitness=1"
        )


def _held_slip(data: xr.Dataset) -> Iterator[str]:
    way = data.attrs.get("held_slip", 0.0)
    if "body_position" not in data or not data.sizes["body"]:
        return
    travel = float(np.linalg.norm(np.ptp(data["body_position"].values, axis=0), axis=-1).max())
    if way > max(STILL, HELD_SLIP * travel):
        part = f", {100 * way / travel:.2g} % of the way of its bodies" if travel > way else ""
        remedy = _smaller(data)
        if "slip_creep" in data.attrs:
            remedy = "give a smaller slip_creep, with more steps, or leave it out"
        yield f"{held_slip(data)}{part}, where dry friction should hold it: {remedy}"


def held_slip(data: xr.Dataset) -> str:
    """Return in words how far contacts slid that dry friction should hold; empty if none did."""
    a = data.attrs
    if not a.get("held_slip"):
        return ""
    return (
        f"contact {a['held_slip_contact']!r} slid by {a['held_slip']:.2g} m in all, at up to "
        f"{a['held_slip_speed']:.2g} m/s (t = {a['held_slip_time']:.4g} s)"
    )


def _rounded_up(x: float) -> float:
    """Return x in one digit, not below it."""
    unit = 10.0 ** np.floor(np.log10(max(x, TINY)))
    return float(np.ceil(x / unit * (1 - 1e-9)) * unit)


def _unfollowed(data: xr.Dataset) -> Iterator[str]:
    count, steps = data.attrs["steps_unfollowed"], data.attrs["steps"]
    if count > FEW * steps:
        yield (
            f"{count} of {steps} steps were longer than contacts in bores can follow (clearance c, "
            f"h > sqrt(c / a) at a relative acceleration a): {_following(data)}, so that steps "
            f"shrink there, or {_smaller(data)}"
        )


def _following(data: xr.Dataset) -> str:
    """Return how steps get to follow contacts."""
    if BLIND in data.attrs["step_control"]:
        return "let the step control have FollowContacts()"
    return "lower h_min"


def _unplaced(data: xr.Dataset) -> Iterator[str]:
    off, a = data.attrs["unplaced_energy"], data.attrs
    kinetic = float(np.max(data["kinetic_energy"].values)) or TINY
    if off > UNPLACED * kinetic:
        shrinks = a["h_min"] < ROOM * a["h_max"] and BLIND not in a["step_control"]
        remedy = "take a smaller FollowContacts(placed=)" if shrinks else _following(data)
        remedy += ", so that steps end at impacts"
        what = "impacts are placed at the end of their steps, which changes the energy by up to"
        if turned_in_steps(data):
            remedy = "take Variational, with h_min well below h_max"
            what = "contacts have the directions at the start of their steps: energy is off by some"
        yield (
            f"{what} {off:.2g} J, {100 * off / kinetic:.2g} % of the largest kinetic energy: "
            f"{remedy}, or {_smaller(data)}"
        )


def turned_in_steps(data: xr.Dataset) -> bool:
    """Return whether ``unplaced_energy`` is of directions at the start of steps, not of impacts."""
    return bool(data.attrs["scheme_name"] == "MoreauJean")


def _turn(data: xr.Dataset) -> Iterator[str]:
    if not data.sizes["body"] or "body_angular_velocity" not in data:
        return
    spins = blocks(data["body_angular_velocity"])
    w = np.concatenate([np.linalg.norm(x, axis=-1) for _, x in spins])
    turns = np.maximum(w[1:], w[:-1]) * data["h"].values[1:, None]
    k, body = np.unravel_index(int(np.argmax(turns)), turns.shape)
    if turns[k, body] > LARGEST_TURN:
        name, t, h = (
            str(data["body"].values[body]),
            data["time"].values[k + 1],
            data["h"].values[k + 1],
        )
        yield (
            f"body {str(name)!r} turns by {turns[k, body]:.3g} rad in a step (t = {t:.6g} s), at "
            f"most {LARGEST_TURN:g} can be followed: h of {h * LARGEST_TURN / turns[k, body]:.1g} "
            "s or less"
        )


def _gained(data: xr.Dataset) -> Iterator[str]:
    loss = data["dissipated_energy"].values
    gained = float(np.max(np.maximum.accumulate(loss) - loss))
    kinetic = float(np.max(data["kinetic_energy"].values)) or TINY
    # Forces do some work within the tolerance of joints; of a mechanism at rest it is all there is.
    if gained > NOTABLE_GAIN * kinetic and gained > _within_tolerance(data):
        yield (
            f"{gained:.2g} J were added by the discretisation, {100 * gained / kinetic:.2g} % of "
            f"the largest kinetic energy: {_smaller(data)}"
        )


def _lost_in_steps(data: xr.Dataset) -> Iterator[str]:
    lost = float(np.max(data["dissipated_energy"].values))
    kinetic = float(np.max(data["kinetic_energy"].values)) or TINY
    if dissipates(data) or lost <= max(NOTABLE_GAIN * kinetic, _within_tolerance(data)):
        return
    yield (
        f"{lost:.2g} J were lost in the discretisation, {100 * lost / kinetic:.2g} % of the "
        f"largest kinetic energy, where nothing dissipates: {_smaller(data)}"
    )


def dissipates(data: xr.Dataset) -> bool:
    """Return whether something in a simulation may; results of earlier versions do not tell."""
    return "objective" in data.attrs or bool(data.attrs.get("dissipates", True))


def _net_gain(data: xr.Dataset) -> Iterator[str]:
    if np.any(data["external_work"].values != 0):
        return
    energy = data["total_energy"].values
    kinetic = float(np.max(data["kinetic_energy"].values)) or TINY
    gained = float(energy[-1] - energy[0])
    if gained > NET_GAIN * kinetic and gained > _within_tolerance(data):
        yield (
            f"the energy rose by {gained:.2g} J from start to end, {100 * gained / kinetic:.2g} % "
            f"of the largest kinetic energy, though nothing drives: {_smaller(data)}"
        )


def _given(data: xr.Dataset) -> Iterator[str]:
    if not data.sizes["contact"] or "contact_loss" not in data:
        return
    taken = most = given = np.zeros(data.sizes["contact"])
    for _, loss in blocks(data["contact_loss"]):
        sums = taken + np.nancumsum(loss, axis=0)  # none at the start
        highest = np.maximum(most, np.maximum.accumulate(sums))
        given = np.maximum(given, np.max(highest - sums, axis=0))
        taken, most = sums[-1], highest[-1]
    kinetic = float(np.max(data["kinetic_energy"].values)) or TINY
    k = int(np.argmax(given))
    if given[k] > GIVEN * kinetic and given[k] > _within_tolerance(data):
        yield (
            f"contact {str(data['contact'].values[k])!r} gave {given[k]:.2g} J, "
            f"{100 * given[k] / kinetic:.2g} % of the largest kinetic energy, where it should take "
            f"energy only: {_smaller(data)}"
        )


def _inside_walls(data: xr.Dataset) -> Iterator[str]:
    if not data.sizes["contact"] or "gap_violation" not in data:
        return
    openings = np.atleast_1d(data.attrs["gap_scales"])
    depth = max(float(np.max(x / openings)) for _, x in blocks(data["gap_violation"]))
    if depth > DEEP:
        remedy = "smaller h"
        if data.attrs["scheme_name"] == "MoreauJean":
            remedy = "MoreauJean holds rates only; take project=True or Variational, or smaller h"
        yield f"bodies are inside walls by {depth:.2g} typical openings: {remedy}"


def _ranges(data: xr.Dataset) -> Iterator[str]:
    for name, variable in data.data_vars.items():
        most = variable.attrs.get("most", np.inf)
        if np.isfinite(most) and np.max(variable.values) > most:
            radians = variable.attrs["units"] == "rad"
            shown, unit = (np.degrees(most), "deg") if radians else (most, variable.attrs["units"])
            yield f"{name} is beyond the {shown:.3g} {unit} of its law"


def _within_tolerance(data: xr.Dataset) -> float:
    """Return the work of the largest force on the way by which joints and gaps may be off [J]."""
    return (OPTIMAL if "objective" in data.attrs else CLOSED) * _largest_force(data)


def _largest_force(data: xr.Dataset) -> float:
    """Return the largest entry of all forces of joints and contacts [N]."""
    names = [name for name in ("joint_reaction", "contact_force") if name in data]
    forces = [largest(data[name]) for name in names]
    return float(np.fmax.reduce([0.0, *forces]))


def _smoothed_friction(data: xr.Dataset) -> Iterator[str]:
    if "exact_cost" not in data.attrs:
        return
    exact, stated = (json.loads(data.attrs[x]) for x in ("exact_cost", "detailed_cost"))
    whole = sum(exact.values())
    part = (whole - sum(stated[name] for name in exact)) / max(abs(whole), TINY)
    if part > CREPT:
        yield (
            f"with the exact sign of dry friction, {100 * part:.2g} % of the cost are not in the "
            "objective, where it is smoothed: joints creep that could rest, and a motion that "
            "rests may cost less; give the times of rest as phases (optimize_phases)"
        )


def _closing(data: xr.Dataset) -> Iterator[str]:
    if contact := data.attrs.get("closing_contact"):
        yield (
            f"at the end {contact} is closed and moves into its wall at "
            f"{data.attrs['closing_speed']:.2g} m/s, for no step follows that would stop it: give "
            "the velocity there, such as EndAt(v=...)"
        )


def _departs(data: xr.Dataset) -> Iterator[str]:
    if "resimulated" not in data:
        return
    q = data["q"].values
    off = np.abs(data["resimulated"].values - q).max(axis=1)
    far = max(STILL, DEPARTED * float(np.ptp(q, axis=0).max()))
    departed = np.flatnonzero(off > far)
    if departed.size:
        a, t = data.attrs, float(data["time"].values[departed[0]])
        yield (
            "simulated under its inputs and drives alone, the motion departs at "
            f"t = {t:.4g} s, by {a['resimulated_defect']:.2g} (m, rad) until "
            f"{a['resimulated_until']:.4g} s: as it is, it needs a controller; {_smaller(data)}"
        )


CHECKS = (
    _departs,
    _closing,
    _reversals,
    _crossed_bores,
    _held_slip,
    _other_laws,
    _other_schemes,
    _below_h_min,
    _unfollowed,
    _unplaced,
    _turn,
    _gained,
    _lost_in_steps,
    _net_gain,
    _given,
    _inside_walls,
    _ranges,
    _smoothed_friction,
)
