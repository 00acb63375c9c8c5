"""The force that keeps a joint within its range of motion [RoM 2023, section 3]."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.checks import not_negative
from nsopt.elements.range_of_motion.cone import Cone
from nsopt.elements.range_of_motion.laws import Excess, Law, SphericalAngle
from nsopt.elements.range_of_motion.nearest import TINY, Nearest, angles, nearest
from nsopt.mechanics import Load, Output, ResistingPair, State
from nsopt.parameter import Scalar, parameters_in

SECTORS = 64
"""Sectors of longitude, of each of which the latitude is kept up to which all is inside; a power of
two."""

DRAWN = 131  # points of the law that a result keeps for pictures
MARGIN = 0.02  # how far [rad] that latitude is below the lowest of the edge


@dataclass(frozen=True, eq=False)
class RangeOfMotion(ResistingPair):
    """A circumduction cone between two frames of a joint that turns.

    The axis of the cone is z of frame a, the reference; the pointer that should stay inside is z
    of frame b. Outside, the nearest point of the cone's edge decides the direction of the moment
    and the excess its size. Composite joints take one cone per axis.

    ==============  ==================================================================
    restricting     m(excess) towards the edge: minus the gradient of the potential; as
                    printed m(excess) u x n [eq. 32], which is cos(theta) times that
    dissipative     -damping (w_b - w_a) [eqs. 34, 35], inside and outside
    resistance      their sum [eq. 2] on body b, its opposite on body a
    ==============  ==================================================================

    Parameters
    ----------
    cone : Cone
    law : Law
        Size of the moment over the excess. Inside the cone there is none, for there the nearest
        point jumps: of a law that acts inside already only what exceeds its tangent at the edge
        counts.
    damping : float or Parameter [N m s/rad]
        j of eq. 34.
    excess : Excess
        Measure of excess. The default makes the moment exactly conservative, with its potential
        among the energies.
    printed : bool
        Whether to take direction and factor cos(theta) of eq. 32 with any measure; the potential
        is then not reported, and the work of the moment, damping included, counts as external.

    Raises
    ------
    ValueError
        If a number of the law or the damping is out of range.
    TypeError
        If cone or law are none.
    """

    cone: Cone
    law: Law
    damping: Scalar = 0.0
    excess: Excess = field(default_factory=SphericalAngle)
    printed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of RangeOfMotion {self.name!r}"
        for what, kind in (("cone", Cone), ("law", Law), ("excess", Excess)):
            if not isinstance(getattr(self, what), kind):
                raise TypeError(
                    f"{what} {of_element} must be of type {kind.__name__}, got "
                    f"{getattr(self, what)!r}"
                )
        self.law.check(of_element)
        self.law.check_potential(of_element)
        not_negative(f"damping {of_element}", self.damping)
        # What has no potential may give back more than it took: work from outside.
        object.__setattr__(self, "external", not self._conservative)

    def energy(self, s: State) -> ca.SX:
        if not self._conservative:
            return ca.SX(0)
        return self._evaluate_law(s, self.excess.value(self._find_nearest(s)))[1]

    def loads(self, s: State) -> list[Load]:
        a, b = s.motion(self.a), s.motion(self.b)
        loads = []
        if self.damping != 0:
            loads.append(Load(b.w - a.w, -s.value(self.damping) * (b.w - a.w)))
        if not self._conservative:
            at = self._find_nearest(s)
            size = self._evaluate_law(s, self.excess.value(at))[0] * (ca.cos(at.theta) > 0)
            # u x n of eq. 32 has the length cos(theta).
            loads.append(Load(b.w - a.w, -size * (a.A @ ca.cross(at.direction, at.n))))
        return loads

    def outputs(self, s: State) -> list[Output]:
        u = self._find_pointer(s)
        longitude, latitude = angles(u)
        at = nearest(self.cone.curve(s.value), u)
        size = self._evaluate_law(s, self.excess.value(at))[0]
        turning = s.motion(self.b).w - s.motion(self.a).w
        if self.printed or not isinstance(self.excess, SphericalAngle):
            size *= ca.fmax(ca.cos(at.theta), 0)
        return [
            Output("longitude", longitude, "rad"),
            Output("latitude", latitude, "rad"),
            Output("excess", at.theta, "rad", most=self.law.width(s)),
            Output("moment", size, "N m"),
            Output("dissipation", s.value(self.damping) * ca.norm_2(turning), "N m"),
        ]

    def plot_data(self) -> dict[str, Any]:
        longitudes, latitudes = self.cone.edge()
        numbers = {n: ca.SX(p.value) for n, p in parameters_in(self.law).items()}
        s, excess = State(ca.SX(0), {}, numbers), ca.SX.sym("excess")
        law = ca.Function("law", [excess], [self._evaluate_law(s, excess)[0]])
        width = float(self.law.width(s))
        span = np.linspace(0, 1.3 * width if np.isfinite(width) else 0.5, DRAWN)
        return {
            "longitude": longitudes.tolist(),
            "latitude": latitudes.tolist(),
            "law_excess": span.tolist(),
            "law_moment": np.asarray(law.map(DRAWN)(span)).ravel().tolist(),
            # By these the pointer of a run without the cone is drawn beside.
            "bodies": [frame.body.name if frame.body else "" for frame in self.frames],
            "axes": np.asarray(self.a.axes).T.tolist(),
            "pointer": np.asarray(self.b.axes)[:, 2].tolist(),
        }

    @property
    def _conservative(self) -> bool:
        return self.excess.conservative and not self.printed

    def _find_pointer(self, s: State) -> ca.SX:
        """Return z of frame b in the axes of frame a, (3,)."""
        return s.motion(self.a).A.T @ s.motion(self.b).A[:, 2]

    def _evaluate_law(self, s: State, excess: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return size and potential at an excess of either sign; both zero inside.

        Of a law that acts inside already, what is beyond its tangent at the edge.
        """
        x = ca.fmax(excess, 0)
        moment, potential = self.law.moment(s, x), self.law.potential(s, x)
        if not self.law.inside:
            return moment, potential
        k = ca.SX.sym("k")
        m = self.law.moment(s, k)
        at_edge = [m, ca.jacobian(m, k), self.law.potential(s, k)]
        size, slope, stored = ca.substitute(at_edge, [k], [ca.SX(0)])
        return moment - size - slope * x, potential - stored - size * x - slope * x**2 / 2

    def _find_nearest(self, s: State) -> Nearest:
        """Return the pointer and the edge nearest to it.

        By the envelope theorem the edge counts as fixed in the gradient of the potential.
        """
        u = self._find_pointer(s)
        if parameters_in(self.cone):
            search, p = _search(self.cone, s)
        else:
            search, p = _build_constant_search(self.cone), ca.SX(0, 1)
        edge, b, n = ca.vertsplit(s.frozen(search(u, p)), [0, 2, 5, 8])
        return Nearest(u, edge, b, n)


