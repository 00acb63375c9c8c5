"""Gaps between surfaces, and what friction resists there."""

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca

from nsopt.mechanics.model.law import ContactLaw


class Drag(NamedTuple):
    """One motion at a contact that friction resists up to a limit: sliding, rolling or spinning."""

    contact: int
    slips: tuple[int, ...]  # one or two of all
    turns: bool  # rolls or spins
    has_static: bool  # friction of its own


class Gap(NamedTuple):
    """One pair of surfaces that may touch.

    ``function`` is the one that solvers see: same zero set and same sign as ``distance``, the same
    gradient where they touch, and smooth also where the distance is not (on the axis of a pin).

    ``slip`` is the velocity of the material of body b (that of the element's last frame) less that
    of body a, both at ``point``, along ``tangents``; a friction force on body b is a sum of these
    directions. A contact without friction has none of them.
    """

    distance: ca.SX  # [m] >= 0 when open
    function: ca.SX  # [m]
    point: ca.SX  # (3,) [m] where they would touch, world axes
    normal: ca.SX  # (3,) unit direction of the force on the body of the element's last frame
    scale: ca.SX  # [m] a typical opening, for conditioning; of numbers and parameters alone
    clearance: ca.SX = ca.SX.nan()  # [m] of the joint, of numbers and parameters alone
    bore: "Bore | None" = None  # which made it, if any
    slope: ca.SX = ca.SX(1)  # |gradient of function| over |gradient of distance|; 1 in contact
    tangents: ca.SX = ca.SX(3, 0)  # (3, k) orthonormal, perpendicular to normal; k = 1 in the plane
    slip: ca.SX = ca.SX(0, 1)  # (k,) [m/s]; k = 0 without friction
    law: ContactLaw = ContactLaw()
    rolling: ca.SX = ca.SX(0, 1)  # (k,) [rad/s] angular velocity across the normal, if resisted
    spinning: ca.SX = ca.SX(0, 1)  # (1,) [rad/s] along the normal, if resisted

    @property
    def is_in_space(self) -> bool:
        """Whether it slips in two directions."""
        return bool(self.tangents.shape[1] == 2)

    @property
    def rolling_axes(self) -> ca.SX:
        """The axes about which surfaces roll, (3, k): in space tangents, in a plane its normal."""
        return self.tangents if self.is_in_space else ca.cross(self.normal, self.tangents)

    @property
    def drags(self) -> dict[str, ca.SX]:
        """What friction resists, by the number of its law."""
        parts = {"friction": self.slip, "rolling": self.rolling, "spinning": self.spinning}
        return {name: rates for name, rates in parts.items() if rates.numel()}

    @property
    def slips(self) -> ca.SX:
        """All of that, (n,)."""
        return ca.vertcat(ca.SX(0, 1), *self.drags.values())


class Bore(NamedTuple):
    """A hole in which a point may leave an axis, or a centre, by a clearance.

    ``function`` gives `Gap.function` [m] of d and c, or of d, c and other numbers that are stated
    as multiples of c: g(s d, s c) = s g(d, c). Steps see g(d, c) of the coordinates. Over a horizon
    the eccentricity u = d / c is an unknown of its own, and the gap is c g(u, 1).
    """

    offset: ca.SX  # (3,) d [m] of the point from the axis, along ``axes``
    axes: ca.SX  # (3, 3) of the body that the bore is in or around, world axes
    clearance: ca.SX  # c [m], the most that an entry of d gets to; of numbers and parameters alone
    function: Callable[[ca.SX, ca.SX], ca.SX]  # of d, c, numbers and parameters alone

    def gap(self, distance: ca.SX, point: ca.SX, normal: ca.SX) -> Gap:
        """Return the gap of that function, without tangents; arguments as the fields of `Gap`."""
        d = ca.SX.sym("d", 3)
        function = self.function(d, self.clearance)
        gradient = ca.substitute(ca.gradient(function, d), d, self.offset)
        return Gap(
            distance=distance,
            function=self.function(self.offset, self.clearance),
            point=point,
            normal=normal,
            scale=self.clearance,
            clearance=self.clearance,
            bore=self,
            # Smooth also where the gradient vanishes.
            slope=ca.sqrt(ca.sumsqr(gradient) + 1e-18),
        )
