"""Friction in joints that turn or slide, under the joint's own reaction or a given load."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import casadi as ca

from nsopt.checks import not_negative, positive
from nsopt.elements.friction_laws import FrictionLaw
from nsopt.mechanics import FrictionStep, JointFriction, Load, State
from nsopt.parameter import Scalar

TINY = 1e-9
"""Force [N] that does not count, where the size of a reaction has no derivative."""


@dataclass(frozen=True, eq=False)
class _ReactionFriction(JointFriction):
    """Friction about or along z of frame a.

    Parameters
    ----------
    law : FrictionLaw
    load : float or Parameter [N], optional
        Normal force; by default that of the joint's reaction, the part perpendicular to z
        [CoPCoD 2023, eq. 21].

    Raises
    ------
    ValueError
        If a number is out of range.
    TypeError
        If the law is none.
    """

    law: FrictionLaw
    load: Scalar | None = None

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

    @property
    def states(self) -> tuple[str, ...]:
        return self.law.states

    @abstractmethod
    def _speed(self, s: State) -> ca.SX:
        """Return the rate of the joint [rad/s or m/s]."""

    def _lever(self, s: State) -> ca.SX:
        """Return the lever from the friction force to the load along the rate [m or 1]."""
        del s
        return ca.SX(1)

    def friction(self, s: State, over: FrictionStep) -> Load:
        u, law = self._speed(s), self.law.smoothed(s, over.creep)
        force = law.resist(s, u, self._normal(s, over), over.h, over.z)
        return Load(u, -self._lever(s) * force)

    def advance_states(self, s: State, h: ca.SX, z: ca.SX) -> ca.SX:
        return self.law.advance_states(s, self._speed(s), h, z)

    def _normal(self, s: State, over: FrictionStep) -> ca.SX:
        if self.load is not None:
            return s.value(self.load)
        across = (s.motion(self.a).A.T @ over.reaction[:3])[:2]
        return ca.sqrt(ca.sumsqr(across) + TINY**2)


@dataclass(frozen=True, eq=False)
class TurnFriction(_ReactionFriction):
    """Friction of a journal about z: torque radius x force, over the angular velocity.

    Parameters
    ----------
    radius : float or Parameter [m]
        Of the journal, by keyword.
    """

    radius: Scalar = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(f"radius of TurnFriction {self.name!r}", self.radius)

    @property
    def leaves_axial(self) -> bool:
        """Whether it leaves out the force of the joint along z."""
        return self.load is None

    def _speed(self, s: State) -> ca.SX:
        return s.seen(self.a, self.b).w[2]

    def _lever(self, s: State) -> ca.SX:
        return s.value(self.radius)


class SlideFriction(_ReactionFriction):
    """Friction of a slider along z."""

    def _speed(self, s: State) -> ca.SX:
        return s.seen(self.a, self.b).v[2]
