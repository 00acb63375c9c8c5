"""All that an optimization needs, as one value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import xarray as xr

from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.stepping import Scheme
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost, spread
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.homotopy import Stage
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimize import optimize, transcribed
from nsopt.trajectory.parts import Array, Stack
from nsopt.trajectory.sensitivity import cost_derivatives, optimum_derivatives
from nsopt.trajectory.solver import HorizonSolver
from nsopt.trajectory.transcription import Transcription


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
        program, stack, p = self._program(result)
        x, lam = (result.data[name].values for name in ("unknown", "row_multiplier"))
        found = cost_derivatives(stack, x, program.numbers(p, Stage(1e-8)), lam)
        return {name: float(found[k]) for k, name in self._stated()}

    def derivatives(self, result: Result) -> xr.Dataset:
        """Return how the best motion itself changes with the parameters of the mechanism.

        From the conditions of optimality, linearised with the active set held: no second solve.

        Parameters
        ----------
        result : Result
            What `solve` returned.

        Returns
        -------
        Dataset
            By ``parameter``: ``cost``, and at each node ``time`` [s], ``q`` (node, q) and
            ``input`` (node, input_name).

        Raises
        ------
        ValueError
            If it is no solution, or one of another program; if the mechanism has no parameters, or
            has contacts: of those `cost_gradient` tells the cost.
        OptimumError
            Where no derivative exists: a limit that is reached without pressing, an optimum that is
            not unique.
        """
        program, stack, p = self._program(result)
        stated = self._stated()
        if program.unilateral:
            raise ValueError(
                "the best motion through contacts has no derivatives here, for which contacts hold "
                "is part of the answer: cost_gradient(result) gives those of its cost"
            )
        if not stated:
            raise ValueError(
                "the mechanism has no Parameter beside its inputs: state one, "
                "Parameter(name, value)"
            )
        names = ("unknown", "bound_multiplier", "row_multiplier")
        x, lam_x, lam_g = (result.data[name].values for name in names)
        numbers = program.numbers(p, Stage(1e-8))
        low, high = program.limits()
        low[program.idle] = high[program.idle] = x[program.idle]
        found = optimum_derivatives(
            stack, x, numbers, lam_x, lam_g, low, high, names=program.names()
        )
        columns = [program.nodes(found.x[:, k]) for k, _ in stated]
        t, q, u = (np.stack(values, axis=-1) for values in zip(*columns, strict=True))
        return xr.Dataset(
            {
                "cost": ("parameter", found.cost[[k for k, _ in stated]]),
                "time": (("node", "parameter"), t),
                "q": (("node", "q", "parameter"), q),
                "input": (("node", "input_name", "parameter"), u),
            },
            coords={
                "parameter": [name for _, name in stated],
                "q_name": ("q", list(self.dynamics.q_names)),
                "input_name": list(self.inputs),
            },
        )

    def _stated(self) -> list[tuple[int, str]]:
        """Return place and name of the parameters that are no inputs."""
        names = [parameter.name for parameter in self.dynamics.parameters]
        return [(k, name) for k, name in enumerate(names) if name not in self.inputs]

    def _program(self, result: Result) -> tuple[Transcription, Stack, Array]:
        """Return the program that a result solves, and the parameters of the mechanism."""
        data, d = result.data, self.dynamics
        if not result.completed:
            raise ValueError(f"{result.name!r} is no solution, so it has no derivatives")
        values = json.loads(data.attrs["parameters"])
        p = np.array([values[x.name] for x in d.parameters])
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
        sizes = data.sizes["unknown_index"], data.sizes["row_index"]
        if sizes != (program.size, len(stack.lower)):
            raise ValueError(f"{result.name!r} is an optimum of another program")
        return program, stack, p
