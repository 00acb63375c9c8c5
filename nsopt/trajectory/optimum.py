"""The Result of an optimization: `record` makes it of a solution and its motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Outline, Start
from nsopt.mpcc import Backend, Solution, Verdict
from nsopt.parameter import number
from nsopt.result import Result
from nsopt.sampled import PARTS, quadratic
from nsopt.simulation import History
from nsopt.trajectory.transcription.base import TranscribedMotion, Transcription
from nsopt.trajectory.verification.contacts import (
    count_crossed_bores,
    find_closed_modes,
    find_friction_errors,
)

REFUSED = "refused after the solve"  # status of what the solver calls a solution, and is none

Variable = tuple[tuple[str, ...], Array, dict[str, Any]]
"""Dimensions, values and attributes of a variable of a dataset."""


def import_xarray() -> None:
    """Import xarray, which takes a second or more, while signals may still interrupt."""
    import xarray as xr

    xr.Dataset({"x": ("t", np.zeros(1))})  # the first one imports dask


def record(
    transcription: Transcription,
    solution: Solution,
    motion: TranscribedMotion,
    p: Array,
    backend: Backend,
    attrs: Mapping[str, Any],
) -> Result:
    """Return the optimal motion, its forces and the record of the solve by a backend.

    ``attrs`` are further attributes: title, solver, costs, ``stop_reason`` (why it is no solution);
    they replace those made here.
    """
    d, nodes = transcription.dynamics, motion.nodes
    history = History(d, Start(nodes.q[0], nodes.v[0], float(motion.t[0])), p)
    at_nodes = (_with_inputs(transcription, nodes.inputs, p), motion.drive)
    history.add(motion.accepted, at_nodes)
    name, description = transcription.description
    # What the solver calls a solution is refused where a check after the solve finds a fault.
    claimed = solution.ok or solution.status.verdict is not Verdict.FAILED
    refused = attrs["stop_reason"] and claimed
    steps, defects = np.diff(motion.t), motion.defects
    interrupted = solution.interrupted or (defects is not None and defects.interrupted)
    result = history.result(
        {
            "scheme": description,
            "scheme_name": name,
            "acceptance": "{}",
            "solver_name": f"{type(backend).__name__.lower()}, {solution.iterations} iterations",
            "step_control": "",
            "h_min": float(steps.min()),
            "h_max": float(steps.max()),
            "duration": float(motion.t[-1]),
            "steps_below_h_min": 0,
            "steps_by_other_schemes": 0,
            "time_by_other_schemes": 0.0,
            "steps_by_other_laws": 0,
            "steps_unfollowed": 0,
            "unplaced_energy": 0.0,
            "checkpoint": "",
            "status": REFUSED if refused else solution.status.solver_status,
            "violation": solution.residuals.violation,
            "defect": motion.defect,
            "completed": int(not attrs["stop_reason"]),
            "interrupted": int(bool(attrs["stop_reason"]) and interrupted),
            **find_friction_errors(transcription, motion, p),
            **count_crossed_bores(transcription, solution.x, motion),
            **attrs,
        },
        at_nodes=at_nodes,
        contact_forces=motion.contact_forces,
        lines=_drop_repeated(line for x in transcription.conditions for line in x.outline()),
    )
    modes, efforts = result["contact_mode"], {x.joint: x.effort for x in d.mechanism.actuators}
    limits = np.array([efforts.get(owner, np.inf) for owner in d.v_owners])
    compliant = result.data.sizes["contact"] - motion.normal_force.shape[1]
    # Rigid contacts come first; of the others normal forces at nodes are not known.
    more: dict[str, Variable] = {
        "acceleration": (("time", "v"), nodes.a, {"units": "rad/s^2, m/s^2"}),
        "drive": (
            ("time", "v"),
            motion.drive,
            {"units": "N m, N", "long_name": "torques and forces of drives"},
        ),
        "normal_force": (
            ("time", "contact"),
            np.hstack([motion.normal_force, np.full((len(motion.t), compliant), np.nan)]),
            {"units": "N", "long_name": "normal force at the node, of rigid contacts"},
        ),
        "drive_limit": (("v",), limits, {"units": "N m, N"}),
        "input": (("time", "input_name"), nodes.inputs, {"units": ""}),
        "contact_mode": (
            ("time", "contact"),
            find_closed_modes(transcription, result, p),
            modes.attrs,
        ),
        "unknown": (("unknown_index",), solution.x, {"units": ""}),
        "bound_multiplier": (("unknown_index",), solution.point.lam_x, {"units": ""}),
        "row_multiplier": (("row_index",), solution.point.lam_g, {"units": ""}),
    }
    more |= _record_steps(motion, d.nv)
    if motion.force_correction is not None:
        rigid = motion.force_correction.shape[1]  # rigid contacts come first
        result.data["contact_force"].values[1:, :rigid] += motion.force_correction
    labels = {"input_name": list(transcription.inputs), "part": PARTS}
    return Result(result.data.assign(more | labels))


def _drop_repeated(lines: Iterable[Outline]) -> list[Outline]:
    """Return each line once: many links may keep clear of the same obstacle."""
    by_place = {}
    for line in lines:
        frame, points = line
        placed = number(frame.origin) + points @ np.asarray(frame.axes).T
        # Rounded, as round-off tells equal places apart.
        by_place[frame.body and frame.body.name, placed.round(9).tobytes()] = line
    return list(by_place.values())


def _record_steps(motion: TranscribedMotion, nv: int) -> dict[str, Variable]:
    """Return accelerations, drives and inputs at shares `PARTS` of the step before each time."""
    accelerations, controls = (
        np.stack([quadratic(x.transpose(1, 0, 2), s) for s in PARTS], axis=1)
        for x in (motion.step_accelerations, motion.step_controls)
    )
    drives = controls[:, :, :nv] if motion.step_drives is None else motion.step_drives
    long_name = {"long_name": "at parts of the step that ends here"}

    def make_variable(name: str, values: Array, units: str) -> Variable:
        at_start = np.full((1, *values.shape[1:]), np.nan)
        attrs = {"units": units} | long_name
        return ("time", "part", name), np.concatenate([at_start, values]), attrs

    found = {
        "step_acceleration": make_variable("v", accelerations, "rad/s^2, m/s^2"),
        "step_drive": make_variable("v", drives, "N m, N"),
        "step_input": make_variable("input_name", controls[:, :, nv:], ""),
    }
    if motion.step_friction is not None:
        found["step_friction"] = make_variable("v", motion.step_friction, "N m, N")
    return found


def _with_inputs(transcription: Transcription, inputs: Array, p: Array) -> Array:
    """Return the parameters at the nodes, (n, np), with ``inputs`` (n, number of them) in place."""
    names, values = transcription.dynamics.parameter_names, np.tile(p, (len(inputs), 1))
    values[:, [names.index(name) for name in transcription.inputs]] = inputs
    return values
