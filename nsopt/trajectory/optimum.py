"""What an optimization leaves behind, as a Result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.stepping.history import History
from nsopt.stepping.initial import Start
from nsopt.trajectory.parts import Array
from nsopt.trajectory.transcription import Motion, Outcome, Transcription


def record(
    transcription: Transcription,
    outcome: Outcome,
    motion: Motion,
    p: Array,
    attrs: Mapping[str, Any],
) -> Result:
    """Return the motion with its forces, and how it was found.

    Parameters
    ----------
    attrs : mapping
        Besides what the arguments tell: title, solver, shares of the costs, why it is no solution.
    """
    d, nodes = transcription.dynamics, motion.nodes
    history = History(d, Start(nodes.q[0], nodes.v[0], float(motion.t[0])), p)
    history.add(motion.taken)
    name, told = transcription.told
    steps = np.diff(motion.t)
    result = history.result(
        {
            "scheme": told,
            "scheme_name": name,
            "acceptance": "{}",
            "solver_name": f"ipopt, {outcome.iterations} iterations",
            "step_control": "",
            "h_min": float(steps.min()),
            "h_max": float(steps.max()),
            "duration": float(motion.t[-1]),
            "steps_below_h_min": 0,
            "checkpoint": "",
            "objective": outcome.objective,
            "status": outcome.word,
            "violation": outcome.violation,
            "deviation": motion.deviation,
            "completed": int(not attrs["stop_reason"]),
            **attrs,
        }
    )
    more: dict[str, tuple[tuple[str, ...], Array, dict[str, Any]]] = {
        "acceleration": (("time", "v"), nodes.a, {"units": "rad/s^2, m/s^2"}),
        "drive": (("time", "v"), motion.drive, {"units": "N m, N"}),
        "normal_force": (
            ("time", "contact"),
            motion.normal_force,
            {"units": "N", "long_name": "normal force at the node"},
        ),
        "drive_limit": (("v",), _limits(d), {"units": "N m, N"}),
        "input": (("time", "input_name"), nodes.inputs, {"units": ""}),
        "unknown": (("unknown_index",), outcome.x, {"units": ""}),
        "bound_multiplier": (("unknown_index",), outcome.lam_x, {"units": ""}),
        "row_multiplier": (("row_index",), outcome.lam_g, {"units": ""}),
    }
    if motion.aside is not None:
        result.data["contact_force"].values[1:] += motion.aside
    data = result.data.assign(more).assign_coords(input_name=list(transcription.inputs))
    return Result(data)


def _limits(d: Dynamics) -> Array:
    """Return the largest forces of the drives, (nv,); infinite where none is stated."""
    efforts = {x.joint: x.effort for x in d.mechanism.actuators}
    return np.array([efforts.get(owner, np.inf) for owner in d.v_owners])
