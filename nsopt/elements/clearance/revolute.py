"""Spatial revolute, cylindrical and spherical joints with clearance."""

from dataclasses import dataclass

import casadi as ca

from nsopt.checks import positive
from nsopt.elements.clearance.gaps import check_bore, gap_behind_plane, gap_in_bore
from nsopt.elements.outlines import circle, tube
from nsopt.elements.tangents import on_cylinder, on_sphere
from nsopt.mechanics import ContactPair, Frame, Gap, Outline, State
from nsopt.parameter import Scalar, number


def bushing_ends(s: State, bushing: Frame, length: Scalar) -> tuple[ca.SX, ca.SX]:
    """Return lower and upper end of the axis of a bushing [NLP-clearance 2024, eq. 33]."""
    motion, half = s.motion(bushing), s.value(length) / 2
    return motion.r - half * motion.A[:, 2], motion.r + half * motion.A[:, 2]


def radial_gaps(
    s: State, pin: Frame, ends: tuple[ca.SX, ca.SX], clearance: Scalar, radius: Scalar
) -> list[Gap]:
    """Return the gap of each bushing end on a pin along z [NLP-clearance 2024, eqs. 34 to 37]."""
    motion, c = s.motion(pin), s.value(clearance)
    axis = motion.A[:, 2]
    gaps = []
    for end in ends:
        D = end - motion.r
        d = D - axis * ca.dot(axis, D)
        gap = gap_in_bore(d, c, end, s.value(radius) + c, motion.A)
        gaps.append(gap._replace(tangents=on_cylinder(axis, gap.normal)))
    return gaps


def pin_and_bushing(
    pin: Frame, bushing: Frame, pin_length: Scalar, length: Scalar, radius: Scalar, clearance: float
) -> list[Outline]:
    """Return lines of a pin and its bushing, drawn with a tenth of the length for a radius of 0."""
    r = float(number(radius)) or 0.1 * float(number(length))
    return [Outline(pin, points) for points in tube(r, float(number(pin_length)))] + [
        Outline(bushing, points) for points in tube(r + clearance, float(number(length)))
    ]


@dataclass(frozen=True, eq=False)
class CylindricalClearance(ContactPair):
    """A bushing that slides and turns on a pin with radial clearance: 2 gaps, one per bushing end.

    [NLP-clearance 2024, eq. 36, corrected projection]. In a result they are ``name[0]`` and
    ``name[1]``, at the lower and upper end along z.

    Parameters
    ----------
    a, b : Frame
        Pin and bushing: origins at mid-length, z along the axes.
    length : float or Parameter [m]
        Of the bushing.
    pin_length : float or Parameter [m]
    clearance : float or Parameter [m]
        Radial: radius of the bore minus radius of the pin.
    radius : float or Parameter [m]
        Of the pin: where the surfaces touch, and so the lever arm of friction; without friction
        it has no effect on the motion.

    Raises
    ------
    ValueError
        If a length or the clearance is not positive, or the bushing is longer than its pin.
    """

    length: Scalar
    pin_length: Scalar
    clearance: Scalar
    radius: Scalar = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of {type(self).__name__} {self.name!r}"
        length = positive(f"length {of_element}", self.length)
        pin_length = positive(f"pin_length {of_element}", self.pin_length)
        check_bore(of_element, self.clearance, self.radius, "Cylindrical")
        if length > pin_length:
            raise ValueError(
                f"the bushing {of_element} is longer than its pin: length {length:g} > pin_length "
                f"{pin_length:g} m; the longer part is the pin, so exchange the frames, or "
                "lengthen the pin"
            )

    def gaps(self, s: State) -> list[Gap]:
        ends = bushing_ends(s, self.b, self.length)
        return self.with_law(s, radial_gaps(s, self.a, ends, self.clearance, self.radius))

    def outline(self) -> list[Outline]:
        return pin_and_bushing(
            self.a, self.b, self.pin_length, self.length, self.radius, float(number(self.clearance))
        )


