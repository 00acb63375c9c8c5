"""The programs of one step: stated once, solved in order, judged at the end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start, recall_calls
from nsopt.mpcc import Evaluator, Mpcc
from nsopt.schemes import Scales, Scheme, StepStart
from nsopt.simulation.acceptance import Acceptance, Fault, StackedChecks, StepEnd
from nsopt.simulation.bounds import StepBounds


class StepProgram:
    """The programs that a scheme states for one step.

    Parameters
    ----------
    numbers : Scales or None
        None makes the scales parameters of the programs, after those of `numbers`; such a program
        serves every run, but only `Newton` solves it.

    Attributes
    ----------
    parts : tuple of Mpcc
        The programs, solved in turn: modes, step and projection, as far as the scheme has them,
        before each those in its ``earlier``; each has the scaled unknowns of those before among its
        parameters.
    empty : tuple of str
        Names of those that have no unknowns, so are none of the parts.
    sizes : list of int
        Numbers of unknowns of the parts.
    given, parameters : SX
        Parameters of the first part; these, then the typical force where it is none of them.
    blocks : tuple of SX
        What is given: t, q, v, p, h, or its bounds, and scales where these are parameters.
    ends : tuple of SX
        The fields of `StepEnd`, then value and limit of what the step is judged by.
    """

    def __init__(
        self, d: Dynamics, scheme: Scheme, acceptance: Acceptance, numbers: Scales | None = None
    ) -> None:
        self.dynamics, self.scheme = d, scheme
        d = recall_calls(d)
        modes = Mpcc("modes")
        start, h, scales = _state_start(modes, d, scheme, numbers)
        given, self.blocks = modes.p, tuple(block.symbol for block in modes.parameters)
        start = scheme.add_modes(modes, d, start, h, scales)
        first = modes.after("step")
        if scheme.chooses_h:
            low, high = (p.symbol for p in modes.parameters if p.name in ("h_min", "h_max"))
            h = first.variable("h", 1, lower=low, upper=high, scale=scales.time, guess=high)
        step = scheme.add_step(first, d, start, h, scales)
        second = first.after("projection")
        step = scheme.add_projection(second, d, start, scales, step)
        stated = [x for part in (modes, first, second) for x in (*part.earlier, part)]
        self.parts = tuple(part for part in stated if part.x.numel())
        self.empty = tuple(part.name for part in stated if not part.x.numel())
        self.sizes = [part.x.numel() for part in self.parts]
        force = ca.SX.sym("force") if numbers else scales.force
        ends = StepEnd.of(d, start, step)
        self._checks = StackedChecks(acceptance.checks(ends, d, force))
        self.given, self.parameters = given, ca.vertcat(given, force) if numbers else given
        self.ends = (*ends, self._checks.value, self._checks.limit)

    @cached_property
    def end(self) -> ca.Function:
        """The function (x of each part..., parameters) -> ``ends``."""
        unknowns = [part.x for part in self.parts]
        return ca.Function("end", [*unknowns, self.parameters], list(self.ends), {"cse": True})

    @cached_property
    def _evaluate(self) -> Evaluator:
        return Evaluator(self.end)

    def numbers(self, start: Start, p: Array, bounds: StepBounds) -> dict[str, Array]:
        """Return the parameters of the first part by name; where h is given it is h_max."""
        low, high = np.array([bounds.h_min]), np.array([bounds.h_max])
        h = {"h_min": low, "h_max": high} if self.scheme.chooses_h else {"h": high}
        return {"t": np.array([start.t]), "q": start.q, "v": start.v, "p": p, **h}

    def judge(
        self, x: Sequence[Array], numbers: dict[str, Array], force: float
    ) -> tuple[StepEnd, Fault | None]:
        """Return the end of a solved step, and what keeps it from being accepted."""
        *end, value, limit = self._evaluate(*x, np.concatenate([*numbers.values(), [force]]))
        return StepEnd(*end), self._checks.fault(value, limit)

    @property
    def least_limits(self) -> ca.SX:
        """Limits that are met in most steps, at most those that a step is judged by."""
        return self._checks.always

    @property
    def of_equations(self) -> NDArray[np.bool_]:
        """Which of the judged rows are equations, which can be solved further."""
        return self._checks.of_equations

    def fault(self, row: int, value: float, limit: float) -> Fault:
        """Return in words what row of the judged values failed."""
        return self._checks.describe(row, value, limit)


def _state_start(
    m: Mpcc, d: Dynamics, scheme: Scheme, numbers: Scales | None
) -> tuple[StepStart, ca.SX, Scales]:
    """Return the start of a step, the largest h, and the scales, stated as parameters."""
    start = StepStart(
        m.parameter("t", 1),
        m.parameter("q", d.nq),
        m.parameter("v", d.nv),
        m.parameter("p", len(d.parameters)),
    )
    if scheme.chooses_h:
        m.parameter("h_min", 1)
    h = m.parameter("h_max" if scheme.chooses_h else "h", 1)
    return start, h, numbers or Scales.as_parameters(m, len(d.contact_names))
