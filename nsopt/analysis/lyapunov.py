"""Lyapunov exponents from the derivatives of the computed steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start
from nsopt.schemes import Scheme
from nsopt.simulation import StepBounds
from nsopt.trajectory import sensitivities


class Exponents(NamedTuple):
    """Mean exponential rates at which neighbouring motions part.

    Attributes
    ----------
    exponents : (k,) [1/s]
        From the largest down.
    times : (n,) [s]
        Ends of the intervals.
    running : (n, k) [1/s]
        The exponents up to these times.
    end : Start
        From where a longer run goes on.
    """

    exponents: Array
    times: Array
    running: Array
    end: Start


def lyapunov(
    dynamics: Dynamics,
    start: Start | None = None,
    duration: float = 1.0,
    *,
    interval: float,
    steps: StepBounds,
    count: int = 1,
    settle: float = 0.0,
    scheme: Scheme | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Exponents:
    """Return the largest Lyapunov exponents of a motion.

    Tangent vectors are carried along by `sensitivities`, the exact derivatives of the steps,
    through impacts too (with `ContactAligned`), and made orthonormal after each interval
    [Benettin, Galgani, Giorgilli, Strelcyn 1980, Meccanica 15].

    Parameters
    ----------
    dynamics : Dynamics
        In coordinates whose rates are the velocities.
    start : Start, optional
    duration : float [s]
        Time over which rates are averaged.
    interval : float [s]
        Time after which vectors are made orthonormal, such as a period of the drive.
    steps : StepBounds
    count : int
        Number of exponents.
    settle : float [s]
        Time before ``duration``, in which the motion and the vectors settle.
    scheme, parameters
        As for `sensitivities`.

    Raises
    ------
    ValueError
        For a count, duration or interval out of range, or coordinates of another kind.
    SensitivityError
        If a derivative does not exist.
    """
    n = dynamics.nv
    if dynamics.nq != n or dynamics.internal_names:
        raise ValueError(
            "lyapunov needs coordinates whose rates are the velocities, without Euler parameters "
            "or internal states: state the mechanism with coordinates='relative'"
        )
    if not 1 <= count <= 2 * n:
        raise ValueError(f"count must be from 1 to {2 * n}, got {count}")
    if not 0 < interval <= duration:
        raise ValueError(f"interval must be above 0 and within the duration, got {interval:g} s")
    now = start or Start.stated(dynamics, parameters)
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(2 * n, count)))[0]
    growth, times, running = np.zeros(count), [], []  # growth: sums of logarithms
    settling, averaging = round(settle / interval), max(round(duration / interval), 1)
    for k in range(settling + averaging):
        how: dict[str, Any] = {"steps": steps, "scheme": scheme, "parameters": parameters}
        motion = sensitivities(dynamics, now, now.t + interval, by=(), **how)
        derivatives = motion.forward()
        vectors, R = np.linalg.qr(np.hstack([derivatives.q0[0], derivatives.v0[0]]) @ vectors)
        now = Start(motion.value[0, :n], motion.value[0, n:], now.t + interval)
        if k >= settling:
            growth += np.log(np.abs(np.diag(R)))
            times.append(now.t)
            running.append(growth / ((k - settling + 1) * interval))
    return Exponents(np.sort(running[-1])[::-1], np.array(times), np.array(running), now)
