"""The result of a solve, `Solution`: the point, and how well it meets the original program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nsopt.mpcc.backends.backend import Point, Verdict
from nsopt.mpcc.solve.schedule import Stage
from nsopt.mpcc.solve.stationarity import Stationarity
from nsopt.mpcc.statement.layout import Kind, Layout, Section, Vector

ABOUT = 1e-6  # of 1 + |objective|, the difference of objectives that counts as none


@dataclass(frozen=True)
class Worst:
    """The residual that is largest in proportion to its tolerance.

    Both are in physical units; of complementarity in scaled ones, see `Tolerances`.
    """

    kind: Kind
    block: str
    label: str
    value: float
    tolerance: float

    @property
    def name(self) -> str:
        """What the residual is of."""
        return f"{self.kind.name.lower()} of {self.block!r}, {self.label}"

    @property
    def sizes(self) -> str:
        """Both numbers."""
        return f"{self.value:.3g} against {self.tolerance:.3g}"

    def __str__(self) -> str:
        return f"{self.name}: {self.sizes}"


@dataclass(frozen=True)
class PairResidual:
    """One complementary pair at the solution, in physical units."""

    block: str
    label: str
    G: float
    H: float

    @property
    def minimum(self) -> float:
        """Return min(G, H), zero at a solution; negative is a violation."""
        return min(self.G, self.H)

    @property
    def product(self) -> float:
        """Return G H."""
        return self.G * self.H


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals of the original program, recomputed at x; properties are in physical units.

    Only complementarity, min(G, H, G H), and the gradient are in scaled ones.

    Parameters
    ----------
    layout : Layout
    sections : tuple of Section
        What each residual is of; all residuals are in one of them.
    ratio : (number of residuals,)
        Each residual over its tolerance.
    rows : (equations + inequalities + 2 pairs,)
        Scaled c, d, G, H; of a structured program its rows.
    gradient : (n,)
        By the n unknowns, of the relaxed program's Lagrangian, in scaled units.
    """

    layout: Layout
    sections: tuple[Section, ...]
    ratio: Vector
    rows: Vector
    gradient: Vector

    @property
    def largest(self) -> float:
        """Return the largest residual over its tolerance; NaN if any is."""
        return float(self.ratio.max())

    @property
    def violation(self) -> float:
        """Return the largest violation of all rows and bounds, each in its own unit."""
        sizes = (self.ratio[s.rows] * s.limit for s in self.sections)
        return max(float(size.max(initial=0.0)) for size in sizes)

    @cached_property
    def equality(self) -> dict[str, float]:
        """Largest absolute residual of each block of equations."""
        return self._by_block(Kind.EQUALITY)

    @cached_property
    def inequality(self) -> dict[str, float]:
        """Largest violation of each block of inequalities, 0 where met."""
        return self._by_block(Kind.INEQUALITY)

    @cached_property
    def bounds(self) -> dict[str, float]:
        """Largest violation of the bounds of each variable, 0 where met."""
        return self._by_block(Kind.BOUNDS)

    @cached_property
    def pairs(self) -> tuple[PairResidual, ...]:
        """Return every complementary pair in the order stated."""
        m = self.layout.pairs
        values = (self.rows * self.layout.row_scale)[self.rows.size - 2 * m :].tolist()
        names = [(b.name, label) for b in self.layout.blocks_of_pairs for label in b.labels]
        return tuple(
            PairResidual(block, label, G, H)
            for (block, label), G, H in zip(names, values[:m], values[m:], strict=True)
        )

    @property
    def stationarity(self) -> float:
        """Largest entry of the gradient of the relaxed program's Lagrangian, scaled units."""
        return float(np.abs(self.gradient).max())

    def worst(self) -> Worst:
        """Return the residual that is largest over its tolerance; the first NaN if there is one."""
        k = int(np.argmax(self.ratio))
        section = next(s for s in self.sections if s.rows.start <= k < s.rows.stop)
        i = k - section.rows.start
        limit = float(section.limit[i])
        value = float(self.ratio[k]) * limit
        return Worst(section.kind, section.block, section.labels[i], value, limit)

    def _by_block(self, kind: Kind) -> dict[str, float]:
        worst: dict[str, float] = {}
        for s in self.sections:
            if s.kind is kind:
                values = self.ratio[s.rows] * s.limit
                earlier = worst.get(s.block, 0.0)
                worst[s.block] = float(np.max(values, initial=earlier))
        return worst


