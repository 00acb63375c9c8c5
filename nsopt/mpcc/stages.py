"""Expressions that are evaluated in turn: what several have in common is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from nsopt.mpcc.blocks import stacked
from nsopt.mpcc.lanes import Lanes


@dataclass(frozen=True, eq=False)
class TermStage:
    """Expressions to be evaluated once the unknowns of all stages before are known.

    Attributes
    ----------
    expressions : tuple of SX
        Of the unknowns of the stage and of what is ``given``.
    given : SX (m,)
        The symbols in them of what is known.
    values : SX (m,)
        What these are, in parameters and unknowns of stages before.
    terms : Function (parameters, unknowns of each stage before..., its terms) -> terms...
        What can be computed before the unknowns: for this stage, then for the terms of the next,
        the next, and so on.
    used : tuple of lists of int
        Of what is given: which parameters, which unknowns of each stage before.
    """

    expressions: tuple[ca.SX, ...]
    given: ca.SX
    values: ca.SX
    terms: ca.Function
    used: tuple[list[int], ...]


class Known:
    """What is known from stage to stage.

    Parameters
    ----------
    parameters : MX (p,)
    stages : sequence of TermStage
    """

    def __init__(self, parameters: ca.MX, stages: Sequence[TermStage]) -> None:
        self._stages, self._known = stages, [parameters]
        self._terms: list[list[ca.MX]] = [[] for _ in range(2 * len(stages))]

    def given(self) -> ca.MX:
        """Return what the next stage is given, once its terms are computed."""
        k = len(self._known) - 1
        stage = self._stages[k]
        found = stage.terms.call([*self._known, ca.vertcat(ca.MX(0, 1), *self._terms[2 * k])])
        for of, more in zip(self._terms[2 * k + 1 :], found, strict=True):
            of.append(more)
        parts = [x[places] for x, places in zip(self._known, stage.used, strict=True) if places]
        return ca.vertcat(ca.MX(0, 1), *parts, *self._terms[2 * k + 1])

    def solved(self, unknowns: ca.MX) -> None:
        """Go on to the next stage, with the unknowns of this one."""
        self._known.append(unknowns)


class _Terms(NamedTuple):
    """What is computed at a stage before its unknowns."""

    symbols: ca.SX  # (k,) which later terms and expressions contain
    values: ca.SX  # (k,)

    def among(self, names: set[int]) -> tuple[ca.SX, ca.SX]:
        """Return the symbols that are named, and their values."""
        chosen = _places(self.symbols, names)
        return _chosen(self.symbols, chosen), _chosen(self.values, chosen)


def stages(
    parameters: ca.SX, stated: Sequence[tuple[Sequence[ca.SX], ca.SX]], lanes: Lanes
) -> tuple[TermStage, ...]:
    """Return expressions without what is known before the unknowns that they are evaluated for.

    Terms of the parameters alone, or of them and the unknowns of the stages before, are computed
    as soon as they can be, once for all stages.

    Parameters
    ----------
    parameters : SX (p,)
    stated : sequence of (expressions, unknowns)
        In the order of evaluation; unknowns are columns of symbols, which later expressions may
        contain.
    lanes : Lanes
        Is told of symbols for terms.
    """
    left, known = [list(expressions) for expressions, _ in stated], [parameters]
    terms: list[_Terms] = []
    for k, (_, unknowns) in enumerate(stated):
        flat = [e for expressions in left[k:] for e in expressions]
        flat, *found = extracted(flat, ca.vertcat(*known, *(t.symbols for t in terms)))
        rest = iter(flat)
        left[k:] = [[next(rest) for _ in expressions] for expressions in left[k:]]
        order = lanes.order(*found)
        terms.append(_Terms(*(_chosen(x, order) for x in found)))
        known.append(unknowns)
    # What the terms of each stage contain, and what its expressions do.
    need = [_symbols(x) for t, e in zip(terms, left, strict=True) for x in ([t.values], e)]
    return tuple(
        _stage(known[: k + 1], terms[: k + 1], expressions, need[2 * k :])
        for k, expressions in enumerate(left)
    )


def _stage(
    known: Sequence[ca.SX],
    terms: Sequence[_Terms],
    expressions: Sequence[ca.SX],
    need: Sequence[set[int]],
) -> TermStage:
    """Return a stage from what is known before, the terms up to its own, and what all need."""
    before = stacked(t.among(need[0])[0] for t in terms[:-1])
    outputs = [terms[-1].among(names)[1] for names in need[1:]]
    function = ca.Function("terms", [*known, before], outputs, {"cse": True})
    used = tuple(_places(x, need[1]) for x in known)
    parts = [_chosen(x, places) for x, places in zip(known, used, strict=True)]
    given = values = stacked([*parts, *(t.among(need[1])[0] for t in terms)])
    for t in reversed(terms):
        values = ca.substitute(values, t.symbols, t.values)
    return TermStage(tuple(expressions), given, values, function, used)


def extracted(expressions: Sequence[ca.SX], p: ca.SX) -> tuple[list[ca.SX], ca.SX, ca.SX]:
    """Return expressions with symbols for terms that depend on p alone, those, and their values."""
    reduced, symbols, values = ca.extract_parametric(
        ca.cse(list(expressions)), p, {"extract_trivial": False}
    )
    return reduced, stacked(symbols), stacked(values)


def _symbols(expressions: Sequence[ca.SX]) -> set[int]:
    return {x.element_hash() for e in expressions for x in ca.symvar(e)}


def _places(symbols: ca.SX, names: set[int]) -> list[int]:
    return [i for i, x in enumerate(ca.vertsplit(symbols)) if x.element_hash() in names]


def _chosen(column: ca.SX, places: list[int]) -> ca.SX:
    # Of a single one an empty choice would be 1 x 0, and count as a row.
    return column[places] if places else ca.SX(0, 1)
