"""Points, joints, masses and springs of CHARMIE.

Chosen here, realistic and round; the paper's tables are not available. Labels of bodies and points
are the paper's, but for K3 and S4, S5 (ends of springs). Points are in metres in the axes of their
body, from its origin O; in the reference position A = O. z is up, y forward, -x to the left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Triple = tuple[float, float, float]
HALF_TURN = np.pi / 2


@dataclass(frozen=True)
class Link:
    """A body of the main tree and the joint before it.

    Attributes
    ----------
    label, before : str
        Of this body and its predecessor, "" for the ground.
    kind : str
        P(rismatic), R(evolute), F(ixed): JT of the paper's Table 2.
    axis : str
        x, y or z of this body: JO. None of a fixed joint.
    at : (3,) [m]
        The joint, B of the predecessor.
    mass : float [kg]
    centre : (3,) [m]
        r_AC.
    size : (3,) [m]
        The inertia is that of a homogeneous box of this size.
    turn : (3,) [rad]
        Intrinsic ZXZ angles of a fixed joint [CHARMIE 2023, eqs. 2-4].
    """

    label: str
    before: str
    kind: str
    axis: str
    at: Triple
    mass: float = 0.0
    centre: Triple = (0.0, 0.0, 0.0)
    size: Triple = (0.0, 0.0, 0.0)
    turn: Triple = (0.0, 0.0, 0.0)

    @property
    def inertia(self) -> Triple:
        """Principal moments about the centre of mass, (3,) [kg m^2]."""
        x, y, z = (side**2 * self.mass / 12 for side in self.size)
        return y + z, z + x, x + y


def _arm(side: str, shoulder: Triple, turn: Triple) -> list[Link]:
    """Return shoulder, six bodies of the arm and the claw; z of all is along the arm."""

    def body(k: int, axis: str, length: float, mass: float, centre: Triple, size: Triple) -> Link:
        return Link(
            f"{k}{side}", f"{k - 1}{side}", "R", axis, (0.0, 0.0, length), mass, centre, size
        )

    return [
        Link(f"6{side}", "5", "F", "", shoulder, 0.6, (0, 0, 0.02), (0.08, 0.08, 0.06), turn),
        body(7, "y", 0.05, 0.9, (0.0, 0.01, 0.03), (0.08, 0.08, 0.10)),
        body(8, "x", 0.07, 1.2, (0.01, 0.0, 0.06), (0.07, 0.07, 0.14)),
        body(9, "z", 0.12, 0.9, (0.0, 0.0, 0.08), (0.06, 0.06, 0.15)),
        body(10, "x", 0.15, 0.8, (0.0, 0.01, 0.05), (0.06, 0.06, 0.12)),
        body(11, "z", 0.11, 0.6, (0.0, 0.0, 0.06), (0.05, 0.05, 0.12)),
        body(12, "x", 0.12, 0.4, (0.0, 0.005, 0.04), (0.06, 0.05, 0.08)),
        body(13, "y", 0.07, 0.2, (0.015, 0.0, 0.02), (0.03, 0.04, 0.06)),
    ]


LINKS = [
    Link("1", "", "P", "x", (0, 0, 0)),
    Link("2", "1", "P", "y", (0, 0, 0)),
    Link("3", "2", "R", "z", (0, 0, 0), 32.0, (0, -0.01, 0.20), (0.50, 0.55, 0.35)),
    Link("4", "3", "P", "z", (0, -0.05, 0.45), 6.5, (0, 0.02, 0.14), (0.25, 0.18, 0.32)),
    Link("5", "4", "R", "x", (0, 0.02, 0.30), 8.0, (0, 0.015, 0.20), (0.34, 0.20, 0.40)),
    *_arm("a", (-0.18, 0, 0.34), (HALF_TURN, -HALF_TURN, np.pi)),
    *_arm("b", (0.18, 0, 0.34), (HALF_TURN, HALF_TURN, 0.0)),
    Link("6c", "5", "F", "", (0, 0.01, 0.42), 0.3, (0, 0, 0.01), (0.08, 0.08, 0.03)),
    Link("7c", "6c", "R", "z", (0, 0, 0.03), 0.4, (0, 0, 0.03), (0.06, 0.06, 0.06)),
    Link("8c", "7c", "R", "x", (0, 0, 0.06), 1.6, (0, 0.02, 0.07), (0.18, 0.16, 0.16)),
]
LINK = {link.label: link for link in LINKS}
D12A = np.array([0.0, 0.0, 0.1023])  # [CHARMIE 2023, section 6]

# Linear actuators: 4d from D3 to E4, 5d from F4 to G5, both in yz planes and 400 mm long.
REFERENCE_LENGTH = 0.4
D3 = np.array([0.0, -0.15, 0.25])
E4 = D3 + np.array([0, 0.112, 0.384]) - LINK["4"].at
G5 = np.array([0.03, 0.15, 0.08])
F4 = LINK["5"].at + G5 - np.array([0, 0.112, 0.384])


@dataclass(frozen=True)
class Spring:
    """Numbers of an extension spring [CHARMIE 2023, eq. 35]."""

    stiffness: float  # N/m
    free_length: float  # m
    pretension: float  # N


# The spring at the back, 5s, from S4 to S5.
S4 = LINK["5"].at + np.array([-0.03, -0.09, -0.15])
S5 = np.array([-0.03, -0.11, 0.08])
SPRING_5S = Spring(2000.0, 0.18, 50.0)


@dataclass(frozen=True)
class Half:
    """One half of the static balancing; its bars and its spring are in an xz plane.

    The bar turns about F3 and ends in B_sla, from where the rod rises to the slider B_slc; the
    spring leads from the bar at B_slb to K3.
    """

    label: str
    side: float  # -1 on the left, 1 on the right

    @property
    def pivot(self) -> Array:
        """F3 of body 3."""
        return np.array([0.04 * self.side, BAR_Y, 0.40])

    @property
    def anchor(self) -> Array:
        """K3 of body 3, above F3: with F_0 = k L_0 the lift is then the same at any height."""
        return np.array([0.04 * self.side, BAR_Y, 0.40 + ANCHOR_HEIGHT])


BAR_Y = -0.12
BAR = 0.25  # b_4sla, from F3 to B_4sla
BAR_TO_SPRING = 0.125  # a_4sla, from F3 to B_4slb
ROD = 0.05  # c_4slc, from B_4sla up to B_4slc
ANCHOR_HEIGHT = 0.20  # from F3 up to K3
H4 = 0.15  # height of the sliders in body 4
LEFT, RIGHT = Half("4sl", -1.0), Half("4sr", 1.0)
SPRING_4S = Spring(1200.0, 0.10, 120.0)  # F_0 = k L_0
# Of the turn between slider and rod, which stays at zero. The paper does not say; with x, a slider
# that also turns about its shaft, a half passes on torque about z, as eq. 43 has it.
ROD_AXIS = "x"

# The motion of [CHARMIE 2023, section 6]: these accelerations, negative for the first half.
TURN_ACCELERATION = np.pi / 9  # rad/s^2, of every revolute joint that is actuated
LENGTH_ACCELERATION = 3e-3  # m/s^2, of both linear actuators
SLIDE_ACCELERATION = 30e-3  # m/s^2, of the base
DURATION = 5.0  # s
