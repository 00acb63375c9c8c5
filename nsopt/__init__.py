"""Simulation of mechanisms with real joints.

State bodies and joints, `assemble` them into `Dynamics`, `simulate` them with step-size bounds,
look at the `Result`.
"""

# isort: off
from nsopt import interrupt  # noqa: F401 (first, so that Ctrl-C ends imports too)
# isort: on

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nsopt.hold import FirstOrderHold, ZeroOrderHold
from nsopt.loads import joint_loads, rms_loads
from nsopt.parameter import Parameter
from nsopt.problem import Problem, Variants, load_problem
from nsopt.result import Result
from nsopt.sweep import Grid, Samples, sweep
from nsopt.versions import version

if TYPE_CHECKING:
    from nsopt.elements import *
    from nsopt.mechanics import (
        GROUND,
        Actuator,
        Body,
        ContactLaw,
        Dynamics,
        Frame,
        Mechanism,
        Mimic,
        Relative,
        Start,
        acceleration,
        assemble,
        consistent,
        equilibrium,
        joint_resistance,
    )
    from nsopt.mpcc import (
        ActiveSet,
        ExactPenalty,
        FischerBurmeister,
        Ipopt,
        Mpcc,
        NaturalResidual,
        Scholtes,
        ScholtesAggregated,
        Solver,
        Sqp,
    )
    from nsopt.schemes import (
        Composition,
        ContactAligned,
        EnergeticImpact,
        ExplicitMidpoint,
        LinearisedClosure,
        MoreauJean,
        NewtonImpact,
        PaperStep,
        PoissonImpact,
        RungeKutta,
        SequentialImpact,
        TrueClosure,
        Variational,
    )
    from nsopt.simulation import (
        Acceptance,
        Check,
        Checkpoint,
        Compiled,
        ErrorControl,
        FollowContacts,
        LargestStep,
        StepBounds,
        batch_step,
        simulate,
    )

__version__: str
"""As pyproject.toml states it."""

__all__ = [
    "GROUND",
    "STEEL",
    "Acceptance",
    "ActiveSet",
    "Actuator",
    "AmbrosioFriction",
    "AppliedForce",
    "AppliedTorque",
    "ArcPath",
    "Bend",
    "Body",
    "BoxContact",
    "Bushing",
    "Check",
    "Checkpoint",
    "Chord",
    "Compiled",
    "CompliantContact",
    "CompliantFriction",
    "CompliantLaw",
    "Composition",
    "Cone",
    "ContactAligned",
    "ContactLaw",
    "CornerPath",
    "Corridor",
    "CubicLaw",
    "CylinderContact",
    "Cylindrical",
    "CylindricalClearance",
    "Distance",
    "Driven",
    "Dynamics",
    "EnergeticImpact",
    "ErrorControl",
    "ExactPenalty",
    "Excess",
    "ExplicitMidpoint",
    "ExponentialLaw",
    "ExtensionSpring",
    "FirstOrderHold",
    "FischerBurmeister",
    "Fixed",
    "Flores",
    "FollowContacts",
    "Frame",
    "FrictionLaw",
    "Gonthier",
    "Grid",
    "HerbertMcWhannell",
    "Hertz",
    "HuntCrossley",
    "Hysteresis",
    "Ipopt",
    "JointDrives",
    "JournalBearing",
    "KelvinVoigt",
    "KnifeEdge",
    "LankaraniNikravesh",
    "LargestStep",
    "Law",
    "LeeWang",
    "LinearisedClosure",
    "LongBearing",
    "LuGreLaw",
    "Material",
    "MeasuredLaw",
    "MecanumWheel",
    "Mechanism",
    "Mimic",
    "MoreauJean",
    "Mpcc",
    "NaturalResidual",
    "NewtonImpact",
    "OilFilm",
    "PaperStep",
    "Parameter",
    "PinInSlot",
    "Planar",
    "PlanarPrismaticClearance",
    "PlanarRevoluteClearance",
    "PlaneContact",
    "PointOnCurve",
    "PointOnLine",
    "PointPath",
    "PoissonImpact",
    "PrescribedSpeed",
    "Press",
    "PrintedExcess",
    "Prismatic",
    "PrismaticClearance",
    "Problem",
    "Programmed",
    "RangeOfMotion",
    "Relative",
    "Result",
    "Revolute",
    "RevoluteClearance",
    "Rolling",
    "RollingDisc",
    "RungeKutta",
    "Samples",
    "Scholtes",
    "ScholtesAggregated",
    "Screw",
    "SequentialImpact",
    "ShortBearing",
    "Slide",
    "SlideFriction",
    "SlideRange",
    "SmoothCoulomb",
    "Solver",
    "SphereContact",
    "Spherical",
    "SphericalAngle",
    "SphericalClearance",
    "SplinePath",
    "SpringDamper",
    "Sqp",
    "Start",
    "StepBounds",
    "Stiffness",
    "StribeckLaw",
    "TorsionSpringDamper",
    "Tracker",
    "TrueClosure",
    "Turn",
    "TurnFriction",
    "TurnRange",
    "Universal",
    "Variants",
    "Variational",
    "ViscousLaw",
    "Wheel",
    "ZeroOrderHold",
    "acceleration",
    "assemble",
    "batch_step",
    "box_outline",
    "capsule_outline",
    "consistent",
    "equilibrium",
    "hertz_stiffness",
    "joint_loads",
    "joint_resistance",
    "link_outline",
    "load_problem",
    "pin_stiffness",
    "rms_loads",
    "simulate",
    "sweep",
]


LATER = ("mpcc", "mechanics", "elements", "schemes", "simulation", "trajectory")
"""Packages that are loaded when a name of theirs is first used, from low to high."""


def __getattr__(name: str) -> Any:
    """Return a package of `LATER`, or what one of them exports by that name."""
    if name in LATER:
        return import_module(f"nsopt.{name}")
    if name == "__version__":
        return version("nsopt")
    if name in __all__:
        for package in map(__getattr__, LATER):
            if name in package.__all__:
                return getattr(package, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all public names, loaded or not."""
    return sorted({*globals(), *__all__})
