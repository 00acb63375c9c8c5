"""The rules of attempts at steps: their state and record, h, and how they are judged."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mpcc import Mpcc, Newton
from nsopt.simulation.acceptance import Fault
from nsopt.simulation.bounds import LONGER, ROUND_OFF, until_end
from nsopt.simulation.chain_state import ChainLayout, ChainStatus
from nsopt.simulation.control import (
    EARNED,
    HALF,
    LEAST_CHANGE,
    MOST,
    OVERDUE,
    StepControl,
    StepFigures,
    describe_refusal,
)
from nsopt.simulation.program import StepProgram

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
WALLS = ("depth", "swing", "late", "overdue", "unplaced")
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
    """How attempts at steps choose h, are recorded and judged; `StepKernel` makes them.

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

    def refusal(self, row: Array) -> Fault:
        """Return why the attempt of a record was refused."""
        is_ = {name: float(x[0, 0]) for name, x in self.fields(row[None]).items() if x.size}
        if not is_["solved"]:
            why = Fault("Newton did not converge")
        elif is_["failed"] >= 0:
            why = self._program.fault(int(is_["failed"]), is_["value"], is_["limit"])
        else:
            why = Fault(describe_refusal(*(is_[name] for name in ("local_error", *WALLS))))
        return why._replace(text=f"h = {is_['h']:.3g} s: {why.text}")

    @cached_property
    def size(self) -> ca.Function:
        """The function (t, h to try, (h_min, h_max, t_end, part)) -> h, see `until_end`."""
        t, trial, run = ca.SX.sym("t"), ca.SX.sym("trial"), ca.SX.sym("run", 4)
        h = until_end(run[2] - t, trial, ca.fmin(run[0], trial))
        return ca.Function("size", [t, trial, run], [h])

    @cached_property
    def looks_at_errors(self) -> bool:
        """Whether the control looks at the estimate of the local error; else it is left out."""
        figures = StepFigures(*(ca.SX.sym(name) for name in StepFigures._fields))
        factor = self._control.factor(figures, self._program.scheme.error_order)
        chosen = ca.vertcat(self._control.keeps(figures), factor)
        return bool(ca.depends_on(chosen, figures.local_error))

    @cached_property
    def judge(self) -> ca.Function:
        """The function that says whether a step is good, and what follows.

        It is given the first failed check, -1 for none, with its value and limit. Its results are
        `OUTCOME` from "good" to "limit", then h to try, the status, h to go back to and the credit
        after it, where the step is good and where it is not.
        """
        t, trial, run = ca.SX.sym("t"), ca.SX.sym("trial"), ca.SX.sym("run", 4)
        memory = back, credit = ca.SX.sym("back"), ca.SX.sym("credit")
        residuals, extra = ca.SX.sym("r", len(self._program.sizes)), ca.SX.sym("extra", 4)
        failed, *judged = first = [ca.SX.sym(name) for name in ("failed", "value", "limit")]
        h, walls = ca.SX.sym("h"), ca.SX.sym("walls", 1 + len(WALLS))
        tried, kinetic = extra[2], extra[3]
        smallest = _at_h_min(tried, run)
        error, depth, swing, late, overdue, unplaced = ca.vertsplit(walls)
        order = self._program.scheme.error_order
        usual = ca.fmax(h, back)
        figures = StepFigures(
            h, error, depth, swing, late, overdue, unplaced, kinetic, usual, credit, smallest
        )
        figures = figures.at_full_size(run[3], order)
        solved = ca.sum1(residuals <= self._newton.rough) == residuals.numel()
        sound = ca.logic_and(solved, failed < 0)
        good = ca.logic_and(sound, ca.logic_or(smallest, self._control.keeps(figures)))
        end = _snap_to_end(t + h, run[2], h)
        factor = self._control.factor(figures, order)
        shorter = tried * ca.if_else(sound, ca.fmin(factor, LEAST_CHANGE), HALF)
        running = ChainStatus.RUNNING
        # After a step that was made shorter to end at a change of contact, h is as before.
        following = ca.if_else(factor >= 1, ca.fmax(trial * factor, back), trial * factor)
        changed = ca.logic_and(sound, overdue > OVERDUE * usual)
        results = [
            *(good, end, solved, failed, *judged),
            _within(following, run),
            ca.if_else(end >= run[2], ChainStatus.DONE, running),
            0,
            ca.fmin(credit + EARNED * h / usual, MOST),
            ca.fmax(shorter, run[0]),
            ca.if_else(smallest, ChainStatus.STUCK, running),
            ca.if_else(changed, ca.fmax(back, trial), ca.if_else(sound, 0, back)),
            ca.fmax(credit - changed, 0),
        ]
        given = [t, trial, run, *memory, residuals, *first, h, walls, extra]
        return ca.Function("judge", given, results, {"cse": True})


def warm_guess(part: Mpcc, *, goes_on: bool = False) -> ca.Function:
    """Return (parameters, last solution) -> x to start from.

    Unknowns whose stated guess depends on parameters start from that, the others from the last
    solution. Where the motion ``goes_on``, means over a step are as far beyond what they are at its
    start as this is beyond the mean over the last step.
    """
    p, old = part.p, ca.SX.sym("old", part.x.numel())
    last = ca.if_else(ca.fabs(old) > NEGLIGIBLE, old, 0)
    guesses, first = [], 0
    for variable in part.variables:
        n = variable.scaled.numel()
        if n == 0:  # of one unknown the empty rest would be 1 x 0, and count as a row
            continue
        before, guess = last[first : first + n], variable.guess / variable.scale
        if goes_on and variable.mean:
            guesses.append(2 * guess - before)
        else:
            guesses.append(guess if ca.depends_on(variable.guess, p) else before)
        first += n
    return ca.Function("guess", [p, old], [ca.densify(ca.vertcat(ca.SX(0, 1), *guesses))])


def _snap_to_end(t: ca.SX, t_end: ca.SX, h: ca.SX) -> ca.SX:
    """Return t, or ``t_end`` if t misses it only by the round-off of a sum."""
    return ca.if_else(t_end - t < ROUND_OFF * h, t_end, t)


def _at_h_min(h: Any, run: Any) -> Any:
    return h <= run[0] * AT_H_MIN


def _within(h: ca.SX, run: ca.SX) -> ca.SX:
    return ca.fmin(ca.fmax(h, run[0]), run[1])
