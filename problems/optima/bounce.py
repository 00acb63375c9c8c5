"""A cart from 1 m to a wall and back in 2 s, rest to rest, at least integral of the squared force.

``restitution`` is that of the wall: 1 costs 6 (mirrored at the wall it is a straight way), 0 costs
12.73896 with the impact at 0.82843 s.
"""

from _models import bouncer

from nsopt import ContactAligned, Solver, StepBounds
from nsopt.trajectory import (
    STRAIGHT,
    During,
    Effort,
    EndAt,
    Horizon,
    Optimization,
    StartAt,
    Through,
    Touching,
)

MET = 0.36
"""Of the steps, those before the wall is met; how long they are, and those after, is free."""

optimization = Optimization(
    bouncer(),
    Horizon(2.0, steps=600, h=StepBounds(1e-4, 0.5), breaks=[MET]),
    [Effort()],
    [StartAt([1.0], [0.0]), EndAt([1.0], [0.0]), During(Touching("wall"), MET, MET)],
    Through([[1.0], [0.0], [1.0]], [0.0, MET, 1.0]),
    scheme=ContactAligned(),
    solver=Solver(schedules=(STRAIGHT,)),
)
