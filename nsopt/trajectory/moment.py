"""What costs and conditions see of a motion: one moment of it, as expressions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca

from nsopt.mechanics import Dynamics, Frame, Motion, State
from nsopt.mechanics.reactions import NOW


def _none() -> ca.SX:
    return ca.SX(0, 1)


@dataclass(frozen=True)
class Acting:
    """What acts at a node of a motion in steps.

    Attributes
    ----------
    h : SX scalar [s]
        Over which it acts, half of the steps on both sides.
    change : SX (nv,)
        Of the velocity.
    drive : SX (nv,) [N, N m]
        Forces of actuators.
    gap : SX (ng,) [m]
    impulse, joint_impulse, slip_impulse : SX (ng,), (nc,), (ns,)
    blow : SX (ng,)
        Impulses that act at once, beside these.
    loss : SX (ng,) [J]
        Energy that each contact takes.
    after : SX scalar [s]
        The step that follows; zero at the last node.
    even : SX scalar [s]
        The mean step; not a number where the duration is free.
    """

    h: ca.SX
    change: ca.SX
    drive: ca.SX
    gap: ca.SX = field(default_factory=_none)
    impulse: ca.SX = field(default_factory=_none)
    joint_impulse: ca.SX = field(default_factory=_none)
    slip_impulse: ca.SX = field(default_factory=_none)
    blow: ca.SX = field(default_factory=_none)
    loss: ca.SX = field(default_factory=_none)
    after: ca.SX = field(default_factory=lambda: ca.SX(0))
    even: ca.SX = field(default_factory=lambda: ca.SX(1))


class Moment:
    """A motion at one time.

    Attributes
    ----------
    dynamics : Dynamics
    t : SX scalar [s]
    q, v, a : SX (nq,), (nv,), (nv,)
        Coordinates, velocities and accelerations.
    p : SX (np,)
        Parameters, inputs among them.
    acting : Acting or None
        What acts there, where the motion is one of steps; else it follows from the accelerations.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        t: ca.SX,
        q: ca.SX,
        v: ca.SX,
        a: ca.SX,
        p: ca.SX,
        acting: Acting | None = None,
    ) -> None:
        self.dynamics, self.acting = dynamics, acting
        self.t, self.q, self.v, self.a, self.p = t, q, v, a, p

    @cached_property
    def state(self) -> State:
        """What elements see."""
        symbols = {x.name: self.p[i] for i, x in enumerate(self.dynamics.parameters)}
        value = State(self.t, {}, symbols).value
        moving = self.dynamics.mechanism.described.motions(self.q, self.v, value)
        motions: dict[str | None, Motion] = dict(moving.items())
        return State(self.t, motions, symbols)

    def motion(self, frame: Frame) -> Motion:
        """Return position, axes and velocities of a frame, world axes."""
        return self.state.motion(frame)

    def input(self, name: str) -> ca.SX:
        """Return the value of an input, or of any parameter."""
        return self.p[[x.name for x in self.dynamics.parameters].index(name)]

    @cached_property
    def drive(self) -> ca.SX:
        """Generalized forces that the motion takes beside all applied ones, (nv,)."""
        if self.acting is not None:
            return self.acting.drive
        d = self.dynamics
        inertial = d.mechanism.described.inertial(self.q, self.v, self.a, self.state.value)
        found = inertial - d.applied(self.t, self.q, self.v, self.p)
        if d.rubbed:
            known = (self.t, self.q, self.v, self.p, NOW, ca.SX(0, 1))
            found -= d.rubbing(*known, self.wrenches[:, list(d.rubbed)])
        return found

    @cached_property
    def wrenches(self) -> ca.SX:
        """Reactions of all joints, (6, nj), as `Dynamics.reactions` tells them; forces."""
        d, x = self.dynamics, self.acting
        if x is not None:
            impulses = (x.joint_impulse, x.impulse, x.slip_impulse)
            return d.reactions(self.t, self.q, self.v, self.p, x.h, x.change, *impulses) / x.h
        none = [ca.SX(0, 1)] * 3
        return d.reactions(self.t, self.q, self.v, self.p, 1, self.a, *none)

    @cached_property
    def gap(self) -> ca.SX:
        """Gaps of the contacts, (ng,) [m], as the step equations see them."""
        if self.acting is None:
            return self.dynamics.gap(self.t, self.q, self.p)
        return self.acting.gap

    @property
    def impulse(self) -> ca.SX:
        """Impulses of the contacts in a motion in steps, blows too, (ng,) [N s]."""
        x = self.acting
        return ca.SX.zeros(self.gap.numel()) if x is None else x.impulse + x.blow

    @property
    def loss(self) -> ca.SX:
        """Energy that contacts take at the node of a motion in steps, (ng,) [J]."""
        return ca.SX.zeros(self.gap.numel()) if self.acting is None else self.acting.loss

    @cached_property
    def contact_force(self) -> ca.SX:
        """Normal forces of the contacts, blows spread over their step, (ng,) [N]."""
        if self.acting is None:
            return ca.SX(0, 1)
        slope = self.dynamics.slope(self.t, self.q, self.p)
        return self.impulse * slope / self.acting.h

    def reaction(self, joint: str) -> ca.SX:
        """Return force [N] and torque [N m] that a joint holds, (6,)."""
        return self.wrenches[:, self.dynamics.joint_names.index(joint)]

    def resistance(self, joint: str) -> ca.SX:
        """Return force [N] and torque [N m] by which a joint resists its motion, (6,).

        Moments beyond its range of motion, damping and friction [RoM 2023, eq. 2], at the velocity
        of the moment; friction with internal states is a mean over the step.
        """
        d, h = self.dynamics, NOW if self.acting is None else self.acting.h
        rubbed = self.wrenches[:, list(d.rubbed)]
        all_joints = d.resistance(self.t, self.q, self.v, self.p, h, rubbed)
        return all_joints[:, d.joint_names.index(joint)]
