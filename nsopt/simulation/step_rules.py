"""The rules of attempts at steps in machine code: state and record, h, how a step is judged.

CasADi functions, of which `StepKernel` makes machine code; the loop that calls them is `attempt` of
the kernels.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

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
    explain_refusal,
)
from nsopt.simulation.program import StepProgram
from nsopt.simulation.step_error import FailedAttempt

AT_H_MIN = 1 + 2 * LONGER
"""Times h_min, the largest h that counts as h_min: the last steps of a run, which share the rest of
the time evenly, may be longer by round-off."""
NEGLIGIBLE = 1e-30
"""Scaled unknowns below this start from zero: one that shrinks from step to step would become a
denormal number, with which arithmetic takes ten times as long."""
STRICTEST = 1e-3
"""Factor by which Newton's tolerance may be tightened. It is of impulses over the typical h, but
steps are judged by forces: at a smaller h the same impulse is a larger force."""

OUTCOME = (
    "made",  # whether there was an attempt
    "good",  # whether it was accepted
    "t",  # [s] at its end
    "solved",  # whether Newton converged
    *("failed", "value", "limit"),  # the first check that fails, -1 for none; both sides of it
    "motion",  # [N, N m] largest residual of the equations of motion
    "iterations",
    "tried_h",  # [s] before an event ended the step
    "kinetic",  # [J]
)
"""Columns of a record, one number each, as `attempt` of the kernels writes them."""
WALLS = ("depth", "swing", "late", "overdue", "unplaced")
"""Fields of a `StepEnd` that are its `WallFigures`."""
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
        Numbers in a record, set by `StepKernel`.
    """

    record: int

    def __init__(self, program: StepProgram, control: StepControl, newton: Newton) -> None:
        self._program, self._control, self._newton = program, control, newton
        self.layout = ChainLayout.of(program.dynamics, sum(program.sizes))
        self._columns: dict[str, int] = {}  # of a record: their sizes by name, set by `StepKernel`

    def fields(self, rows: Array) -> dict[str, Array]:
        """Return the columns of records (n, record) by name, each (n, columns)."""
        edges = np.cumsum([0, *self._columns.values()])
        return {
            name: rows[:, a:b] for name, (a, b) in zip(self._columns, pairwise(edges), strict=True)
        }

    def refusals(self, rows: Array) -> list[FailedAttempt]:
        """Return the attempts, all refused, of some records (n, record)."""
        names = ("solved", "failed", "value", "limit", "h", "local_error", *WALLS)
        fields = self.fields(rows)
        return [
            self._refusal(*numbers) for numbers in np.hstack([fields[x] for x in names]).tolist()
        ]

    def _refusal(
        self, solved: float, failed: float, value: float, limit: float, h: float, *figures: float
    ) -> FailedAttempt:
        # Failed is the number of the check that is not met, -1 where the control refused the step.
        if not solved:
            why = Fault("Newton did not converge")
        elif failed >= 0:
            why = self._program.checks.describe(int(failed), value, limit)
        else:
            why = explain_refusal(*figures)
        return FailedAttempt(why, f"h = {h:.3g} s", sized=True)

    @cached_property
    def size(self) -> ca.Function:
        """The function (t, h to try, `ChainParameters.bounds`) -> h, see `until_end`."""
        t, trial, bounds = ca.SX.sym("t"), ca.SX.sym("trial"), ca.SX.sym("run", 4)
        h_min, _, t_end, _ = ca.vertsplit(bounds)
        h = until_end(t_end - t, trial, ca.fmin(h_min, trial))
        return ca.Function("size", [t, trial, bounds], [h])

    @cached_property
    def looks_at_errors(self) -> bool:
        """Whether the control looks at the estimate of the local error; else it is left out."""
        figures = StepFigures(*(ca.SX.sym(name) for name in StepFigures._fields))
        factor = self._control.factor(figures, self._program.scheme.error_order)
        decided = ca.vertcat(self._control.keeps(figures), factor)
        return bool(ca.depends_on(decided, figures.local_error))

    @cached_property
    def judge(self) -> ca.Function:
        """The function that says whether a step is good, and what follows.

        It is given t, h to try, `ChainParameters.bounds`, h to go back to and credit of the chain,
        the residual of each program, the failed check with both its sides, h, local error and
        `WALLS`, and the last four of `OUTCOME`. Its results are `OUTCOME` from "good" to "limit",
        then h to try, the status, h to go back to and the credit after it, where the step is good
        and again where it is not.
        """
        t, trial, bounds = ca.SX.sym("t"), ca.SX.sym("trial"), ca.SX.sym("run", 4)
        memory = back, credit = ca.SX.sym("back"), ca.SX.sym("credit")
        residuals, extra = ca.SX.sym("r", len(self._program.sizes)), ca.SX.sym("extra", 4)
        failed, *sides = check = [ca.SX.sym(name) for name in ("failed", "value", "limit")]
        h, estimates = ca.SX.sym("h"), ca.SX.sym("walls", 1 + len(WALLS))
        h_min, h_max, t_end, part = ca.vertsplit(bounds)
        _, _, tried, kinetic = ca.vertsplit(extra)
        smallest = tried <= h_min * AT_H_MIN
        order = self._program.scheme.error_order
        usual = ca.fmax(h, back)
        found = (h, *ca.vertsplit(estimates), kinetic, usual, credit, smallest)
        figures = StepFigures(*found).at_full_size(part, order)
        # Newton's tolerance is tighter; where round-off ends it, this is enough.
        solved = ca.sum1(residuals <= self._newton.rough) == residuals.numel()
        sound = ca.logic_and(solved, failed < 0)
        good = ca.logic_and(sound, ca.logic_or(smallest, self._control.keeps(figures)))
        end = t + h
        end = ca.if_else(t_end - end < ROUND_OFF * h, t_end, end)
        factor = self._control.factor(figures, order)
        shorter = tried * ca.if_else(sound, ca.fmin(factor, LEAST_CHANGE), HALF)
        running = ChainStatus.RUNNING
        # After a step that was made shorter to end at a change of contact, h is as before.
        following = ca.if_else(factor >= 1, ca.fmax(trial * factor, back), trial * factor)
        changed = ca.logic_and(sound, figures.overdue > OVERDUE * usual)
        results: list[ca.SX | float] = [
            *(good, end, solved, failed, *sides),
            # Of a good step: h to try, status, h to go back to, credit.
            ca.fmin(ca.fmax(following, h_min), h_max),
            ca.if_else(end >= t_end, ChainStatus.DONE, running),
            0,
            ca.fmin(credit + EARNED * h / usual, MOST),
            # The same of one that is not.
            ca.fmax(shorter, h_min),
            ca.if_else(smallest, ChainStatus.STUCK, running),
            ca.if_else(changed, ca.fmax(back, trial), ca.if_else(sound, 0, back)),
            ca.fmax(credit - changed, 0),
        ]
        given = [t, trial, bounds, *memory, residuals, *check, h, estimates, extra]
        return ca.Function("judge", given, results, {"cse": True})


def warm_guess(part: Mpcc, *, goes_on: bool = False) -> ca.Function:
    """Return (parameters, last solution) -> x to start from.

    Unknowns whose stated guess depends on parameters start from that, the others from the last
    solution. Where the motion ``goes_on``, means over a step are extrapolated: they are as far
    beyond their value at its start as that is beyond the mean over the last step.
    """
    p, old = part.p, ca.SX.sym("old", part.x.numel())  # (n,) scaled
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
