"""IPOPT for programs over a horizon."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from nsopt.trajectory.homotopy import DAMPED, GRADUAL, SETTLED, SMOOTH, WIDE, Way
from nsopt.trajectory.parts import Array, Stack
from nsopt.trajectory.transcription import Outcome, Transcription


class Point(NamedTuple):
    """Where a solve starts; without multipliers it starts cold.

    Attributes
    ----------
    x, lam_x, lam_g : (size,), (size,), (rows,)
    settled : bool
        Whether x is a motion that was found before, on another grid or under other conditions.
    """

    x: Array
    lam_x: Array | None = None
    lam_g: Array | None = None
    settled: bool = False


@dataclass(frozen=True)
class HorizonSolver:
    """IPOPT for programs over a horizon, with exact second derivatives.

    Programs with contacts are solved in stages. Where a way ends without a solution the next is
    tried, from the guess again. From an `Earlier` motion `SETTLED` is tried first.

    Parameters
    ----------
    tolerance : float
        Of optimality and constraints.
    feasibility : float
        Largest violation of a row with which a motion counts as a solution, whatever IPOPT says.
    deviation : float [rad or m]
        By how much a step integrated afresh under the same forces may end beside the next node.
    max_iter : int
        Of each stage.
    ways : tuple of tuple of Stage
        Of programs with contacts.
    compiled : bool
        Whether derivatives are evaluated by compiled code: two to three times faster, after a
        compiler that takes seconds to minutes once; the code is kept and serves any number of
        steps.
    """

    tolerance: float = 1e-8
    feasibility: float = 1e-6
    deviation: float = 1e-3
    max_iter: int = 500
    ways: tuple[Way, ...] = (GRADUAL, DAMPED, WIDE)
    compiled: bool = False

    def build(self, stack: Stack, unilateral: bool = False) -> ca.Function:
        """Return the solver of a program."""
        options: dict[str, Any] = {
            "print_time": False,
            "error_on_fail": False,
            "show_eval_warnings": False,
            "ipopt.print_level": 0,
            "ipopt.sb": "yes",
            "ipopt.tol": self.tolerance,
            "ipopt.constr_viol_tol": self.tolerance,
            "ipopt.max_iter": self.max_iter,
            "ipopt.honor_original_bounds": "yes",
            "ipopt.warm_start_init_point": "yes",
            # Matrices of a horizon are banded; its search for a permutation takes most of the time.
            "ipopt.mumps_permuting_scaling": 0,
            **stack.derivatives(self.compiled),
        }
        if unilateral:  # with bounds relaxed products end far above sigma
            options |= {"ipopt.mu_strategy": "adaptive", "ipopt.bound_relax_factor": 0.0}
        program: dict[str, Any] = {"x": stack.x, "p": stack.p, "f": stack.f, "g": stack.g}
        return ca.nlpsol("horizon", "ipopt", program, options)

    def solve(
        self,
        transcription: Transcription,
        stack: Stack,
        solver: ca.Function,
        p: Array,
        start: Point,
    ) -> Outcome:
        """Return how the program ended, by the first way that leads to a solution.

        Parameters
        ----------
        transcription : Transcription
        stack : Stack
            Its program.
        solver : Function
            From `build`.
        p : (np,)
            Parameters of the mechanism.
        start : Point
        """
        begin, iterations = perf_counter(), 0
        ways = self.ways if transcription.unilateral else (SMOOTH,)
        if start.lam_g is not None:  # from a solution there is no way to go
            ways = (ways[0][-1:], *ways)
        elif start.settled and transcription.unilateral:
            ways = (SETTLED, *ways)
        best: Outcome | None = None
        for way in ways:
            outcome = self._along(way, transcription, stack, solver, p, start)
            iterations += outcome.iterations
            outcome = replace(outcome, iterations=iterations, seconds=perf_counter() - begin)
            if outcome.success and outcome.violation <= self.feasibility:
                return outcome
            if best is None or outcome.violation < best.violation:
                best = outcome
            start = Point(start.x)
        assert best is not None  # there is always a way
        return best

    def _along(
        self,
        way: Way,
        transcription: Transcription,
        stack: Stack,
        solver: ca.Function,
        p: Array,
        now: Point,
    ) -> Outcome:
        """Return how the last stage of a way ended, or the first one that failed."""
        low, high = transcription.limits()
        bounds = {"lbx": low, "ubx": high, "lbg": stack.lower, "ubg": stack.upper}
        iterations = 0
        found: dict[str, Any] = {}
        for stage in way:
            known: dict[str, Any] = {}
            if now.lam_g is not None:
                known = {"lam_x0": now.lam_x, "lam_g0": now.lam_g}
            found = solver(x0=now.x, p=transcription.numbers(p, stage), **bounds, **known)
            x, lam_x, lam_g = (np.asarray(found[k]).ravel() for k in ("x", "lam_x", "lam_g"))
            now = Point(x, lam_x, lam_g)
            iterations += int(solver.stats()["iter_count"])
            if not solver.stats()["success"]:
                break
        # Rows are those of the last stage, wherever the way ended.
        g = np.asarray(stack.rows(now.x, transcription.numbers(p, way[-1]))).ravel()
        assert now.lam_x is not None
        assert now.lam_g is not None
        return Outcome(
            x=now.x,
            lam_x=now.lam_x,
            g=g,
            lam_g=now.lam_g,
            # What IPOPT tells of a cost that is no number is zero.
            objective=float(ca.sum1(stack.terms(now.x, transcription.numbers(p, way[-1])))),
            success=bool(solver.stats()["success"]),
            word=str(solver.stats()["return_status"]),
            iterations=iterations,
            seconds=0.0,
            violation=float(stack.violations(g).max(initial=0.0)),
        )
