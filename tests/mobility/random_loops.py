"""Random mechanisms of several loops, with several higher pairs in some of them; seeded."""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    Cylindrical,
    Distance,
    Fixed,
    Frame,
    Mechanism,
    PinInSlot,
    Planar,
    PointOnCurve,
    PointOnLine,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
)
from tests.random_mechanisms import axes_of

LOWER = {
    "revolute": Revolute,
    "prismatic": Prismatic,
    "cylindrical": Cylindrical,
    "spherical": Spherical,
    "planar": Planar,
    "screw": lambda name, a, b: Screw(name, a, b, 0.7),
    "universal": Universal,
    "slot": PinInSlot,
    "fixed": Fixed,
}
HIGHER = {
    "line": PointOnLine,
    "curve": lambda name, a, b: PointOnCurve(
        name, a, b, lambda x, y: y - np.sin(x) + x**2 / (2 + y)
    ),
    "rod": None,
}


def closed(name, kind, a, b, rng):
    """Return a joint of one kind between two bodies, closed in their stated poses."""
    point, axes = rng.normal(size=3), axes_of(rng)
    if kind == "rod":
        other = point + rng.normal(size=3)
        length = np.linalg.norm(other - point)
        return Distance(name, Frame.at(a, point), Frame.at(b, other), length)
    frames = Frame.at(a, point, axes), Frame.at(b, point, axes)
    return (LOWER | HIGHER)[kind](name, *frames)


def mechanism(seed, loops=2, joints=0):
    """Return a mechanism of a random tree and ``loops`` joints more, or of ``joints`` in all.

    Every third closes its loops by higher pairs alone, of which the last body has two.
    """
    rng = np.random.default_rng(seed)
    count = joints - loops if joints else int(rng.integers(2, 5))
    bodies = [
        Body(f"body {k}", 0.0, position=rng.normal(size=3), orientation=axes_of(rng))
        for k in range(count)
    ]
    made, around, higher = [], [GROUND, *bodies], seed % 3 == 0
    for k, body in enumerate(bodies):
        before = around[int(rng.integers(0, k + 1))]
        kinds = HIGHER if higher and k == count - 1 else LOWER
        made.append((str(rng.choice(list(kinds))), before, body))
    for _ in range(loops):
        a, b = rng.choice(count, 2, replace=False) if count > 1 else (0, 0)
        first = GROUND if rng.random() < 0.4 or count == 1 else bodies[a]
        other = bodies[-1] if higher else bodies[b]
        other = other if other is not first else bodies[b]
        kinds = HIGHER if higher else LOWER | HIGHER
        made.append((str(rng.choice(list(kinds))), first, other))
    return Mechanism(
        bodies, [closed(f"joint {k}", kind, a, b, rng) for k, (kind, a, b) in enumerate(made)]
    )
