"""Typical sizes of a run, by which unknowns and rows of a step's programs are divided: `Scales`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start
from nsopt.mpcc import Mpcc

RESOLVED = 1e-4
"""Part of the momentum by which impulses are scaled at least. 1e-11 of that scale, the tolerance of
`Newton`, is five units in the last place of the momentum, below which no residual falls."""


@dataclass(frozen=True, eq=False)
class Scales:
    """Sizes that make the numbers of a step problem about one.

    Attributes
    ----------
    time : float (or expression) [s]
        A typical step, h_max.
    force : float [N]
        The largest of weight and loads over the run, at least 1 N per kilogram.
    mass : float [kg]
        Of all bodies.
    momentum : float [N s]
        At the start.
    gap : (ng,) [m]
        Of the contacts.
    """

    time: Any
    force: Any
    mass: Any
    momentum: Any
    gap: Any

    @classmethod
    def as_parameters(cls, mpcc: Mpcc, contacts: int) -> Scales:
        """Return scales that are parameters of a program, block ``scales`` of `numbers`."""
        s = mpcc.parameter("scales", 4 + contacts)
        return cls(s[0], s[1], s[2], s[3], s[4:])

    @property
    def numbers(self) -> Array:
        """All of them, (4 + ng,)."""
        return np.concatenate([[self.time, self.force, self.mass, self.momentum], self.gap])

    @property
    def impulse(self) -> Any:
        """Impulse of the typical force over the typical step [N s], or `RESOLVED` if more."""
        return ca.fmax(self.force * self.time, RESOLVED * self.momentum)

    @property
    def speed(self) -> Any:
        """Speed that the typical impulse gives to all bodies [m/s]."""
        return self.impulse / self.mass

    @classmethod
    def of(
        cls, dynamics: Dynamics, start: Start, p: Array, h_max: float, duration: float
    ) -> Scales:
        """Return the scales of a run; time-dependent loads are looked at all along it."""
        mass = float(np.sum(np.asarray(dynamics.masses(p)))) or 1.0
        times = start.t + duration * np.linspace(0, 1, 17)
        loads = [dynamics.scheduled(t, start.q, start.v, p) for t in times]
        loads.append(dynamics.applied(start.t, start.q, start.v, p))
        # A load that is no number somewhere fails the step that meets it, with a message.
        sizes = np.nan_to_num(np.abs(np.array([np.asarray(x) for x in loads])), nan=0, posinf=0)
        force = max(mass, float(np.max(sizes, initial=0.0)))
        momentum = np.abs(np.asarray(dynamics.mass(start.q, p))) @ np.abs(np.ravel(start.v))
        gap = np.asarray(dynamics.gap_scale(p)).ravel()
        return cls(h_max, force, mass, float(np.max(momentum, initial=0.0)), gap)