@dataclass(frozen=True, eq=False)
class RevoluteClearance(ContactPair):
    """A bushing that turns on a pin between two collars: 2 radial and 2 axial gaps.

    [NLP-clearance 2024, eq. 42]. In a result the gaps are ``name[0]``, ``name[1]``, radial at the
    lower and upper end along z, and ``name[2]``, ``name[3]``, axial at the same ends. The collars
    touch the bushing on its axis: friction there has no moment about it.

    Parameters
    ----------
    a, b : Frame
        Pin and bushing: origins at mid-length, z along the axes.
    length : float or Parameter [m]
        Of the bushing; the pin is longer by twice the axial clearance.
    clearance : float or Parameter [m]
        Radial: radius of the bore minus radius of the pin.
    axial_clearance : float or Parameter [m]
        Between each end of the centred bushing and the collar there.
    radius : float or Parameter [m]
        Of the pin: where the surfaces touch, and so the lever arm of friction; without friction
        it has no effect on the motion.

    Raises
    ------
    ValueError
        If the length or a clearance is not positive; a negative axial clearance would make the
        bushing longer than its pin.
    """

    length: Scalar
    clearance: Scalar
    axial_clearance: Scalar
    radius: Scalar = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of {type(self).__name__} {self.name!r}"
        length = positive(f"length {of_element}", self.length)
        check_bore(of_element, self.clearance, self.radius, "Revolute")
        between = length + 2 * float(number(self.axial_clearance))
        positive(
            f"axial_clearance {of_element}",
            self.axial_clearance,
            f"the bushing, {length:g} m long, must be shorter than the pin between its collars, "
            f"{between:g} m",
        )

    def gaps(self, s: State) -> list[Gap]:
        pin, axial = s.motion(self.a), s.value(self.axial_clearance)
        half = s.value(self.length) / 2 + axial
        ends = bushing_ends(s, self.b, self.length)
        axis = pin.A[:, 2]
        collars = [
            gap_behind_plane(end, pin.r - side * half * axis, side * axis, axial, pin.A[:, :2])
            for end, side in zip(ends, (1, -1), strict=True)
        ]
        radial = radial_gaps(s, self.a, ends, self.clearance, self.radius)
        return self.with_law(s, radial + collars)

    def outline(self) -> list[Outline]:
        pin_length = float(number(self.length)) + 2 * float(number(self.axial_clearance))
        return pin_and_bushing(
            self.a, self.b, pin_length, self.length, self.radius, float(number(self.clearance))
        )


@dataclass(frozen=True, eq=False)
class SphericalClearance(ContactPair):
    """A socket around a ball: 1 gap, the centres no further apart than the clearance.

    Parameters
    ----------
    a, b : Frame
        Ball and socket: origins at the centres.
    clearance : float or Parameter [m]
        Radius of the socket minus radius of the ball.
    radius : float or Parameter [m]
        Of the ball: where the surfaces touch, and so the lever arm of friction; without friction
        it has no effect on the motion.

    Raises
    ------
    ValueError
        If the clearance is not positive.
    """

    clearance: Scalar
    radius: Scalar = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of {type(self).__name__} {self.name!r}"
        check_bore(of_element, self.clearance, self.radius, "Spherical")

    def gaps(self, s: State) -> list[Gap]:
        ball, socket, c = s.motion(self.a), s.motion(self.b), s.value(self.clearance)
        bore = s.value(self.radius) + c
        gap = gap_in_bore(socket.r - ball.r, c, socket.r, bore, ball.A)
        return self.with_law(s, [gap._replace(tangents=on_sphere(gap.normal, ball.A))])

    def outline(self) -> list[Outline]:
        r = float(number(self.radius))
        rings = [circle(r, 0.0)[:, order] for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1])]
        return [Outline(self.a, ring) for ring in rings]
