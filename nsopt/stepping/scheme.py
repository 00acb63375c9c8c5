"""The contract of a time-stepping scheme.

The recipe for a new scheme: a frozen dataclass in one file of `nsopt.stepping` derived from
`Scheme` that states its step equations on a complementarity program, from the functions of a
`Dynamics`. Export it, add a row to ``tests/catalog.py``. `simulate` chains what it states.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.stepping.initial import Start
from nsopt.stepping.node import Node, Passage

Array = NDArray[np.float64]


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
    gap : (ng,) [m]
        Of the contacts.
    """

    time: Any
    force: Any
    mass: Any
    gap: Any

    @classmethod
    def stated(cls, mpcc: Mpcc, contacts: int) -> Scales:
        """Return scales that are parameters of a program, block ``scales`` of `numbers`."""
        s = mpcc.parameter("scales", 3 + contacts)
        return cls(s[0], s[1], s[2], s[3:])

    @property
    def numbers(self) -> Array:
        """All of them, (3 + ng,)."""
        return np.concatenate([[self.time, self.force, self.mass], self.gap])

    @property
    def impulse(self) -> Any:
        """Impulse of the typical force over the typical step [N s]."""
        return self.force * self.time

    @classmethod
    def of(
        cls, dynamics: Dynamics, start: Start, p: Array, h_max: float, duration: float
    ) -> Scales:
        """Return the scales of a run; time-dependent loads are looked at all along it."""
        mass = float(np.sum(np.asarray(dynamics.masses(p)))) or 1.0
        times = start.t + duration * np.linspace(0, 1, 17)
        loads = [dynamics.scheduled(t, start.q, start.v, p) for t in times]
        loads.append(dynamics.applied(start.t, start.q, start.v, p))
        # A load that is no number somewhere is told by the step that meets it.
        sizes = np.nan_to_num(np.abs(np.array([np.asarray(x) for x in loads])), nan=0, posinf=0)
        force = max(mass, float(np.max(sizes, initial=0.0)))
        return cls(h_max, force, mass, np.asarray(dynamics.gap_scale(p)).ravel())


@dataclass(frozen=True)
class StepStart:
    """The state a step starts from, as blocks of parameters of a program.

    Attributes
    ----------
    t : SX scalar [s]
    q, v : SX (nq,), (nv,)
    p : SX (np,)
        Parameters of the mechanism.
    modes : SX (ng,), 0 or 1, or empty
        Which contacts press, for schemes that settle that first.
    """

    t: ca.SX
    q: ca.SX
    v: ca.SX
    p: ca.SX
    modes: ca.SX = field(default_factory=lambda: ca.SX(0, 1))


@dataclass(frozen=True)
class Step:
    """What a step leads to, as expressions of the program's variables and parameters.

    Attributes
    ----------
    h : SX scalar [s]
        The size of the step: as given, or what the program found.
    q, v : SX (nq,), (nv,)
        End state.
    impulse : SX (ng,) [N s]
        Contact impulses over the step, >= 0.
    joint_impulse : SX (nc,)
        Impulses of the ideal joints' rows, free in sign.
    slip_impulse : SX (ns,) [N s]
        Tangential impulses of the contacts with friction.
    gap : SX (ng,) [m]
        The gap that complements the impulse.
    closure : SX (nc,) [m, 1]
        Residuals of the ideal joints that the step brings to zero.
    motion_residual : SX (nv,) [N, N m]
        Equations of motion, as forces.
    motion_size : SX (nv,) [N, N m]
        Sum of the sizes of the terms in that residual, which sets its round-off.
    frozen : SX (ng,) [N s]
        The part of the contact impulses whose direction was taken at the start of the step.
    loss : SX (ng,) [J]
        Energy that each contact took, friction included.
    contact_work : SX scalar [J]
        Of the contact impulses.
    contact_energy : SX scalar [J]
        Kinetic energy, mean of both ends, of the motions that contact impulses act on.
    energy_error : SX scalar [J]
        An embedded estimate of the local error in energy: what taking all forces at the other end
        of the step would change.
    local_error : SX scalar [m]
        An embedded estimate of the local error of the coordinates, in the metric of the mass.
    work : SX scalar [J]
        Of applied loads, as the step does it.
    rub_work : SX scalar [J]
        Of `Rubbing` elements; positive where bristles spring back.
    event : SX scalar
        At which the step ended before its time: a key of `EVENTS`, 0 for none.
    """

    h: ca.SX
    q: ca.SX
    v: ca.SX
    impulse: ca.SX
    joint_impulse: ca.SX
    slip_impulse: ca.SX
    gap: ca.SX
    closure: ca.SX
    motion_residual: ca.SX
    motion_size: ca.SX
    frozen: ca.SX
    loss: ca.SX
    contact_work: ca.SX
    contact_energy: ca.SX
    energy_error: ca.SX
    local_error: ca.SX
    work: ca.SX
    rub_work: ca.SX = field(default_factory=lambda: ca.SX(0))
    event: ca.SX = field(default_factory=lambda: ca.SX(0))


