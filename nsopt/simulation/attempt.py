"""One attempt at a step as one CasADi function: choose h, solve, judge, accept or reject."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import InTurn, Known, Lanes, Mpcc, Newton
from nsopt.simulation.acceptance import StepEnd
from nsopt.simulation.bounds import LONGER, ROUND_OFF, until_end
from nsopt.simulation.chain_state import ChainLayout, ChainState, ChainStatus
from nsopt.simulation.control import HALF, LEAST_CHANGE, StepControl, StepFigures, refused
from nsopt.simulation.program import StepProgram

Array = NDArray[np.float64]

AT_H_MIN = 1 + 2 * LONGER
"""Of h_min, the largest h that counts as that: an even share of what is left may be longer."""
NEGLIGIBLE = 1e-30
"""Scaled unknowns below this start from zero: one that shrinks from step to step would become a
denormal number, with which arithmetic takes ten times as long."""
STRICTEST = 1e-3
"""Least part of Newton's tolerance. That is of impulses over the typical h, steps are judged by
forces: at a smaller h the same impulse is a larger force."""

OUTCOME = (
    "made",
    "good",
    "t",
    "solved",
    "failed",
    "value",
    "limit",
    "motion",
    "iterations",
    "tried_h",
    "kinetic",
)
"""Columns of a record, one number each: whether an attempt was made and accepted, the time
reached, whether Newton converged, the first failed check with its value and limit, and so on."""
WALLS = ("depth", "late", "unplaced")
RECORDED = (
    "h",
    "q",
    "v",
    "impulse",
    "impact_impulse",
    "joint_impulse",
    "slip_impulse",
    "loss",
    "pressed_loss",
    "work",
    "projection_work",
    "event",
    "local_error",
    *WALLS,
)
"""Fields of a `StepEnd` that are recorded."""


class StepRules:
    """What attempts at steps have in common: their state, their record, and how they are judged.

    Parameters
    ----------
    program : StepProgram
    control : StepControl
    newton : Newton

    Attributes
    ----------
    layout : ChainLayout
        Of the state z and of the parameters.
    record : int
        Size of a record.
    """

    record: int

    def __init__(self, program: StepProgram, control: StepControl, newton: Newton) -> None:
        self._program, self._control, self._newton = program, control, newton
        self.layout = ChainLayout.of(program.dynamics, sum(program.sizes))
        self._columns: dict[str, int] = {}

    def fields(self, rows: Array) -> dict[str, Array]:
        """Return the columns of records (n, record) by name, each (n, size)."""
        edges = np.cumsum([0, *self._columns.values()])
        return {
            name: rows[:, a:b] for name, (a, b) in zip(self._columns, pairwise(edges), strict=True)
        }

    def refusal(self, row: Array) -> str:
        """Return in words why the attempt of a record was refused."""
        is_ = {name: float(x[0, 0]) for name, x in self.fields(row[None]).items() if x.size}
        if not is_["solved"]:
            why = "Newton did not converge"
        elif is_["failed"] >= 0:
            why = self._program.fault(int(is_["failed"]), is_["value"], is_["limit"]).text
        else:
            why = refused(*(is_[name] for name in ("local_error", *WALLS)))
        return f"h = {is_['h']:.3g} s: {why}"

    @cached_property
    def size(self) -> ca.Function:
        """The function (t, h to try, (h_min, h_max, t_end)) -> h, see `until_end`."""
        t, trial, run = ca.SX.sym("t"), ca.SX.sym("trial"), ca.SX.sym("run", 3)
        h = until_end(run[2] - t, trial, ca.fmin(run[0], trial))
        return ca.Function("size", [t, trial, run], [h])

    @cached_property
    def judge(self) -> ca.Function:
        """The function that says whether a step is good, and what follows.

        It is given what `_first_failed` returns. Its results are `OUTCOME` from "good" to "limit",
        then h to try and the status after it, where the step is good and where it is not.
        """
        t, trial, run = ca.SX.sym("t"), ca.SX.sym("trial"), ca.SX.sym("run", 3)
        residuals, extra = ca.SX.sym("r", len(self._program.sizes)), ca.SX.sym("extra", 4)
        failed, *judged = first = [ca.SX.sym(name) for name in ("failed", "value", "limit")]
        h, walls = ca.SX.sym("h"), ca.SX.sym("walls", 1 + len(WALLS))
        tried, kinetic = extra[2], extra[3]
        smallest = _at_h_min(tried, run)
        error, depth, late, unplaced = ca.vertsplit(walls)
        figures = StepFigures(h, error, depth, late, unplaced, kinetic, smallest)
        solved = ca.sum1(residuals <= self._newton.rough) == residuals.numel()
        sound = ca.logic_and(solved, failed < 0)
        good = ca.logic_and(sound, ca.logic_or(smallest, self._control.keeps(figures)))
        end = _landed(t + h, run[2], h)
        factor = self._control.factor(figures, self._program.scheme.error_order)
        shorter = tried * ca.if_else(sound, ca.fmin(factor, LEAST_CHANGE), HALF)
        running = ChainStatus.RUNNING
        results = [
            *(good, end, solved, failed, *judged),
            _within(trial * factor, run),
            ca.if_else(end >= run[2], ChainStatus.DONE, running),
            ca.fmax(shorter, run[0]),
            ca.if_else(smallest, ChainStatus.STUCK, running),
        ]
        given = [t, trial, run, residuals, *first, h, walls, extra]
        return ca.Function("judge", given, results, {"cse": True})


class StepAttempt(StepRules):
    """The function (z, parameters) -> (z, record) that a chain repeats, for derivatives.

    Attributes
    ----------
    function : Function
    """

    def __init__(self, program: StepProgram, control: StepControl, newton: Newton) -> None:
        super().__init__(program, control, newton)
        z = ca.MX.sym("z", self.layout.nz)
        parameters = ca.MX.sym("parameters", self.layout.parameters)
        running = self._running()
        self.record = running.numel_out(1)
        idle = ca.Function("idle", [z, parameters], [z, ca.DM.zeros(self.record)])
        unless = ca.Function.if_else("attempt", running, idle)
        self.function = ca.Function(
            "attempt",
            [z, parameters],
            list(unless(self.layout.state(z).status == ChainStatus.RUNNING, z, parameters)),
        )

    def _running(self) -> ca.Function:
        """Return the attempt of a chain that is running.

        Newton's tolerance is of residuals over the typical force, the limit of acceptance is one of
        forces: where loads are above some 50 N, equations may be off by more than that although
        Newton ended. Only then is the step solved again, to round-off.
        """
        solve = self._solve()
        z, parameters, *_ = (ca.MX.sym(f"in_{i}", solve.numel_in(i)) for i in range(4))
        first, record = (ca.MX.sym(f"out_{i}", solve.numel_out(i)) for i in range(2))
        given = [z, parameters, first, record]
        hold = ca.Function("hold", given, [first, record])
        again = solve(z, parameters, STRICTEST, record[OUTCOME.index("iterations")])
        sharper = ca.Function("sharper", given, list(again[:2]))
        where_unmet = ca.Function.if_else("where_unmet", sharper, hold)
        *ended, unmet = solve(z, parameters, 1, 0)
        after, record = where_unmet(unmet, z, parameters, *ended)
        return ca.Function("running", [z, parameters], [after, record])

    def _solve(self) -> ca.Function:
        """Return (z, parameters, most, earlier) -> (z, record, unmet): a step solved and judged.

        ``most`` is the largest part of Newton's tolerance at which it may end, ``earlier`` is the
        number of iterations before. ``unmet`` tells whether equations are not met although Newton
        ended within its tolerance.
        """
        program, layout = self._program, self.layout
        z, parameters = ca.MX.sym("z", layout.nz), ca.MX.sym("parameters", layout.parameters)
        most, earlier = ca.MX.sym("most"), ca.MX.sym("earlier")
        state, (p, bounds, scales) = layout.state(z), layout.given(parameters)
        h = self.size(state.t, state.h, bounds)
        smallest = _at_h_min(h, bounds)
        now = ca.vertcat(state.t, state.q, state.v, p, h, scales)
        edges = np.cumsum([0, *program.sizes]).tolist()
        before = [state.x[a:b] for a, b in pairwise(edges)]
        share = ca.fmin(ca.fmax(h / scales[0], STRICTEST), most)
        x: list[ca.MX] = []
        residuals, iterations = [], []
        stated = (program.parameters, program.parts, program.ends)
        in_turn = InTurn.of(self._newton, *stated, program.lanes)
        known = Known(ca.vertcat(now, scales[1]), in_turn.stages)
        for part, solver, old in zip(program.parts, in_turn.solvers, before, strict=True):
            guess = warm_guess(part, program.lanes)(ca.vertcat(now, *x), old)
            solved, residual, count = solver(guess, known.given(), smallest, share)
            known.solved(solved)
            x.append(solved)
            residuals.append(residual)
            iterations.append(count)
        *end, value, limit = in_turn.end(known.given())
        recorded = [getattr(StepEnd(*end), name) for name in RECORDED]
        motion, kinetic = ca.norm_inf(StepEnd(*end).motion), StepEnd(*end).kinetic_energy
        self._columns = dict.fromkeys(OUTCOME, 1) | {
            name: k.numel() for name, k in zip(RECORDED, recorded, strict=True)
        }
        finish = self._finish([k.numel() for k in recorded], value.numel())
        after, record = finish(
            z,
            bounds,
            ca.vertcat(*x),
            ca.vertcat(*residuals),
            value,
            limit,
            ca.vertcat(*recorded),
            ca.vertcat(motion, sum(iterations, earlier), h, kinetic),
        )
        exact = ca.mmax(ca.vertcat(0, *residuals)) <= self._newton.tolerance
        failed = record[OUTCOME.index("failed")]
        of_equations = ca.MX(ca.DM(program.of_equations.tolist()))[ca.fmax(failed, 0)]
        unmet = ca.logic_and(exact, ca.logic_and(failed >= 0, of_equations))
        return ca.Function("solve", [z, parameters, most, earlier], [after, record, unmet])

    def _finish(self, sizes: list[int], checks: int) -> ca.Function:
        """Return the function that accepts or rejects a solved step."""
        d = self._program.dynamics
        z, run = ca.MX.sym("z", self.layout.nz), ca.MX.sym("run", 3)
        before = self.layout.state(z)
        x, residuals = (
            ca.MX.sym("x", self.layout.unknowns),
            ca.MX.sym("r", len(self._program.sizes)),
        )
        value, limit = ca.MX.sym("value", checks), ca.MX.sym("limit", checks)
        recorded, extra = ca.MX.sym("recorded", sum(sizes)), ca.MX.sym("extra", 4)
        figures = recorded[0], recorded[-1 - len(WALLS) :]
        good, *judged, longer, ended, shorter, stuck = self.judge(
            before.t, before.h, run, residuals, *_first_failed(value, limit), *figures, extra
        )
        q, v = ca.vertsplit(recorded[1 : 1 + d.nq + d.nv], [0, d.nq, d.nq + d.nv])
        accepted = ChainState(judged[0], q, v, longer, x, ended)
        state = ca.if_else(good, accepted.column, before._replace(h=shorter, status=stuck).column)
        record = ca.vertcat(1, good, *judged, extra, recorded)
        given = [z, run, x, residuals, value, limit, recorded, extra]
        return ca.Function("finish", given, [state, ca.densify(record)])


def warm_guess(part: Mpcc, lanes: Lanes) -> ca.Function:
    """Return (parameters, last solution) -> x to start from.

    Unknowns whose stated guess depends on parameters start from that, the others from the last
    solution.
    """
    p, old = part.p, ca.SX.sym("old", part.x.numel())
    lanes.liken(old, part.x)
    last = ca.if_else(ca.fabs(old) > NEGLIGIBLE, old, 0)
    guesses, first = [], 0
    for variable in part.variables:
        n = variable.scaled.numel()
        if n == 0:  # of one unknown the empty rest would be 1 x 0, and count as a row
            continue
        known = ca.depends_on(variable.guess, p)
        guesses.append(variable.guess / variable.scale if known else last[first : first + n])
        first += n
    return ca.Function("guess", [p, old], [ca.densify(ca.vertcat(ca.SX(0, 1), *guesses))])


def _first_failed(value: ca.MX, limit: ca.MX) -> list[ca.MX]:
    """Return the index of the first value that is not <= its limit, -1 if none, and both.

    Found by a loop: chains of bodies have a thousand such rows.
    """
    first, count = ca.find(ca.logic_not(value <= limit)), value.numel()
    at = ca.fmin(first, count - 1)
    return [ca.if_else(first < count, first, -1), value[at], limit[at]]


def _landed(t: ca.SX, t_end: ca.SX, h: ca.SX) -> ca.SX:
    """Return t, or ``t_end`` if t misses it only by the round-off of a sum."""
    return ca.if_else(t_end - t < ROUND_OFF * h, t_end, t)


def _at_h_min(h: Any, run: Any) -> Any:
    return h <= run[0] * AT_H_MIN


def _within(h: ca.SX, run: ca.SX) -> ca.SX:
    return ca.fmin(ca.fmax(h, run[0]), run[1])
