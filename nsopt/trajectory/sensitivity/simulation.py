"""Derivatives of a simulated motion by parameters and by its initial state: `sensitivities`.

The motion is simulated with all unknowns of its steps on record (`Recorder`); each step is then
differentiated by the implicit function theorem (`ChainRule`), and the derivatives are multiplied
along the motion, forward or backward.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from time import perf_counter
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.checks import NOT_IN_MECHANISM, check_names
from nsopt.mechanics import Dynamics, Start, check_start
from nsopt.mpcc import Newton
from nsopt.schemes import Scheme, Variational
from nsopt.simulation import Acceptance, StepBounds, check_run, estimate_in_halves
from nsopt.trajectory.sensitivity.chain_rule import ChainRule, Transitions
from nsopt.trajectory.sensitivity.recorded import Recorder, SensitivityError, Steps

Output = Callable[[ca.SX, ca.SX, ca.SX, ca.SX], ca.SX]
"""(t, q, v, p) -> SX (m,): a function of the state; p are all parameters of the mechanism."""


OPENED = 1e-6
"""Opening of a joint, a row of `Dynamics.closure`, over the change of a parameter, above which a
start does not stay closed."""

ROUND_OFF = 1e-14
"""Opening [m, 1] that round-off of positions leaves, which small parameters change by less."""

NUDGE = 1e-6
"""Relative change of a parameter that tests whether the start depends on it: small enough for
elements to take it, and an opening of `OPENED` times it is a hundred times `ROUND_OFF`."""


class Derivatives(NamedTuple):
    """Derivatives of outputs, or of their weighted sum, by parameters and by the initial state.

    ``...`` is (times, outputs) for `Sensitivities.forward`, empty for `Sensitivities.adjoint`.
    """

    parameters: Array  # (..., len(by))
    q0: Array  # (..., nq)
    v0: Array  # (..., nv)


class StepErrors(NamedTuple):
    """By how much outputs and their derivatives are off by the steps, with the sign."""

    value: Array  # (times, outputs)
    derivatives: Derivatives  # as of `Sensitivities.forward`


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Outputs of a motion and their derivatives.

    Attributes
    ----------
    by : tuple of str
        The parameters.
    times : (n,) [s]
    value : (n, m)
        Outputs at the times.
    steps : Steps
        The whole motion.
    simulation_seconds, linearisation_seconds : float
        Wall time of the simulation, and of the linearisation of its steps.
    """

    by: tuple[str, ...]
    times: Array
    value: Array
    steps: Steps
    simulation_seconds: float
    linearisation_seconds: float
    _transitions: Transitions  # its ``ties`` are contacts and events that may switch
    _by_state: Array  # (n, m, nz) outputs by z = (t, q, v) at their time, nz = 1 + nq + nv
    _direct: Array  # (n, m, len(by)) outputs by parameters, at a fixed z
    _run: DifferentiatedRun
    _bounds: StepBounds  # with which it was computed

    def forward(self) -> Derivatives:
        """Return the derivatives of all outputs, propagated forward in time.

        Its effort grows with the number of parameters. Derivatives by Euler parameters at the start
        are those by each entry alone, without regard to their norm.
        """
        through_state = np.matmul(self._by_state, self._state_derivatives[self.steps.stops])
        n, nq = through_state.shape[2] - len(self.by), self._run.dynamics.nq
        # By q and v at the start, if asked for, and by parameters.
        start, parameters = through_state[:, :, :n], through_state[:, :, n:] + self._direct
        return Derivatives(parameters, start[:, :, :nq], start[:, :, nq:])

    def adjoint(self, weights: Array) -> Derivatives:
        """Return the gradient of sum(weights * value), propagated backward in time.

        Its effort does not grow with the number of parameters.

        Parameters
        ----------
        weights : (n, m)
        """
        weights = np.asarray(weights, dtype=float)
        if weights.shape != self.value.shape:
            raise ValueError(
                f"weights must have the shape of value, {self.value.shape}, got {weights.shape}"
            )
        by_states = np.zeros((len(self.steps) + 1, self._by_state.shape[2]))
        by_states[self.steps.stops] = np.einsum("nm,nmz->nz", weights, self._by_state)
        start, parameters = self._transitions.adjoint(by_states)
        direct = np.einsum("nm,nmp->p", weights, self._direct)
        nq = self._run.dynamics.nq
        q0, v0 = start[1 : 1 + nq], start[1 + nq :]
        if not self._run.by_start:
            q0, v0 = q0[:0], v0[:0]
        return Derivatives(parameters + direct, q0, v0)

    def scale_steps(self, part: float) -> StepBounds:
        """Return the bounds that take the same motion in steps of a part of the size.

        Its own are no longer than from one of the times to the next.
        """
        longest = float(np.diff(self.steps.t).max())
        own = StepBounds(
            min(self._bounds.h_min, longest), min(self._bounds.h_max, longest), self._bounds.part
        )
        return own.scale(part)

    def estimate_errors(self) -> StepErrors:
        """Return by how much outputs and derivatives are off as the motion is computed in steps.

        By the order that is seen in the same in steps of half and of a quarter, which takes six
        (2 + 4) times as long; each output and derivative has one, over all times. The gradient of
        `adjoint` is off by the sum of these errors times the weights.

        Raises
        ------
        SensitivityError
            Where shorter steps find no motion, or none with derivatives.
        """

        def find_figures(part: float) -> Array:
            """Return outputs and derivatives, (figures, times), in steps of a part of the size."""
            motion = self if part == 1 else self._run.solve(self.scale_steps(part))
            rows = np.concatenate([motion.value[:, :, None], *motion.forward()], axis=2)
            figures: Array = rows.reshape(len(rows), -1).T
            return figures

        errors = estimate_in_halves(find_figures).T.reshape(*self.value.shape, -1)
        ends = np.cumsum([1, *(x.shape[2] for x in self.forward())])[:-1]
        value, *derivatives = np.split(errors, ends, axis=2)
        return StepErrors(value[:, :, 0], Derivatives(*derivatives))

    @cached_property
    def _state_derivatives(self) -> Array:
        """Derivatives of states, (steps + 1, nz, n): by q and v at the start if asked for, then by
        parameters.
        """
        nz = self._by_state.shape[2]
        by_start = self._run.by_start
        return self._transitions.forward(np.eye(nz)[:, 1:] if by_start else np.zeros((nz, 0)))

    def check(self) -> None:
        """Refuse a motion that has no derivatives; `sensitivities` calls it.

        Raises
        ------
        SensitivityError
            Naming the contact and the time.
        """
        if not self._transitions.ties:
            return
        broken = self._transitions.find_broken(self._state_derivatives)
        if broken:
            tie = broken[0]
            also = ", ".join(sorted({x.label for x in broken if x.step == tie.step}))
            raise SensitivityError(
                float(self.steps.t[tie.step + 1]),
                f"the derivative does not exist: {also} just touches, with gap and impulse both "
                "zero, or just sticks, or closes at the same time as another; change the "
                "parameters or the start a little"
                + (", or leave out derivatives by the start" if self._run.by_start else ""),
            )


