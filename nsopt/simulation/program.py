"""The programs of one step: stated once, solved in order, judged at the end: `StepProgram`.

A chain solves them in machine code, a `Stepper` by IPOPT or SQP.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca
import numpy as np

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
    scales : Scales or None
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
    checks : StackedChecks
        By which the step is judged.
    ends : tuple of SX
        The fields of `StepEnd`, then value and limit of the checks.
    """

    def __init__(
        self, d: Dynamics, scheme: Scheme, acceptance: Acceptance, scales: Scales | None = None
    ) -> None:
        self.dynamics, self.scheme = d, scheme
        d = recall_calls(d)  # so that equal calls are one expression
        modes = Mpcc("modes")  # the first program, then "step" and "projection"
        scales_are_known = scales is not None
        start, h, scales = _state_start(modes, d, scheme, scales)
        given, self.blocks = modes.p, tuple(block.symbol for block in modes.parameters)
        start = scheme.add_modes(modes, d, start, h, scales)
        motion = modes.after("step")
        if scheme.chooses_h:
            low, high = (p.symbol for p in modes.parameters if p.name in ("h_min", "h_max"))
            h = motion.variable("h", 1, lower=low, upper=high, scale=scales.time, guess=high)
        step = scheme.add_step(motion, d, start, h, scales)
        projection = motion.after("projection")
        step = scheme.add_projection(projection, d, start, scales, step)
        stated = [x for part in (modes, motion, projection) for x in (*part.earlier, part)]
        self.parts = tuple(part for part in stated if part.x.numel())
        self.empty = tuple(part.name for part in stated if not part.x.numel())
        self.sizes = [part.x.numel() for part in self.parts]
        force = ca.SX.sym("force") if scales_are_known else scales.force
        ends = StepEnd.of(d, start, step)
        self.checks = StackedChecks(acceptance.checks(ends, d, force))
        self.given = given
        self.parameters = ca.vertcat(given, force) if scales_are_known else given
        self.ends = (*ends, self.checks.value, self.checks.limit)

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
        """Return the end of a solved step, and what keeps it from being accepted.

        ``x`` are the unknowns of each part, ``force`` the typical one [N].
        """
        *end, value, limit = self._evaluate(*x, np.concatenate([*numbers.values(), [force]]))
        return StepEnd(*end), self.checks.find_fault(value, limit)


def _state_start(
    m: Mpcc, d: Dynamics, scheme: Scheme, scales: Scales | None
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
    return start, h, scales or Scales.as_parameters(m, len(d.contact_names))
