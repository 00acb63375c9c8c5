"""Rows of a structured program that are single unknowns, as bounds of these.

Conditions state limits of coordinates as rows, too. A solver adds a slack variable and a multiplier
for each row; a bound takes neither.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mpcc.backends.backend import Call, Derivatives, Outcome, Point, Vector
from nsopt.mpcc.horizon.structured import ConstraintBlock, Index, StructuredNlp


@dataclass(frozen=True, eq=False)
class SimpleBounds:
    """A structured program, and the same without rows that are single unknowns."""

    whole: StructuredNlp
    rest: StructuredNlp
    rows: Index  # (k,) of the whole program, which the rest is without
    unknowns: Index  # (k,) which unknown each of these is

    @classmethod
    def of(cls, nlp: StructuredNlp) -> SimpleBounds:
        """Return the split of a program; equations stay rows."""
        # CasADi's hash of a function is its place in memory, alike for the same one alone.
        by_function = {block.function.__hash__(): block for block in nlp.blocks}
        own_unknowns = {key: find_unknown_of_rows(x) for key, x in by_function.items()}
        blocks, rows, unknowns = [], [], []
        all_rows = nlp.split_rows(np.arange(nlp.lower.size, dtype=np.intp))
        for block, numbers in zip(nlp.blocks, all_rows, strict=True):
            key = block.function.__hash__()
            own = np.where((block.lower < block.upper).all(axis=0), own_unknowns[key], -1)
            simple = np.flatnonzero(own >= 0)
            if simple.size:
                function = nlp.derived.drop_rows(block.function, simple)
                blocks.append(_drop_from_block(block, function, simple))
            else:
                blocks.append(block)
            rows.append(numbers[:, simple].ravel())
            unknowns.append(block.columns[:, own[simple]].ravel())
        n, k = nlp.x.numel(), nlp.p.numel()
        rest = StructuredNlp(blocks, n, k, complementary=nlp.complementary, derived=nlp.derived)
        return cls(nlp, rest, np.concatenate(rows), np.concatenate(unknowns))

    def restate(self, whole: StructuredNlp) -> SimpleBounds:
        """Return the same split of a program with other limits."""
        lower, upper = (x[self.kept_rows] for x in (whole.lower, whole.upper))
        limits = map(self.rest.split_rows, (lower, upper))
        by_block = zip(self.rest.blocks, *limits, strict=True)
        blocks = [replace(block, lower=low, upper=high) for block, low, high in by_block]
        return replace(self, whole=whole, rest=self.rest.restate(blocks))

    def tighten(self, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
        """Return bounds of the unknowns (n,), tightened by the rows that are single unknowns."""
        low, high = lower.copy(), upper.copy()
        np.maximum.at(low, self.unknowns, self.whole.lower[self.rows])
        np.minimum.at(high, self.unknowns, self.whole.upper[self.rows])
        return low, high

    @cached_property
    def kept_rows(self) -> Index:
        """Rows of the whole program that the rest has, in their order."""
        return np.setdiff1d(np.arange(self.whole.lower.size), self.rows)

    def derivatives(self, rest: Derivatives) -> Derivatives:
        """Return those of the whole program from those of the rest."""
        if not self.rows.size:
            return rest
        x, p, sigma, lam = self.whole.x, self.whole.p, self.whole.sigma, self.whole.lam
        order = np.argsort(np.concatenate([self.kept_rows, self.rows])).tolist()
        k, n = self.rows.size, x.numel()
        pick = ca.Sparsity.triplet(k, n, list(range(k)), self.unknowns.tolist())
        own = x[self.unknowns.tolist()]
        g, J = rest.jac_g(x, p)
        rows = ca.vertcat(g, own)[order]
        jacobian = ca.vertcat(J, ca.MX(ca.DM(pick, 1.0)))[order, :]
        hessian = rest.hess_lag(x, p, sigma, lam[self.kept_rows.tolist()])
        names, weighted = ["x", "p"], ["x", "p", "lam_f", "lam_g"]
        values = ca.vertcat(rest.g(x, p), own)[order]
        return rest._replace(
            g=ca.Function("whole_g", [x, p], [values], names, ["g"]),
            jac_g=ca.Function("whole_jac_g", [x, p], [rows, jacobian], names, ["g", "J"]),
            hess_lag=ca.Function("whole_hess_l", [x, p, sigma, lam], [hessian], weighted, ["H"]),
        )


@dataclass(frozen=True, eq=False)
class SimplyBounded:
    """A `Call` of the whole program by one of the rest."""

    split: SimpleBounds
    call: Call

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        nlp, rows, unknowns = self.split.whole, self.split.rows, self.split.unknowns
        low, high = self.split.tighten(lower, upper)
        lam_x = start.lam_x.copy()  # those of rows added
        np.add.at(lam_x, unknowns, start.lam_g[rows])
        inner = Point(start.x, lam_x, start.lam_g[self.split.kept_rows], start.warm)
        outcome = self.call(inner, p, low, high)
        end = outcome.point
        lam_x, lam_g = end.lam_x.copy(), np.zeros(nlp.lower.size)
        lam_g[self.split.kept_rows] = end.lam_g
        # A multiplier of a bound is that of the first row which states this bound, if one does.
        for limits, tightest, sign in ((nlp.upper, high, 1), (nlp.lower, low, -1)):
            stated = upper if sign > 0 else lower
            tight = (limits[rows] == tightest[unknowns]) & (stated != tightest)[unknowns]
            which, first = np.unique(unknowns[tight], return_index=True)
            acts = sign * lam_x[which] > 0
            lam_g[rows[tight][first[acts]]] = lam_x[which[acts]]
            lam_x[which[acts]] = 0.0
        return replace(outcome, point=replace(end, lam_x=lam_x, lam_g=lam_g))


def find_unknown_of_rows(block: ConstraintBlock) -> Index:
    """Return which entry of w each row is, (m,); -1 of those that are none, or part of a pair."""
    f = block.function
    w, *others = (ca.SX.sym("x", f.numel_in(i)) for i in range(f.n_in()))
    rows = f(w, *others)[0]
    index = {w[i].element_hash(): i for i in range(w.numel())}
    parts = block.parts or (None,) * block.rows
    leaves = [
        index.get(rows[i].element_hash(), -1) if rows[i].is_symbolic() and part is None else -1
        for i, part in enumerate(parts)
    ]
    return np.array(leaves, dtype=np.intp)


def _drop_from_block(
    block: ConstraintBlock, function: ca.Function, simple: Index
) -> ConstraintBlock:
    """Return a block without some of its rows, from its function without them."""
    lower, upper = (np.delete(x, simple, axis=1) for x in (block.lower, block.upper))
    labels = tuple(x for i, x in enumerate(block.labels) if i not in simple)
    parts = tuple(x for i, x in enumerate(block.parts) if i not in simple)
    return replace(block, function=function, lower=lower, upper=upper, labels=labels, parts=parts)


NARROW = 1e-2  # width of limits that count as one value; distance from a limit that counts as none
ROOM = 1.0  # by how much limits of rows that unknowns do not change are moved outwards, scaled


def find_given_values(nlp: StructuredNlp) -> Array:
    """Return the values of unknowns that rows give by narrow limits, (n,); others NaN."""
    values = np.full(nlp.x.numel(), np.nan)
    for block in nlp.blocks:
        narrow = block.upper - block.lower <= NARROW
        middle = (block.lower + block.upper) / 2
        for row, unknown in enumerate(find_unknown_of_rows(block)):
            if unknown >= 0:
                of = narrow[:, row]
                values[block.columns[of, unknown]] = middle[of, row]
    return values


def make_room(nlp: StructuredNlp, g: Array) -> StructuredNlp:
    """Return a program for a solver, with room at limits that rows meet whatever the solver does.

    A gap that is closed in a given posture is zero, so no point is strictly inside its limit. With
    complementarity an interior-point method keeps limits as they are, and such multipliers grow
    without end. The row is a constant, so its limit may lie further out; the program itself judges
    whether it holds. g (m,) are rows at `find_given_values`, NaN where they depend on others.
    """
    at_limit = np.minimum(g - nlp.lower, nlp.upper - g) <= NARROW  # false for NaN
    room = ROOM * (at_limit & (nlp.upper - nlp.lower > NARROW))
    by_block = zip(nlp.blocks, nlp.split_rows(room), strict=True)
    return nlp.restate([replace(x, lower=x.lower - r, upper=x.upper + r) for x, r in by_block])
