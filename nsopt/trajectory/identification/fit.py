"""Parameters of a mechanism with which its simulation comes nearest to a measured motion: `fit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start
from nsopt.schemes import Scheme
from nsopt.simulation import StepBounds, estimate_in_halves
from nsopt.trajectory.identification.given import (
    GrowingWindow,
    Measured,
    ScaledUnknowns,
    Unknown,
    Window,
    check_measured,
)
from nsopt.trajectory.sensitivity import Sensitivities, SensitivityError, sensitivities

MAX_EVALUATIONS = 60  # largest number of simulations in one window

UNIDENTIFIABLE = 1e-10
"""Ratio of the least to the largest singular value of the Jacobian, below which unknowns are not
identifiable."""

UNLIKELY = 1e-6
"""Probability of so large a chi-square, below which noise does not explain a residual."""


@dataclass(frozen=True, eq=False)
class FitOutcome:
    """The outcome of a fit from one start.

    Attributes
    ----------
    start, end : (k,)
        Values of the unknowns; ``end`` holds the last ones if the fit failed.
    residual : float
        Root mean square of the residuals over their standard deviations: 1 for noise alone.
    evaluations : int
        Motions simulated.
    converged : bool
        Whether the last window was solved.
    explained : bool
        Whether noise explains the residual; otherwise it is a local minimum, or the mechanism is
        not as stated.
    message : str
    """

    start: Array
    end: Array
    residual: float
    evaluations: int
    converged: bool
    explained: bool
    message: str


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of `fit`.

    Attributes
    ----------
    names : tuple of str
    values, errors : (k,)
        The unknowns and their standard errors. If noise does not explain the residual, those of the
        best local fit, as the message says; NaN if no start converged or the motion does not
        identify the unknowns, as are ``covariance`` and ``step_errors``.
    covariance : (k, k)
        inv(J' J) of the residuals over their standard deviations, times ``scale``; and the product
        of ``step_errors`` with themselves.
    residual : float
        Root mean square of the residuals over their standard deviations: 1 for noise alone.
    converged : bool
        Whether a fit converged and noise explains its residual.
    message : str
    outcomes : tuple of FitOutcome
        One for each start, failures included.
    scale : float
        Chi-square over its degrees of freedom, n values less k unknowns, where that exceeds 1; else
        1. Errors are never smaller than the stated noise makes them, and grow with a residual that
        is larger. Of a mechanism that is not as stated they remain too small where the residuals
        of neighbouring times are alike.
    degrees : int
        Degrees of freedom, n values less k unknowns; 0 where these are more.
    step_errors : (k,)
        By how much the unknowns are off as the motion is computed in steps, with the sign; NaN
        where that is not known.
    """

    names: tuple[str, ...]
    values: Array
    errors: Array
    covariance: Array
    residual: float
    converged: bool
    message: str
    outcomes: tuple[FitOutcome, ...]
    scale: float
    degrees: int
    step_errors: Array

    @property
    def parameters(self) -> dict[str, float]:
        """The values by name, as `simulate` takes them."""
        return dict(zip(self.names, self.values.tolist(), strict=True))

    def intervals(self, level: float = 0.9) -> Array:
        """Return what each unknown lies between (k, 2) at a level of confidence.

        By Student's t with the degrees of freedom that are left to find the noise from: of six
        values and two unknowns 90 % are 2.13 standard errors to each side, of many 1.64. Where none
        is left the stated noise counts.
        """
        if not 0 < level < 1:
            raise ValueError(f"level of intervals must be between 0 and 1, got {level}")
        upper = (1 + level) / 2
        wide = float(scipy.special.ndtri(upper))
        if self.degrees > 0:
            wide = float(scipy.special.stdtrit(self.degrees, upper))
        return self.values[:, None] + wide * np.outer(self.errors, (-1.0, 1.0))


