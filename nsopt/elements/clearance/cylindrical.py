"""Spatial cylindrical joint with radial clearance."""

from dataclasses import dataclass

import casadi as ca

from nsopt.checks import positive
from nsopt.elements.clearance.gaps import check_bore, gap_in_bore
from nsopt.elements.outlines import tube
from nsopt.elements.tangents import on_cylinder
from nsopt.mechanics import ContactPair, Frame, Gap, Outline, State
from nsopt.parameter import Scalar, number


def bushing_ends(s: State, bushing: Frame, length: Scalar) -> tuple[ca.SX, ca.SX]:
    """Return the points where the axis of a bushing leaves it, lower and upper.

    [NLP-clearance 2024, eq. 33].
    """
    motion, half = s.motion(bushing), s.value(length) / 2
    return motion.r - half * motion.A[:, 2], motion.r + half * motion.A[:, 2]


def radial_gaps(
    s: State, pin: Frame, ends: tuple[ca.SX, ca.SX], clearance: Scalar, radius: Scalar
) -> list[Gap]:
    """Return the radial gap of each bushing end on a pin along z of its frame.

    [NLP-clearance 2024, eqs. 34 to 37].
    """
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
