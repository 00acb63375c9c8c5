"""The contract of solvers of nonlinear programs (`Backend`), and calls of those in CasADi.

A backend makes of an `Nlp` a `Call`, which goes from a `Point` to an `Outcome`.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from enum import Enum
from time import perf_counter
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.interrupt import is_interrupted
from nsopt.mpcc.backends.warm_start import WarmStart

Vector = NDArray[np.float64]

ACCEPTABLE = "Solved_To_Acceptable_Level"
"""What IPOPT says of a point from which it makes no more progress."""

Symbols = Any  # SX or MX


class Evaluator:
    """A Function called through preallocated buffers, with about 2 us a call in place of 30 to 80.

    All calls share the buffers: not for several threads at once.
    """

    def __init__(self, function: ca.Function) -> None:
        buffer: Any
        buffer, self._trigger = function.buffer()
        self._buffer = buffer
        self._inputs = [np.zeros(function.nnz_in(i)) for i in range(function.n_in())]
        self._outputs = [np.zeros(function.nnz_out(i)) for i in range(function.n_out())]
        for i, array in enumerate(self._inputs):
            buffer.set_arg(i, array.data)
        for i, array in enumerate(self._outputs):
            buffer.set_res(i, array.data)

    def __call__(self, *arguments: Vector) -> list[Vector]:
        """Evaluate at flat ``arguments``; outputs are new flat arrays of entries by columns."""
        for buffer, value in zip(self._inputs, arguments, strict=True):
            buffer[:] = value
        self._trigger()
        return [array.copy() for array in self._outputs]

    def stats(self) -> dict[str, Any]:
        """Return the statistics of the last call of a solver Function."""
        return dict(self._buffer.stats())


class Derivatives(NamedTuple):
    """Values and derivatives of a program as CasADi Functions, for solvers that take them.

    Attributes
    ----------
    f : (x, p) -> f
    g : (x, p) -> g
    grad_f : (x, p) -> (f, gradient of f)
    jac_g : (x, p) -> (g, Jacobian of g)
    hess_lag : (x, p, lam_f, lam_g) -> upper triangle of the Hessian of lam_f f + lam_g^T g
    """

    f: ca.Function
    g: ca.Function
    grad_f: ca.Function
    jac_g: ca.Function
    hess_lag: ca.Function

    @classmethod
    def of(
        cls,
        name: str,
        known: tuple[Symbols, Symbols, Symbols, Symbols],
        values: tuple[Symbols, Symbols],
        slopes: tuple[Sequence[Symbols], Sequence[Symbols]],
        H: Symbols,
    ) -> Derivatives:
        """Return functions of ``known``, (x, p, lam_f, lam_g).

        ``values`` are (f, g), ``slopes`` (f, its gradient) and (g, its Jacobian), H as hess_lag.
        """
        x, p = known[:2]
        names = ["x", "p"]
        return cls(
            ca.Function(f"{name}_f", [x, p], values[:1], names, ["f"]),
            ca.Function(f"{name}_g", [x, p], values[1:], names, ["g"]),
            ca.Function(f"{name}_grad_f", [x, p], slopes[0], names, ["f", "g"]),
            ca.Function(f"{name}_jac_g", [x, p], slopes[1], names, ["g", "J"]),
            ca.Function(f"{name}_hess_l", known, [H], [*names, "lam_f", "lam_g"], ["H"]),
        )


@dataclass(frozen=True, eq=False)
class Nlp:
    """Minimize f(x, p) subject to lower <= g(x, p) <= upper; bounds on x come with each call.

    A single program is stated in SX, a structured one in MX with its derivatives.

    Attributes
    ----------
    name : str
    x, p, f, g : SX or MX, (n,), (k,), (1,), (m,)
    lower, upper : (m,)
    derivatives : Derivatives, optional
        Of a structured program.
    complementary : bool
        Whether some rows are relaxed complementarity. A solver must then not move bounds outwards,
        or products G H end far above sigma.
    fixed : int
        Number of unknowns that the bounds of a call may fix.
    starts : WarmStart, optional
        Of a structured program that is started near its solutions.
    slope : float
        Largest entry of the gradient of f at a typical start, infinite where it is not known.
    built : dict
        What backends have built, for programs that differ in their limits alone to use again.
    """

    name: str
    x: Symbols
    p: Symbols
    f: Symbols
    g: Symbols
    lower: Vector
    upper: Vector
    derivatives: Derivatives | None = None
    complementary: bool = True
    fixed: int = 0
    starts: WarmStart | None = None
    slope: float = np.inf
    built: dict[Hashable, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False)
class Point:
    """A point that a solver starts or ends at, scaled.

    Multipliers have CasADi's sign: grad f + J^T lam_g + lam_x = 0.
    """

    x: Vector  # (n,)
    lam_x: Vector  # (n,) of bounds
    lam_g: Vector  # (m,) of rows
    warm: bool = True  # whether the multipliers mean anything; those of a cold point are zero

    @classmethod
    def cold(cls, x: Vector, rows: int) -> Point:
        """Return x (n,) with unknown multipliers; ``rows`` is the number m of rows."""
        return cls(x, np.zeros(x.size), np.zeros(rows), warm=False)


class Verdict(Enum):
    """What a solver says of its own end."""

    SOLVED = "it is a solution"
    ACCEPTABLE = "it is nearly one, and no progress is made"
    FAILED = "it is none"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The end of a solver's call, by its own word; whether it is a solution is judged elsewhere."""

    point: Point
    status: str
    success: bool
    iterations: int
    time: float  # [s]
    interrupted: bool = False  # whether it ended where it was because Ctrl-C was pressed
    acceptable: bool = False  # whether it ended because there was no more progress

    @property
    def verdict(self) -> Verdict:
        """What the solver says of the point."""
        if not self.success:
            return Verdict.FAILED
        return Verdict.ACCEPTABLE if self.acceptable else Verdict.SOLVED

    def after(self, earlier: Outcome) -> Outcome:
        """Return this end with the iterations and the time of an earlier call added."""
        iterations, time = earlier.iterations + self.iterations, earlier.time + self.time
        return replace(self, iterations=iterations, time=time)


