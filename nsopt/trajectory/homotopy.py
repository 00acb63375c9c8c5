"""Ways from a smooth program to one with complementarity, each in stages."""

from __future__ import annotations

from typing import NamedTuple


class Stage(NamedTuple):
    """One program on the way, started from the solution of the one before, multipliers too.

    Attributes
    ----------
    sigma : float
        Of the relaxation.
    widen : float
        By which clearances are taken larger than they are.
    ahead : float
        How much of the direction of a contact impulse is that at the end of the step: what bounces
        within a clearance is then damped, at first order.
    """

    sigma: float
    widen: float = 1.0
    ahead: float = 0.0


Way = tuple[Stage, ...]

SMOOTH: Way = (Stage(1e-8),)
"""For programs without contacts."""

STRAIGHT: Way = (Stage(1e-2), Stage(1e-4), Stage(1e-8))
"""By sigma alone."""

GRADUAL: Way = (
    Stage(1e-2, ahead=1.0),
    Stage(1e-4, ahead=1.0),
    Stage(1e-4, ahead=0.5),
    Stage(1e-4, ahead=0.2),
    Stage(1e-4),
    Stage(1e-6),
    Stage(1e-8),
)
"""The damping goes before contacts are settled."""

SETTLED: Way = (Stage(1e-4), Stage(1e-6), Stage(1e-8))
"""From a motion that was found before, whose contacts are settled."""

_RELEASE: Way = (
    Stage(1e-8, ahead=0.5),
    Stage(1e-8, ahead=0.2),
    Stage(1e-8, ahead=0.1),
    Stage(1e-8, ahead=0.05),
    Stage(1e-8),
)

DAMPED: Way = (
    Stage(1e-2, ahead=1.0),
    Stage(1e-4, ahead=1.0),
    Stage(1e-6, ahead=1.0),
    Stage(1e-8, ahead=1.0),
    *_RELEASE,
)
"""Motion within clearances is damped until contacts are settled, else it rattles."""

WIDE: Way = (
    Stage(1e-2, 10.0, 1.0),
    Stage(1e-4, 10.0, 1.0),
    Stage(1e-4, 3.0, 1.0),
    *DAMPED[1:],
)
"""From large clearances."""
