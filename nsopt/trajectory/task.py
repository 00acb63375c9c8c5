"""What is asked of `optimize`, as one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Solver
from nsopt.schemes import Scheme
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon


@dataclass(frozen=True, eq=False)
class Task:
    """What is asked of `optimize`, by its arguments."""

    dynamics: Dynamics
    horizon: Horizon
    costs: Sequence[Cost]
    conditions: Sequence[Condition]
    guess: Guess
    inputs: Sequence[str] = ()
    parameters: Mapping[str, float] | None = None
    scheme: Scheme | None = None
    solver: Solver = field(default_factory=Solver)
