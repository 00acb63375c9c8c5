"""An optimal control problem as one object, with the derivatives of its optima: `Optimization`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Solver, StructuredNlp
from nsopt.result import Result
from nsopt.schemes import Scheme
from nsopt.simulation import Check
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.exact import PLAN
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimize import optimize
from nsopt.trajectory.other_grids import IF_QUICK
from nsopt.trajectory.prepared import PreparedOptimization
from nsopt.trajectory.programs import transcribe
from nsopt.trajectory.search import Plan, StatedProgram
from nsopt.trajectory.sensitivity import cost_derivatives, optimum_derivatives
from nsopt.trajectory.smoothing.dry_friction import restore_friction
from nsopt.trajectory.smoothing.small_costs import restore_small_costs
from nsopt.trajectory.task import Task
from nsopt.trajectory.transcription.base import Transcription

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class Optimization:
    """An optimal control problem; a file of a named one ends in ``optimization = Optimization()``.

    Parameters
    ----------
    dynamics, horizon, costs, conditions, guess, inputs, scheme, solver, plan
        As for `optimize`.
    """

    dynamics: Dynamics
    horizon: Horizon
    costs: Sequence[Cost]
    conditions: Sequence[Condition]
    guess: Guess
    inputs: Sequence[str] = ()
    scheme: Scheme | None = None
    solver: Solver = field(default_factory=Solver)
    plan: Plan[StatedProgram] = PLAN

    def solve(
        self,
        parameters: Mapping[str, float] | None = None,
        steps: int | None = None,
        title: str = "",
        verify: bool = False,
        *,
        check: Check | None = IF_QUICK,
        accuracy: float | None = None,
    ) -> Result:
        """Return the best motion; errors as for `optimize`.

        Parameters
        ----------
        parameters : mapping of name to float, optional
        steps : int, optional
            Replaces the number of steps of the horizon.
        title : str
        verify, check, accuracy
            As for `optimize`.
        """
        return optimize(
            **vars(self._with_steps(steps)),
            parameters=parameters,
            title=title,
            verify=verify,
            check=check,
            accuracy=accuracy,
        )

    def prepared(
        self,
        parameters: Mapping[str, float] | None = None,
        steps: int | None = None,
        *,
        often: bool = True,
    ) -> PreparedOptimization:
        """Return it stated once, to be solved for other conditions, guesses and parameters.

        Parameters
        ----------
        parameters, steps
            As for `solve`.
        often : bool
            As for `PreparedOptimization`.
        """
        stated = vars(self._with_steps(steps))
        return PreparedOptimization(**stated, parameters=parameters, often=often)

    def _with_steps(self, steps: int | None) -> Optimization:
        if steps is None:
            return self
        return replace(self, horizon=replace(self.horizon, steps=steps))

    def cost_gradient(self, result: Result) -> dict[str, float]:
        """Return the derivative of the optimal cost by each parameter of the mechanism.

        By the envelope theorem, from the multipliers of the optimum, without solving again. Small
        costs that were minimized beside the objective are included (``step_bend`` and
        ``tie_breaker`` in ``attrs``), with constant weights.

        Parameters
        ----------
        result : Result
            Returned by `solve`.

        Raises
        ------
        ValueError
            If ``result`` is not converged, belongs to another program, or has no multipliers: see
            "kind" in its summary.
        """
        transcription, nlp, p = self._restore(result)
        x, lam = (result.data[name].values for name in ("unknown", "row_multiplier"))
        if not np.isfinite(lam).all():
            raise ValueError(
                f"{result.name!r} has no multipliers: where contacts may go either way they need "
                "not exist; take another grid, or the difference of two optima"
            )
        slopes = cost_derivatives(nlp, x, transcription.parameters(p), lam)
        return {name: float(slopes[k]) for k, name in self._constants()}

    def derivatives(self, result: Result) -> xr.Dataset:
        """Return the derivatives of the optimal motion by the parameters of the mechanism.

        From the optimality conditions, linearised with a fixed active set, without solving again.

        Parameters
        ----------
        result : Result
            Returned by `solve`.

        Returns
        -------
        Dataset
            By ``parameter``: ``cost``, and at each node ``time`` [s], ``q`` (node, q) and
            ``input`` (node, input_name).

        Raises
        ------
        ValueError
            As for `cost_gradient`; if the mechanism has no parameters, or has contacts: only the
            derivative of the cost exists for these.
        OptimumError
            If no derivative exists: a limit is reached with zero multiplier, or the optimum is not
            unique.
        """
        import xarray as xr

        transcription, nlp, p = self._restore(result)
        constants = self._constants()
        if transcription.is_complementary:
            raise ValueError(
                "the optimal motion of a mechanism with contacts has no derivatives here, because "
                "its contact modes may change: cost_gradient(result) gives those of its cost"
            )
        if not constants:
            raise ValueError(
                "the mechanism has no Parameter other than its inputs: state one, "
                "Parameter(name, value)"
            )
        names = ("unknown", "bound_multiplier", "row_multiplier")
        x, lam_x, lam_g = (result.data[name].values for name in names)
        parameters = transcription.parameters(p)
        low, high = transcription.limits()
        free = transcription.free_unknowns
        low[free] = high[free] = x[free]
        slopes = optimum_derivatives(
            nlp, x, parameters, lam_x, lam_g, low, high, names=transcription.names()
        )
        columns = [transcription.nodes(slopes.x[:, k]) for k, _ in constants]
        t, q, u = (np.stack(values, axis=-1) for values in zip(*columns, strict=True))
        return xr.Dataset(
            {
                "cost": ("parameter", slopes.cost[[k for k, _ in constants]]),
                "time": (("node", "parameter"), t),
                "q": (("node", "q", "parameter"), q),
                "input": (("node", "input_name", "parameter"), u),
            },
            coords={
                "parameter": [name for _, name in constants],
                "q_name": ("q", list(self.dynamics.q_names)),
                "input_name": list(self.inputs),
            },
        )

    def _constants(self) -> list[tuple[int, str]]:
        """Return index and name of the parameters that are not inputs."""
        names = enumerate(self.dynamics.parameter_names)
        return [(k, name) for k, name in names if name not in self.inputs]

    def _restore(self, result: Result) -> tuple[Transcription, StructuredNlp, Array]:
        """Return transcription, program and parameters of the mechanism (np,) of a result.

        Stated again, with the smoothing of friction and the small costs that are on its record.
        """
        data, d = result.data, self.dynamics
        if not result.completed:
            raise ValueError(f"{result.name!r} is no solution, so it has no derivatives")
        if "objective_in_steps" in data.attrs:
            raise ValueError(
                f"{result.name!r} is exact, in phases, of which derivatives are not known: solve "
                "it with plan=IN_STEPS"
            )
        values = json.loads(data.attrs["parameters"])
        p = np.array([values[x.name] for x in d.parameters])
        horizon = replace(self.horizon, steps=data.sizes["time"] - 1)
        task = {name: x for name, x in vars(self).items() if name != "plan"}
        x = transcribe(Task(**task | {"horizon": horizon}), p)
        x = restore_friction(restore_small_costs(x, result), result)
        nlp = x.nlp()
        sizes = data.sizes["unknown_index"], data.sizes["row_index"]
        if sizes != (x.size, len(nlp.lower)):
            raise ValueError(f"{result.name!r} is an optimum of another program")
        return x, nlp, p
