"""The contract of a time-stepping scheme.

The recipe for a new scheme: a frozen dataclass in one file of `nsopt.stepping` derived from
`Scheme` that states its step equations on a complementarity program, from the functions of a
`Dynamics`. Export it, add a row to ``tests/catalog.py``. `simulate` chains what it states.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scales:
    """Sizes that make the numbers of a step problem about one.

    Attributes
    ----------
    time : float [s]
        A typical step, h_max.
    force : float [N]
        The weight, or the largest load, or 1 N per kilogram where nothing pushes.
    mass : float [kg]
        Of all bodies.
    gap : (ng,) [m]
        Of the contacts.
    """

    time: float
    force: float
    mass: float
    gap: Array

    @property
    def impulse(self) -> float:
        """Impulse of the typical force over the typical step [N s]."""
        return self.force * self.time

    @classmethod
    def of(cls, dynamics: Dynamics, h_max: float, p: Array) -> Scales:
        """Return the scales of a mechanism at its stated start with parameters p."""
        q, v = dynamics.stated_start()
        M = np.diag(np.asarray(dynamics.mass(q, p)))
        linear = [k for k, name in enumerate(dynamics.v_names) if ".v" in name]
        mass = float(np.sum(M[linear])) / 3 or 1.0
        loads = np.abs(np.asarray(dynamics.applied(0.0, q, v, p)).ravel())
        gap = np.asarray(dynamics.gap_scale(p)).ravel()
        return cls(h_max, max(float(np.max(loads)), mass), mass, gap)


@dataclass(frozen=True)
class StepStart:
    """The state a step starts from, as blocks of parameters of a program.

    Attributes
    ----------
    t : SX scalar [s]
    q, v : SX (nq,), (nv,)
    p : SX (np,)
        Parameters of the mechanism.
    """

    t: ca.SX
    q: ca.SX
    v: ca.SX
    p: ca.SX


@dataclass(frozen=True)
class Step:
    """What a step leads to, as expressions of the program's variables and parameters.

    Attributes
    ----------
    q, v : SX (nq,), (nv,)
        End state.
    impulse : SX (ng,) [N s]
        Contact impulses over the step, >= 0.
    joint_impulse : SX (nc,)
        Impulses of the ideal joints' rows, free in sign.
    gap : SX (ng,) [m]
        The gap that complements the impulse.
    closure : SX (nc,) [m, 1]
        Residuals of the ideal joints that the step brings to zero.
    motion_residual : SX (nv,) [N, N m]
        Equations of motion, as forces.
    contact_work : SX scalar [J]
        Of the contact impulses.
    energy_error : SX scalar [J]
        An embedded estimate of the local error in energy: what taking all forces at the other end
        of the step would change.
    """

    q: ca.SX
    v: ca.SX
    impulse: ca.SX
    joint_impulse: ca.SX
    gap: ca.SX
    closure: ca.SX
    motion_residual: ca.SX
    contact_work: ca.SX
    energy_error: ca.SX


class Scheme(ABC):
    """Step equations, written once; used by `simulate` and by whole-horizon problems."""

    @abstractmethod
    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        """State the equations of one step on ``mpcc``.

        Parameters
        ----------
        mpcc : Mpcc
            Receives variables, equations, complementarity and objective.
        dynamics : Dynamics
        start : StepStart
        h : SX scalar [s]
            The step size: a variable of ``mpcc``, or a parameter.
        scales : Scales
        """

    @abstractmethod
    def guess(self, dynamics: Dynamics, q: Array, v: Array, h: float) -> Mapping[str, Array]:
        """Return a cold start for the variables that `add_step` made, by name."""