@dataclass(frozen=True)
class Status:
    """Whether the point solves the program, and why."""

    ok: bool
    reason: str
    remedy: str  # empty if ok
    solver_status: str  # the solver's own word
    verdict: Verdict = Verdict.FAILED


@dataclass(frozen=True)
class StageRun:
    """One stage of the homotopy that was run, and how it ended."""

    stage: Stage  # sigma first, see `Stage`
    ok: bool
    solver_status: str
    iterations: int
    time: float  # [s]
    interrupted: bool = False


class SolveError(RuntimeError):
    """A solve whose result was required did not succeed; ``solution`` is the failed one."""

    def __init__(self, solution: Solution) -> None:
        status = solution.status
        super().__init__(f"{status.reason}; {status.remedy} (solver: {status.solver_status})")
        self.solution = solution


@dataclass(frozen=True, eq=False)
class Solution:
    """The end of a solve, success or not: ask ``ok`` or `require` before using the numbers.

    ``solution["name"]`` is a variable in physical units, (size,).

    Parameters
    ----------
    layout : Layout
    point : Point
        Scaled x (n,), at its end unknowns that were added to the stated program, and the scaled
        multipliers of the relaxed program, zero where a branch was solved: ``stationarity`` then
        has those of the branch.
    objective : float
        Without the relaxation's penalty.
    residuals : Residuals
    status : Status
    stages : tuple of StageRun
        Every stage that was run, failed ones too.
    time : float [s]
        Of the whole solve.
    stationarity : Stationarity or None
        The kind of stationary point, of a single program with an objective.
    objectives : tuple of float
        Of each start of a `MultiStart`, in their order; NaN where it led to no solution.
    """

    layout: Layout
    point: Point
    objective: float
    residuals: Residuals
    status: Status
    stages: tuple[StageRun, ...]
    time: float
    stationarity: Stationarity | None = None
    objectives: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return f"Solution({self.status.reason}, objective {self.objective:.6g})"

    def __getitem__(self, name: str) -> Vector:
        try:
            rows = self.layout.variables[name]
        except KeyError:
            raise KeyError(
                f"no variable {name!r}; there are {', '.join(self.layout.variables)}"
            ) from None
        return self.point.x[rows] * self.layout.scale[rows]

    @property
    def values(self) -> dict[str, Vector]:
        """All variables that were stated, by name; physical units."""
        layout = self.layout
        return {name: self[name] for name in layout.variables if name not in layout.added}

    @property
    def x(self) -> Vector:
        """Scaled unknowns (n,)."""
        return self.point.x

    @property
    def ok(self) -> bool:
        """Whether the point solves the program.

        All residuals of the original program are finite and within tolerance; of a single program
        with an objective the point is B-stationary, too.
        """
        return self.status.ok

    @property
    def feasible(self) -> bool:
        """Whether all residuals are finite and within tolerance, whatever the objective."""
        return self.residuals.largest <= 1

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the solve."""
        return any(run.interrupted for run in self.stages)

    @property
    def iterations(self) -> int:
        """Solver iterations over all stages."""
        return sum(run.iterations for run in self.stages)

    def worst(self) -> Worst:
        """Return the residual that is largest over its tolerance."""
        return self.residuals.worst()

    def summary(self) -> str:
        """Return what came out in a few lines of text."""
        status = self.status
        lines = [status.reason, f"objective {self.objective:.9g}; worst residual: {self.worst()}"]
        if self.stationarity is not None and not self.ok:
            lines.append(str(self.stationarity))
        if not self.ok:
            lines.append(f"remedy: {status.remedy}")
        if self.objectives:
            least = self.objective + ABOUT * (1 + abs(self.objective))
            solved = sum(np.isfinite(self.objectives))
            best = sum(f <= least for f in self.objectives)
            lines.append(f"{len(self.objectives)} starts: {solved} solved, {best} as well as this")
        lines.append(
            f"{len(self.stages)} programs, {self.iterations} iterations, {self.time:.3g} s; "
            f"the solver said {status.solver_status}"
        )
        return "\n".join(lines)

    def after(self, earlier: Solution) -> Solution:
        """Return this solution with the stages and the time of an earlier one before its own."""
        return replace(self, stages=(*earlier.stages, *self.stages), time=earlier.time + self.time)

    def require(self) -> Solution:
        """Return this solution if it is one.

        Raises
        ------
        SolveError
            If the solve failed, with the reason and the remedy.
        """
        if not self.ok:
            raise SolveError(self)
        return self
