"""Spherical joint with clearance."""

from dataclasses import dataclass

from nsopt.elements.clearance.gaps import check_bore, gap_in_bore
from nsopt.elements.outlines import circle
from nsopt.elements.tangents import on_sphere
from nsopt.mechanics import ContactPair, Gap, Outline, State
from nsopt.parameter import Scalar, number


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
