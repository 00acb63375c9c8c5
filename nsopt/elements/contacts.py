"""Contacts of a point or a sphere with a plane, a sphere, a cylinder or a box."""

from dataclasses import dataclass

import casadi as ca

from nsopt.checks import finite, not_negative, positive
from nsopt.elements.tangents import around, on_cylinder, on_sphere
from nsopt.elements.vector import vector_now
from nsopt.mechanics import ContactPair, Gap, State, Vector
from nsopt.parameter import Scalar, number


@dataclass(frozen=True, eq=False)
class PlaneContact(ContactPair):
    """A point or sphere above the xy plane of frame a, on the side of its z: 1 gap.

    Parameters
    ----------
    a, b : Frame
        Plane, and centre of the sphere.
    radius : float or Parameter [m]
        Of the sphere; zero is a point.
    scale : float or Parameter [m]
        A typical opening, for the scaling of the step problem.
    planar : bool
        Whether the motion stays in the xz plane of frame a, so that friction acts along x alone.
    offset : (3,) [m], or a function of time
        Of the plane from frame a, along its axes: ``lambda t: (0, 0, 0.01 * np.sin(50 * t))`` is a
        shaken floor, ``lambda t: (0.5 * t, 0, 0)`` a belt, which drags by friction. Written with
        NumPy functions of the symbol t [s]; components may be Parameters.

    Raises
    ------
    ValueError
        If the radius is negative, or the offset is not three finite numbers; of a function of time,
        at t = 0, when it is assembled.
    """

    radius: Scalar = 0.0
    scale: Scalar = 1e-3
    planar: bool = False
    offset: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        not_negative(f"radius of PlaneContact {self.name!r}", self.radius)
        positive(f"scale of PlaneContact {self.name!r}", self.scale)
        if not callable(self.offset):
            finite(f"offset of PlaneContact {self.name!r}", self.offset, (3,))

    def gaps(self, s: State) -> list[Gap]:
        plane, centre, r = s.motion(self.a), s.motion(self.b), s.value(self.radius)
        offset = vector_now(s, self.offset, f"offset of PlaneContact {self.name!r}")
        normal = plane.A[:, 2]
        distance = ca.dot(centre.r - plane.r, normal) - offset[2] - r
        gap = Gap(
            distance=distance,
            function=distance,
            point=centre.r - r * normal,
            normal=normal,
            scale=s.value(self.scale),
            tangents=plane.A[:, : 1 if self.planar else 2],
        )
        (gap,) = self.with_law(s, [gap])
        # Tangents are the first axes of frame a, along which the plane itself moves as well.
        speed = ca.jacobian(offset[: gap.slip.numel()], s.t)
        return [gap._replace(slip=gap.slip - speed)]


@dataclass(frozen=True, eq=False)
class _RoundContact(ContactPair):
    """A point or sphere outside something round about the origin or about z of frame a."""

    body_radius: Scalar
    radius: Scalar = 0.0
    scale: Scalar = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of {type(self).__name__} {self.name!r}"
        positive(f"body_radius {of_element}", self.body_radius)
        not_negative(f"radius {of_element}", self.radius)
        positive(f"scale {of_element}", self.scale)

    def _measure_gap(self, s: State, d: ca.SX) -> Gap:
        """Return the gap, smooth and of unit gradient in contact, for an offset d (3,) [m] of b."""
        r = s.value(self.radius)
        reach = s.value(self.body_radius) + r
        # At the centre, far inside the body, the direction is arbitrary but must be finite.
        length = ca.sqrt(ca.sumsqr(d) + (1e-12 * float(number(self.body_radius))) ** 2)
        normal = d / length
        return Gap(
            distance=length - reach,
            function=(ca.sumsqr(d) - reach**2) / (2 * reach),
            point=s.motion(self.b).r - r * normal,
            normal=normal,
            scale=s.value(self.scale),
            slope=length / reach,
        )


