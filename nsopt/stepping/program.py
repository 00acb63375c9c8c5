"""The programs of one step: stated once, solved in order, judged at the end."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Evaluator, Mpcc
from nsopt.stepping.acceptance import Acceptance, Fault, Judge, StepEnd
from nsopt.stepping.bounds import StepBounds
from nsopt.stepping.initial import Start
from nsopt.stepping.scheme import Scales, Scheme, Step, StepStart

Array = NDArray[np.float64]


class StepProgram:
    """What a scheme states for one step.

    Parameters
    ----------
    numbers : Scales or None
        None makes the scales parameters of the programs, after those of `numbers`; such a program
        serves every run, but only `Newton` solves it.

    Attributes
    ----------
    sizes : list of int
        Numbers of unknowns of the parts.
    parts : tuple of Mpcc
        The step, and its projection where the scheme has one; each has the scaled unknowns of the
        one before among its parameters, last, as ``solved``.
    end : Function (x of each part..., parameters, force) -> (StepEnd..., value, limit)
        Value and limit of what the step is judged by.
    """

    def __init__(
        self, d: Dynamics, scheme: Scheme, acceptance: Acceptance, numbers: Scales | None = None
    ) -> None:
        self.dynamics, self.scheme = d, scheme
        first = Mpcc("step")
        start, h, scales = _stated_start(first, d, scheme, numbers)
        step = scheme.add_step(first, d, start, h, scales)
        second = Mpcc("projection")
        again, h2, scales2 = _stated_start(second, d, scheme, numbers)
        solved = second.parameter("solved", sum(v.scaled.numel() for v in first.variables))
        if scheme.chooses_h:
            h2 = scales2.time * solved[0]
        old = ca.vertcat(_unknowns(first), _parameters(first))
        new = ca.vertcat(solved, _parameters(second)[: old.numel() - solved.numel()])
        end = scheme.add_projection(second, d, again, h2, scales2, _restated(step, old, new))
        self.parts = (first, second) if second.variables else (first,)
        self.sizes = [_unknowns(part).numel() for part in self.parts]
        force = ca.SX.sym("force")
        if second.variables:
            inputs = [solved, _unknowns(second), new[solved.numel() :], force]
        else:
            inputs, end, again, h2 = [*_halves(first), force], step, start, h
        ends = StepEnd.stated(d, again, h2, end)
        self._judge = Judge(acceptance.checks(ends, d, force))
        outputs = [*ends, self._judge.value, self._judge.limit]
        self.end = ca.Function("end", inputs, outputs, {"cse": True})
        self._evaluate = Evaluator(self.end)

    def numbers(self, start: Start, p: Array, bounds: StepBounds) -> dict[str, Array]:
        """Return the parameters of the first part by name; where h is given it is h_max."""
        low, high = np.array([bounds.h_min]), np.array([bounds.h_max])
        h = {"h_min": low, "h_max": high} if self.scheme.chooses_h else {"h": high}
        return {"t": np.array([start.t]), "q": start.q, "v": start.v, "p": p, **h}

    def judged(
        self, x: Sequence[Array], numbers: dict[str, Array], force: float
    ) -> tuple[StepEnd, Fault | None]:
        """Return the end of a solved step, and what keeps it from being accepted."""
        *end, value, limit = self._evaluate(
            *x, np.concatenate(list(numbers.values())), np.array([force])
        )
        return StepEnd(*end), self._judge.fault(value, limit)

    def fault(self, row: int, value: float, limit: float) -> Fault:
        """Return in words what row of the judged values failed."""
        return self._judge.told(row, value, limit)


def _stated_start(
    m: Mpcc, d: Dynamics, scheme: Scheme, numbers: Scales | None
) -> tuple[StepStart, ca.SX, Scales]:
    start = StepStart(
        m.parameter("t", 1),
        m.parameter("q", d.nq),
        m.parameter("v", d.nv),
        m.parameter("p", len(d.parameters)),
    )
    if not scheme.chooses_h:
        h = m.parameter("h", 1)
        return start, h, numbers or Scales.stated(m, len(d.contact_names))
    low, high = m.parameter("h_min", 1), m.parameter("h_max", 1)
    scales = numbers or Scales.stated(m, len(d.contact_names))
    if m.name != "step":
        return start, high, scales
    h = m.variable("h", 1, lower=low, upper=high, scale=scales.time, guess=high)
    return start, h, scales


def _unknowns(m: Mpcc) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *(variable.scaled for variable in m.variables))


def _parameters(m: Mpcc) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *(block.symbol for block in m.parameters))


def _halves(m: Mpcc) -> list[ca.SX]:
    return [_unknowns(m), _parameters(m)]


def _restated(step: Step, old: ca.SX, new: ca.SX) -> Step:
    """Return ``step`` in other symbols."""
    return Step(*ca.substitute(list(vars(step).values()), [old], [new]))
