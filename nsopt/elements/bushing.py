"""An elastic support between two frames, in three directions and three rotations."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.algebra import rotation_vector
from nsopt.checks import finite
from nsopt.mechanics import Load, ResistingPair, State
from nsopt.parameter import Numbers, parameters_in

NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Bushing(ResistingPair):
    """Springs and dampers between two frames, along and about the axes of frame a.

    Unstrained where the frames coincide: a rubber mount, a foundation [CoPCoD 2023, eq. 15], or,
    with rotations alone, what makes a `Bend` elastic (eq. 17).

    Parameters
    ----------
    stiffness, damping : (3,) floats or Parameters [N/m], [N s/m]
        Along x, y, z of frame a, of the offset of the origin of b.
    turning_stiffness, turning_damping : (3,) [N m/rad], [N m s/rad]
        About them, of the turn vector theta n of b, and of its angular velocity.

    Raises
    ------
    ValueError
        If there are not three numbers, one is negative, or all are zero.

    Notes
    -----
    The turn vector is exact for turns below half a turn, and the same from either frame; the paper
    takes Euler angles, which differ from it by the product of two of them.
    """

    stiffness: Numbers = NONE
    damping: Numbers = NONE
    turning_stiffness: Numbers = NONE
    turning_damping: Numbers = NONE

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = []
        for field in ("stiffness", "damping", "turning_stiffness", "turning_damping"):
            what = f"{field} of Bushing {self.name!r}"
            given = finite(what, getattr(self, field), (3,))
            if np.any(given < 0):
                raise ValueError(
                    f"{what} must not be negative, got {given.tolist()}: give zero or more"
                )
            sizes.append(given)
        if not np.any(sizes) and not parameters_in(self):
            raise ValueError(f"Bushing {self.name!r} has no stiffness and no damping: give some")

    def energy(self, s: State) -> ca.SX:
        x = s.seen(self.a, self.b)
        energy = ca.dot(s.value(self.stiffness), x.r**2)
        if _some(self.turning_stiffness):
            energy += ca.dot(s.value(self.turning_stiffness), rotation_vector(x.A) ** 2)
        return energy / 2

    def loads(self, s: State) -> list[Load]:
        x = s.seen(self.a, self.b)
        pairs = ((x.v, self.damping), (x.w, self.turning_damping))
        return [Load(rate, -s.value(d) * rate) for rate, d in pairs if _some(d)]


def _some(numbers: Numbers) -> bool:
    """Return whether any of the numbers is not zero, or may become so."""
    return bool(parameters_in(numbers)) or bool(np.any(np.asarray(numbers, dtype=float)))