class Scheme(ABC):
    """Step equations, written once; used by `simulate` and by whole-horizon problems.

    Attributes
    ----------
    chooses_h : bool
        Whether the step program itself finds h, a variable then; else h is a parameter that a
        `StepControl` sets, and the programs are square: rows in the order of their unknowns, no
        objective, so that `Newton` solves them too.
    forces_at_end : bool
        Whether directions of contact impulses are those at the end of the step; else they belong
        to the gradients of the gap functions at its start.
    ends_early : bool
        Whether a step may end at an event before the h that it is given.
    order : int
        Of convergence, in free motion and lasting contact; the local error is of one more.
    horizon_at_end : bool
        As ``forces_at_end``, for the steps of `add_interval`.
    holds_inputs : bool
        Whether inputs and drives are constant over a step there; else they act at nodes.
    rubs : bool
        Whether it takes the friction of `Rubbing` elements.
    """

    chooses_h: ClassVar[bool] = False
    forces_at_end: ClassVar[bool] = True
    ends_early: ClassVar[bool] = False
    order: ClassVar[int] = 2
    horizon_at_end: ClassVar[bool] = False
    holds_inputs: ClassVar[bool] = False
    rubs: ClassVar[bool] = False

    @property
    def ahead(self) -> float:
        """Over a horizon, how far ahead in its step the place in a bore is where contacts press.

        At 0, the default, it is that at the start. A bushing of mass m that is pressed by F swings
        in its clearance c with sqrt(F / (m c)); where steps are longer than that takes, it rattles
        from one to the next. From 1/2 on that is damped: solves are shorter, torques smooth. The
        price is friction that is not there, of a coefficient that is ``ahead`` times the angle by
        which the place turns in a step; its moment is that times F and c. Contact forces on record
        are those that act; reactions of joints take the places at the start.
        """
        return 0.0

    @property
    def sinks(self) -> bool:
        """Whether contacts stop at the velocity level alone, so that bodies end inside of walls."""
        return False

    @property
    def fallback(self) -> Scheme | None:
        """The scheme that takes a step where this one has no solution; none by default."""
        return None

    def check(self, dynamics: Dynamics, p: Array) -> None:
        """Refuse a mechanism that the scheme cannot step; none by default.

        Raises
        ------
        ValueError
            Naming what it cannot, and a scheme that can.
        """
        del dynamics, p

    def add_modes(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> StepStart:
        """State what is solved before `add_step`; return the start with what it tells.

        Nothing by default.
        """
        del mpcc, dynamics, h, scales
        return start

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

    def add_projection(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, scales: Scales, step: Step
    ) -> Step:
        """State what is solved after `add_step`, with its solution known; return the whole step.

        Nothing by default. ``step`` is what `add_step` returned; its unknowns are parameters here.
        """
        del mpcc, dynamics, start, scales
        return step

    def guess(self, dynamics: Dynamics, q: Array, v: Array, h: float) -> Mapping[str, Array]:
        """Return a cold start for variables that `add_step` made, by name; none by default."""
        del dynamics, q, v, h
        return {}

    def check_horizon(self, dynamics: Dynamics, p: Array) -> None:
        """Refuse a mechanism that the scheme has no `add_interval` for; all by default.

        Raises
        ------
        ValueError
            Naming what it cannot, and a scheme that can.
        """
        del dynamics, p
        raise self._no_horizon()

    def remedy(self, bores: bool) -> str:
        """Return what else to try where a motion through contacts is not found; nothing by default.

        ``bores`` says whether contacts are in bores.
        """
        del bores
        return ""

    def check_rubbing(self, dynamics: Dynamics) -> None:
        """Refuse friction that depends on reactions or has internal states, unless it `rubs`.

        Raises
        ------
        ValueError
            Naming the joint, and schemes that take it.
        """
        if dynamics.rubbed and not self.rubs:
            joint = dynamics.joint_names[dynamics.rubbed[0]]
            raise ValueError(
                f"{type(self).__name__} knows no friction that depends on reactions or has "
                f"internal states, but {joint!r} has: use Variational or MoreauJean"
            )

    def check_no_rebound(self, dynamics: Dynamics, p: Array) -> None:
        """Refuse restitution where derivatives are taken, unless steps end at impacts.

        Raises
        ------
        ValueError
            Naming the contact.
        """
        e = np.asarray(dynamics.restitution(p)).ravel()
        if self.ends_early or not np.any(e > 0):
            return
        k = int(np.argmax(e))
        remedy = "use ContactAligned(), whose steps end there, or set it to zero"
        if k in dynamics.slip_contacts:
            remedy = "set it to zero, or leave out friction and use ContactAligned()"
        raise ValueError(
            f"contact {dynamics.contact_names[k]!r} rebounds with e = {e[k]:g}, but "
            f"{type(self).__name__} has impacts at the ends of its steps: derivatives would miss "
            f"that the time of an impact moves, whatever the step size; {remedy}"
        )

    def _no_horizon(self) -> ValueError:
        name = type(self).__name__
        return ValueError(f"{name} has no equations for a whole horizon: use Variational()")

    def add_interval(
        self,
        mpcc: Mpcc,
        dynamics: Dynamics,
        first: Node,
        second: Node,
        before: ca.SX,
        scales: Scales,
    ) -> Passage:
        """State what holds at a node of a horizon and in the step that follows.

        The equations of the scheme for given modes of contact, which are complementarity here: no
        switch that depends on the state.

        Parameters
        ----------
        mpcc : Mpcc
            Receives unknowns of the node, equations and complementarity.
        dynamics : Dynamics
        first, second : Node
            The node and the next; parameters of ``mpcc``.
        before : SX scalar [s]
            Size of the step that arrives at the node, zero at the start of the horizon.
        scales : Scales

        Returns
        -------
        Passage
            At the first node.

        Raises
        ------
        ValueError
            If the scheme has none.
        """
        del mpcc, dynamics, first, second, before, scales
        raise self._no_horizon()

    def add_ending(
        self, mpcc: Mpcc, dynamics: Dynamics, last: Node, before: ca.SX, scales: Scales
    ) -> Passage:
        """State what holds at the last node of a horizon, arguments as for `add_interval`.

        By default nothing acts there.
        """
        del mpcc, scales
        return Passage.still(dynamics, last.v, before)
