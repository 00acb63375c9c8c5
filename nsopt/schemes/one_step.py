"""The program that a scheme states one step on: of a simulation, or over a horizon."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc, Slopes
from nsopt.schemes.contacts.friction import Friction
from nsopt.schemes.contacts.modes import TOUCH, KnownModes, ReachedGaps
from nsopt.schemes.node import At, Node
from nsopt.schemes.scales import Scales

Projection = Callable[["OneStep", ca.SX, ca.SX], Node]
"""States the end of a step near coordinates q, with v, as `OneStep.end` returns it."""

# Of a typical impulse, the guess of those of contacts over a horizon: interior points need one
# above zero.
PUSHED = 0.1


@dataclass(frozen=True)
class OneStep(ABC):
    """One step, its start known; what the scheme states of it goes to a program.

    In a simulation the end follows from the unknowns, and the start tells which contacts are
    closed. Over a horizon the end is the next node, an unknown of the horizon, and contacts are
    complementarity.

    Attributes
    ----------
    mpcc : Mpcc
        Receives variables, equations, complementarity and objective.
    dynamics : Dynamics
    start : Node
    h : SX scalar [s]
    scales : Scales
    guess : SX (nv,)
        Guess of velocities.
    tag : str
        Ends the names of unknowns and rows, where a step has several alike.
    redundant : bool
        Whether some rows of the ideal joints hold by the others, as in over-constrained loops.
        Told in a simulation alone, for `Newton`.
    """

    mpcc: Mpcc
    dynamics: Dynamics
    start: Node
    h: ca.SX
    scales: Scales
    guess: ca.SX
    tag: str = ""
    redundant: bool = False

    smooths: ClassVar[bool] = False
    """Whether dry friction may be smoothed there."""

    def variable(
        self,
        name: str,
        size: int,
        *,
        scale: Any = 1.0,
        guess: Any = 0.0,
        multiplier: bool = False,
        mean: bool = False,
    ) -> ca.SX:
        """Add unknowns, as `Mpcc.variable` does."""
        known = {"scale": scale, "guess": guess, "multiplier": multiplier, "mean": mean}
        return self.mpcc.variable(name + self.tag, size, **known)

    def velocity(self, name: str, *, mean: bool = False) -> ca.SX:
        """Add a velocity within the step, (nv,); ``mean`` tells whether it is the mean over it."""
        return self.variable(name, self.dynamics.nv, guess=self.guess, mean=mean)

    def impulse_of_joints(self, name: str) -> ca.SX:
        """Add impulses of the ideal joints and of constraints on velocities, (nm,)."""
        n, size = len(self.dynamics.multiplier_names), self.scales.impulse
        return self.variable(name, n, scale=size, multiplier=True)

    def equal(self, name: str, expr: Any, *, scale: Any = 1.0) -> None:
        """Demand that an expression is zero, as `Mpcc.equal` does."""
        self.mpcc.equal(name + self.tag, expr, scale=scale)

    def close(
        self, name: str, expr: Any, *, scale: Any = 1.0, slopes: Slopes | None = None
    ) -> None:
        """Demand that residuals or rates of the ideal joints, (nc,), are zero; see `Mpcc.equal`."""
        name += self.tag
        self.mpcc.equal(name, expr, scale=scale, redundant=self.redundant, slopes=slopes)

    def least_norm(self, *names: str) -> None:
        """Declare unknowns that take their least norm, as `Mpcc.least_norm` does."""
        self.mpcc.least_norm([name + self.tag for name in names])

    @abstractmethod
    def end_velocity(self, value: ca.SX | None = None) -> ca.SX:
        """Return the velocity at the end, (nv,): an unknown, or given as an expression."""

    @abstractmethod
    def end(self, q: ca.SX, v: ca.SX, project: Projection | None = None) -> Node:
        """Return the end of the step, which is at coordinates q with velocity v.

        A projection of the coordinates follows; in a simulation, once the step is solved.
        """

    @abstractmethod
    def modes(self, gap: ca.SX, near: float = 0.0) -> KnownModes | ReachedGaps:
        """Return contacts that are closed where ``gap`` (ng,) [m] is reached.

        Over a horizon already where the gap is ``near`` times a typical opening.
        """

    @abstractmethod
    def trust(self, linear: ca.SX, true: ca.SX, least: ca.SX) -> ca.SX:
        """Return the linearised gaps, or the true ones where these are below ``least``, (ng,) [m].

        ``least`` is below zero: how far beyond its wall a contact may be.
        """

    @abstractmethod
    def projection_directions(self, at: At, end: Node) -> ca.SX:
        """Return the gradients along which contacts project coordinates, (nv, ng).

        Parameters
        ----------
        at : t, q, p
            Before the projection.
        end : Node
            After it.
        """

    @abstractmethod
    def part(self, k: int, start: Node, weight: float, last: bool) -> OneStep:
        """Return part k of this step: ``weight`` times h, from the end of the part before."""

    def impulses(self, slip_creep: float = 0.0) -> tuple[ca.SX, ca.SX, Friction]:
        """Add the impulses of joints (nm,), of contacts (ng,) [N s], and their friction.

        Parameters
        ----------
        slip_creep : float [m/s]
            By which dry friction is smoothed over a horizon; without effect in a simulation.
        """
        mu = self.impulse_of_joints("joint_impulse")
        creep = slip_creep if self.smooths else 0.0
        friction = Friction(self.mpcc, self.dynamics, self.scales, creep=creep)
        lam = self.impulse_of_contacts("impulse")
        friction.add()
        return mu, lam, friction

    def impulse_of_contacts(self, name: str) -> ca.SX:
        """Add impulses of the contacts, (ng,) [N s]."""
        n, size = len(self.dynamics.contact_names), self.scales.impulse
        return self.variable(name, n, scale=size, guess=self.impulse_guess)

    @property
    def impulse_guess(self) -> Any:
        """Guess of contact impulses [N s]."""
        return 0.0


@dataclass(frozen=True)
class SimulatedStep(OneStep):
    """One step of a simulation."""

    @classmethod
    def of(cls, mpcc: Mpcc, d: Dynamics, start: Node, h: ca.SX, scales: Scales) -> SimulatedStep:
        """Return the step of h from a start that is known."""
        return cls(mpcc, d, start, h, scales, start.v, redundant=d.redundant > 0)

    def end_velocity(self, value: ca.SX | None = None) -> ca.SX:
        return self.velocity("v_end") if value is None else value

    def end(self, q: ca.SX, v: ca.SX, project: Projection | None = None) -> Node:
        del project
        return Node.without_drives(self.dynamics, self.start.t + self.h, q, self.start.p, v)

    def modes(self, gap: ca.SX, near: float = 0.0) -> KnownModes | ReachedGaps:
        del near
        # Not zero: a body at rest must not be let go for a round-off above its floor.
        closed = gap <= TOUCH * self.dynamics.gap_scale(self.start.p)
        return KnownModes(self.mpcc, self.dynamics, self.scales, closed)

    def trust(self, linear: ca.SX, true: ca.SX, least: ca.SX) -> ca.SX:
        return ca.if_else(true < least, true, linear)

    def projection_directions(self, at: At, end: Node) -> ca.SX:
        del end
        return self.dynamics.gap_matrix(*at)

    def part(self, k: int, start: Node, weight: float, last: bool) -> OneStep:
        del last
        return replace(self, start=start, h=weight * self.h, tag=f"_{k}")


@dataclass(frozen=True)
class HorizonStep(OneStep):
    """A step between two nodes of a horizon."""

    smooths: ClassVar[bool] = True

    next: Node = field(kw_only=True)

    @classmethod
    def between(
        cls, mpcc: Mpcc, d: Dynamics, first: Node, second: Node, scales: Scales
    ) -> HorizonStep:
        """Return the step between two nodes."""
        return cls(mpcc, d, first, second.t - first.t, scales, first.v, next=second)

    @classmethod
    def at_end(cls, mpcc: Mpcc, d: Dynamics, last: Node, scales: Scales) -> HorizonStep:
        """Return the step of no length at the last node."""
        return cls(mpcc, d, last, ca.SX(0), scales, last.v, next=last)

    def end_velocity(self, value: ca.SX | None = None) -> ca.SX:
        if value is not None:
            self.equal("rate", value - self.next.v)
        return self.next.v

    def end(self, q: ca.SX, v: ca.SX, project: Projection | None = None) -> Node:
        if project is not None:
            return project(self, q, v)
        self.equal("move", self.next.q - q, scale=self.scales.time)
        return self.next

    def modes(self, gap: ca.SX, near: float = 0.0) -> KnownModes | ReachedGaps:
        nearness = near * self.dynamics.gap_scale(self.start.p)
        guess = self.start.gap - nearness
        program = self.mpcc, self.dynamics, self.scales
        return ReachedGaps.at(*program, self.start, gap - nearness, guess)

    def trust(self, linear: ca.SX, true: ca.SX, least: ca.SX) -> ca.SX:
        """State, in place of a switch to the true gaps, that these are not below ``least``."""
        self.mpcc.less("trusted", least - true, scale=self.scales.gap)
        return linear

    def projection_directions(self, at: At, end: Node) -> ca.SX:
        del at
        return end.W

    def part(self, k: int, start: Node, weight: float, last: bool) -> OneStep:
        h, end = weight * self.h, self.next
        if not last:
            q = self.mpcc.variable(f"q_{k}", self.dynamics.nq, guess=self.start.q)
            v = self.mpcc.variable(f"v_{k}", self.dynamics.nv, guess=self.guess)
            end = replace(end, t=start.t + h, q=q, v=v)
        return replace(self, start=start, h=h, tag=f"_{k}", next=end)

    @property
    def impulse_guess(self) -> Any:
        return PUSHED * ca.SX(self.scales.impulse)
