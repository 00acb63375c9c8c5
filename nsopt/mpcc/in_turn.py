"""Programs that are solved one after another by Newton, and what follows from their solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from nsopt.mpcc.lanes import Lanes
from nsopt.mpcc.newton import Newton
from nsopt.mpcc.newton_rows import NewtonRows
from nsopt.mpcc.problem import Mpcc
from nsopt.mpcc.stages import TermStage, stages


@dataclass(frozen=True, eq=False)
class InTurn:
    """Functions of programs each of which is solved when those before it are, see `Mpcc.after`.

    Attributes
    ----------
    stages : tuple of TermStage
        One for each program, then that of the end.
    solvers : tuple of Function (x, given, last, share) -> (x, residual, iterations)
        As from `Newton.lower`, with what the stage is given in place of parameters.
    end : Function given -> expressions
    """

    stages: tuple[TermStage, ...]
    solvers: tuple[ca.Function, ...]
    end: ca.Function

    @classmethod
    def of(
        cls,
        newton: Newton,
        parameters: ca.SX,
        programs: Sequence[Mpcc],
        end: Sequence[ca.SX],
        lanes: Lanes,
    ) -> InTurn:
        """Return the functions; terms that several of them need are computed once.

        A program that another repeats is lowered by itself, once for all that do.

        Parameters
        ----------
        newton : Newton
        parameters : SX (p,)
        programs : sequence of Mpcc
            In the order in which they are solved.
        end : sequence of SX
            Expressions of the parameters and of all unknowns.
        lanes : Lanes
            Whose parameters and unknowns are; is told of symbols for terms.

        Raises
        ------
        ValueError
            See `Newton.lower`.
        """
        patterns = {program.pattern[0] for program in programs if program.pattern is not None}
        own = [program.pattern is None and program not in patterns for program in programs]
        rows = [
            NewtonRows.of(m) if shares else None for m, shares in zip(programs, own, strict=True)
        ]
        stated = [
            (_parameters(m) if r is None else r.expressions, m.x)
            for m, r in zip(programs, rows, strict=True)
        ]
        *parts, last = stages(parameters, [*stated, (end, ca.SX(0, 1))], lanes)
        by_itself = {pattern: newton.lower(pattern) for pattern in patterns}
        solvers = [
            _repeat(by_itself[m.pattern[0] if m.pattern else m], stage)
            if r is None
            else newton.lower_stage(m, r, stage, lanes)
            for m, r, stage in zip(programs, rows, parts, strict=True)
        ]
        ending = ca.Function("end", [last.given], list(last.expressions), {"cse": True})
        return cls((*parts, last), tuple(solvers), ending)


def _parameters(program: Mpcc) -> list[ca.SX]:
    """Return the parameters of the program that is lowered for this one."""
    return [program.pattern[1] if program.pattern else program.p]


def _repeat(solver: ca.Function, stage: TermStage) -> ca.Function:
    """Return a solver of parameters as one of what a stage is given."""
    p = ca.Function("parameters", [stage.given], [ca.densify(stage.expressions[0])])
    x, given = ca.MX.sym("x", solver.numel_in(0)), ca.MX.sym("given", stage.given.numel())
    last, share = ca.MX.sym("last"), ca.MX.sym("share")
    solved = solver(x, p(given), last, share)
    return ca.Function("repeated", [x, given, last, share], list(solved))
