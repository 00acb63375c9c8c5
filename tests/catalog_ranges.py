"""Rows of ranges of motion: laws of their moments, cones, ranges of turning and sliding."""

import numpy as np

import nsopt as ns
from nsopt.elements import Law
from tests.catalog import Row

RANGE_LAWS = [
    ns.CubicLaw(226.0, np.radians(11.5)),
    ns.ExponentialLaw(5.0, 8.0),
    ns.MeasuredLaw([0.0, 0.1, 0.2, 0.5], [0.0, 2.0, 10.0, 40.0]),
]
NARROW = np.radians([4, 7, 3, 6, 4])
QUARTERS = ns.Cone(np.radians([0, 90, 180, 270, 360]), NARROW)
SPLINE = ns.Cone(np.radians([0, 70, 150, 190, 290, 360]), np.radians([4, 7, 5, 3, 6, 4]))
CUBIC = ns.CubicLaw(60.0, 0.5)
MEASURED = RANGE_LAWS[2]


def _cone(name: str, cone: ns.Cone, law: Law = CUBIC, **options: object) -> Row:
    return Row(name, lambda a, b: ns.RangeOfMotion("e", a, b, cone, law, **options))


CONES = [
    _cone("cone of quarters", QUARTERS),
    _cone("cone of a spline", SPLINE),
    _cone("damped cone", SPLINE, damping=3.0),
    _cone("cone by chord", SPLINE, excess=ns.Chord()),
    _cone("cone, exponential law", SPLINE, ns.ExponentialLaw(4.0, 4.0)),
    _cone("cone, measured law", QUARTERS, MEASURED),
]
PRINTED_CONES = [
    _cone("cone, law of cosines", SPLINE, excess=ns.PrintedExcess()),
    _cone("cone, printed direction", QUARTERS, printed=True),
]
RANGES = [
    Row("turn range", lambda a, b: ns.TurnRange("e", a, b, -0.01, 0.02, ns.CubicLaw(60.0, 0.5))),
    Row(
        "damped turn range",
        lambda a, b: ns.TurnRange("e", a, b, -0.01, 0.02, ns.ExponentialLaw(3.0, 6.0), 2.0),
    ),
    Row(
        "turn range of two laws",
        lambda a, b: ns.TurnRange("e", a, b, -0.01, 0.02, (ns.ExponentialLaw(3.0, 6.0), CUBIC)),
    ),
    Row(
        "slide range", lambda a, b: ns.SlideRange("e", a, b, -0.002, 0.003, ns.CubicLaw(600.0, 0.2))
    ),
    Row("damped slide range", lambda a, b: ns.SlideRange("e", a, b, -0.002, 0.003, CUBIC, 30.0)),
]
