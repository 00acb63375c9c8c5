"""Flexible links by modified rigid finite elements [CoPCoD 2023, sections 2.1, 2.2.4].

A link is cut into n equal parts. In the middle of each is a joint with springs that bends and
twists; between them are rigid elements: n - 1 of the length of a part, one of half of it at either
end. All of it are ordinary bodies, joints and forces of a mechanism.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from nsopt.arrays import Array
from nsopt.checks import NOT_IN_MECHANISM, check_names, finite, not_negative, plain, positive, whole
from nsopt.elements import Bend, Bushing
from nsopt.mechanics import Body, Element, Frame, Mechanism, axes_matrix
from nsopt.parameter import Numbers, exchange, objects_in


@dataclass(frozen=True)
class CrossSection:
    """The cross-section of a link along x.

    Parameters
    ----------
    area : float [m^2]
    Iy, Iz : float [m^4]
        Second moments of area about y and z: E Iy resists bending about y.
    It : float [m^4]
        Torsion constant.

    Raises
    ------
    ValueError
        If one of them is not above zero.
    """

    area: float
    Iy: float
    Iz: float
    It: float

    def __post_init__(self) -> None:
        for name in ("area", "Iy", "Iz", "It"):
            what, value = f"{name} of a CrossSection", getattr(self, name)
            plain(what, value, "the parts of a link are computed")
            positive(what, value)

    @classmethod
    def circle(cls, radius: float, hole: float = 0.0) -> Self:
        """Return that of a rod, or of a tube with a hole of a radius [m]."""
        outer = positive("radius of a CrossSection", radius)
        inner = not_negative("hole of a CrossSection", hole)
        if inner >= outer:
            raise ValueError(f"hole of a CrossSection, {inner:g} m, must be within its {outer:g} m")
        moment = np.pi / 4 * (outer**4 - inner**4)
        return cls(np.pi * (outer**2 - inner**2), moment, moment, 2 * moment)

    @classmethod
    def rectangle(cls, y: float, z: float) -> Self:
        """Return that of a bar of sizes along y and z [m]; torsion after Roark, within 0.5 %."""
        positive("y of a CrossSection", y)
        positive("z of a CrossSection", z)
        a, b = max(y, z) / 2, min(y, z) / 2
        It = a * b**3 * (16 / 3 - 3.36 * b / a * (1 - b**4 / (12 * a**4)))
        return cls(y * z, y * z**3 / 12, z * y**3 / 12, It)


@dataclass(frozen=True)
class LinkMaterial:
    """A linear elastic material with Kelvin-Voigt damping.

    Parameters
    ----------
    density : float [kg/m^3]
    young, shear : float [N/m^2]
        Moduli.
    damping : float [s]
        Damping over stiffness.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    density: float
    young: float
    shear: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        for name in ("density", "young", "shear", "damping"):
            what, value = f"{name} of a LinkMaterial", getattr(self, name)
            plain(what, value, "the parts of a link are computed")
            (not_negative if name == "damping" else positive)(what, value)


@dataclass(frozen=True, eq=False)
class FlexibleLink:
    """A flexible link, straight at the start.

    Attributes
    ----------
    bodies : tuple of Body
        Its n + 1 rigid elements, from begin to end.
    joints : tuple of Bend
        The n between them, for `Mechanism`.
    forces : tuple of Bushing
        Their springs and dampers, for `assemble`.
    begin, end : Frame
        At its ends, x along it.
    """

    bodies: tuple[Body, ...]
    joints: tuple[Bend, ...]
    forces: tuple[Bushing, ...]
    begin: Frame
    end: Frame

    @property
    def axis(self) -> tuple[Array, Array]:
        """Where it begins, and its x axis, in the world at the start, (3,) each."""
        first = self.bodies[0]
        A = first.rotation
        return np.asarray(first.position) + A @ np.asarray(self.begin.origin), A[:, 0]

    def at(self, point: Numbers, axes: Numbers = (0.0, 0.0, 1.0)) -> Frame:
        """Return the frame at a point of the world at the start, on the element that is there.

        Arguments as for `Frame.at`.
        """
        origin, x = self.axis
        along = (np.asarray(finite("point of a link", point, (3,))) - origin) @ x
        joints = (
            np.asarray(body.position) + body.rotation @ np.asarray(joint.a.origin)
            for body, joint in zip(self.bodies[:-1], self.joints, strict=True)
        )
        places = np.array([(place - origin) @ x for place in joints])
        return Frame.at(self.bodies[int(np.searchsorted(places, along))], point, axes)