@dataclass(frozen=True, eq=False)
class DifferentiatedRun:
    """What `sensitivities` is asked for, checked, but for the sizes of steps."""

    dynamics: Dynamics
    start: Start
    p: Array  # (np,) values of all parameters
    times: Array  # (n,) [s]
    by: tuple[int, ...]  # indices of the parameters by which it is differentiated
    by_start: bool
    recorder: Recorder
    outputs: ca.Function  # see `_make_output`

    def solve(self, steps: StepBounds) -> Sensitivities:
        """Return the motion in such steps, with its derivatives; SensitivityError without these."""
        accepted = self.recorder.run(self.start, self.p, steps, self.times.tolist())
        begin = perf_counter()
        transitions = _make_rule(self.recorder.program, self.by).transitions(accepted, self.p)
        linearisation_seconds = perf_counter() - begin
        value, by_state, direct = _evaluate_at_stops(self.outputs, accepted, self.p)
        solved = Sensitivities(
            tuple(self.dynamics.parameter_names[k] for k in self.by),
            self.times,
            value,
            accepted,
            accepted.seconds,
            linearisation_seconds,
            transitions,
            by_state,
            direct,
            self,
            steps,
        )
        solved.check()
        return solved


# Kept, for fits and designs ask for the same mechanism again and again.
_make_recorder = lru_cache(maxsize=8)(Recorder)
_make_rule = lru_cache(maxsize=8)(ChainRule)


