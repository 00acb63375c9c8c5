"""What several caveats share: sizes to which they relate figures, kinds of runs, remedies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nsopt.blocks import largest

if TYPE_CHECKING:
    import xarray as xr

FEW = 0.01  # part of the steps, or of the time, that may be otherwise than asked for without a word

USUAL_ORDER = 2
"""Order of most schemes; those of a lower one are helped by others, a higher one is near exact."""

TINY = 1e-300  # size that keeps quotients of zeros finite

STILL = 1e-3
"""Distance [m, rad] that a motion may be off without a word, however little it moves."""

MOVED = 1e-6  # way [m] on which the work of the largest force counts as none

ROUND_OFF = 1e-9
"""Energy, over the largest one, that counts as rounding."""

LEAST = 1e-15  # energy [J] that does not count


def measure_exchange(data: xr.Dataset) -> float:
    """Return the size of the energies that a motion exchanges [J].

    The largest of kinetic energy and of the ranges of potential energy and external work; at least
    the energy that a mechanism at rest has by tolerances and rounding.
    """
    kinetic, potential, work = (
        data[name].values for name in ("kinetic_energy", "potential_energy", "external_work")
    )
    motion = max(float(kinetic.max()), float(np.ptp(potential)), float(np.ptp(work)))
    size = max(float(np.abs(x).max()) for x in (kinetic, potential, work))
    return max(motion, MOVED * _find_largest_force(data), ROUND_OFF * size, LEAST)


def _find_largest_force(data: xr.Dataset) -> float:
    """Return the largest absolute entry of lasting forces, of joints and contacts [N]."""
    ideal = data.isel(joint=slice(data.attrs["ideal_joints"]))
    lasting = [
        x[name] for x, name in ((ideal, "joint_reaction"), (data, "lasting_force")) if name in x
    ]
    return float(np.fmax.reduce([0.0, *(largest(x) for x in lasting if x.size)]))


def measure_travel(data: xr.Dataset) -> float:
    """Return how far the body that moves farthest gets [m]; zero where none is on record.

    It is the diagonal of the box, along the world's axes, that holds all its positions.
    """
    if "body_position" not in data or not data.sizes["body"]:
        return 0.0
    return float(np.linalg.norm(np.ptp(data["body_position"].values, axis=0), axis=-1).max())


def has_all_steps(data: xr.Dataset) -> bool:
    """Return whether the dataset has all steps, none thinned out."""
    return not data.attrs["output_times"] and data.attrs["store_every"] == 1


def has_steps_with(data: xr.Dataset, *needed: str) -> bool:
    """Return whether the dataset is of a simulation, with all its steps and some variables."""
    return not is_optimum(data) and has_all_steps(data) and {*needed} <= {*data.data_vars}


def find_order(data: xr.Dataset) -> int:
    """Return the order of the scheme of a run; of results of earlier versions that of most."""
    return int(data.attrs.get("scheme_order", USUAL_ORDER))


def is_optimum(data: xr.Dataset) -> bool:
    """Return whether the dataset is of an optimization."""
    return "objective" in data.attrs


def suggest_shorter(data: xr.Dataset) -> str:
    """Return how to get shorter steps, for messages."""
    halved = "double the steps" if is_optimum(data) else "halve the bounds of h"
    return f"{halved} and compare"


def suggest_following(data: xr.Dataset) -> str:
    """Return how steps get to follow contacts, for messages."""
    if data.attrs.get("ignores_contacts"):  # results of earlier versions have none
        return "let the step control have FollowContacts()"
    return "lower h_min"