def flexible_link(
    name: str,
    begin: Numbers,
    along: Numbers,
    length: float,
    section: CrossSection,
    material: LinkMaterial,
    elements: int,
) -> FlexibleLink:
    """Return a flexible link as rigid elements, joints and springs.

    Parameters
    ----------
    name : str
        Bodies are ``<name>_0`` to ``<name>_n``, joints ``<name>_bend_1`` ..., forces
        ``<name>_spring_1`` ...
    begin : (3,) [m]
        Where it begins, in the world at the start.
    along : (3,) or (3, 3)
        Its direction there; of a matrix the columns are its x, along it, y and z.
    length : float [m]
    section : CrossSection
    material : LinkMaterial
    elements : int
        Number n of its parts.

    Raises
    ------
    ValueError
        If the length is not above zero, n is below 1, or ``along`` is no direction.

    Notes
    -----
    Stiffness of each joint is (G It, E Iy, E Iz) / D, with D = length / n; shear and stretching are
    left out. A cantilever under a load at its tip bends too little by 1 / (4 n^2) of it.
    """
    what = f"of the flexible link {name!r}"
    size = positive(f"length {what}", length)
    n, A = whole(f"elements {what}", elements), axes_matrix(f"along {what}", along)
    if np.shape(along) != (3, 3):
        A = A[:, [2, 0, 1]]  # of a direction, which is z of those, x along it
    origin, part = np.asarray(finite(f"begin {what}", begin, (3,))), size / n
    edges = np.array([0.0, *(part * (np.arange(n) + 0.5)), size])
    bodies = tuple(
        _make_element(f"{name}_{k}", origin, A, edges[k : k + 2], section, material)
        for k in range(n + 1)
    )
    points = [tuple(origin + edge * A[:, 0]) for edge in edges]
    joints = tuple(
        Bend(
            f"{name}_bend_{k}",
            Frame.at(bodies[k - 1], points[k], A),
            Frame.at(bodies[k], points[k], A),
            link=name,
        )
        for k in range(1, n + 1)
    )
    E, G = material.young, material.shear
    stiffness = np.array([G * section.It, E * section.Iy, E * section.Iz]) / part
    forces = tuple(
        Bushing(
            f"{name}_spring_{k}",
            joint.a,
            joint.b,
            turning_stiffness=tuple(stiffness.tolist()),
            turning_damping=tuple((material.damping * stiffness).tolist()),
            joint=joint.name,
        )
        for k, joint in enumerate(joints, 1)
    )
    ends = Frame.at(bodies[0], points[0], A), Frame.at(bodies[-1], points[-1], A)
    return FlexibleLink(bodies, joints, forces, *ends)


def _make_element(
    name: str, origin: Array, A: Array, edges: Array, section: CrossSection, material: LinkMaterial
) -> Body:
    """Return the rigid element of a link between two edges [m] along it from its origin."""
    length = float(edges[1] - edges[0])
    per_area = material.density * length  # [kg/m^2]
    m = per_area * section.area
    of_rod = m * length**2 / 12
    inertia = (
        per_area * (section.Iy + section.Iz),
        of_rod + per_area * section.Iy,
        of_rod + per_area * section.Iz,
    )
    return Body(name, m, inertia, position=tuple(origin + edges.mean() * A[:, 0]), orientation=A)


def replace_link(
    mechanism: Mechanism, body: str, link: FlexibleLink, elements: Iterable[Element] = ()
) -> tuple[Mechanism, tuple[Element, ...]]:
    """Return a mechanism in which a flexible link is in place of a rigid body.

    What was attached to the body is attached to the element of the link that is there at the start.

    Parameters
    ----------
    mechanism : Mechanism
        As `load_urdf` returns, for instance.
    body : str
        Its name.
    link : FlexibleLink
        Placed in the world as the body is at the start.
    elements : sequence of Element
        Forces and contacts, of which some act on the body.

    Returns
    -------
    mechanism, elements
        The springs of the link are among the elements.

    Raises
    ------
    ValueError
        If there is no such body.
    """
    bodies = {x.name: x for x in mechanism.bodies}
    check_names("replace_link names the body", [body], bodies, NOT_IN_MECHANISM)
    old = bodies[body]
    attached, A = (tuple(mechanism.joints), tuple(elements)), old.rotation
    moved = []
    for frame in (x for x in objects_in(attached, Frame) if x.body is old):
        point = np.asarray(old.position) + A @ np.asarray(frame.origin)
        moved.append((frame, link.at(tuple(point), A @ np.asarray(frame.axes))))
    joints, acting = exchange(attached, moved)
    others = [x for x in mechanism.bodies if x is not old]
    changed = replace(mechanism, bodies=[*others, *link.bodies], joints=[*joints, *link.joints])
    return changed, (*acting, *link.forces)