def _search(cone: Cone, s: State) -> tuple[ca.Function, ca.SX]:
    """Return (u, p) -> edge, b, n of `Nearest` in one vector (8,), and p, the cone's parameters."""
    close = nearest(cone.curve(s.value), direction := ca.SX.sym("u", 3))
    point = ca.vertcat(close.edge, close.b, close.n)
    known = [x for x in ca.symvar(point) if not ca.depends_on(direction, x)]
    p = ca.vertcat(ca.SX(0, 1), *known)
    return ca.Function("search", [direction, p], [point], {"cse": True}), p


@cache
def _build_constant_search(cone: Cone) -> ca.Function:
    """Return the search of a cone without parameters, built once for all that ask for it."""
    return _skip_inside(_search(cone, State(ca.SX(0), {}, {}))[0], cone)


def _skip_inside(search: ca.Function, cone: Cone) -> ca.Function:
    """Return the search as a call evaluated only where the pointer may be outside.

    Where it is inside for certain, the pointer itself stands for the edge. It is so nearer to the
    axis than the edge is anywhere in its sector of longitude.
    """
    safe = _find_lowest(*cone.edge(SECTORS * 12 + 1)) - MARGIN  # (SECTORS,) latitudes [rad]
    u, p = ca.SX.sym("u", 3), ca.SX.sym("p", search.size1_in(1))
    inside = ca.Function("inside", [u, p], [ca.vertcat(ca.SX.zeros(2), u, ca.SX.zeros(3))])
    choice = ca.Function.if_else("unless", inside, search).wrap()
    height = _tabulate(np.cos(np.clip(safe, 0, np.pi)))  # z of the pointer at that latitude
    k = ca.fmin(ca.floor(_measure_turn(u[0], u[1]) * SECTORS), SECTORS - 1)
    arguments = [u[2] > height(k), u, p]
    found = choice.call(arguments, False, True)  # never inlined, else both sides are evaluated
    return ca.Function("nearest", [u, p], found)


def _tabulate(values: Array) -> ca.Function:
    """Return k -> values[k], by the bits of k: of as many values as a power of two."""
    k, entries = ca.SX.sym("k"), [ca.SX(float(x)) for x in values]
    left = k
    while len(entries) > 1:
        half = len(entries) // 2
        upper = left >= half
        entries = [
            ca.if_else(upper, b, a) for a, b in zip(entries[:half], entries[half:], strict=True)
        ]
        left -= half * upper
    return ca.Function("entry", [k], [entries[0]])


def _find_lowest(longitudes: Array, latitudes: Array) -> Array:
    """Return the lowest latitude of the edge in each sector, its neighbours included."""
    turns = _measure_turn(np.cos(longitudes[:-1]), np.sin(longitudes[:-1]))
    around = np.concatenate([turns - 1, turns, turns + 1])  # three times round, ascending
    latitudes = np.tile(latitudes[:-1], 3)
    sectors = np.arange(SECTORS)
    # Narrow cones have few points in some sectors: those on both sides count as well.
    first = np.searchsorted(around, (sectors - 1) / SECTORS) - 1
    last = np.searchsorted(around, (sectors + 2) / SECTORS) + 1
    return np.array([np.min(latitudes[i:k]) for i, k in zip(first, last, strict=True)])


def _measure_turn(x: Any, y: Any) -> Any:
    """Return 0 to 1 for directions from x by y once around: ascends as their angle, but cheaper."""
    slant = y / (abs(x) + abs(y) + TINY)
    return ((x < 0) * (2 - slant) + (x >= 0) * (slant + 4 * (y < 0))) / 4
