"""Whose numbers are, so that those of several bodies can be computed side by side.

Two numbers are alike where the same operations give them from numbers that are alike, of owners in
the same places to each other: the force of the third hinge of a chain is to the third and fourth
body what that of the fourth is to the fourth and fifth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import casadi as ca

from nsopt.mpcc.lane_graph import LaneGraph, LaneNode, Likeness, operations

MANY = 4
"""Owners from which on it pays to look for what is alike."""

NEIGHBOURS = 3
"""Lanes that a number may be from beside its first one; what is from more belongs to the whole."""

SPREAD = 4
"""Uses from which on a number of the whole is given to all, as the time is: a sum, not a part."""


class Lanes:
    """Whose symbols are: bodies or joints, one behind the other as lanes.

    What is said changes how code is laid out, and no result.
    """

    def __init__(self) -> None:
        self._forms: dict[Hashable, int] = {}
        self._known: dict[int, Likeness] = {}
        self._columns: list[ca.SX] = []  # kept, so that no other symbol gets a name of theirs
        self._alike: list[tuple[ca.SX, ca.SX]] = []
        self.many = False

    def assign(self, symbols: ca.SX, owners: Sequence[str]) -> None:
        """Say whose the entries of a column (n,) are; owners are lanes in their order."""
        lane = {owner: k for k, owner in enumerate(dict.fromkeys(owners))}
        count = Counter[str]()
        for x, owner in zip(_entries(symbols), owners, strict=True):
            form = self._form(("own", len(self._columns), count[owner]))
            self._known[x.element_hash()] = Likeness(form, lane[owner], lane[owner])
            count[owner] += 1
        self._columns.append(symbols)
        self.many |= len(lane) >= MANY

    def liken(self, symbols: ca.SX, values: ca.SX) -> None:
        """Say that symbols (n,) are numbers like ``values`` (n,)."""
        self._alike.append((symbols, ca.densify(values)))

    def order(self, symbols: ca.SX, values: ca.SX) -> list[int]:
        """Return the order of symbols in which those that are alike are one behind the other."""
        self.liken(symbols, values)
        if not self.many:
            return list(range(symbols.numel()))
        self._settle()
        known = [self._known[x.element_hash()] for x in _entries(symbols)]
        return sorted(range(len(known)), key=lambda k: (known[k].form, known[k].first or 0))

    def graph(self, f: ca.Function) -> LaneGraph:
        """Return the operations of an SX function that calls no others."""
        self._settle()
        return self._graph(f)

    def _settle(self) -> None:
        while self._alike:
            self._take_over(*self._alike.pop(0))

    def _take_over(self, symbols: ca.SX, values: ca.SX) -> None:
        inputs = ca.vertcat(ca.SX(0, 1), *ca.symvar(values))
        graph = self._graph(ca.Function("values", [inputs], [values]))
        likes = {entry: graph.nodes[node].like for _, entry, node in graph.outputs}
        count = Counter[Likeness]()
        for k, x in enumerate(_entries(symbols)):
            form = self._form(("alike", len(self._columns), likes[k].form, count[likes[k]]))
            self._known[x.element_hash()] = likes[k]._replace(form=form)
            count[likes[k]] += 1
        self._columns.append(symbols)

    def _form(self, key: Hashable) -> int:
        return self._forms.setdefault(key, len(self._forms))

    def _graph(self, f: ca.Function) -> LaneGraph:
        known = [[self._known.get(x.element_hash()) for x in _entries(s)] for s in f.sx_in()]
        nodes: list[LaneNode] = []
        found: dict[tuple[int, int | None], int] = {}
        node_of: list[int] = []
        all_of = operations(f)
        for code, operands, stated, uses in zip(*all_of[:4], strict=True):
            of = tuple([node_of[i] for i in operands])
            if isinstance(stated, tuple):
                like = self._given(f, known[stated[0]][stated[1]], stated)
            elif stated is not None:
                like = Likeness(self._form(("number", repr(stated))))
            else:
                like = self._computed(code, [nodes[i].like for i in of])
            if like.whole and uses >= SPREAD:
                like = Likeness(like.form)
            key = like.form, like.first  # the same form and lane is the same number
            if key not in found:
                found[key] = len(nodes)
                nodes.append(LaneNode(like, code, of, stated))
            node_of.append(found[key])
        return LaneGraph(nodes, [(i, j, node_of[k]) for i, j, k in all_of.outputs])

    def _given(self, f: ca.Function, like: Likeness | None, place: tuple[int, int]) -> Likeness:
        if like is None or like.first is None:
            whole = like is not None and like.whole
            return Likeness(self._form((f.__hash__(), *place)), whole=whole)
        return like._replace(form=self._form(("given", place[0], like.form)))

    def _computed(self, code: int, of: Sequence[Likeness]) -> Likeness:
        first = last = None
        whole = False
        for x in of:
            whole |= x.whole
            if x.first is not None and x.last is not None:
                first = x.first if first is None else min(first, x.first)
                last = x.last if last is None else max(last, x.last)
        if first is None or last is None:
            form = self._form((code, *[(x.form, None) for x in of]))
            return Likeness(form, whole=whole)
        key = [(x.form, None if x.first is None else x.first - first) for x in of]
        if whole or last - first > NEIGHBOURS:
            return Likeness(self._form((code, first, *key)), whole=True)
        return Likeness(self._form((code, *key)), first, last)


def _entries(column: ca.SX) -> list[ca.SX]:
    return ca.vertsplit(column) if column.numel() else []
