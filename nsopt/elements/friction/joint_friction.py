"""Friction in joints that turn or slide, under the joint's own reaction or a given load."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

import casadi as ca

from nsopt.checks import not_negative, positive
from nsopt.elements.friction.friction_laws import FrictionLaw
from nsopt.mechanics import FrictionStep, JointFriction, Load, State
from nsopt.parameter import Scalar

TINY = 1e-9  # force [N] added in squares, so that the size of a reaction has a derivative at zero


@dataclass(frozen=True, eq=False)
class _ReactionFriction(JointFriction):
    """Friction about or along z of frame a, of a normal force N that the reaction makes.

    Parameters
    ----------
    law : FrictionLaw
    load : float or Parameter [N], optional
        Normal force; by default by the joint's reaction: its part perpendicular to z
        [CoPCoD 2023, eq. 21], and what ``length`` and a collar add.
    length : float or Parameter [m], optional
        Between the ends of the bearing, by keyword: with the moment M across z they carry
        F/2 + z x M/length and F/2 - z x M/length. By default moments are left out.

    Raises
    ------
    ValueError
        If a number is out of range.
    TypeError
        If the law is none.
    """

    law: FrictionLaw
    load: Scalar | None = None
    length: Scalar | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of {type(self).__name__} {self.name!r}"
        if not isinstance(self.law, FrictionLaw):
            raise TypeError(
                f"law {of_element} must be a FrictionLaw, got {self.law!r}: use StribeckLaw(...)"
            )
        self.law.check(of_element)
        if self.load is not None:
            not_negative(f"load {of_element}", self.load)
        if self.length is not None:
            positive(f"length {of_element}", self.length)

    @property
    def states(self) -> tuple[str, ...]:
        return self.law.states

    @abstractmethod
    def _speed(self, s: State) -> ca.SX:
        """Return the rate of the joint [rad/s or m/s]."""

    def _lever(self, s: State) -> ca.SX:
        """Return the lever by which the friction force acts on the freedom [m, 1 for a slide]."""
        del s
        return ca.SX(1)

    def friction(self, s: State, over: FrictionStep) -> Load:
        u, law = self._speed(s), self.law.smoothed(s, over.creep)
        force = law.resist(s, u, self._normal(s, over), over.h, over.z)
        return Load(u, -self._lever(s) * force)

    def advance_states(self, s: State, h: ca.SX, z: ca.SX) -> ca.SX:
        return self.law.advance_states(s, self._speed(s), h, z)

    def _normal(self, s: State, over: FrictionStep) -> ca.SX:
        """Return the normal force [N]: that at the ends of the bearing and at the collar."""
        if self.load is not None:
            return s.value(self.load)
        A, reaction = s.motion(self.a).A, over.reaction
        force, moment = A.T @ reaction[:3], A.T @ reaction[3:]
        along = self._along(s) * _size(force[2])
        if self.length is None:
            return _size(force[:2]) + along
        couple = ca.vertcat(-moment[1], moment[0]) / s.value(self.length)  # z x M / length
        return _size(force[:2] / 2 + couple) + _size(force[:2] / 2 - couple) + along

    def _along(self, s: State) -> ca.SX:
        """Return the weight of the force along z, over that of one across it; 0 without collar."""
        del s
        return ca.SX(0)


@dataclass(frozen=True, eq=False)
class TurnFriction(_ReactionFriction):
    """Friction of a journal about z and of its collar: torque over the angular velocity.

    The force across z acts at ``radius``, that along z at the mean radius of the collar.

    Parameters
    ----------
    radius : float or Parameter [m]
        Of the journal, by keyword.
    collar : float or Parameter [m], optional
        By keyword, by default the radius; 0 leaves out the force along z.
    """

    radius: Scalar = 0.01
    collar: Scalar | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(f"radius of TurnFriction {self.name!r}", self.radius)
        if self.collar is not None:
            not_negative(f"collar of TurnFriction {self.name!r}", self.collar)

    def _along(self, s: State) -> ca.SX:
        return ca.SX(1) if self.collar is None else s.value(self.collar) / s.value(self.radius)

    def _speed(self, s: State) -> ca.SX:
        return s.seen(self.a, self.b).w[2]

    def _lever(self, s: State) -> ca.SX:
        return s.value(self.radius)


class SlideFriction(_ReactionFriction):
    """Friction of a slider along z."""

    def _speed(self, s: State) -> ca.SX:
        return s.seen(self.a, self.b).v[2]


def _size(force: ca.SX) -> ca.SX:
    """Return the length of a force [N], differentiable also at zero."""
    return ca.sqrt(ca.sumsqr(force) + TINY**2)
