"""All that an optimization needs, as one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.stepping import Scheme
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimize import optimize
from nsopt.trajectory.solver import HorizonSolver


@dataclass(frozen=True, eq=False)
class Optimization:
    """What ``nsopt optimize`` solves: a file that defines ``optimization = Optimization(...)``.

    Parameters
    ----------
    dynamics, horizon, costs, conditions, guess, inputs, scheme, solver
        As for `optimize`.
    """

    dynamics: Dynamics
    horizon: Horizon
    costs: Sequence[Cost]
    conditions: Sequence[Condition]
    guess: Guess
    inputs: Sequence[str] = ()
    scheme: Scheme | None = None
    solver: HorizonSolver = field(default_factory=HorizonSolver)

    def solve(
        self,
        parameters: Mapping[str, float] | None = None,
        steps: int | None = None,
        title: str = "optimum",
        verify: bool = False,
    ) -> Result:
        """Return the best motion; errors as for `optimize`.

        Parameters
        ----------
        parameters : mapping of name to float, optional
        steps : int, optional
            In place of those of the horizon.
        title : str
        verify : bool
            As for `optimize`.
        """
        horizon = self.horizon if steps is None else replace(self.horizon, steps=steps)
        return optimize(
            self.dynamics,
            horizon,
            self.costs,
            self.conditions,
            self.guess,
            inputs=self.inputs,
            parameters=parameters,
            scheme=self.scheme,
            solver=self.solver,
            title=title,
            verify=verify,
        )
