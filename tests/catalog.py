"""Every element, law, relaxation, backend, scheme, cost and condition: one row or more each.

The generic tests run on every row, so that a new class is tested by its row.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nsopt import (
    Actuator,
    AppliedForce,
    AppliedTorque,
    Body,
    Chord,
    CompliantContact,
    Composition,
    Cone,
    ContactAligned,
    ContactLaw,
    CubicLaw,
    CylinderContact,
    Cylindrical,
    CylindricalClearance,
    Distance,
    ErrorControl,
    ExactPenalty,
    ExponentialLaw,
    ExtensionSpring,
    FischerBurmeister,
    Fixed,
    FollowContacts,
    Frame,
    Ipopt,
    JointDrives,
    LargestStep,
    LinearisedClosure,
    LuGreLaw,
    MeasuredLaw,
    Mechanism,
    MoreauJean,
    NaturalResidual,
    PaperStep,
    Planar,
    PlanarPrismaticClearance,
    PlanarRevoluteClearance,
    PlaneContact,
    PointOnLine,
    PrintedExcess,
    Prismatic,
    PrismaticClearance,
    RangeOfMotion,
    Revolute,
    RevoluteClearance,
    Scholtes,
    ScholtesAggregated,
    Screw,
    Slide,
    SlideFriction,
    SlideRange,
    SphereContact,
    Spherical,
    SphericalClearance,
    SpringDamper,
    Sqp,
    StribeckLaw,
    TorsionSpringDamper,
    Tracker,
    Turn,
    TurnFriction,
    TurnRange,
    Universal,
    Variational,
    ViscousLaw,
)
from nsopt.elements import Law
from nsopt.mechanics import Element
from nsopt.mpcc import Daqp, IpoptQp, Osqp, Piqp, Proxqp, Qrqp
from nsopt.schemes import PoissonImpact
from nsopt.trajectory.conditions import (
    ActuatorLimits,
    Apart,
    ClearOf,
    ClearOfCapsule,
    DriveWithin,
    During,
    EndAt,
    LinkClearOf,
    Orient,
    Periodic,
    PowerLimits,
    Reach,
    StartAt,
    Touching,
    Within,
)
from nsopt.trajectory.costs import (
    BaseReaction,
    ContactForce,
    Duration,
    Effort,
    Energy,
    EvenSteps,
    FinalPose,
    FinalTask,
    ImpactEnergy,
    InputEffort,
    Jerk,
    JointResistance,
    Power,
    RestrictingEnergy,
    RestrictingMoment,
    Smoothness,
    TaskTracking,
    Tracking,
)
from tests import geometry
from tests.geometry import CLEARANCE, IRREGULAR, TRIANGLE

Array = NDArray[np.float64]
Twist = tuple[float, ...]  # (6,) translation of b along the axes of a [m], turn about them [rad]
TX, TY, TZ, RX, RY, RZ = (tuple(row) for row in np.eye(6))
PITCH = 0.05  # m


@dataclass(frozen=True)
class Row:
    """An element between two frames; where they coincide joints are closed and gaps open."""

    name: str
    build: Callable[[Frame, Frame], Element]
    size: int = 0  # rows of a joint, gaps of a contact
    freedoms: tuple[Twist, ...] = ()  # of an ideal joint
    distances: Callable[[Array, Array], list[float]] | None = None  # of gaps, by `tests.geometry`

    def __str__(self) -> str:
        return self.name


def behind(a: Frame, x: float, z: float) -> Frame:
    """Return a frame that sees frame a at (x, 0, z) in its own axes."""
    return Frame(a.body, np.asarray(a.origin) - a.axes @ [x, 0, z], a.axes)


JOINTS = [
    Row("fixed", lambda a, b: Fixed("e", a, b), 6),
    Row("revolute", lambda a, b: Revolute("e", a, b), 5, (RZ,)),
    Row("prismatic", lambda a, b: Prismatic("e", a, b), 5, (TZ,)),
    Row("cylindrical", lambda a, b: Cylindrical("e", a, b), 4, (TZ, RZ)),
    Row("spherical", lambda a, b: Spherical("e", a, b), 3, (RX, RY, RZ)),
    Row("universal", lambda a, b: Universal("e", a, b), 4, (RX, RY)),
    Row("planar", lambda a, b: Planar("e", a, b), 3, (TX, TY, RZ)),
    Row("screw", lambda a, b: Screw("e", a, b, PITCH), 5, ((0, 0, PITCH / (2 * np.pi), 0, 0, 1),)),
    Row(
        "left screw", lambda a, b: Screw("e", a, b, -0.3), 5, ((0, 0, -0.3 / (2 * np.pi), 0, 0, 1),)
    ),
    Row("point on line", lambda a, b: PointOnLine("e", a, b), 2, (TZ, RX, RY, RZ)),
]
# Its freedoms are those of first order: a point that keeps its distance moves on a sphere.
DISTANCE = Row(
    "distance",
    lambda a, b: Distance("e", behind(a, 0.24, 0.18), b, 0.3),
    1,
    (TY, (0.6, 0.0, -0.8, 0.0, 0.0, 0.0), RX, RY, RZ),
)
CLEARANCES = [
    Row(
        "cylindrical clearance",
        lambda a, b: CylindricalClearance("e", a, b, 0.1, 1, CLEARANCE, 0.01),
        2,
        distances=geometry.cylindrical,
    ),
    Row(
        "revolute clearance",
        lambda a, b: RevoluteClearance("e", a, b, 0.1, CLEARANCE, 4e-3, 0.01),
        4,
        distances=geometry.revolute,
    ),
    Row(
        "triangular prismatic",
        lambda a, b: PrismaticClearance("e", a, b, TRIANGLE, 0.1, CLEARANCE),
        12,
        distances=geometry.prismatic(TRIANGLE),
    ),
    Row(
        "irregular prismatic",
        lambda a, b: PrismaticClearance("e", a, b, IRREGULAR, 0.1, CLEARANCE),
        16,
        distances=geometry.prismatic(IRREGULAR),
    ),
    Row(
        "spherical clearance",
        lambda a, b: SphericalClearance("e", a, b, CLEARANCE, 0.02),
        1,
        distances=geometry.spherical,
    ),
    Row(
        "planar revolute",
        lambda a, b: PlanarRevoluteClearance("e", a, b, CLEARANCE, 0.01),
        1,
        distances=geometry.planar_revolute,
    ),
    Row(
        "planar prismatic",
        lambda a, b: PlanarPrismaticClearance("e", a, b, 0.1, 0.04, CLEARANCE),
        4,
        distances=geometry.planar_prismatic,
    ),
]
CONTACTS = [
    Row(
        "point, plane",
        lambda a, b: PlaneContact("e", behind(a, 0, 0.01), b),
        1,
        distances=geometry.plane,
    ),
    Row(
        "sphere, plane",
        lambda a, b: PlaneContact("e", behind(a, 0, 0.06), b, 0.05),
        1,
        distances=geometry.plane,
    ),
    Row(
        "point, sphere",
        lambda a, b: SphereContact("e", behind(a, 0.24, 0.18), b, 0.29),
        1,
        distances=geometry.sphere,
    ),
    Row(
        "sphere, sphere",
        lambda a, b: SphereContact("e", behind(a, 0.24, 0.18), b, 0.25, 0.04),
        1,
        distances=geometry.sphere,
    ),
    Row(
        "point, cylinder",
        lambda a, b: CylinderContact("e", behind(a, 0.2, 0.1), b, 0.19),
        1,
        distances=geometry.cylinder,
    ),
    Row(
        "sphere, cylinder",
        lambda a, b: CylinderContact("e", behind(a, 0.2, 0.1), b, 0.15, 0.04),
        1,
        distances=geometry.cylinder,
    ),
]


def rubbing(row: Row) -> Row:
    """Return the row of a contact with friction."""
    law = ContactLaw(restitution=0.4, friction=0.3, viscous=2.0)
    return Row(f"rubbing {row.name}", lambda a, b: replace(row.build(a, b), law=law), row.size)


IN_PLANE = [
    Row(
        "planar sphere, plane",
        lambda a, b: PlaneContact("e", behind(a, 0, 0.06), b, 0.05, planar=True),
        1,
    ),
    Row(
        "planar sphere, cylinder",
        lambda a, b: CylinderContact("e", behind(a, 0.2, 0.1), b, 0.15, 0.04, planar=True),
        1,
    ),
]
RUBBING = [rubbing(row) for row in CLEARANCES + CONTACTS + IN_PLANE]


def _compliant(row: Row) -> Row:
    """Return the row of a contact that may be penetrated."""
    return Row(f"compliant {row.name}", lambda a, b: CompliantContact("e", row.build(a, b), 1e6, 1))


COMPLIANT = [_compliant(row) for row in CLEARANCES + CONTACTS]
SPRINGS = [
    Row("spring", lambda a, b: SpringDamper("e", a, b, 800.0)),
    Row("damped spring", lambda a, b: SpringDamper("e", a, b, 800.0, damping=9.0)),
    Row(
        "spring of free length",
        lambda a, b: SpringDamper("e", behind(a, 0.2, 0.1), b, 800.0, 0.15),
    ),
    Row(
        "damped spring of free length",
        lambda a, b: SpringDamper("e", behind(a, 0.2, 0.1), b, 800.0, 0.3, 9.0),
    ),
    Row(
        "extension spring",
        lambda a, b: ExtensionSpring("e", behind(a, 0.2, 0.1), b, 800.0, 0.15, 40.0),
    ),
    Row("extension spring, no free length", lambda a, b: ExtensionSpring("e", a, b, 800.0)),
    Row(
        "damped extension spring",
        lambda a, b: ExtensionSpring("e", behind(a, 0.2, 0.1), b, 800.0, 0.3, 40.0, 9.0),
    ),
    Row("torsion spring", lambda a, b: TorsionSpringDamper("e", a, b, 20.0)),
    Row("damped torsion spring", lambda a, b: TorsionSpringDamper("e", a, b, 20.0, 0.7, 3.0)),
]
TRACKERS = [Row("tracker", lambda _, b: Tracker("e", b))]
DRIVES = [
    Row(
        "turn drive", lambda a, b: JointDrives("e", [Turn(a, b)], lambda t, q, v: 9 * np.sin(t - q))
    ),
    Row("slide drive", lambda a, b: JointDrives("e", [Slide(a, b)], lambda t, q, v: t - 9 * q - v)),
    Row(
        "turn and slide drives",
        lambda a, b: JointDrives(
            "e", [Turn(a, b), Slide(a, b)], lambda t, q, v: [v[1] - t, q[0] * v[0] + 2]
        ),
    ),
]
RANGE_LAWS = [
    CubicLaw(226.0, np.radians(11.5)),
    ExponentialLaw(5.0, 8.0),
    MeasuredLaw([0.0, 0.1, 0.2, 0.5], [0.0, 2.0, 10.0, 40.0]),
]
FRICTION_LAWS = [
    ViscousLaw(0.3),
    StribeckLaw(0.2),
    StribeckLaw(0.2, 0.4, stribeck=0.1, creep=1e-2),
    LuGreLaw(1e3, 0.5, 0.1, 0.2, 0.3, 0.1, creep=1e-3),
]
JOINT_FRICTION = [
    *(Row(f"sliding, {x}", lambda a, b, x=x: SlideFriction("e", a, b, x)) for x in FRICTION_LAWS),
    *(Row(f"turning, {x}", lambda a, b, x=x: TurnFriction("e", a, b, x)) for x in FRICTION_LAWS),
]
CONTACT_LAWS = [
    ContactLaw(),
    ContactLaw(restitution=0.6),
    ContactLaw(friction=0.3),
    ContactLaw(restitution=0.2, friction=0.3, viscous=2.0),
]
NARROW = np.radians([4, 7, 3, 6, 4])
QUARTERS = Cone(np.radians([0, 90, 180, 270, 360]), NARROW)
SPLINE = Cone(np.radians([0, 70, 150, 190, 290, 360]), np.radians([4, 7, 5, 3, 6, 4]))
CUBIC = CubicLaw(60.0, 0.5)
MEASURED = RANGE_LAWS[2]


def _cone(name: str, cone: Cone, law: Law = CUBIC, **options: object) -> Row:
    return Row(name, lambda a, b: RangeOfMotion("e", a, b, cone, law, **options))


CONES = [
    _cone("cone of quarters", QUARTERS),
    _cone("cone of a spline", SPLINE),
    _cone("damped cone", SPLINE, damping=3.0),
    _cone("cone by chord", SPLINE, excess=Chord()),
    _cone("cone, exponential law", SPLINE, ExponentialLaw(4.0, 4.0)),
    _cone("cone, measured law", QUARTERS, MEASURED),
]
PRINTED_CONES = [
    _cone("cone, law of cosines", SPLINE, excess=PrintedExcess()),
    _cone("cone, printed direction", QUARTERS, printed=True),
]
RANGES = [
    Row("turn range", lambda a, b: TurnRange("e", a, b, -0.01, 0.02, CubicLaw(60.0, 0.5))),
    Row(
        "damped turn range",
        lambda a, b: TurnRange("e", a, b, -0.01, 0.02, ExponentialLaw(3.0, 6.0), 2.0),
    ),
    Row("slide range", lambda a, b: SlideRange("e", a, b, -0.002, 0.003, CubicLaw(600.0, 0.2))),
    Row("damped slide range", lambda a, b: SlideRange("e", a, b, -0.002, 0.003, CUBIC, 30.0)),
]
LOADS = [
    Row("force", lambda _, b: AppliedForce("e", b, (1, -2, 3))),
    Row("force in body axes", lambda _, b: AppliedForce("e", b, (1, -2, 3), body_axes=True)),
    Row("force of time", lambda _, b: AppliedForce("e", b, lambda t: (np.sin(t), 2 * t, 1))),
    Row(
        "force of time in body axes",
        lambda _, b: AppliedForce("e", b, lambda t: (np.sin(t), 2 * t, 1), body_axes=True),
    ),
    Row("torque", lambda _, b: AppliedTorque("e", b, (1, -2, 3))),
    Row("torque in body axes", lambda _, b: AppliedTorque("e", b, (1, -2, 3), body_axes=True)),
    Row("torque of time", lambda _, b: AppliedTorque("e", b, lambda t: (np.exp(-t), 1, t**2))),
    Row(
        "torque of time in body axes",
        lambda _, b: AppliedTorque("e", b, lambda t: (np.exp(-t), 1, t**2), body_axes=True),
    ),
]

DOWN = tuple(10.0**-k for k in range(11))
# Each with a schedule of sigma that suits it.
RELAXATIONS = [
    (Scholtes(), DOWN),
    (ScholtesAggregated(), DOWN),
    (FischerBurmeister(), DOWN),
    (NaturalResidual(), DOWN),
    (ExactPenalty(), (0.1, 0.01)),
]
BACKENDS = [Ipopt(), Sqp()]
QP_SOLVERS = [Qrqp(), Daqp(), Piqp(), Osqp(), Proxqp(), IpoptQp()]

SCHEMES = [
    PaperStep(),
    PaperStep(explicit=True),
    PaperStep(renormalise=False),
    PaperStep(closure=LinearisedClosure()),
    PaperStep(closure=LinearisedClosure(), renormalise=False, explicit=True),
    Variational(),
    MoreauJean(),
    MoreauJean(project=True),
    MoreauJean(theta=1.0),
    ContactAligned(),
    ContactAligned(impact=PoissonImpact()),
]
SMOOTH_SCHEMES = [Composition()]  # for mechanisms without contacts
CONTROLS = [LargestStep(), ErrorControl(1e-6), LargestStep(contacts=FollowContacts(0.01))]


def hand():
    return Frame(ARM.bodies[-1], (0.2, 0, 0))


def _arm():
    """Two links in space, both joints driven."""
    upper = Body("upper", 2.0, (0.01, 0.05, 0.05), position=(0.2, 0, 0))
    lower = Body("lower", 1.0, (0.005, 0.02, 0.02), position=(0.6, 0, 0))
    joints = [
        Revolute("shoulder", Frame(None, axes=(0, 1, 0)), Frame.at(upper, (0, 0, 0), (0, 1, 0))),
        Revolute("elbow", Frame.at(upper, (0.4, 0, 0)), Frame.at(lower, (0.4, 0, 0))),
    ]
    drives = [
        Actuator("shoulder", -2.0, 2.0, 3.0, 40.0, damping=0.5),
        Actuator("elbow", -2.0, 2.0, 3.0, 20.0, damping=0.2),
    ]
    return Mechanism([upper, lower], joints, "relative", drives)


ARM = _arm()
COSTS = [
    Effort(scale=5.0),
    InputEffort(input="load"),
    Power(scale=20.0),
    Energy(braking=0.5),
    JointResistance(reaction_force=50.0, reaction_torque=10.0),
    Duration(weight=2.0),
    Smoothness(weight=0.1),
    Jerk(weight=1e-3),
    Tracking(trajectory=lambda t: (np.sin(t), 0.3 * t)),
    TaskTracking(frame=hand(), path=lambda t: (0.4, 0.1 * t, np.cos(t))),
    BaseReaction(joint="shoulder", force=30.0),
    FinalPose(q=(0.7, np.nan)),
    FinalTask(frame=hand(), position=(0.3, 0.4, 0.1), axes=np.eye(3), length=0.2),
    2 * Effort(scale=5.0) + FinalPose(q=(0.7, 0.1)),
]
CONDITIONS = [
    StartAt((0.1, 0.2), (0.0, 0.0)),
    EndAt((np.nan, 0.5), (0.0, np.nan)),
    Reach(hand(), (0.3, 0.4, 0.1)),
    Within("elbow.angle", -1.0, 1.0),
    Within("load", 0.0, 2.0),
    ActuatorLimits(),
    Orient(hand(), np.eye(3)),
    Orient(hand(), np.eye(3), about_z=True),
    DriveWithin("elbow", -5.0, 5.0),
    PowerLimits(20.0),
    ClearOf(hand(), (0.0, 0.5, 0.0), 0.1),
    ClearOfCapsule(hand(), (0.0, 0.5, 0.0), (0.2, 0.5, 0.1), 0.1),
    LinkClearOf(Frame(ARM.bodies[-1], (-0.2, 0, 0)), hand(), (0.0, 0.5, 0.0), 0.1, 0.03),
    Periodic((0.1, np.nan)),
    During(Within("elbow.angle", -1.0, 1.0), 0.3, 0.7),
]
# For a mechanism with contacts "floor" and ranges of motion.
STEPPED_COSTS = [
    ContactForce(scale=5.0),
    ContactForce(contacts=["floor"], power=4.0),
    ImpactEnergy(weight=2.0),
    EvenSteps(weight=0.1),
    RestrictingEnergy(size=0.5),
    RestrictingMoment(torque=2.0, force=3.0),
]
STEPPED_CONDITIONS = [
    Touching("floor"),
    Apart("floor"),
    During(Touching("floor"), 0.3, 0.7),
    During(Apart("floor"), 0.7, 1.0),
]
