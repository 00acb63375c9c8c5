"""Postures between which a guess moves: as given, by name, or as conditions ask for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.trajectory.checks import Targets, order_targets
from nsopt.trajectory.conditions import Condition, EndAt, StartAt
from nsopt.trajectory.guesses.base import Values
from nsopt.trajectory.postures import find_posture


def find_ends(dynamics: Dynamics, conditions: Sequence[Condition]) -> Array:
    """Return the coordinates that `StartAt` and `EndAt` ask for, (2, nq), NaN where free."""
    ends = np.full((2, dynamics.nq), np.nan)
    for condition in conditions:
        for k, kind in enumerate((StartAt, EndAt)):
            if isinstance(condition, kind):
                ends[k] = _fill(ends[k], condition.coordinates(dynamics))
    return ends


def start_posture(
    guess: str, given: Targets | None, dynamics: Dynamics, conditions: Sequence[Condition]
) -> Array:
    """Return where a motion starts, (nq,); ``guess`` is its name, for messages.

    What is not given is that of `StartAt`, or else the posture in which bodies are stated.
    """
    posture = _order_coordinates(f"start of {guess}", given, dynamics)
    posture = _fill(posture, find_ends(dynamics, conditions)[0])
    if not np.isnan(posture).any():
        return posture
    return _fill(posture, dynamics.stated_start(refuse=False)[0])


def end_posture(
    guess: str,
    given: Targets | None,
    start: Array,
    dynamics: Dynamics,
    conditions: Sequence[Condition],
    parameters: Values,
) -> Array:
    """Return where a motion ends, (nq,).

    Coordinates that are not given are those of `EndAt`. Any that are left are of the posture
    nearest to the start that meets all conditions at the end, by `find_posture`; without conditions
    there they stay as at the start.
    """
    posture = _order_coordinates(f"end of {guess}", given, dynamics)
    posture = _fill(posture, find_ends(dynamics, conditions)[1])
    kinds = [type(x) for x in conditions]
    # Those besides EndAt that state something of the end, such as Reach.
    tasks = [x for x in kinds if x.end is not Condition.end and not issubclass(x, EndAt)]
    if not np.isnan(posture).any() or not tasks:
        return _fill(posture, start)
    known = EndAt(posture)
    try:
        return find_posture(dynamics, [*conditions, known], start, parameters=parameters)
    except ValueError as error:
        raise ValueError(f"{guess} is given no end, and {error}; or give it an end") from None


def _order_coordinates(what: str, given: Targets | None, dynamics: Dynamics) -> Array:
    """Return given coordinates in order, NaN where they are not given."""
    if given is None:
        return np.full(dynamics.nq, np.nan)
    known = dynamics.nq - len(dynamics.internal_names)
    ordered = np.asarray(order_targets(what, given, dynamics.q_names[:known]), dtype=float)
    return np.append(ordered, np.zeros(dynamics.nq - known)) if len(ordered) == known else ordered


def _fill(posture: Array, other: Array) -> Array:
    """Return a posture with its NaN replaced by numbers of another one."""
    if posture.shape != other.shape:  # refused later, with the names of all coordinates
        return posture
    return np.where(np.isnan(posture), other, posture)