Call = Callable[[Point, Vector, Vector, Vector], Outcome]
"""(start, p, lower bound of x, upper bound of x) -> Outcome."""


class Backend(ABC):
    """A solver of nonlinear programs with its options."""

    @property
    def prefers_equations(self) -> bool:
        """Whether complementarity over a horizon is stated for it as equations by default.

        The products then equal sigma, and each stage starts close to its solution.
        """
        return False

    @property
    def other(self) -> Backend:
        """A solver that searches in another way, where this one finds no solution."""
        return self

    @property
    def rough(self) -> Backend:
        """The same solver with a looser tolerance of optimality, if it has one; else itself."""
        return self

    @property
    def brief(self) -> Backend:
        """The same solver that gives up early, if it can; else itself."""
        return self

    @property
    def of_many_steps(self) -> Backend:
        """The same solver as it suits programs of many steps, or many solves of one program."""
        return self

    @property
    def exact(self) -> Backend:
        """The same solver, tight enough to tell whether a solution is stationary."""
        return self

    @abstractmethod
    def build(self, nlp: Nlp) -> Call:
        """Compile ``nlp`` into a `Call`.

        The call raises nothing and prints nothing: whatever the solver throws becomes an Outcome
        with the start as its point and the message as its status. That of a structured program asks
        `nsopt.interrupt.is_interrupted` in every iteration, and ends with the point it has.
        """


class NlpsolCall:
    """A `Call` of a CasADi nlpsol Function ``within`` a context.

    Its callback is kept, as CasADi does not.
    """

    def __init__(
        self,
        solver: ca.Function,
        nlp: Nlp,
        callback: ca.Callback | None = None,
        within: AbstractContextManager[None] | None = None,
    ) -> None:
        self._solve, self._callback = Evaluator(solver), callback
        self._within = nullcontext() if within is None else within
        self._rows = (np.ascontiguousarray(nlp.lower), np.ascontiguousarray(nlp.upper))

    def restate(self, nlp: Nlp) -> NlpsolCall:
        """Return the call of a program with other limits of its rows."""
        other = copy.copy(self)
        other._rows = (np.ascontiguousarray(nlp.lower), np.ascontiguousarray(nlp.upper))
        return other

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        begin = perf_counter()
        try:
            with self._within:
                r = self._solve(start.x, p, lower, upper, *self._rows, start.lam_x, start.lam_g)
        except Exception as error:  # a solver may throw anything; a failed result is the contract
            status = f"{type(error).__name__}: {str(error).strip()[-300:]}"
            return self._end_as(start, status, False, 0, perf_counter() - begin)
        stats = self._stats()
        status, success = str(stats.get("return_status", "no status")), stats.get("success", False)
        point, count = Point(r[0], r[3], r[4]), _count_iterations(stats)
        return self._end_as(point, status, bool(success), count, perf_counter() - begin)

    def _end_as(self, point: Point, status: str, success: bool, count: int, time: float) -> Outcome:
        """Return the outcome of a call, marked as interrupted if the callback stopped it."""
        stopped = self._callback is not None and not success and is_interrupted()
        return Outcome(point, status, success, count, time, stopped, status == ACCEPTABLE)

    def _stats(self) -> dict[str, Any]:
        try:
            return self._solve.stats()
        except Exception:  # sqpmethod's statistics are missing after some failures
            return {}


