"""Every element and law: one row or more each.

The generic tests run on every row, so that a new class is tested by its row. Schemes and solvers
have theirs in ``catalog_methods.py``, costs and conditions in ``catalog_trajectory.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import nsopt as ns
from nsopt import Frame
from nsopt.mechanics import Element
from tests import geometry
from tests.geometry import CLEARANCE, IRREGULAR, TRIANGLE

Array = NDArray[np.float64]
Twist = tuple[float, ...]  # (6,) translation of b along the axes of a [m], turn about them [rad]
TX, TY, TZ, RX, RY, RZ = (tuple(row) for row in np.eye(6))


def screwed(pitch: float) -> Twist:
    """Return the twist of a screw of a pitch [m] by one radian."""
    return 0, 0, pitch / (2 * np.pi), 0, 0, 1


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
    Row("fixed", lambda a, b: ns.Fixed("e", a, b), 6),
    Row("revolute", lambda a, b: ns.Revolute("e", a, b), 5, (RZ,)),
    Row("prismatic", lambda a, b: ns.Prismatic("e", a, b), 5, (TZ,)),
    Row("cylindrical", lambda a, b: ns.Cylindrical("e", a, b), 4, (TZ, RZ)),
    Row("spherical", lambda a, b: ns.Spherical("e", a, b), 3, (RX, RY, RZ)),
    Row("bend", lambda a, b: ns.Bend("e", a, b), 3, (RX, RY, RZ)),
    Row("universal", lambda a, b: ns.Universal("e", a, b), 4, (RX, RY)),
    Row("pin in slot", lambda a, b: ns.PinInSlot("e", a, b), 4, (TX, RZ)),
    Row("planar", lambda a, b: ns.Planar("e", a, b), 3, (TX, TY, RZ)),
    *(
        Row(f"screw, pitch {p}", lambda a, b, p=p: ns.Screw("e", a, b, p), 5, (screwed(p),))
        for p in (0.05, -0.3)
    ),
    Row("point on line", lambda a, b: ns.PointOnLine("e", a, b), 2, (TZ, RX, RY, RZ)),
    Row("programmed point", lambda a, b: ns.Programmed("e", a, b), 3, (RX, RY, RZ)),
    Row(
        "programmed pose",
        lambda a, b: ns.Programmed("e", a, b, axes=("x", "y", "z", "rx", "ry", "rz")),
        6,
    ),
    Row(
        "programmed direction",
        lambda a, b: ns.Programmed("e", a, b, axes=("x", "rx", "ry")),
        3,
        (TY, TZ, RZ),
    ),
    Row("driven slide", lambda a, b: ns.Driven("e", ns.Slide(a, b), 0), 1, (TX, TY, RX, RY, RZ)),
]
# Its freedoms are those of first order: a point that keeps its distance moves on a sphere.
DISTANCE = Row(
    "distance",
    lambda a, b: ns.Distance("e", behind(a, 0.24, 0.18), b, 0.3),
    1,
    (TY, (0.6, 0.0, -0.8, 0.0, 0.0, 0.0), RX, RY, RZ),
)
# The same: a point on a circle of radius 0.3 about (-0.24, -0.18) in the plane of frame a.
ON_CURVE = Row(
    "point on curve",
    lambda a, b: ns.PointOnCurve("e", a, b, lambda x, y: np.hypot(x + 0.24, y + 0.18) - 0.3),
    2,
    ((0.6, -0.8, 0.0, 0.0, 0.0, 0.0), RX, RY, RZ),
)
# Likewise: one turn after another about its other axes turns it a little about z.
DRIVEN = Row("driven turn", lambda a, b: ns.Driven("e", ns.Turn(a, b), 0), 1, (TX, TY, TZ, RX, RY))
FIRST_ORDER = [DISTANCE, ON_CURVE, DRIVEN]
CLEARANCES = [
    Row(
        "cylindrical clearance",
        lambda a, b: ns.CylindricalClearance("e", a, b, 0.1, 1, CLEARANCE, 0.01),
        2,
        distances=geometry.cylindrical,
    ),
    Row(
        "revolute clearance",
        lambda a, b: ns.RevoluteClearance("e", a, b, 0.1, CLEARANCE, 4e-3, 0.01),
        4,
        distances=geometry.revolute,
    ),
    Row(
        "triangular prismatic",
        lambda a, b: ns.PrismaticClearance("e", a, b, TRIANGLE, 0.1, CLEARANCE),
        12,
        distances=geometry.prismatic(TRIANGLE),
    ),
    Row(
        "irregular prismatic",
        lambda a, b: ns.PrismaticClearance("e", a, b, IRREGULAR, 0.1, CLEARANCE),
        16,
        distances=geometry.prismatic(IRREGULAR),
    ),
    Row(
        "spherical clearance",
        lambda a, b: ns.SphericalClearance("e", a, b, CLEARANCE, 0.02),
        1,
        distances=geometry.spherical,
    ),
    Row(
        "planar revolute",
        lambda a, b: ns.PlanarRevoluteClearance("e", a, b, CLEARANCE, 0.01),
        1,
        distances=geometry.planar_revolute,
    ),
    Row(
        "planar prismatic",
        lambda a, b: ns.PlanarPrismaticClearance("e", a, b, 0.1, 0.04, CLEARANCE),
        4,
        distances=geometry.planar_prismatic,
    ),
    Row(
        "corridor",
        lambda a, b: ns.Corridor("e", a, b, (0, 0, 0), CLEARANCE),
        1,
        distances=geometry.spherical,
    ),
]
CONTACTS = [
    Row(
        "point, plane",
        lambda a, b: ns.PlaneContact("e", behind(a, 0, 0.01), b),
        1,
        distances=geometry.plane,
    ),
    Row(
        "sphere, plane",
        lambda a, b: ns.PlaneContact("e", behind(a, 0, 0.06), b, 0.05),
        1,
        distances=geometry.plane,
    ),
    Row(
        "point, sphere",
        lambda a, b: ns.SphereContact("e", behind(a, 0.24, 0.18), b, 0.29),
        1,
        distances=geometry.sphere,
    ),
    Row(
        "sphere, sphere",
        lambda a, b: ns.SphereContact("e", behind(a, 0.24, 0.18), b, 0.25, 0.04),
        1,
        distances=geometry.sphere,
    ),
    Row(
        "point, cylinder",
        lambda a, b: ns.CylinderContact("e", behind(a, 0.2, 0.1), b, 0.19),
        1,
        distances=geometry.cylinder,
    ),
    Row(
        "sphere, cylinder",
        lambda a, b: ns.CylinderContact("e", behind(a, 0.2, 0.1), b, 0.15, 0.04),
        1,
        distances=geometry.cylinder,
    ),
    Row(
        "sphere, face of a box",
        lambda a, b: ns.BoxContact("e", behind(a, 0.1, 0.2), b, (0.5, 0.6, 0.34), 0.02),
        1,
        distances=geometry.box((0.5, 0.6, 0.34), 0.02, 0.1, 0.2),
    ),
    Row(
        "sphere, edge of a box",
        lambda a, b: ns.BoxContact("e", behind(a, 0.24, 0.18), b, (0.4, 0.6, 0.3), 0.04),
        1,
        distances=geometry.box((0.4, 0.6, 0.3), 0.04, 0.24, 0.18),
    ),
]


def rubbing(row: Row) -> Row:
    """Return the row of a contact with friction."""
    law = ns.ContactLaw(restitution=0.4, friction=0.3, viscous=2.0)
    return Row(f"rubbing {row.name}", lambda a, b: replace(row.build(a, b), law=law), row.size)


IN_PLANE = [
    Row(
        "planar sphere, plane",
        lambda a, b: ns.PlaneContact("e", behind(a, 0, 0.06), b, 0.05, planar=True),
        1,
    ),
    Row(
        "planar sphere, cylinder",
        lambda a, b: ns.CylinderContact("e", behind(a, 0.2, 0.1), b, 0.15, 0.04, planar=True),
        1,
    ),
    Row(
        "planar sphere, box",
        lambda a, b: ns.BoxContact(
            "e", behind(a, 0.1, 0.2), b, (0.5, 0.6, 0.34), 0.02, planar=True
        ),
        1,
    ),
]
RUBBING = [rubbing(row) for row in CLEARANCES + CONTACTS + IN_PLANE]


COMPLIANT_LAWS = [
    ns.Hertz(1e6),
    ns.KelvinVoigt(1e5, damping_coefficient=30.0),
    ns.HuntCrossley(1e6),
    ns.HerbertMcWhannell(1e6),
    ns.LeeWang(1e6),
    ns.LankaraniNikravesh(1e6),
    ns.Flores(1e6),
    ns.Gonthier(1e6),
]
COMPLIANT_FRICTION = [ns.SmoothCoulomb(), ns.AmbrosioFriction()]


def _compliant(row: Row) -> Row:
    """Return the row of a contact that may be penetrated."""
    law = ns.LankaraniNikravesh(1e6, impact_speed=1.0)
    return Row(f"compliant {row.name}", lambda a, b: ns.CompliantContact("e", row.build(a, b), law))


COMPLIANT = [_compliant(row) for row in CLEARANCES + CONTACTS]
SPRINGS = [
    Row("spring", lambda a, b: ns.SpringDamper("e", a, b, 800.0)),
    Row("damped spring", lambda a, b: ns.SpringDamper("e", a, b, 800.0, damping=9.0)),
    Row(
        "spring of free length",
        lambda a, b: ns.SpringDamper("e", behind(a, 0.2, 0.1), b, 800.0, free_length=0.15),
    ),
    Row(
        "damped spring of free length",
        lambda a, b: ns.SpringDamper(
            "e", behind(a, 0.2, 0.1), b, 800.0, free_length=0.3, damping=9.0
        ),
    ),
    Row(
        "extension spring",
        lambda a, b: ns.ExtensionSpring(
            "e", behind(a, 0.2, 0.1), b, 800.0, free_length=0.15, pretension=40.0
        ),
    ),
    Row("extension spring, no free length", lambda a, b: ns.ExtensionSpring("e", a, b, 800.0)),
    Row(
        "damped extension spring",
        lambda a, b: ns.ExtensionSpring(
            "e", behind(a, 0.2, 0.1), b, 800.0, free_length=0.3, pretension=40.0, damping=9.0
        ),
    ),
    Row("bushing", lambda a, b: ns.Bushing("e", a, b, (800, 500, 900))),
    Row(
        "turning bushing",
        lambda a, b: ns.Bushing("e", a, b, (0, 0, 90), (9, 8, 0), (20, 30, 10), (3, 1, 2)),
    ),
    Row("torsion spring", lambda a, b: ns.TorsionSpringDamper("e", a, b, 20.0)),
    Row(
        "damped torsion spring",
        lambda a, b: ns.TorsionSpringDamper("e", a, b, 20.0, free_angle=0.7, damping=3.0),
    ),
]
FILMS = [
    Row(
        "journal bearing",
        lambda a, b: ns.JournalBearing("e", a, b, 0.3, 1.0, 1.0, 5.0, roughness=1e-3),
    ),
    Row(
        "long journal bearing",
        lambda a, b: ns.JournalBearing(
            "e", a, b, 0.3, 1.0, 4.0, 5.0, roughness=1e-3, film=ns.LongBearing()
        ),
    ),
]
TRACKERS = [Row("tracker", lambda _, b: ns.Tracker("e", b))]
DRIVES = [
    Row(
        "turn drive",
        lambda a, b: ns.JointDrives("e", [ns.Turn(a, b)], lambda t, q, v: 9 * np.sin(t - q)),
    ),
    Row(
        "slide drive",
        lambda a, b: ns.JointDrives("e", [ns.Slide(a, b)], lambda t, q, v: t - 9 * q - v),
    ),
    Row(
        "turn and slide drives",
        lambda a, b: ns.JointDrives(
            "e", [ns.Turn(a, b), ns.Slide(a, b)], lambda t, q, v: [v[1] - t, q[0] * v[0] + 2]
        ),
    ),
]
FRICTION_LAWS = [
    ns.ViscousLaw(0.3),
    ns.StribeckLaw(0.2),
    ns.StribeckLaw(0.2, 0.4, stribeck=0.1, creep=1e-2),
    ns.LuGreLaw(1e3, 0.5, 0.1, 0.2, 0.3, 0.1, creep=1e-3),
]
JOINT_FRICTION = [
    *(
        Row(f"sliding, {x}", lambda a, b, x=x: ns.SlideFriction("e", a, b, x))
        for x in FRICTION_LAWS
    ),
    *(Row(f"turning, {x}", lambda a, b, x=x: ns.TurnFriction("e", a, b, x)) for x in FRICTION_LAWS),
]
CONTACT_LAWS = [
    ns.ContactLaw(),
    ns.ContactLaw(restitution=0.6),
    ns.ContactLaw(friction=0.3),
    ns.ContactLaw(restitution=0.2, friction=0.3, viscous=2.0),
    ns.ContactLaw(friction=0.3, rolling=1e-3, spinning=2e-3),
]
LOADS = [
    Row("force", lambda _, b: ns.AppliedForce("e", b, (1, -2, 3))),
    Row("force in body axes", lambda _, b: ns.AppliedForce("e", b, (1, -2, 3), body_axes=True)),
    Row("force of time", lambda _, b: ns.AppliedForce("e", b, lambda t: (np.sin(t), 2 * t, 1))),
    Row(
        "force of time in body axes",
        lambda _, b: ns.AppliedForce("e", b, lambda t: (np.sin(t), 2 * t, 1), body_axes=True),
    ),
    Row("torque", lambda _, b: ns.AppliedTorque("e", b, (1, -2, 3))),
    Row("torque in body axes", lambda _, b: ns.AppliedTorque("e", b, (1, -2, 3), body_axes=True)),
    Row("torque of time", lambda _, b: ns.AppliedTorque("e", b, lambda t: (np.exp(-t), 1, t**2))),
    Row(
        "torque of time in body axes",
        lambda _, b: ns.AppliedTorque("e", b, lambda t: (np.exp(-t), 1, t**2), body_axes=True),
    ),
]

RATES = [
    Row("knife edge", lambda a, b: ns.KnifeEdge("e", a, b), 1),
    Row("rolling ball", lambda a, b: ns.Rolling("e", behind(a, 0, 0.2), b, 0.2), 2),
    Row("rolling disc", lambda a, b: ns.RollingDisc("e", behind(a, 0, 0.2), b, 0.2), 3),
    Row(
        "rolling disc that slides",
        lambda a, b: ns.RollingDisc("e", behind(a, 0, 0.2), b, 0.2, slides=True),
        2,
    ),
    Row("wheel", lambda a, b: ns.Wheel("e", behind(a, 0, 0.2), b, 0.2), 2),
    Row("mecanum wheel", lambda a, b: ns.MecanumWheel("e", behind(a, 0, 0.2), b, 0.2, 0.7), 1),
    Row("speed of a turn", lambda a, b: ns.PrescribedSpeed("e", ns.Turn(a, b), 3.0), 1),
    Row("speed of a slide", lambda a, b: ns.PrescribedSpeed("e", ns.Slide(a, b), np.sin), 1),
]
