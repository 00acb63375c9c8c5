"""The closed forms of [CHARMIE 2023] in NumPy, without nsopt: for comparison.

Equations are corrected where the print is wrong; each docstring says so. In the paper's convention,
A = O + d z [eq. 1], a positive d moves a body backward along its joint: d_4 is the way down, and d
of the base is minus its slide.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from _geometry import (
    BAR,
    BAR_TO_SPRING,
    D3,
    D12A,
    DURATION,
    E4,
    F4,
    G5,
    H4,
    LENGTH_ACCELERATION,
    LINK,
    LINKS,
    REFERENCE_LENGTH,
    ROD,
    SLIDE_ACCELERATION,
    TURN_ACCELERATION,
    Array,
    Half,
    Link,
    Spring,
)

B3, B4 = np.array(LINK["4"].at), np.array(LINK["5"].at)
UNIT = dict(zip("xyz", np.eye(3), strict=True))  # eq. 28


class Rates(NamedTuple):
    """A coordinate and its derivatives by time."""

    value: float
    rate: float
    acceleration: float


# Joints that linear actuators move


def displacement_4(length: float) -> float:
    """Return d_4 [m] from the length of actuator 4d [eqs. 5, 6]."""
    rise = np.sqrt(length**2 - (B3[1] + E4[1] - D3[1]) ** 2)
    return float(B3[2] - (D3[2] + rise - E4[2]))


def rates_4(act: Rates) -> Rates:
    """Return d_4 and its derivatives from those of the length, by differentiating eq. 6."""
    d = displacement_4(act.value)
    rise = B3[2] - D3[2] + E4[2] - d
    speed = act.value * act.rate / rise
    acceleration = (act.rate**2 + act.value * act.acceleration - speed**2) / rise
    return Rates(d, -speed, -acceleration)


def angle_5(length: float) -> float:
    """Return theta_5 [rad] from the length of actuator 5d [eqs. 7-14].

    Both angles are by atan2; the left side of eq. 9 is alpha_4; in eq. 14 the term of h_4 has the
    sign opposite to that in eq. 13.
    """
    (y, z), (by, bz), (fy, fz) = G5[1:], B4[1:], F4[1:]
    e = np.hypot(fy - by, fz - bz)
    l = (length**2 - (y**2 + z**2) + e**2) / (2 * e)
    h = np.sqrt(length**2 - l**2)
    gy = l / e * (by - fy) + h / e * (bz - fz) + fy
    gz = l / e * (bz - fz) - h / e * (by - fy) + fz
    alpha, beta = np.arctan2(gz - bz, gy - by), np.arctan2(y, z)
    return float(alpha + beta - np.pi / 2)


def rates_5(act: Rates) -> Rates:
    """Return theta_5 and its derivatives, by the law of cosines in the triangle F4, B4, G5.

    act^2 = e^2 + r^2 - 2 e r cos(phi), where phi grows as theta_5.
    """
    e, r = np.linalg.norm((F4 - B4)[1:]), np.linalg.norm(G5[1:])
    cosine = (e**2 + r**2 - act.value**2) / (2 * e * r)
    along, across = e * r * cosine, e * r * np.sqrt(1 - cosine**2)
    speed = act.value * act.rate / across
    acceleration = (act.rate**2 + act.value * act.acceleration - along * speed**2) / across
    return Rates(angle_5(act.value), float(speed), float(acceleration))


# Main bodies


def zxz(z1: float, x2: float, z3: float) -> Array:
    """Return the rotation of intrinsic ZXZ angles [eq. 17; entry (1, 3) is s_1 s_2], (3, 3)."""
    (c1, c2, c3), (s1, s2, s3) = np.cos([z1, x2, z3]), np.sin([z1, x2, z3])
    return np.array(
        [
            [c1 * c3 - s1 * c2 * s3, -c1 * s3 - s1 * c2 * c3, s1 * s2],
            [s1 * c3 + c1 * c2 * s3, c1 * c2 * c3 - s1 * s3, -c1 * s2],
            [s2 * s3, s2 * c3, c2],
        ]
    )


def joint_rotation(link: Link, coordinate: float) -> Array:
    """Return R of a body in the axes of its predecessor [eqs. 2-4, 18], (3, 3)."""
    if link.kind != "R":
        return zxz(*link.turn)
    angles = {
        "x": (0.0, coordinate, 0.0),
        "y": (np.pi / 2, coordinate, -np.pi / 2),
        "z": (0.0, 0.0, coordinate),
    }
    return zxz(*angles[link.axis])


class Place(NamedTuple):
    """Where a body is, in world axes."""

    origin: Array  # (3,) [m] O
    R: Array  # (3, 3)

    def point(self, local: Array) -> Array:
        """Return a point P' of the body in the world, (3,) [m]."""
        return self.origin + self.R @ local


