"""Mobility: linkages whose freedoms are known."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from nsopt.mobility import Mobility, linkage, mobility
from nsopt.problem import load_mechanism
from problems.spherical_inline import spherical_inline

from .figure import Figure, Subject

MUELLER = "[mobility 2016]"

Screw = tuple[float, float, float, float, float, float]


def hinge(axis: tuple[float, float, float], point: tuple[float, float, float]) -> Screw:
    """Return the joint screw (omega, v) of a hinge through a point."""
    return tuple(np.concatenate([axis, np.cross(point, axis)]))


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
LOOPS = {
    "planar four-bar": [hinge(Z, (x, y, 0)) for x, y in ((0, 0), (0.5, 1), (1.6, 1.2), (2, 0))],
    "planar five-bar": [
        hinge(Z, (x, y, 0)) for x, y in ((0, 0), (-0.5, 1), (0.8, 1.9), (2.2, 1), (2, 0))
    ],
    "Bricard's orthogonal linkage": [
        (0, 1, 0, 0, 0, 0),
        (0, 0, 1, 0, -1, 0),
        (1, 0, 0, 0, 0, 1),
        (0, 1, 0, -1, 0, 1),
        (0, 0, 1, -1, 0, 0),
        (1, 0, 0, 0, 1, 0),
    ],
    "Sarrus' linkage": [
        *(hinge(X, (0, y, z)) for y, z in ((1, 0), (1.6, 0.5), (1, 1))),
        *(hinge(Y, (x, 0, z)) for x, z in ((1, 1), (1.5, 0.4), (1, 0))),
    ],
    "loop of seven generic hinges": [
        hinge(a, p)
        for a, p in zip(
            (X, Y, Z, X, Y, Z, X),
            (
                (0, 0, 0),
                (0.3, 0, 1),
                (1, 0.2, 1),
                (0, 1, 1.4),
                (1.2, 0, 0.7),
                (1, 1, 0),
                (0, 0.6, 0.5),
            ),
            strict=True,
        )
    ],
}


@cache
def found(name: str) -> Mobility:
    """Return the mobility of a loop of this page or of a named problem."""
    if name in LOOPS:
        return mobility(linkage(LOOPS[name]))
    if name == "spherical four-bar":
        return mobility(spherical_inline.model(inline=False))
    return mobility(load_mechanism(name))


def reading(name: str, attribute: str) -> float:
    """Return a number of the mobility of a loop; nan where there is none."""
    value = getattr(found(name), attribute)
    return np.nan if value is None else float(value)


def row(name: str, label: str, what: str, known: int, source: str) -> Figure:
    """Return the figure of one number."""
    ours: Callable[[], float] = partial(reading, name, what)
    words = {
        "rank": "rank of its constraints",
        "gruebler": "freedoms by counting",
        "differential_freedom": "freedoms of first order",
        "local_freedom": "finite freedoms",
        "shakiness": "order to which it is shaky",
    }
    return Figure(f"{label}, {words[what]}", "1", float(known), source, ours, 0.0)


BENNETT, BRICARD, SARRUS = "Bennett 1903", "Bricard 1897", "Sarrus 1853"
FREEDOMS = [
    ("planar four-bar", "planar four-bar", "rank", 3, "plane motion"),
    ("planar four-bar", "planar four-bar", "local_freedom", 1, "Grübler in the plane"),
    ("planar five-bar", "planar five-bar", "local_freedom", 2, "Grübler in the plane"),
    ("loop of seven generic hinges", "loop of seven hinges", "local_freedom", 1, "Grübler"),
    ("spherical four-bar", "spherical four-bar", "local_freedom", 1, "spherical motion"),
    ("bennett", "Bennett's linkage", "gruebler", -2, "4 - 6"),
    ("bennett", "Bennett's linkage", "rank", 3, BENNETT),
    ("bennett", "Bennett's linkage", "local_freedom", 1, BENNETT),
    ("Bricard's orthogonal linkage", "Bricard's orthogonal linkage", "rank", 5, BRICARD),
    ("Bricard's orthogonal linkage", "Bricard's orthogonal linkage", "local_freedom", 1, BRICARD),
    ("Sarrus' linkage", "Sarrus' linkage", "rank", 5, SARRUS),
    ("Sarrus' linkage", "Sarrus' linkage", "local_freedom", 1, SARRUS),
    ("goldberg", "Goldberg's five-bar", "rank", 4, "Goldberg 1943"),
    ("goldberg", "Goldberg's five-bar", "local_freedom", 1, "Goldberg 1943"),
    ("delassus", "Delassus' four screws", "local_freedom", 1, "Delassus 1922"),
    ("parallelogram", "flat parallelogram", "differential_freedom", 2, MUELLER),
    ("parallelogram", "flat parallelogram", "local_freedom", 1, MUELLER),
    ("shaky_4h", "four screws", "differential_freedom", 1, MUELLER),
    ("shaky_4h", "four screws", "local_freedom", 0, MUELLER),
    ("four_bar_slot", "four-bar in a slot, example 4", "local_freedom", 0, MUELLER),
    ("four_bar_slot", "four-bar in a slot, example 4", "shakiness", 5, MUELLER),
    ("double_watt", "double Watt linkage", "local_freedom", 1, "Connelly and Servatius 1994"),
]

SUBJECT = Subject("Mobility", tuple(row(*x) for x in FREEDOMS))
