"""What solves the relaxed nonlinear program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc.evaluator import Evaluator

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Nlp:
    """Minimize f(x, p) subject to lower <= g(x, p) <= upper; bounds on x come with each call.

    x (n,), p (k,), f (1,), g (m,) are SX; lower and upper (m,) are numbers.
    """

    name: str
    x: ca.SX
    p: ca.SX
    f: ca.SX
    g: ca.SX
    lower: Vector
    upper: Vector


@dataclass(frozen=True, eq=False)
class Point:
    """Where a solver starts or ends: x (n,), multipliers of bounds (n,) and of rows (m,).

    Multipliers in CasADi's sign: grad f + J^T lam_g + lam_x = 0. ``warm`` tells whether they mean
    anything; those of a cold point are zero.
    """

    x: Vector
    lam_x: Vector
    lam_g: Vector
    warm: bool = True

    @classmethod
    def cold(cls, x: Vector, rows: int) -> Point:
        """Return x without knowledge of the multipliers of its ``rows``."""
        return cls(x, np.zeros(x.size), np.zeros(rows), warm=False)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a solver returned; nothing here says whether the point is a solution.

    ``word`` is the solver's own status, ``time`` in seconds.
    """

    point: Point
    word: str
    iterations: int
    time: float


Call = Callable[[Point, Vector, Vector, Vector], Outcome]


class Backend(ABC):
    """A solver of nonlinear programs with its options."""

    @abstractmethod
    def build(self, nlp: Nlp) -> Call:
        """Compile ``nlp`` into a call (start, p, lower bound of x, upper bound of x) -> Outcome.

        The call raises nothing and prints nothing: whatever the solver throws becomes an Outcome
        with the start as its point and the message as its word.
        """


class NlpsolCall:
    """A `Call` of a CasADi nlpsol Function.

    Parameters
    ----------
    solver : Function
        From ``ca.nlpsol``.
    nlp : Nlp
        What it was built from.
    """

    def __init__(self, solver: ca.Function, nlp: Nlp) -> None:
        self._solve = Evaluator(solver)
        self._rows = (np.ascontiguousarray(nlp.lower), np.ascontiguousarray(nlp.upper))

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        """Solve from ``start``."""
        begin = perf_counter()
        try:
            r = self._solve(start.x, p, lower, upper, *self._rows, start.lam_x, start.lam_g)
        except Exception as error:  # a solver may throw anything; a failed result is the contract
            word = f"{type(error).__name__}: {str(error).strip()[-300:]}"
            return Outcome(start, word, 0, perf_counter() - begin)
        stats = self._stats()
        time = perf_counter() - begin
        word = str(stats.get("return_status", "no status"))
        return Outcome(Point(r[0], r[3], r[4]), word, int(stats.get("iter_count", 0)), time)

    def _stats(self) -> dict[str, Any]:
        try:
            return self._solve.stats()
        except Exception:  # sqpmethod's statistics are missing after some failures
            return {}
