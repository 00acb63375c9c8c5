"""The wire on which a bead falls from rest to a point 2 m aside and 2 m below, fastest: 0.82434 s.

The small cost on the input keeps the wire from bending to and fro between nodes.
"""

from _models import bead

from nsopt.trajectory import (
    Duration,
    EndAt,
    Horizon,
    InputEffort,
    Optimization,
    StartAt,
    Straight,
    Within,
)

optimization = Optimization(
    bead(),
    Horizon((0.3, 2.0), steps=80),
    [Duration(), InputEffort(input="u", weight=1e-4)],
    [StartAt([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]), EndAt([2.0, -2.0, 0.0]), Within("u", -5.0, 5.0)],
    Straight([0.0, 0.0, 0.0], [2.0, -2.0, 0.0], {"u": 1.0}, 0.9),
    inputs=["u"],
)
