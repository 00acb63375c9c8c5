"""Checks of what costs and conditions name: joints, coordinates, frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.mechanics import Dynamics, Frame
from nsopt.mechanics.checks import numbers, plain


def check_joints(what: str, joints: Sequence[str], known: Sequence[str]) -> None:
    """Raise a ValueError that names a joint which is not there, a TypeError for one name alone."""
    if isinstance(joints, str):
        raise TypeError(
            f"joints of {what} must be a sequence of names, got {joints!r}: write [{joints!r}]"
        )
    for name in joints:
        if name not in known:
            raise ValueError(
                f"{what} names the joint {name!r}, which is not there: one of "
                f"{', '.join(known) or 'none'}"
            )


def wanted(what: str, value: Any, names: Sequence[str], internal: int = 0) -> NDArray[np.float64]:
    """Return a number for each name, (n,); not-a-number leaves one free.

    The last ``internal`` names are those of states that `whole` adds.

    Raises
    ------
    ValueError
        Named ``what``, if there are more or less numbers than names, or one is infinite.
    """
    plain(what, value)
    found = numbers(what, value)
    if found.shape != (len(names),):
        raise ValueError(
            f"{what} must have shape ({len(names)},), got {found.shape}: one for each of "
            f"{', '.join(names)}" + (f"; the last {internal} may be left out" if internal else "")
        )
    for name, x in zip(names, found, strict=True):
        if np.isinf(x):
            raise ValueError(f"{what} is {x:g} for {name}: give a number, or nan to leave it free")
    return found


def whole(d: Dynamics, q: ArrayLike | None, internal: float) -> ArrayLike | None:
    """Return coordinates with the internal states of friction, where these were left out."""
    n = len(d.internal_names)
    if q is None or np.shape(q) != (d.nq - n,):
        return q
    return np.append(np.asarray(q, dtype=float), np.full(n, internal))


def check_frame(what: str, frame: Frame, dynamics: Dynamics | None = None) -> None:
    """Refuse what is no frame, or a frame on a body that a mechanism does not have.

    Raises
    ------
    TypeError, ValueError
        Named ``what``.
    """
    if not isinstance(frame, Frame):
        raise TypeError(f"{what} must be a Frame, got {frame!r}: use Frame(body, origin)")
    if dynamics is None or frame.body is None:
        return
    known = [body.name for body in dynamics.mechanism.bodies]
    if frame.body.name not in known:
        raise ValueError(
            f"{what} is on {frame.place}, which is not in the mechanism: one of {', '.join(known)}"
        )
