"""Many states of one mechanism stepped at once: `batch_step`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.arrays import Array
from nsopt.checks import check_names, positive, whole
from nsopt.mechanics import Dynamics, Start, check_start
from nsopt.schemes import Scales, Scheme
from nsopt.simulation.bounds import StepBounds
from nsopt.simulation.chain import Compiled
from nsopt.simulation.chain_state import ChainParameters, ChainState, ChainStatus
from nsopt.simulation.driver import Driver
from nsopt.simulation.method import Method
from nsopt.simulation.program import StepProgram
from nsopt.simulation.run import Run
from nsopt.simulation.step_error import StepError
from nsopt.simulation.step_kernel import StepKernel

FAR = 1e6  # a number that an element refuses if there are any that it refuses

Which = int | slice | Sequence[int] | NDArray[np.bool_] | NDArray[np.intp]


def batch_step(
    dynamics: Dynamics,
    n: int,
    h: float,
    *,
    substeps: int = 1,
    start: Start | None = None,
    scheme: Scheme | None = None,
    solver: Compiled | None = None,
    parameters: Mapping[str, float] | None = None,
    fallbacks: bool = True,
    threads: int = 1,
) -> Batch:
    """Return n states of a mechanism, which are stepped in one call of the kernels.

    For controllers that are learned and for ensembles: forces that a controller chooses are
    Parameters, given anew in each call, for each state its own.

    Parameters
    ----------
    dynamics : Dynamics
        From `assemble`.
    n : int
        Number of states.
    h : float [s]
        Step size.
    substeps : int
        Steps in one call of `Batch.step`.
    start : Start, optional
        Of all states; the start stated by the bodies by default.
    scheme : Scheme
        `Variational` by default; one whose h is given.
    solver : Compiled
    parameters : mapping of name to number
        Other values for Parameters of the mechanism.
    fallbacks : bool
        Whether steps that Newton does not solve are taken in the other ways of `simulate`, one
        state after another; else such a state stays where it is. Those of a state that diverges,
        as under a controller that is not stable, may take seconds.
    threads : int
        Among which the states are shared.

    Returns
    -------
    Batch

    Raises
    ------
    TypeError
        An argument of the wrong kind.
    ValueError
        If a number is none that can be, the scheme chooses h itself, or the start is not legal.

    Examples
    --------
    >>> batch = batch_step(dynamics, 1000, 1e-3, substeps=10)  # doctest: +SKIP
    >>> batch.step({"torque": policy(batch.q, batch.v)})  # doctest: +SKIP
    >>> batch.reset(batch.q[:, 1] < 0.2)  # doctest: +SKIP
    """
    for name, value in (("n", n), ("substeps", substeps), ("threads", threads)):
        whole(f"{name} of batch_step", value)
    h = positive("h of batch_step", h)
    method = Method.of(scheme, Compiled() if solver is None else solver, None, None)
    if not isinstance(method.first_solver(dynamics), Compiled):
        raise ValueError(
            "batch_step takes a scheme whose h is given, by Compiled(), got "
            f"{method.scheme!r} by {method.solver!r}: use Variational()"
        )
    run = Run.check(dynamics, start, h * substeps, StepBounds(h, h), parameters)
    method.scheme.check(dynamics, run.p)
    return Batch(dynamics, int(n), run, method, int(substeps), fallbacks, int(threads))


class BatchStep(NamedTuple):
    """What a call of `Batch.step` came to.

    Attributes
    ----------
    completed : (n,) bool
        Whether a state was stepped by all its substeps. Another stays where the last step that was
        accepted ended; `Batch.reset` it.
    by_others : (n,) bool
        Whether some of its steps were by the ways of `simulate` for steps that Newton does not
        solve, which take longer.
    """

    completed: NDArray[np.bool_]
    by_others: NDArray[np.bool_]


class Batch:
    """States of one mechanism that are stepped at once, from `batch_step`."""

    def __init__(
        self,
        dynamics: Dynamics,
        n: int,
        run: Run,
        method: Method,
        substeps: int,
        fallbacks: bool,
        threads: int,
    ) -> None:
        self._dynamics, self._method, self._run, self._substeps = dynamics, method, run, substeps
        self._fallbacks = fallbacks
        solver = method.solver
        assert isinstance(solver, Compiled)
        program = StepProgram(dynamics, method.scheme, method.acceptance)
        self._kernel = StepKernel(program, method.control, solver.newton)
        self._layout, self._threads = self._kernel.layout, threads
        self._p = np.tile(run.p, (n, 1))
        self._names = dynamics.parameter_names
        self._has_range: dict[str, bool] = {}  # by parameter, whether some values are not legal
        self._legal: set[bytes] = set()  # values of those with a range that were found legal
        self._default_start = self._begin(run.start)
        self._z = np.zeros((n, self._layout.nz))
        self._scales = np.zeros((n, len(self._default_start[1])))  # `Scales.numbers`
        self.reset(slice(None))

    def __len__(self) -> int:
        return len(self._z)

    @property
    def t(self) -> Array:
        """Times (n,) [s]."""
        return np.array(self._state.t[:, 0])

    @property
    def q(self) -> Array:
        """Coordinates (n, nq)."""
        return np.array(self._state.q)

    @property
    def v(self) -> Array:
        """Velocities (n, nv)."""
        return np.array(self._state.v)

    @property
    def _state(self) -> ChainState:
        return self._layout.state(self._z)

    def reset(self, which: Which, start: Start | Sequence[Start] | None = None) -> None:
        """Put single states at a start.

        Parameters
        ----------
        which : int, slice, indices, or (n,) bool
        start : Start, or a sequence of one for each of these states; by default that of the batch

        Raises
        ------
        ValueError
            If a start is not legal, as by `simulate`, or there are not as many as states.
        """
        at = np.atleast_1d(np.arange(len(self))[which])
        starts = [start] if isinstance(start, Start | None) else list(start)
        if len(starts) not in (1, len(at)):
            raise ValueError(
                f"reset of {len(at)} states takes one Start, or one for each, got {len(starts)}"
            )
        states = [self._default_start if x is None else self._begin(x) for x in starts]
        for k, i in enumerate(at):
            self._z[i], self._scales[i] = states[k if len(states) > 1 else 0]

    def _begin(self, start: Start) -> tuple[Array, Array]:
        """Return the state of a chain at a start, and the scales of its steps."""
        d, p, h = self._dynamics, self._run.p, self._run.steps.h_max
        check_start(d, start, p, repr(scheme) if (scheme := self._method.scheme).gains else "")
        scales = Scales.of(d, start, p, h, h * self._substeps)
        return self._layout.begin(start, h), scales.numbers

    def step(self, parameters: Mapping[str, ArrayLike] | None = None) -> BatchStep:
        """Step all states by ``substeps`` steps.

        Parameters
        ----------
        parameters : mapping of name to float or (n,)
            Parameters of the mechanism that change, from this call on.

        Raises
        ------
        ValueError
            If a name is unknown, a number is not finite, an element refuses it, or there are not as
            many as states; no value has changed then.
        """
        self._set_parameters(parameters or {})
        h, n = self._run.steps.h_max, len(self)
        end = self.t + h * self._substeps
        bounds = np.column_stack([np.full((n, 2), h), end, np.ones(n)])
        numbers = np.hstack(ChainParameters(self._p, bounds, self._scales))
        self._state.status[:] = ChainStatus.RUNNING
        self._state.h[:] = h
        while np.any(self._state.status == ChainStatus.RUNNING):
            self._z = self._kernel.run_all(self._z, numbers, self._substeps, self._threads)
        stuck = self._state.status[:, 0] == ChainStatus.STUCK
        if not self._fallbacks:
            return BatchStep(~stuck, np.zeros(n, dtype=bool))
        completed = np.ones(n, dtype=bool)
        for k in np.flatnonzero(stuck):
            completed[k] = self._finish_by_others(int(k), float(end[k]))
        return BatchStep(completed, stuck)

    def _set_parameters(self, parameters: Mapping[str, ArrayLike]) -> None:
        """Take other values of parameters, all of them or none."""
        p = self._p.copy()
        check_names("unknown parameter", parameters, self._names)
        for name, values in parameters.items():
            given = np.asarray(values, dtype=float)
            if given.shape not in ((), (len(self),)) or not np.all(np.isfinite(given)):
                raise ValueError(
                    f"values of parameter {name!r} must be finite, one or one for each of the "
                    f"{len(self)} states, got {given!r}"
                )
            p[:, self._names.index(name)] = given
        self._check_values(p, parameters)
        self._p = p

    def _check_values(self, p: Array, changed: Iterable[str]) -> None:
        """Refuse values that an element refuses, alone or with the others of their state.

        Those of which any number is legal, such as the torques of a controller, cost nothing.
        """
        for name in changed:
            if name not in self._has_range:
                self._has_range[name] = not self._takes_any(name)
        columns = [self._names.index(name) for name, has in self._has_range.items() if has]
        if not columns:
            return
        _, rows = np.unique(p[:, columns], axis=0, return_index=True)
        for k in rows:
            key = p[k, columns].tobytes()
            if key not in self._legal:
                self._dynamics.values(dict(zip(self._names, p[k].tolist(), strict=True)))
                self._legal.add(key)

    def _takes_any(self, name: str) -> bool:
        """Return whether elements take any number for a parameter, as far as `FAR` tells."""
        stated = dict(zip(self._names, self._run.p.tolist(), strict=True))
        try:
            for far in (-FAR, 0.0, FAR):
                self._dynamics.values(stated | {name: far})
        except ValueError:
            return False
        return True

    def _finish_by_others(self, k: int, end: float) -> bool:
        """Go on with a state in the ways of `simulate`; return whether it reaches the end."""
        now = self._layout.state(self._z[k])
        begin = Start(np.array(now.q), np.array(now.v), float(now.t[0]))
        driver = Driver(self._dynamics, Run(begin, self._p[k], end, self._run.steps), self._method)
        try:
            while not driver.done:
                driver.advance()
        except StepError:
            pass
        self._z[k] = self._layout.begin(driver.start, self._run.steps.h_max, now.x)
        return driver.done