def sensitivities(
    dynamics: Dynamics,
    start: Start | None = None,
    times: float | Sequence[float] | Array = 1.0,
    *,
    steps: StepBounds,
    scheme: Scheme | None = None,
    outputs: Output | None = None,
    by: Sequence[str] | None = None,
    by_start: bool = True,
    parameters: Mapping[str, float] | None = None,
    newton: Newton | None = None,
    acceptance: Acceptance | None = None,
) -> Sensitivities:
    """Simulate a motion and prepare its exact derivatives.

    The steps are those that `simulate` takes with `Compiled`, except that one ends at each of the
    times. Each is differentiated by the implicit function theorem on the equations, contacts and
    events that hold at its solution, so the derivatives are those of the computed motion. With
    `ContactAligned` the derivatives include the shift of event times.

    Parameters
    ----------
    dynamics : Dynamics
    start : Start, optional
        By default the start stated by the bodies; it does not change with parameters.
    times : float or sequence of float [s]
        Times of the outputs, ascending.
    steps : StepBounds
    scheme : Scheme
        `Variational` by default; `ContactAligned` where contacts rebound.
    outputs : callable (t, q, v, p) -> SX (m,), optional
        A function of the state such as ``lambda t, q, v, p: dynamics.poses(q, v, p)[0]``; p are
        all parameters of the mechanism. Coordinates and velocities, (nq + nv,), by default.
    by : sequence of str, optional
        Parameters of the mechanism, all by default.
    by_start : bool
        Whether derivatives by q and v of the start are computed as well.
    parameters : mapping of name to number
        Other values for Parameters of the mechanism.
    newton : Newton
        Solver of each step.
    acceptance : Acceptance
        Tolerances that each step must meet.

    Raises
    ------
    ValueError
        Before anything is solved: an argument out of range; a scheme of fixed steps for a contact
        that rebounds; a stated start that moves with a parameter.
    SensitivityError
        If a step cannot be solved, or the derivative does not exist: a contact that just touches.

    Warns
    -----
    UserWarning
        If a parameter opens a joint of the start, which is held, and drives leave a freedom.
    """
    scheme = scheme or Variational()
    p, times = dynamics.values(parameters), _check_times(times)
    which = _find_indices(dynamics, by)
    if start is None:
        _check_stated_start(dynamics, which, p)
        start = Start.stated(dynamics, parameters)
    if times[0] <= start.t:
        raise ValueError(f"times must be after the start at {start.t:g} s, got {times[0]:g}")
    check_run(dynamics, float(times[-1]) - start.t, steps)
    check_start(dynamics, start, p)
    _warn_of_opening(dynamics, start, which, p)
    check_differentiable(dynamics, scheme, p)
    recorder = _make_recorder(dynamics, scheme, acceptance or Acceptance(), newton or Newton())
    function = _make_output(dynamics, outputs, which)
    run = DifferentiatedRun(dynamics, start, p, times, which, by_start, recorder, function)
    return run.solve(steps)


def check_differentiable(dynamics: Dynamics, scheme: Scheme, p: Array) -> None:
    """Refuse a scheme whose steps have no derivatives or would give wrong ones."""
    scheme.check_no_jumps(dynamics, p)
    if scheme.chooses_h:
        raise ValueError(
            f"{type(scheme).__name__} finds its step sizes by an optimum that need not be unique, "
            "so its motion has no derivatives: use Variational, ContactAligned or "
            f"{type(scheme).__name__}(finds_h=False)"
        )
    scheme.check(dynamics, p)


