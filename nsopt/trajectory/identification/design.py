"""Parameters of a mechanism of least cost, its simulated motion within limits: `design`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np
import scipy

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start
from nsopt.schemes import Scheme
from nsopt.simulation import StepBounds, estimate_in_halves
from nsopt.trajectory.identification.given import ScaledUnknowns, Unknown
from nsopt.trajectory.sensitivity import Output, Sensitivities, SensitivityError, sensitivities

Term = Callable[[ca.SX, Mapping[str, ca.SX]], ca.SX]
"""(y, p) -> SX: of the outputs y, SX (n, m) at n times, and all parameters by name."""

FEASIBLE = 1e-6
"""Excess of a limit, over its size, up to which it is met; difference of two values of an unknown,
over the width of its bounds, up to which they are one."""

LEAST_REACH = 1e-3
"""Half the width of the bounds about the last motion, over that of the stated ones, below which a
search that meets failing simulations gives up."""


@dataclass(frozen=True, eq=False)
class Limit:
    """An upper limit of a function of the motion.

    Parameters
    ----------
    name : str
    value : callable (y, p) -> SX (k,)
        Function of the outputs and parameters, see `design`.
    most : float
        Upper bound of every entry of the value.

    Raises
    ------
    ValueError
        If ``most`` is not finite.
    """

    name: str
    value: Term
    most: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.most):
            raise ValueError(f"most of limit {self.name!r} must be finite, got {self.most}")


@dataclass(frozen=True, eq=False)
class Design:
    """The result of `design`.

    Attributes
    ----------
    names : tuple of str
    values : (k,)
        The unknowns; NaN if no design was found.
    cost : float
    limits : dict of str to float
        The largest entry of each limit's value.
    resimulated : dict of str to float
        The same from a simulation with half the step.
    converged : bool
    message : str
    evaluations : int
        Number of simulations.
    step_errors : (k,)
        By how much the unknowns are off as the motion is computed in steps, with the sign; NaN
        where that is not known.
    cost_error : float
        The same of the cost.
    """

    names: tuple[str, ...]
    values: Array
    cost: float
    limits: dict[str, float]
    resimulated: dict[str, float]
    converged: bool
    message: str
    evaluations: int
    step_errors: Array
    cost_error: float = np.nan

    @property
    def parameters(self) -> dict[str, float]:
        """The values by name, as `simulate` takes them."""
        return dict(zip(self.names, self.values.tolist(), strict=True))


def design(
    dynamics: Dynamics,
    unknowns: Sequence[Unknown],
    cost: Term,
    limits: Sequence[Limit] = (),
    *,
    times: float | Sequence[float] | Array,
    outputs: Output,
    steps: StepBounds,
    start: Start | None = None,
    scheme: Scheme | None = None,
    parameters: Mapping[str, float] | None = None,
    slack: float = 0.01,
    iterations: int = 100,
    check: bool = True,
) -> Design:
    """Find the parameters of least cost for which the motion satisfies all limits.

    By sequential quadratic programming with the exact derivatives of `sensitivities`, from the
    guesses of the unknowns to a local optimum. Where a simulation fails, as for lengths with which
    a linkage locks, it goes on from the last motion, the unknowns at most half as far from it. The
    message of the `Design` says if a simulation failed nonetheless, or with half the step, for
    which values, and why: such as a joint of the start that they open.

    Parameters
    ----------
    dynamics : Dynamics
    unknowns : sequence of Unknown
        Parameters of the mechanism: clearances, stiffnesses, angles of a cone.
    cost : callable (y, p) -> SX
        Of the outputs y, SX (n, m) at n times, and of all parameters by name, such as
        ``lambda y, p: 1 / p["clearance"]``.
    limits : sequence of Limit
        A limit of a value at all times limits its largest value over time.
    times, outputs, steps, start, scheme, parameters
        As for `sensitivities`.
    slack : float
        Relative amount by which a limit may be exceeded with half the step; beyond it the steps are
        too long, and no design is returned.
    iterations : int
        Largest number of iterations.
    check : bool
        Whether it is sought once more in steps of half and of a quarter, from itself, which tells
        by how much it is off (`Design.step_errors`).

    Raises
    ------
    ValueError
        Before anything is solved: an unknown is no parameter, or the cost is not one number.
    SensitivityError
        If the motion at the guesses has no derivatives.
    """
    scaled = ScaledUnknowns(dynamics, unknowns, parameters)
    simulate = partial(
        sensitivities,
        dynamics,
        start,
        np.atleast_1d(times),
        outputs=outputs,
        by=scaled.names,
        by_start=False,
        scheme=scheme,
    )
    problem = _DesignProblem(dynamics, scaled, simulate, steps, cost, limits)
    return problem.solve(slack, iterations, check)


class _TrialError(RuntimeError):
    """A simulation that failed at values of the unknowns, which the message names."""


class _LockedError(_TrialError):
    """A simulation that began and could not go on, as of a linkage that locks."""

    def __init__(self, message: str, x: Array) -> None:
        super().__init__(message)
        self.x = x


class _DesignProblem:
    """Cost and limits as functions of the unknowns, scaled to 0 to 1 by `ScaledUnknowns`."""

    def __init__(
        self,
        dynamics: Dynamics,
        scaled: ScaledUnknowns,
        simulate: Callable[..., Sensitivities],
        steps: StepBounds,
        cost: Term,
        limits: Sequence[Limit],
    ) -> None:
        self._dynamics, self._unknowns, self._steps = dynamics, scaled, steps
        self._sensitivities = simulate
        self._motion: Sensitivities | None = None  # the last one
        self._evaluations, self._key = 0, b""  # simulations so far, unknowns of the last
        self._limits, names = tuple(limits), [limit.name for limit in limits]
        if len(set(names)) < len(names):
            raise ValueError(f"limits must have names of their own, got {', '.join(names)}")
        n, m = self._simulate(self._unknowns.guess).value.shape
        y, p = ca.SX.sym("y", n, m), ca.SX.sym("p", len(dynamics.parameters))
        named = {name: p[k] for k, name in enumerate(dynamics.parameter_names)}
        value = ca.SX(cost(y, named))
        if value.shape != (1, 1):
            raise ValueError(f"cost must be one number, got shape {value.shape}: sum its terms")
        rows = [ca.densify(ca.vec(ca.SX(limit.value(y, named)))) for limit in limits]
        sizes = [abs(limit.most) or 1.0 for limit in limits]
        over = [(row - x.most) / size for row, x, size in zip(rows, limits, sizes, strict=True)]
        self._cost = _with_jacobians("cost", y, p, value)
        self._size = abs(float(self._value(self._cost, self._unknowns.guess)[0])) or 1.0
        self._excess = _with_jacobians("limits", y, p, ca.vertcat(ca.SX(0, 1), *over))
        largest = [ca.mmax(row) for row in rows]
        self._largest = ca.Function("largest", [y, p], [ca.vertcat(ca.SX(0, 1), *largest)])

    def solve(self, slack: float, iterations: int, check: bool) -> Design:
        """Return the design, its limits checked with half the step."""
        try:
            x, message = self._find(self._unknowns.guess, iterations)
        except _TrialError as error:
            message = str(error)
        if message:
            return self._fail(message)
        found = self._check(x, slack)
        if not (check and found.converged):
            return found
        errors, message = np.full(len(x) + 1, np.nan), found.message
        try:
            errors = self._estimate_step_errors(x, iterations)
        except _TrialError as error:
            message += f"; the error of the steps is not known: {error}"
        return replace(
            found,
            message=message,
            evaluations=self._evaluations,
            step_errors=errors[:-1],
            cost_error=float(errors[-1]),
        )

    def _find(self, x: Array, iterations: int) -> tuple[Array, str]:
        """Return the best scaled unknowns (k,) from some, and why they are no design, if so."""
        rows = scipy.optimize.NonlinearConstraint(
            partial(self._value, self._excess), -np.inf, 0, partial(self._jacobian, self._excess)
        )
        options: dict[str, Any] = {
            "jac": lambda x: self._jacobian(self._cost, x)[0] / self._size,
            "constraints": [rows] if self._limits else [],
            "method": "SLSQP",
            "options": {"maxiter": iterations, "ftol": 1e-10},
        }
        optimum = self._search(
            lambda x: float(self._value(self._cost, x)[0]) / self._size, x, options
        )
        best, message = np.clip(optimum.x, 0, 1), ""
        if not optimum.success:
            message = f"{optimum.message}; {self._tell_worst(best)}"
        elif np.max(self._value(self._excess, best), initial=0.0) > FEASIBLE:
            message = f"no design satisfies all limits: {self._tell_worst(best)}"
        return best, message

    def _estimate_step_errors(self, x: Array, iterations: int) -> Array:
        """Return by how much the values and the cost of a design are off by the steps, (k + 1,)."""
        scale_steps = self._simulate(x).scale_steps

        def find_again(part: float) -> Array:
            """Return the values and the cost of the design in steps of a part of their size."""
            again, best = copy(self), x
            if part != 1:
                again._steps, again._motion = scale_steps(part), None
                best, message = again._find(x, iterations)
                if message:
                    raise _TrialError(f"in steps of {part:g} h {message}")
            self._evaluations = again._evaluations
            return np.append(self._unknowns.values(best), again._value(again._cost, best))

        return estimate_in_halves(find_again)

    def _search(self, cost: Callable[[Array], float], x: Array, options: Mapping[str, Any]) -> Any:
        """Return SciPy's optimum from scaled unknowns (k,).

        Where a simulation fails it is sought again from the last motion, at most half as far from
        it in any unknown; what ends on such a bound is sought on from there.
        """
        reach = 1.0
        while True:
            iterates = [x]
            lower, upper = np.maximum(x - reach, 0), np.minimum(x + reach, 1)
            near: dict[str, Any] = {
                "bounds": scipy.optimize.Bounds(lower, upper),
                "callback": iterates.append,
                **options,
            }
            try:
                found = scipy.optimize.minimize(cost, x, **near)
            except _LockedError as error:
                x = np.clip(iterates[-1], lower, upper)
                reach = min(reach, float(np.max(np.abs(error.x - x)))) / 2
                if reach < LEAST_REACH:
                    raise
                continue
            before, x = x, np.clip(found.x, lower, upper)
            within = (x - lower > FEASIBLE) | (lower == 0), (upper - x > FEASIBLE) | (upper == 1)
            if not found.success or np.all(within) or np.max(np.abs(before - x)) < FEASIBLE:
                return found

    def _check(self, x: Array, slack: float) -> Design:
        """Return the design of scaled unknowns (k,), or its failure with half the step."""
        try:
            half_step = self._run(x, self._steps.scale(0.5)).value
        except _TrialError as error:
            return self._fail(f"with half the step {error}")
        values = self._evaluate_limits(x, self._simulate(x).value)
        resimulated = self._evaluate_limits(x, half_step)
        for limit in self._limits:
            if resimulated[limit.name] - limit.most > slack * (abs(limit.most) or 1.0):
                return self._fail(
                    f"with half the step {limit.name!r} is {resimulated[limit.name]:.4g}, more "
                    f"than {limit.most:.4g}: take smaller steps"
                )
        return Design(
            self._unknowns.names,
            self._unknowns.values(x),
            float(self._value(self._cost, x)[0]),
            values,
            resimulated,
            True,
            "converged",
            self._evaluations,
            np.full(len(x), np.nan),
        )

    def _evaluate_limits(self, x: Array, y: Array) -> dict[str, float]:
        """Return the largest entry of each limit's value."""
        largest = np.asarray(self._largest(y, self._dynamics.values(self._unknowns.numbers(x))))
        return {
            limit.name: float(value)
            for limit, value in zip(self._limits, largest.ravel(), strict=True)
        }

    def _fail(self, message: str) -> Design:
        """Return a design of which nothing is known but why."""
        names = self._unknowns.names
        nan = np.full(len(names), np.nan)
        return Design(names, nan, np.nan, {}, {}, False, message, self._evaluations, nan)

    def _tell_worst(self, x: Array) -> str:
        """Return a message on the limit that is exceeded most."""
        values = self._evaluate_limits(x, self._simulate(x).value)
        over = [(values[y.name] - y.most) / (abs(y.most) or 1.0) for y in self._limits]
        if not over or max(over) <= FEASIBLE:
            return "all limits are satisfied"
        limit = self._limits[int(np.argmax(over))]
        return f"{limit.name!r} is {values[limit.name]:.4g} at best, more than {limit.most:.4g}"

    def _run(self, x: Array, steps: StepBounds) -> Sensitivities:
        """Simulate with scaled unknowns (k,); failures after the first are `_TrialError`."""
        self._evaluations += 1
        try:
            return self._sensitivities(parameters=self._unknowns.numbers(x), steps=steps)
        except (SensitivityError, ValueError) as error:
            if self._evaluations == 1:  # at the guesses
                raise
            values = zip(self._unknowns.names, self._unknowns.values(x), strict=True)
            stated = ", ".join(f"{name} = {value:.6g}" for name, value in values)
            trial = f"with {stated} (simulation {self._evaluations})"
            if isinstance(error, SensitivityError):
                raise _LockedError(f"{error}, {trial}", x) from error
            raise _TrialError(
                f"{str(error).split(';')[0]}, {trial}; the start is held, and must fit all values "
                "within the bounds: give both frames of a joint the same Parameters, as for the "
                "lengths of a linkage in docs/howto/design.md"
            ) from error

    def _simulate(self, x: Array) -> Sensitivities:
        """Return the motion with scaled unknowns (k,), the last one if they are the same."""
        x = np.clip(x, 0, 1)  # SLSQP leaves bounds by round-off
        if self._motion is None or x.tobytes() != self._key:
            self._motion, self._key = self._run(x, self._steps), x.tobytes()
        return self._motion

    def _value(self, function: ca.Function, x: Array) -> Array:
        """Return a function of `_with_jacobians` at scaled unknowns (k,), (rows,)."""
        p = self._dynamics.values(self._unknowns.numbers(np.clip(x, 0, 1)))
        return np.asarray(function(self._simulate(x).value, p)[0]).ravel()

    def _jacobian(self, function: ca.Function, x: Array) -> Array:
        """Return the Jacobian by the unknowns, (rows, k)."""
        motion = self._simulate(x)
        p = self._dynamics.values(self._unknowns.numbers(np.clip(x, 0, 1)))
        _, by_y, by_p = (np.asarray(out) for out in function(motion.value, p))
        columns = [self._dynamics.parameter_names.index(x) for x in self._unknowns.names]
        # CasADi counts the entries of y column by column.
        sensitivity = motion.forward().parameters.swapaxes(0, 1).reshape(by_y.shape[1], -1)
        return np.asarray((by_y @ sensitivity + by_p[:, columns]) * self._unknowns.width)


def _with_jacobians(name: str, y: ca.SX, p: ca.SX, value: ca.SX) -> ca.Function:
    """Return (y, p) -> value and its Jacobians by vec(y) and p."""
    jacobians = [ca.densify(ca.jacobian(value, x)) for x in (ca.vec(y), p)]
    return ca.Function(name, [y, p], [value, *jacobians], {"cse": True})