def _count_iterations(stats: dict[str, Any]) -> int:
    """Return the number of iterations; zero for garbage of a solver that did not begin."""
    count, series = int(stats.get("iter_count", 0)), stats.get("iterations")
    if stats.get("return_status") == "Not_Enough_Degrees_Of_Freedom":
        return 0  # IPOPT did not begin: its count is whatever was in memory
    if not isinstance(series, dict):
        return max(count, 0)
    recorded = max((len(x) for x in series.values()), default=0)
    return count if 0 <= count <= recorded else max(recorded - 1, 0)


def pad(nlp: Nlp) -> Nlp:
    """Return ``nlp`` with idle unknowns, so that there are as many free ones as equations.

    Redundant equations can outnumber the unknowns; IPOPT refuses that, CasADi warns at each call.
    """
    excess = int(np.sum(nlp.lower == nlp.upper)) + nlp.fixed - nlp.x.shape[0]
    if excess <= 0:
        return nlp
    if nlp.derivatives is not None:
        return _pad_structured(nlp, nlp.derivatives, excess)
    idle = ca.SX.sym("idle", excess)
    return replace(nlp, x=ca.vertcat(nlp.x, idle), f=nlp.f + ca.sumsqr(idle))


def _pad_structured(nlp: Nlp, own: Derivatives, excess: int) -> Nlp:
    """Return a structured program with ``excess`` idle unknowns; ``own`` are its derivatives."""
    n, m = nlp.x.numel(), nlp.g.numel()
    x, p = ca.MX.sym("x", n + excess), ca.MX.sym("p", nlp.p.numel())
    sigma, lam, idle = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", m), x[n:]
    f, g = own.f(x[:n], p) + ca.sumsqr(idle), own.g(x[:n], p)
    slope = ca.vertcat(own.grad_f(x[:n], p)[1], 2 * idle)
    J = ca.horzcat(own.jac_g(x[:n], p)[1], ca.MX(m, excess))
    H = ca.diagcat(own.hess_lag(x[:n], p, sigma, lam), 2 * sigma * ca.MX.eye(excess))
    slopes = [f, slope], [g, J]
    derivatives = Derivatives.of("padded", (x, p, sigma, lam), (f, g), slopes, H)
    return replace(
        nlp, name=f"{nlp.name}_padded_{excess}", x=x, p=p, f=f, g=g, derivatives=derivatives
    )


class CallPaddedAtFirst:
    """A `Call` of ``nlp``, padded and built when it is first known how many unknowns are fixed."""

    def __init__(self, backend: Backend, nlp: Nlp) -> None:
        self._backend, self._nlp = backend, nlp
        self._call: PaddedCall | None = None

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        if self._call is None:
            nlp = replace(self._nlp, fixed=int(np.sum(lower == upper)))
            padded = pad(nlp)
            self._call = PaddedCall(self._backend.build(padded), nlp, padded)
        return self._call(start, p, lower, upper)


class PaddedCall:
    """A `Call` of ``nlp`` by one of ``padded``: adds and strips the idle unknowns."""

    def __init__(self, call: Call, nlp: Nlp, padded: Nlp) -> None:
        self._call = call
        self._zeros = np.zeros(padded.x.shape[0] - nlp.x.shape[0])
        self._infinite = np.full(self._zeros.size, np.inf)

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        if not self._zeros.size:
            return self._call(start, p, lower, upper)
        n = start.x.size
        x, lam_x = np.append(start.x, self._zeros), np.append(start.lam_x, self._zeros)
        outcome = self._call(
            replace(start, x=x, lam_x=lam_x),
            p,
            np.append(lower, -self._infinite),
            np.append(upper, self._infinite),
        )
        end = outcome.point
        return replace(outcome, point=replace(end, x=end.x[:n], lam_x=end.lam_x[:n]))