def fit(
    dynamics: Dynamics,
    measured: Measured,
    unknowns: Sequence[Unknown],
    *,
    steps: StepBounds,
    start: Start | None = None,
    scheme: Scheme | None = None,
    parameters: Mapping[str, float] | None = None,
    window: Window | None = None,
    starts: int = 1,
    seed: int = 0,
    check: bool = True,
) -> Fit:
    """Find the parameters with which a simulation comes nearest to a measured motion.

    Least squares with the exact derivatives of `sensitivities`, over windows that grow. The first
    fit starts from the guesses, the others from random values within the bounds; the first whose
    residual noise explains ends the search. Where none does, the best of them is returned with
    ``converged`` False: it is a local minimum, or the mechanism is not as stated.

    Parameters
    ----------
    dynamics : Dynamics
    measured : Measured
    unknowns : sequence of Unknown
        Parameters of the mechanism.
    steps, start, scheme, parameters
        As for `sensitivities`.
    window : Window
        `GrowingWindow` by default.
    starts : int
        Largest number of fits.
    seed : int
        Of the random values.
    check : bool
        Whether the motion of the best values is computed in h/2 and h/4 too: by how much that
        changes them is then part of their errors. Leave it out for measurements that were simulated
        in the same steps.

    Raises
    ------
    ValueError
        Before anything is fitted: an unknown that is no parameter, outputs that differ in number
        from the measured values, times before the start; and as for `sensitivities` at the
        guesses. Errors during the fit from one start count as its failure.
    """
    if starts < 1:
        raise ValueError(f"starts must be 1 or more, got {starts}")
    scaled = ScaledUnknowns(dynamics, unknowns, parameters)
    check_measured(dynamics, measured, start)
    simulate = partial(
        sensitivities, dynamics, start, outputs=measured.outputs, by_start=False, scheme=scheme
    )
    problem = _FitProblem(simulate, measured, scaled, steps, window or GrowingWindow())
    with suppress(SensitivityError):  # a simulation may fail here, a wrong statement is refused
        problem.simulate_up_to(scaled.guess, len(measured.times))
    random = np.random.default_rng(seed).uniform(0, 1, (starts - 1, len(unknowns)))
    outcomes: list[FitOutcome] = []
    for x in [scaled.guess, *random]:
        outcomes.append(problem.fit_from(x))
        if outcomes[-1].explained:
            break
    return problem.choose_best(tuple(outcomes), check)


