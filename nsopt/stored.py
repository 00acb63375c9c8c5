"""The files of results and sweeps: what they hold, and texts as numbers."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

ENCODED = "texts"
"""Attribute of a variable of texts: the name of the table that its numbers are rows of."""

TIME, CONTACT, JOINT = ("time",), ("time", "contact"), ("time", "joint")
CONTACT_AXIS, JOINT_AXIS, BODY_AXIS = (*CONTACT, "axis"), (*JOINT, "axis"), ("time", "body", "axis")
"""Dimensions of variables."""

VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "h": (TIME, "s", "step size"),
    "q": (("time", "q"), "m, 1", "coordinates"),
    "v": (("time", "v"), "m/s, rad/s", "velocities, angular ones in body axes"),
    "acceleration": (
        ("time", "v"),
        "m/s^2, rad/s^2",
        "rates of v right after the time, impacts left out",
    ),
    "gap": (CONTACT, "m", "distance of the surfaces"),
    "impulse": (CONTACT, "N s", "contact impulse over the step that ends here"),
    "impact_impulse": (CONTACT, "N s", "the part of it that acted at once, in impacts"),
    "contact_mode": (CONTACT, "1", "over the step: 0 open, 1 lasting contact, 2 impact"),
    "lasting_force": (
        CONTACT_AXIS,
        "N",
        "contact force on the body of frame b at the time, impacts left out",
    ),
    "contact_force": (
        CONTACT_AXIS,
        "N",
        "contact force on the body of frame b with friction, mean over the step that ends here",
    ),
    "contact_point": (CONTACT_AXIS, "m", "where the surfaces touch or would touch"),
    "contact_offset": (
        CONTACT_AXIS,
        "m",
        "offset from the axis of a bore, in its axes; NaN for other contacts",
    ),
    "contact_slip": (
        CONTACT_AXIS,
        "m/s",
        "velocity of the material of the body of frame b on that of frame a, along the surface",
    ),
    "joint_reaction": (
        JOINT_AXIS,
        "N",
        "force of the joint on the body of frame b, at the time; of contacts over the step",
    ),
    "joint_reaction_torque": (JOINT_AXIS, "N m", "its torque about the origin of frame b"),
    "joint_resistance": (
        JOINT_AXIS,
        "N m",
        "torque by which a joint resists, on the body of frame b, about its origin",
    ),
    "joint_resistance_force": (JOINT_AXIS, "N", "force by which a joint resists"),
    "body_acceleration": (BODY_AXIS, "m/s^2", "of the centres of mass"),
    "body_angular_acceleration": (BODY_AXIS, "rad/s^2", "in world axes"),
    "joint_coordinate": (("time", "freedom"), "rad, m", "angles and lengths of ideal joints"),
    "joint_rate": (("time", "freedom"), "rad/s, m/s", "their rates"),
    "kinetic_energy": (TIME, "J", "kinetic energy"),
    "potential_energy": (TIME, "J", "energy of gravity and springs"),
    "total_energy": (TIME, "J", "kinetic and potential energy"),
    "external_work": (TIME, "J", "work of applied loads since the start"),
    "dissipated_energy": (TIME, "J", "energy lost in impacts, friction, dampers and steps"),
    "projection_work": (TIME, "J", "energy added by bringing bodies back to joints and walls"),
    "motion_residual": (TIME, "N", "largest residual of the equations of motion"),
    "contact_loss": (CONTACT, "J", "energy taken by each contact over the step, as it is stepped"),
    "complementarity_residual": (CONTACT, "N m", "contact force times gap"),
    "gap_violation": (CONTACT, "m", "depth inside the wall"),
    "constraint_violation": (JOINT, "m", "largest residual of each joint (directions: rad)"),
    "euler_norm_error": (TIME, "1", "largest | |p| - 1 |"),
    "iterations": (TIME, "1", "solver iterations"),
    "retries": (TIME, "1", "attempts beyond the first"),
    "solve_time": (TIME, "s", "time in the solver"),
    "step_reason": (TIME, "", "reason of the step size, and the attempt that solved the step"),
    "tried": (TIME, "", "attempts that failed before, and why"),
    "body_position": (BODY_AXIS, "m", "centres of mass"),
    "body_quaternion": (("time", "body", "quaternion"), "1", "Euler parameters, body to world"),
    "body_velocity": (BODY_AXIS, "m/s", "velocities of the centres of mass"),
    "body_angular_velocity": (BODY_AXIS, "rad/s", "in world axes"),
}
"""Dimensions, unit and meaning of the variables of a result."""

ERROR = "error_"
"""Prefix of the names of errors, before that of what they are of."""

FIGURE, BEYOND = ("contact_joint",), ("joint",)
"""Dimensions of figures of a run, and of statistics beyond its predictable time."""

ERRORS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "motion": (TIME, "m", "place of the body that is farthest off, or of its radius of gyration"),
    "q": (("time", "q"), "m, 1", "coordinates"),
    "v": (("time", "v"), "m/s, rad/s", "velocities"),
    "body_position": (BODY_AXIS, "m", "centres of mass"),
    "body_velocity": (BODY_AXIS, "m/s", "velocities of the centres of mass"),
    "joint_coordinate": (("time", "freedom"), "rad, m", "angles and lengths of ideal joints"),
    "gap": (CONTACT, "m", "distance of the surfaces"),
    "joint_reaction": (JOINT_AXIS, "N", "force of an ideal joint, but for impacts"),
    "joint_reaction_torque": (JOINT_AXIS, "N m", "its torque"),
    "kinetic_energy": (TIME, "J", "kinetic energy"),
    "potential_energy": (TIME, "J", "potential energy"),
    "total_energy": (TIME, "J", "total energy, impacts some steps earlier or later left out"),
    "force": (("time", *FIGURE), "N", "force that contacts of a joint carry together"),
    "largest_force": (FIGURE, "N", "largest lasting force of contacts of a joint, after the start"),
    "peak_force": (
        FIGURE,
        "N",
        "force that contacts of a joint are below in 95 % of the time that they last",
    ),
    "rms_force": (FIGURE, "N", "root mean square of the force of the contacts of a joint"),
    "impact_impulse_sum": (FIGURE, "N s", "impulses of all impacts"),
    "contact_loss_sum": (FIGURE, "J", "energy that contacts took"),
    "lasting_share": (FIGURE, "1", "part of the time in lasting contact"),
    "beyond_mean_force": (BEYOND, "N", "mean force of a joint, beyond the predictable time"),
    "beyond_median_force": (BEYOND, "N", "force that it is below in half of that time"),
    "beyond_peak_force": (BEYOND, "N", "force that it is below in 95 % of that time"),
    "beyond_impact_rate": (BEYOND, "1/s", "impacts of its contacts a second, in that time"),
    "beyond_loss_rate": (BEYOND, "J/s", "energy that its contacts take a second, in that time"),
}
"""Dimensions, unit and meaning of what a run that was repeated in other steps has errors of."""

NOTES = {
    "completed": ("1", "whether the run reached its end and all measures exist"),
    "stop_reason": ("", "why not"),
    "end_time": ("s", "time reached"),
    "steps": ("1", "number of steps"),
    "retries": ("1", "attempts of steps beyond the first"),
    "solve_time": ("s", "time in the solver"),
    "run_time": ("s", "time of the whole run, preparation included"),
}
"""What a sweep has on each of its runs, also on those that failed: unit and meaning."""

PROVENANCE = ("model_hash", "scheme", "scheme_name", "solver", "solver_name", "step_control")
"""Attributes that all results of a sweep share, where they have them."""

LABELS = ("q_name", "v_name", "contact", "joint", "freedom", "body", "axis")
"""Coordinates beside ``time``."""

TEXTS = ("step_reason", "tried")  # variables that are texts

JSON = (
    *("parameters", "outline", "frames", "pressed_frames"),
    *("plot_data", "redundant_rows", "left_out"),
)
"""Attributes that are JSON."""

NUMBERS = ("gap_scales", "clearances", "gravity")  # attributes that are several numbers
NUMBERS_OF_ERRORS = ("error_parts", "border_errors")  # the same, where errors are told

ATTRIBUTES: dict[str, type] = {
    **dict.fromkeys(("title", "scheme", "scheme_name", "solver", "solver_name"), str),
    **dict.fromkeys(("stop_reason", "nsopt_version", "casadi_version", "model_hash", *JSON), str),
    **dict.fromkeys(("completed", "steps", "store_every", "output_times"), Integral),
    **dict.fromkeys(("steps_below_h_min", "steps_by_other_schemes"), Integral),
    **dict.fromkeys(("steps_by_other_laws", "steps_unfollowed", "ideal_joints"), Integral),
    **dict.fromkeys(("pressed", "redundant_joint_rows", "redundant_contacts"), Integral),
    **dict.fromkeys(("h_min", "h_max", "compile_time", "time_by_other_schemes"), Real),
    **dict.fromkeys(("unplaced_energy", *NUMBERS), Real),
}
"""Attributes of every result, and their types."""

OF_OPTIMA: dict[str, type] = {
    **dict.fromkeys(("objective", "violation", "defect", "guess_violation"), Real),
    **dict.fromkeys(("status", "detailed_cost", "guess_cost"), str),
}
"""Attributes that every result of an optimization has too."""

OF_SOME: dict[str, type] = {
    **dict.fromkeys(("acceptance", "step_control", "checkpoint", "stationarity", "modes"), str),
    **dict.fromkeys(("impact", "exact_cost", "guess_exact_cost", "hold"), str),
    **dict.fromkeys(("duration", "modes_gap", "modes_slip", "closing_speed"), Real),
    "time_past_changes": Real,
    **dict.fromkeys(("resimulated_defect", "resimulated_until", "limits_exceeded"), Real),
    **dict.fromkeys(("stationarity_kind", "phase_bodies", "numpy_version"), str),
    **dict.fromkeys(("generalized_coordinates",), str),
    **dict.fromkeys(("internal_states", "limits_tightened", "degrees_of_freedom"), Integral),
    **dict.fromkeys(("interrupted", "no_step", "ignores_contacts"), Integral),
    **dict.fromkeys(("dissipates", "forces_dissipate", "forces_at_end"), Integral),
    **dict.fromkeys(("scheme_order", "scheme_creeps", "allows_penetration"), Integral),
    **dict.fromkeys(("accuracy", "accuracy_h", "h_part", "error_tolerance"), Real),
    **dict.fromkeys(("objective_error", "objective_order", "limits_cost"), Real),
    **dict.fromkeys(("accuracy_missed", "accuracy_steps", "error_tolerance_power"), Integral),
    **dict.fromkeys(("error_unknown", "search", "switching_limits", "accuracy_why"), str),
    **dict.fromkeys((*NUMBERS_OF_ERRORS, "cost_of_phases"), Real),
}
"""Attributes that not every result has."""


ALWAYS = frozenset(name for name, (dims, _, _) in VARIABLES.items() if dims == TIME)
"""Variables that every result has."""


CALLED = {
    "tau": "drive",
    "torque": "drive",
    "u": "drive",
    "force": "contact_force",
    "reaction": "joint_reaction",
    "energy": "total_energy",
    "position": "body_position",
    "a": "acceleration",
    "t": "time",
}
"""Variables by what others call them, where spelling does not lead there."""


def describe_unknown_name(name: str, data: xr.Dataset) -> str:
    """Return in words that a result has no such variable: the nearest one, and all there are."""
    known = [str(x) for x in data.variables]
    near = [x for x in (CALLED.get(name),) if x in known] or get_close_matches(str(name), known, 1)
    if not near:
        return f"no variable {name!r}; there are {', '.join(known)}"
    found = data[near[0]]
    text = found.attrs.get("long_name", "")
    what = f"({', '.join(map(str, found.dims))}) [{found.attrs.get('units', '')}] {text}".rstrip()
    return f"no variable {name!r}, but {near[0]!r} {what}; there are {', '.join(known)}"


def check_wanted(variables: Collection[str] | None) -> frozenset[str]:
    """Return the variables to be recorded: those wanted, all by default, and `ALWAYS`.

    A name that is no variable is a ValueError, with those there are.
    """
    if variables is None:
        return frozenset(VARIABLES)
    names = [variables] if isinstance(variables, str) else list(variables)
    for name in names:
        if name not in VARIABLES:
            raise ValueError(f"no variable {name!r}; there are {', '.join(VARIABLES)}")
    return ALWAYS.union(names)


def read_names(attrs: Mapping[Any, Any], attribute: str) -> list[str]:
    """Return the names in an attribute; none where results of earlier versions have none."""
    try:
        return [str(name) for name in json.loads(attrs.get(attribute, "[]"))]
    except (TypeError, ValueError, RecursionError):
        return []


def encode_texts(data: xr.Dataset) -> xr.Dataset:
    """Return a dataset whose texts over time are numbers, the rows of tables of different texts."""
    import pandas as pd

    for name in TEXTS:
        rows, table = pd.factorize(data[name].values)
        attrs = data[name].attrs | {ENCODED: f"{name}_texts"}
        data = data.assign(
            {
                name: (TIME, rows.astype(np.int32), attrs),
                f"{name}_texts": (f"{name}_texts", np.asarray(table, dtype=object)),
            }
        )
    return data


def decode_texts(data: xr.Dataset) -> xr.Dataset:
    """Return the dataset of which `encode_texts` made one."""
    for name in TEXTS:
        x = data.get(name)
        if x is None or ENCODED not in x.attrs:
            continue
        attrs = dict(x.attrs)
        table = attrs.pop(ENCODED)
        texts = data[table].values.astype(object)[x.values]
        data = data.drop_vars(table).assign({name: (TIME, texts, attrs)})
    return data