def places(coordinates: dict[str, float]) -> dict[str, Place]:
    """Return all main bodies [eqs. 1, 15, 16, 19; in the last A'' is that of body i].

    Parameters
    ----------
    coordinates : dict of label to float [rad] or [m]
        theta or d of the joint before each body, zero where left out.
    """
    placed = {"": Place(np.zeros(3), np.eye(3))}
    for link in LINKS:
        before, x = placed[link.before], coordinates.get(link.label, 0.0)
        R = before.R @ joint_rotation(link, x)
        A = x * UNIT[link.axis] if link.kind == "P" else np.zeros(3)
        placed[link.label] = Place(before.point(np.array(link.at)) - R @ A, R)
    return placed


# The motion of section 6


def validation_motion(t: float, acceleration: float) -> Rates:
    """Return the move from the start: -acceleration for half of the time, then +acceleration."""
    half = DURATION / 2
    if t <= half:
        return Rates(-acceleration * t**2 / 2, -acceleration * t, -acceleration)
    left = DURATION - t
    return Rates(acceleration * (left**2 / 2 - half**2), -acceleration * left, acceleration)


def validation_lengths(t: float) -> Rates:
    """Return the length of both linear actuators."""
    move = validation_motion(t, LENGTH_ACCELERATION)
    return move._replace(value=REFERENCE_LENGTH + move.value)


def validation_coordinates(t: float) -> dict[str, float]:
    """Return theta or d of every joint of the main tree, by the label of the body after it."""
    slide = validation_motion(t, SLIDE_ACCELERATION).value
    turn = validation_motion(t, TURN_ACCELERATION).value
    act = validation_lengths(t).value
    turning = {link.label: turn for link in LINKS if link.kind == "R"}
    linear = {"1": -slide, "2": -slide, "4": displacement_4(act), "5": angle_5(act)}
    return turning | linear


def end_effector(t: float) -> Array:
    """Return D_12a during the validation motion, (3,) [m], world axes."""
    return places(validation_coordinates(t))["12a"].point(D12A)


# Auxiliary bodies


def length(s_i: Array, s_j: Array) -> float:
    """Return the length of a body between two points [eq. 20] [m]."""
    return float(np.sqrt(np.sum((s_i - s_j) ** 2)))


def angle(s_i: Array, s_j: Array, r_i: Array) -> float:
    """Return the angle at S_i between S_j and R_i [eq. 21, with the missing arccos] [rad]."""
    l, b, a = length(s_i, s_j), length(s_i, r_i), length(s_j, r_i)
    return float(np.arccos((l**2 + b**2 - a**2) / (2 * l * b)))


class BalancingPoints(NamedTuple):
    """Points of one half of the static balancing in the axes of body 3, (3,) [m]."""

    bar: Array  # B_4sla
    spring: Array  # B_4slb
    slider: Array  # B_4slc


def balancing_points(half: Half, d_4: float) -> BalancingPoints:
    """Return the points of one half [eqs. 22-27; the right side of eq. 25 is x of B_4sla]."""
    x, y, z = half.pivot
    slider_z = B3[2] + H4 - d_4
    bar_z = slider_z - ROD
    bar_x = x + half.side * np.sqrt(BAR**2 - (bar_z - z) ** 2)
    part = BAR_TO_SPRING / BAR
    return BalancingPoints(
        bar=np.array([bar_x, y, bar_z]),
        spring=np.array([x + part * (bar_x - x), y, z + part * (bar_z - z)]),
        slider=np.array([bar_x, y, slider_z]),
    )


# Loads. All in the axes of the body they are named for, which 3 and 4 share.


def tension(spring: Spring, length: float) -> float:
    """Return the pull of an extension spring [eq. 35; the print has L_0 - L_s] [N]."""
    return spring.stiffness * (length - spring.free_length) + spring.pretension


class Wrench(NamedTuple):
    """A force at a point, and a torque, on a body."""

    force: Array  # (3,) [N]
    torque: Array  # (3,) [N m]
    arm: Array  # (3,) [m] from the centre of mass of the body to the point

    def about_centre(self) -> Array:
        """Return the torque about the centre of mass, (3,) [N m]."""
        return np.asarray(self.torque + np.cross(self.arm, self.force))


def required(
    inertial_force: Array, inertial_torque: Array, known: list[Wrench]
) -> tuple[Array, Array]:
    """Return what the unknown predecessors of a body exert together [eqs. 33, 34, 37].

    Parameters
    ----------
    inertial_force : (3,) [N]
        m pddot_C, where pddot_C contains -g.
    inertial_torque : (3,) [N m]
        I omegadot + omega x (I omega).
    known : list of Wrench
        On this body: of springs and successors. The paper counts the loads that the body exerts on
        its successors, of opposite sign.

    Returns
    -------
    force, torque : (3,), (3,)
        The torque about the centre of mass; its x on body 5 is a_4 of eq. 37.
    """
    zero = np.zeros(3)
    force = inertial_force - sum((w.force for w in known), zero)
    return force, inertial_torque - sum((w.about_centre() for w in known), zero)