class _FitProblem:
    """The residuals of a fit as functions of the unknowns, scaled to 0 to 1 by `ScaledUnknowns`."""

    def __init__(
        self,
        simulate: Callable[..., Sensitivities],
        measured: Measured,
        scaled: ScaledUnknowns,
        steps: StepBounds,
        window: Window,
    ) -> None:
        self._simulate, self._measured, self._unknowns = simulate, measured, scaled
        self._steps, self._window = steps, window
        self._evaluations = 0
        self._motion: Sensitivities | None = None  # the last one
        self._key: tuple[bytes, int] = (b"", 0)  # its unknowns, and at how many times it is known

    def fit_from(self, x: Array) -> FitOutcome:
        """Return the outcome of a fit from x, window by window."""
        self._evaluations, begin, measured = 0, x, self._measured
        residual, converged, n = np.inf, False, self._measured.values.size
        try:
            for end in self._window.ends(measured.times, self._find_first_impact(x)):
                count = max(int(np.sum(measured.times <= end)), 1)
                solution = scipy.optimize.least_squares(
                    self._residuals,
                    x,
                    self._jacobian,
                    bounds=(0, 1),
                    x_scale="jac",
                    xtol=1e-12,
                    ftol=1e-10,
                    gtol=1e-10,
                    max_nfev=MAX_EVALUATIONS,
                    kwargs={"count": count},
                )
                x = solution.x  # of the last window, the whole motion, in the end
        except (SensitivityError, ValueError, np.linalg.LinAlgError) as error:
            message = str(error)
        else:
            residual, message = float(np.sqrt(2 * solution.cost / n)), str(solution.message)
            converged = bool(solution.status > 0)
        likely = bool(residual**2 * n <= scipy.special.chdtri(max(n - len(x), 1), UNLIKELY))
        if converged and not likely:
            message = f"residual of {residual:.3g} deviations: noise does not explain it"
        return FitOutcome(
            self._unknowns.values(begin),
            self._unknowns.values(x),
            residual,
            self._evaluations,
            converged,
            converged and likely,
            message,
        )

    def choose_best(self, outcomes: tuple[FitOutcome, ...], check: bool) -> Fit:
        """Return the best of the outcomes as a `Fit`."""
        names, k = self._unknowns.names, len(self._unknowns.names)
        solved = [outcome for outcome in outcomes if outcome.converged]
        n, width = self._measured.values.size, self._unknowns.width
        degrees, unknown = max(n - k, 0), np.full(k, np.nan)
        failed = Fit(
            names=names,
            values=unknown,
            errors=unknown,
            covariance=np.full((k, k), np.nan),
            residual=np.inf,
            converged=False,
            message=f"no start converged: {outcomes[0].message}",
            outcomes=outcomes,
            scale=1.0,
            degrees=degrees,
            step_errors=unknown,
        )
        if not solved:
            return failed
        best = min(solved, key=lambda outcome: outcome.residual)
        J = self._jacobian(self._unknowns.scale(best.end), len(self._measured.times))
        singular = np.linalg.svd(J, compute_uv=False)  # values, the largest first
        if singular[-1] <= UNIDENTIFIABLE * singular[0]:
            why = (
                f"the measured motion does not tell {' and '.join(names)} apart, or not at all: "
                "measure more, or give one a value"
            )
            return replace(failed, residual=best.residual, message=why)
        scale = max(best.residual**2 * n / max(degrees, 1), 1.0)
        covariance = scale * np.linalg.inv(J.T @ J) * np.outer(width, width)
        message, step_errors = best.message, unknown
        if check:
            try:
                step_errors = self._estimate_step_errors(best.end, J)
            except (SensitivityError, ValueError) as error:
                message += f"; the error of the steps is not known: {error}"
            else:
                covariance += np.outer(step_errors, step_errors)
        errors = np.sqrt(np.diag(covariance))
        if not best.explained:
            message += (
                ": try more starts, state the noise as it is, or mend the model; the values are of "
                f"the best local fit, and their errors are {np.sqrt(scale):.3g} times those of the "
                "stated noise"
            )
        return replace(
            failed,
            values=best.end,
            errors=errors,
            covariance=covariance,
            residual=best.residual,
            converged=best.explained,
            message=message,
            scale=scale,
            step_errors=step_errors,
        )

    def _estimate_step_errors(self, values: Array, J: Array) -> Array:
        """Return by how much the values (k,) of the unknowns are off by the steps, (k,).

        From what the fit would come to, to first order by its Jacobian, in halved steps.
        """
        times, x = self._measured.times, self._unknowns.scale(values)
        own, numbers = self.simulate_up_to(x, len(times)), self._unknowns.numbers(x)

        def fit_again(part: float) -> Array:
            """Return the values with steps of a part of their size."""
            motion = own
            if part != 1:
                steps = own.scale_steps(part)
                motion = self._simulate(times, by=(), parameters=numbers, steps=steps)
            off = np.ravel((motion.value - own.value) / self._measured.deviation)
            again: Array = values - np.linalg.lstsq(J, off)[0] * self._unknowns.width
            return again

        return estimate_in_halves(fit_again)

    def _find_first_impact(self, x: Array) -> float | None:
        """Return the end of the step in which a contact first closes [s], as `Window` takes it."""
        steps = self.simulate_up_to(x, len(self._measured.times)).steps
        return float(steps.t[1 + np.argmax(steps.closed)]) if np.any(steps.closed) else None

    def simulate_up_to(self, x: Array, count: int) -> Sensitivities:
        """Return the motion at the first ``count`` times, the last one if it is the same."""
        key = (x.tobytes(), count)
        if self._motion is None or key != self._key:
            self._evaluations += 1
            self._motion = self._simulate(
                self._measured.times[:count],
                by=self._unknowns.names,
                parameters=self._unknowns.numbers(x),
                steps=self._steps,
            )
            self._key = key
        return self._motion

    def _residuals(self, x: Array, count: int) -> Array:
        """Return what is off over its standard deviation at the first ``count`` times, (n,)."""
        off = self.simulate_up_to(x, count).value - self._measured.values[:count]
        return np.asarray((off / self._measured.deviation).ravel())

    def _jacobian(self, x: Array, count: int) -> Array:
        """Return the derivatives of `_residuals` by scaled unknowns, (n, k)."""
        slopes = self.simulate_up_to(x, count).forward().parameters
        deviation = np.asarray(self._measured.deviation)[:, None]  # (m, 1), one for each output
        scaled = slopes / deviation * self._unknowns.width  # (times, m, k)
        return np.asarray(scaled.reshape(-1, len(x)))
