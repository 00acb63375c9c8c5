"""All that an optimization needs, as one value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.stepping import Scheme
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost, spread
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.homotopy import Stage
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimize import optimize, transcribed
from nsopt.trajectory.sensitivity import cost_derivatives
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

    def cost_gradient(self, result: Result) -> dict[str, float]:
        """Return the derivative of the least cost by each parameter of the mechanism.

        By the envelope theorem, from the multipliers of the optimum: what the best motion would
        cost with a slightly other mass or clearance, without solving again.

        Parameters
        ----------
        result : Result
            What `solve` returned.

        Raises
        ------
        ValueError
            If it is no solution, or one of another program.
        """
        data, d = result.data, self.dynamics
        if not data.attrs["completed"]:
            raise ValueError(f"{data.attrs['title']!r} is no solution, so it has no derivatives")
        stated = json.loads(data.attrs["parameters"])
        p = np.array([stated[x.name] for x in d.parameters])
        horizon = replace(self.horizon, steps=data.sizes["time"] - 1)
        program = transcribed(
            d,
            horizon,
            spread(self.costs),
            self.conditions,
            inputs=self.inputs,
            p=p,
            scheme=self.scheme,
        )
        stack = program.stack()
        x, lam = (data[name].values for name in ("unknown", "row_multiplier"))
        if (program.size, len(stack.lower)) != (len(x), len(lam)):
            raise ValueError(f"{data.attrs['title']!r} is an optimum of another program")
        found = cost_derivatives(stack, x, program.numbers(p, Stage(1e-8)), lam)
        names = [parameter.name for parameter in d.parameters]
        return {
            name: float(value)
            for name, value in zip(names, found, strict=False)  # a Stage has no derivative to tell
            if name not in self.inputs
        }