class SphereContact(_RoundContact):
    """A point or sphere outside a sphere about the origin of frame a: 1 gap.

    Parameters
    ----------
    a, b : Frame
        Centres of the two spheres.
    body_radius : float or Parameter [m]
        Of the sphere at a.
    radius : float or Parameter [m]
        Of the sphere at b; zero is a point.
    scale : float or Parameter [m]
        A typical opening, for the scaling of the step problem.

    Raises
    ------
    ValueError
        If the radius at a is not positive or that at b is negative.
    """

    def gaps(self, s: State) -> list[Gap]:
        sphere = s.motion(self.a)
        gap = self._measure_gap(s, s.motion(self.b).r - sphere.r)
        return self.with_law(s, [gap._replace(tangents=on_sphere(gap.normal, sphere.A))])


@dataclass(frozen=True, eq=False)
class CylinderContact(_RoundContact):
    """A point or sphere outside an endless cylinder about z of frame a: 1 gap.

    Parameters
    ----------
    a, b : Frame
        Axis of the cylinder, and centre of the sphere.
    body_radius : float or Parameter [m]
        Of the cylinder.
    radius : float or Parameter [m]
        Of the sphere; zero is a point.
    scale : float or Parameter [m]
        A typical opening, for the scaling of the step problem.
    planar : bool
        Whether the motion stays in the xy plane of frame a, so that friction acts around the
        cylinder alone.

    Raises
    ------
    ValueError
        If the radius of the cylinder is not positive or that of the sphere is negative.
    """

    planar: bool = False

    def gaps(self, s: State) -> list[Gap]:
        cylinder = s.motion(self.a)
        D, axis = s.motion(self.b).r - cylinder.r, cylinder.A[:, 2]
        gap = self._measure_gap(s, D - axis * ca.dot(axis, D))
        tangents = around(axis, gap.normal) if self.planar else on_cylinder(axis, gap.normal)
        return self.with_law(s, [gap._replace(tangents=tangents)])


@dataclass(frozen=True, eq=False)
class BoxContact(ContactPair):
    """A sphere outside a box about the origin of frame a, on its faces, edges and corners: 1 gap.

    Parameters
    ----------
    a, b : Frame
        Centre and axes of the box, and centre of the sphere.
    size : (3,) of float or Parameter [m]
        Edges of the box along the axes of frame a.
    radius : float or Parameter [m]
        Of the sphere.
    scale : float or Parameter [m]
        A typical opening, for the scaling of the step problem.
    planar : bool
        Whether the motion stays in the xz plane of frame a, so that friction acts in it alone.

    Raises
    ------
    ValueError
        If an edge or the radius is not positive.
    """

    size: tuple[Scalar, Scalar, Scalar]
    radius: Scalar
    scale: Scalar = 1e-3
    planar: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of BoxContact {self.name!r}"
        for edge in finite(f"size {of_element}", self.size, (3,)):
            positive(f"each edge in the size {of_element}", edge)
        # A point has no direction to leave an edge in.
        positive(f"radius {of_element}", self.radius, "a fingertip is rounded, if only by 1 mm")
        positive(f"scale {of_element}", self.scale)

    def gaps(self, s: State) -> list[Gap]:
        box, centre, r = s.motion(self.a), s.motion(self.b), s.value(self.radius)
        d = box.A.T @ (centre.r - box.r)
        edges = ca.vertcat(*map(s.value, self.size))
        beyond = ca.fabs(d) - edges / 2  # each pair of faces, (3,) [m]
        outside = ca.fmax(beyond, 0)
        # The square root is smooth where the centre of the sphere is in the box, too.
        length = ca.sqrt(ca.sumsqr(outside) + (1e-12 * float(number(self.radius))) ** 2)
        inside = ca.fmin(ca.mmax(beyond), 0)
        nearest_face = ca.if_else(beyond == ca.mmax(beyond), 1.0, 0.0)
        direction = ca.sign(d) * ca.if_else(inside < 0, nearest_face, outside / length)
        distance, normal = length + inside - r, box.A @ direction
        tangents = around(box.A[:, 1], normal) if self.planar else on_sphere(normal, box.A)
        gap = Gap(
            distance=distance,
            function=distance,
            point=centre.r - r * normal,
            normal=normal,
            scale=s.value(self.scale),
            tangents=tangents,
        )
        return self.with_law(s, [gap])
