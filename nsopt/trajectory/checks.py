"""Checks of the joints, coordinates, axes and frames that costs and conditions refer to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.checks import NOT_IN_MECHANISM, check_names, finite, numbers, plain
from nsopt.mechanics import Dynamics, Frame, Mimic, entry_named

Targets = ArrayLike | Mapping[str, float]
"""One number for each name, in order, or numbers of some by name; `FREE` where one is free."""

ORTHONORMAL = 1e-6  # largest entry of A^T A - 1 of a rotation matrix A: users type six digits

FREE: Any = None
"""In place of a number: this coordinate, velocity or acceleration is free. Any, so that it may
stand among numbers for type checkers too."""


def check_joints(what: str, joints: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a joint that is not among those known; ``what`` names the cost or condition."""
    if isinstance(joints, str):
        raise TypeError(
            f"joints of {what} must be a sequence of names, got {joints!r}: write [{joints!r}]"
        )
    check_names(f"{what} names the joint", joints, known, NOT_IN_MECHANISM)


def find_followers(d: Dynamics) -> dict[str, Mimic]:
    """Return the joints that follow others, which have no coordinate of their own, by name."""
    return {mimic.joint: mimic for mimic in d.mechanism.mimics}


def read_targets(
    what: str, value: Any, names: Sequence[str], internal: int = 0
) -> NDArray[np.float64]:
    """Return target values as an array, one for each name, (n,), NaN where they are free.

    ``what`` names them in messages; ``internal`` is how many of the last names are internal states:
    see `with_internal_states`.
    """
    plain(what, value)
    targets = numbers(what, _replace_free(value))
    if targets.shape != (len(names),):
        raise ValueError(
            f"{what} must have shape ({len(names)},), got {targets.shape}: one for each of "
            f"{', '.join(names)}" + (f"; the last {internal} may be left out" if internal else "")
        )
    for name, x in zip(names, targets, strict=True):
        if np.isinf(x):
            raise ValueError(f"{what} is {x:g} for {name}: give a number, or FREE to leave it free")
    return targets


def _replace_free(value: Any) -> Any:
    entries = np.atleast_1d(np.asarray(value, dtype=object))
    if entries.ndim > 1 or not any(x is FREE for x in entries):
        return value
    return [np.nan if x is FREE else x for x in entries]


def order_targets(what: str, value: Targets | None, names: Sequence[str]) -> ArrayLike | None:
    """Return target values in the order of names; of values by name those left out are free."""
    if not isinstance(value, Mapping):
        return value
    targets = np.full(len(names), np.nan)
    for name, x in value.items():
        try:
            targets[entry_named(name, names)] = float(
                numbers(f"{what} of {name!r}", np.nan if x is FREE else x)
            )
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from None
    return targets


def with_internal_states(d: Dynamics, q: ArrayLike | None, internal: float) -> ArrayLike | None:
    """Return coordinates (nq,); internal states of friction, if left out, are each ``internal``."""
    n = len(d.internal_names)
    if q is None or np.shape(q) != (d.nq - n,):
        return q
    return np.append(np.asarray(q, dtype=float), np.full(n, internal))


def check_latches(d: Dynamics) -> None:
    """Refuse forces with memory of events, which have no derivative over a horizon."""
    for name in d.latches:
        owner, _, quantity = name.rpartition(".")
        raise ValueError(
            f"{owner!r} latches its {quantity} when contact begins, which a horizon has no "
            "derivative of: state it as a number, as in LankaraniNikravesh(K, impact_speed=0.1)"
        )


def check_axes(what: str, axes: ArrayLike) -> NDArray[np.float64]:
    """Return axes as a rotation matrix, (3, 3); refuse others by a ValueError with ``what``."""
    A = finite(what, axes, (3, 3))
    if not np.allclose(A.T @ A, np.eye(3), atol=ORTHONORMAL) or np.linalg.det(A) < 0:
        raise ValueError(
            f"{what} must be a rotation matrix, columns the axes in the world, got {A.tolist()}"
        )
    return A


def check_frame(what: str, frame: Frame, dynamics: Dynamics | None = None) -> None:
    """Refuse a value that is no Frame, or a frame on a body that is not in the mechanism."""
    if not isinstance(frame, Frame):
        raise TypeError(f"{what} must be a Frame, got {frame!r}: use Frame(body, origin)")
    if dynamics is None or frame.body is None:
        return
    known = [body.name for body in dynamics.mechanism.bodies]
    if frame.body.name not in known:
        raise ValueError(
            f"{what} is on {frame.label}, which is not in the mechanism: one of {', '.join(known)}"
        )