def share_body_5(
    force: Array, torque: Array, actuator_arm: Array, joint_arm: Array, angle: float
) -> tuple[Wrench, Wrench]:
    """Share the loads on body 5 between actuator 5d and body 4 [eqs. 36, 38].

    Parameters
    ----------
    force, torque : (3,) [N], (3,) [N m]
        Of both together on body 5, from `required`.
    actuator_arm, joint_arm : (3,) [m]
        From C_5 to G_5, where 5d acts, and to A_5; r_A5d,C5 and r_A4,C5 in print are minus these.
    angle : float [rad]
        alpha_5d, from z of body 5 towards y to the actuator: f_y cos = f_z sin, so that a right
        turn about x counts negative.

    Returns
    -------
    actuator, joint : Wrench
        On body 5: of 5d and of body 4, both halves in x, torques halved about y and z.
    """
    (_, dy, dz), (_, jy, jz) = actuator_arm, joint_arm
    matrix = np.array(
        [
            [1, 0, 0, 1, 0, 0],
            [0, 1, 0, 0, 1, 0],
            [0, 0, 1, 0, 0, 1],
            [0, -dz, dy, 0, -jz, jy],
            [0, np.cos(angle), -np.sin(angle), 0, 0, 0],
            [-1, 0, 0, 1, 0, 0],
        ]
    )
    f = np.linalg.solve(matrix, [*force, torque[0], 0, 0])
    rest = torque - np.cross(actuator_arm, f[:3]) - np.cross(joint_arm, f[3:])
    half = np.array([0.0, rest[1] / 2, rest[2] / 2])
    return Wrench(f[:3], half, actuator_arm), Wrench(f[3:], half, joint_arm)


class BarForces(NamedTuple):
    """Forces about the bar of one half of the static balancing, (3,) [N]."""

    spring_on_bar: Array  # at B_slb; on link 3 at K3 the opposite
    bar_on_link_3: Array  # at F3; the print calls it f_3sra
    rod_on_bar: Array  # at B_sla; f_4src as eqs. 40, 41 count it
    rod_on_link_4: Array  # at B_slc


def balance_bar(half: Half, points: BalancingPoints, spring: Spring) -> BarForces:
    """Return the forces of one half, whose bodies have no mass [eqs. 35, 39-41].

    As printed, the unknown f_3sra is the force on link 3, f_4src that on the bar; the print of the
    spring's turn is about y, right-handed.
    """
    span = half.anchor - points.spring
    turn = np.arctan2(span[0], span[2])
    pull = tension(spring, length(half.anchor, points.spring))
    fx, fz = pull * np.sin(turn), pull * np.cos(turn)
    to_spring, to_rod = points.spring - half.pivot, points.bar - half.pivot
    moment = fz * to_spring[0] - fx * to_spring[2]  # a_5
    matrix = np.array([[0, 1, 0], [-1, 0, 1], [-to_rod[0], 0, 0]])
    rod, x, z = np.linalg.solve(matrix, [fx, fz, moment])
    return BarForces(
        spring_on_bar=np.array([fx, 0, fz]),
        bar_on_link_3=np.array([x, 0, z]),
        rod_on_bar=np.array([0, 0, rod]),
        rod_on_link_4=np.array([0, 0, -rod]),
    )


class Body4Share(NamedTuple):
    """Loads on body 4 beside those of the springs."""

    actuator: Wrench  # of 4d at E_4
    joint: Wrench  # of body 3 at A_4
    half_z: float  # [N m] torque about z by each half of the static balancing


def share_body_4(
    force: Array, torque: Array, actuator_arm: Array, joint_arm: Array, angle: float
) -> Body4Share:
    """Share the loads on body 4 between actuator 4d, body 3 and both halves [eqs. 42, 43].

    Parameters
    ----------
    force, torque : (3,) [N], (3,) [N m]
        Of all of them on body 4, from `required`, the forces of the halves (`balance_bar`) being
        among the known.
    actuator_arm, joint_arm : (3,) [m]
        From C_4 to E_4 and to A_4.
    angle : float [rad]
        alpha_4d, from z of body 4 towards y to the actuator.

    Notes
    -----
    In eq. 43 both labels 3slr and 3slc mean the two halves on body 4, 4src and 4slc. Body 3 gives
    no torque about z, the halves none about x and y.
    """
    matrix = np.array(
        [
            [0, 0, 1, 0],
            [1, 0, 0, 1],
            [0, 1, 0, 0],
            [np.cos(angle), -np.sin(angle), 0, 0],
        ]
    )
    dy, dz, x, y = np.linalg.solve(matrix, [*force, 0])
    on_actuator, on_joint = np.array([0, dy, dz]), np.array([x, y, 0])
    rest = torque - np.cross(actuator_arm, on_actuator) - np.cross(joint_arm, on_joint)
    return Body4Share(
        Wrench(on_actuator, np.zeros(3), actuator_arm),
        Wrench(on_joint, np.array([rest[0], rest[1], 0]), joint_arm),
        float(rest[2] / 2),
    )
