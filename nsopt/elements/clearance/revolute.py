"""Spatial revolute joint with radial and axial clearance."""

from dataclasses import dataclass

from nsopt.checks import positive
from nsopt.elements.clearance.cylindrical import bushing_ends, pin_and_bushing, radial_gaps
from nsopt.elements.clearance.gaps import check_bore, gap_behind_plane
from nsopt.mechanics import ContactPair, Gap, Outline, State
from nsopt.parameter import Scalar, number


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