def _check_stated_start(dynamics: Dynamics, by: Sequence[int], p: Array) -> None:
    """Refuse a stated start that depends on a parameter: its derivative would be neglected."""
    names = dynamics.parameter_names
    numbers = dict(zip(names, p.tolist(), strict=True))
    here = np.concatenate(dynamics.stated_start(numbers, refuse=False))
    for k in by:
        nudged = numbers | {names[k]: p[k] * (1 + NUDGE) if p[k] else NUDGE}
        if np.any(np.concatenate(dynamics.stated_start(nudged, refuse=False)) != here):
            raise ValueError(
                f"the stated start moves with parameter {names[k]!r}: give start=... to hold it "
                "there, for instance Start.stated(dynamics)"
            )


def _warn_of_opening(dynamics: Dynamics, start: Start, by: Sequence[int], p: Array) -> None:
    """Warn where a parameter opens a joint of a held start, which may close in many ways."""
    if not dynamics.closure_names:
        return
    at = (start.t, np.asarray(start.q, dtype=float))
    if np.linalg.matrix_rank(np.asarray(dynamics.closure_matrix(*at, p))) == dynamics.nv:
        return  # one posture is left, which the first step finds
    here = np.asarray(dynamics.closure(*at, p)).ravel()
    for k in by:
        nudged = p.copy()
        nudged[k] = p[k] * (1 + NUDGE) if p[k] else NUDGE
        opened = np.abs(np.asarray(dynamics.closure(*at, nudged)).ravel() - here)
        if opened.max(initial=0.0) > OPENED * abs(nudged[k] - p[k]) + ROUND_OFF:
            joint = dynamics.closure_names[int(opened.argmax())]
            warnings.warn(
                f"the start is held, but opens joint {joint!r} as parameter "
                f"{dynamics.parameter_names[k]!r} changes: derivatives by it are of a motion whose "
                "first step closes the joint and moves all bodies. Give both frames of the joint "
                "the same Parameters, or drive all freedoms",
                stacklevel=3,
            )


def _find_indices(dynamics: Dynamics, by: Sequence[str] | None) -> tuple[int, ...]:
    """Return the indices of named parameters, of all by default; refuse unknown names."""
    known = dynamics.parameter_names
    if isinstance(by, str):
        raise TypeError(f"by must be a sequence of names, got {by!r}: write by=({by!r},)")
    check_names("by names the parameter", by or (), known, NOT_IN_MECHANISM)
    return tuple(known.index(name) for name in (known if by is None else by))


def _check_times(times: float | Sequence[float] | Array) -> Array:
    """Return times as an array (n,); refuse those that do not ascend."""
    row = np.atleast_1d(np.asarray(times, dtype=float))
    if row.ndim != 1 or not row.size or np.any(np.diff(row) <= 0):
        raise ValueError(f"times must be a number of seconds or several ascending, got {times!r}")
    return row


@lru_cache(maxsize=8)
def _make_output(dynamics: Dynamics, outputs: Output | None, by: tuple[int, ...]) -> ca.Function:
    """Return (z, p) -> outputs, their partial derivatives by z = (t, q, v) and by parameters."""
    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", dynamics.nq), ca.SX.sym("v", dynamics.nv)
    p, z = ca.SX.sym("p", len(dynamics.parameters)), ca.vertcat(t, q, v)
    y = ca.vertcat(q, v) if outputs is None else ca.densify(ca.vec(outputs(t, q, v, p)))
    chosen = ca.vertcat(ca.SX(0, 1), *(p[k] for k in by))
    slopes = [ca.densify(ca.jacobian(y, x)) for x in (z, chosen)]
    return ca.Function("outputs", [z, p], [y, *slopes], {"cse": True})


def _evaluate_at_stops(function: ca.Function, steps: Steps, p: Array) -> tuple[Array, Array, Array]:
    """Return outputs (n, m) and derivatives (n, m, nz), (n, m, len(by)) at the times asked for."""
    states = np.column_stack([steps.t, steps.q, steps.v])[steps.stops]
    n, m = len(states), function.numel_out(0)
    values = function.map(n)(states.T, np.tile(p[:, None], n))
    y, by_state, direct = (np.asarray(x).T.reshape(n, -1, m) for x in values)
    return y[:, 0], np.swapaxes(by_state, 1, 2), np.swapaxes(direct, 1, 2)
