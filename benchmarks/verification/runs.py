"""Simulations and their readings, as the figures need them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nsopt import Dynamics, Result, Start, StepBounds, Variational, simulate
from nsopt.schemes import Scheme

Array = NDArray[np.float64]
G = 9.81


def run(
    dynamics: Dynamics,
    duration: float,
    h: float,
    scheme: Scheme | None = None,
    start: Start | None = None,
    **options: Any,
) -> Result:
    """Return a run at fixed h, by `Variational` unless told otherwise.

    Raises
    ------
    RuntimeError
        If it ends early.
    """
    result = simulate(
        dynamics,
        start,
        duration,
        steps=StepBounds(h, h),
        scheme=scheme or Variational(),
        check=None,
        progress=False,
        **options,
    )
    if not result.completed:
        raise RuntimeError(f"a run of {duration:g} s ended early: {result.stop_reason}")
    return result


def extrapolated(coarse: float, fine: float) -> float:
    """Return the value at h = 0 of a symmetric scheme of second order, from those at h and h/2."""
    return fine + (fine - coarse) / 3


def turned(result: Result) -> Array:
    """Return the rotation of the first body about z since it lay along x [rad], turns counted."""
    p = result["body_quaternion"].values[:, 0]
    return np.unwrap(2 * np.arctan2(p[:, 3], p[:, 0]))


def wrapped(angle: float) -> float:
    """Return an angle between -pi and pi [rad]."""
    return float((angle + np.pi) % (2 * np.pi) - np.pi)


def at(result: Result, t: float) -> int:
    """Return the index of the step that ends at a time.

    Raises
    ------
    ValueError
        If none ends there, to 1 ns.
    """
    times = result["time"].values
    k = int(np.argmin(np.abs(times - t)))
    if abs(times[k] - t) > 1e-9:
        raise ValueError(f"no step ends at {t:g} s, the nearest at {times[k]:g} s")
    return k


def events(result: Result, kind: str = "contact event") -> list[int]:
    """Return the indices of the steps that end at an event of contact."""
    return [k for k, text in enumerate(result["step_reason"].values) if kind in text]
