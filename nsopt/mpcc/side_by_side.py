"""C code of functions in which numbers that are alike are computed side by side.

CasADi's code has a statement for each operation of each body, and of long chains does not fit in
the processor's caches. Here operations that are alike for bodies one behind the other (`Lanes`) are
one loop over these bodies, whose statements are of vectors; what is left is as CasADi has it. Each
operation rounds as it does alone, so results are the same to the bit.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import casadi as ca

from nsopt.mpcc.lane_graph import LaneGraph
from nsopt.mpcc.lane_pieces import LanePiece, LaneRange, divided
from nsopt.mpcc.lanes import MANY, Lanes
from nsopt.mpcc.processor import vectors
from nsopt.mpcc.vector_operations import head, number, operation, scalar, scalar_head
from nsopt.mpcc.vector_program import calls_others

GENERATORS = ("lane_graph", "lane_pieces", "lanes", "side_by_side", "vector_operations")
"""Modules on which the code depends."""

FEW = 100
"""Operations in vectors below which a function stays as it is."""


def with_vectors(source: str, function: ca.Function, lanes: Lanes) -> str:
    """Return C that CasADi generated for a function, with vectors in those that it calls."""
    own = [f for f in function.find_functions() if f.is_a("SXFunction")]
    named: dict[str, list[ca.Function]] = defaultdict(list)
    for f in own:
        named[str(f).removesuffix(" SXFunction")].append(f)
    first, *functions = re.split(r"(?m)^(?=/\* .*\*/\nstatic int casadi_f\d+\()", source)
    texts = [first, head(vectors().lanes), scalar_head()]
    for text in functions:
        called = named.get(text[3 : text.index(" */")], [])
        body = _body(called[0], lanes) if len(called) == 1 else None
        if body is not None:
            begin, end = text.index("{\n") + 2, text.index("\n}\n")
            text = text[:begin] + body + text[end:]
        texts.append(text)
    return "".join(texts)


def _body(f: ca.Function, lanes: Lanes) -> str | None:
    """Return the statements of a function; None where few would be in vectors."""
    if f.n_instructions() < FEW or calls_others(f):
        return None
    graph = lanes.graph(f)
    pieces = divided(graph, max(MANY, vectors().lanes))
    if sum(len(piece.nodes) for piece in pieces if piece.lanes) < FEW:
        return None
    return _Writer(f, graph, pieces).body()


class _Kept(NamedTuple):
    """Where the numbers of several lanes are: in m from ``base``, and in entries of outputs."""

    base: int | None
    stores: list[tuple[int, int, int]]  # output, first entry, stride


class _Writer:
    """The statements of a function whose numbers are divided into pieces."""

    def __init__(self, f: ca.Function, graph: LaneGraph, pieces: Sequence[LanePiece]) -> None:
        self._f, self._nodes, self._outputs, self._pieces = f, *graph, pieces
        self._of = {i: (piece, k) for piece in pieces for k, i in enumerate(piece.nodes)}
        self._tables: dict[tuple[int, ...], str] = {}
        self._width = vectors().lanes
        self._size = 0
        self._stored: set[tuple[int, LanePiece]] = set()  # pieces whose loops write that output
        self._kept = self._places()

    def body(self) -> str:
        """Return the statements, indented: a line of only a brace ends the function."""
        groups: dict[tuple[int, LaneRange | None], list[LanePiece]] = defaultdict(list)
        for piece in self._pieces:
            groups[piece.phase, piece.lanes].append(piece)
        lines: list[str] = []
        for (_, along), pieces in sorted(groups.items(), key=lambda group: group[0][0]):
            lines += (
                self._loop(along, pieces) if along else [self._alone(piece) for piece in pieces]
            )
        for i, j, node in self._outputs:
            if node not in self._of or (i, self._of[node][0]) not in self._stored:
                lines.append(f"y{i}[{j}] = {self._value(node)};")
        start = [f"double m[{max(1, self._size)}];"]
        for i in range(self._f.n_in()):
            start.append(f"static const double z{i}[{max(1, self._f.nnz_in(i))}];")
            start.append(f"const double* const x{i} = arg[{i}] ? arg[{i}] : z{i};")
        for i in range(self._f.n_out()):
            start.append(f"double n{i}[{max(1, self._f.nnz_out(i))}];")
            start.append(f"double* const y{i} = res[{i}] ? res[{i}] : n{i};")
        for entries, name in self._tables.items():
            numbers = ",".join(map(str, entries))
            start.append(f"static const int {name}[] = {{{numbers}}};")
        return "\n".join(f"  {line}" for line in [*start, *lines, "return 0;"])

    def _places(self) -> dict[LanePiece, _Kept]:
        """Decide where the numbers of several lanes are kept for others, and for outputs."""
        needed = {
            of
            for piece in self._pieces
            for k, node in enumerate(piece.nodes)
            for of, place in (self._of[i] for i in self._nodes[node].of if i in self._of)
            if of.lanes and (of.phase, of.lanes, place) != (piece.phase, piece.lanes, k)
        }
        entries: dict[tuple[int, LanePiece], dict[int, list[int]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for i, j, node in self._outputs:
            if node in self._of and self._of[node][0].lanes:
                piece, k = self._of[node]
                entries[i, piece][k].append(j)
        stores: dict[LanePiece, list[tuple[int, int, int]]] = defaultdict(list)
        for (i, piece), places in entries.items():
            found = [places[k] for k in range(len(piece.nodes))]
            stride = _stride([j for js in found for j in js])
            if stride is None or any(len(js) != 1 for js in found):
                needed.add(piece)
            else:
                stores[piece].append((i, found[0][0], stride))
                self._stored.add((i, piece))
        kept = {}
        for piece in self._pieces:
            if piece.lanes:
                kept[piece] = _Kept(self._size if piece in needed else None, stores[piece])
                self._size += len(piece.nodes) * (piece in needed)
        return kept

    def _value(self, i: int) -> str:
        """Return a number as C has it outside of loops."""
        node = self._nodes[i]
        if i in self._of:
            piece, k = self._of[i]
            return f"m[{(self._kept[piece].base or 0) + k}]" if piece.lanes else f"s{i}"
        assert not node.of  # what is computed is in a piece
        if node.code == ca.OP_CONST:
            return number(node.constant)
        return f"x{node.place[0]}[{node.place[1]}]"

    def _alone(self, piece: LanePiece) -> str:
        (i,) = piece.nodes
        node = self._nodes[i]
        return f"const double s{i} = {scalar(node.code, [self._value(k) for k in node.of])};"

    def _loop(self, along: LaneRange, pieces: Sequence[LanePiece]) -> list[str]:
        """Return a loop along lanes; the last ones twice where they are no multiple of a vector."""
        count, width = -(-along.size // self._width), self._width
        lines = [
            f"for (long c = 0; c < {count}; ++c) {{",
            f"  const long k = c < {count - 1} ? {width} * c : {along.size - width};",
        ]
        known: dict[str, str] = {}
        for piece in pieces:
            first = self._nodes[piece.nodes[0]]
            names = []
            for place in range(len(first.of)):
                text = self._operand([self._nodes[i].of[place] for i in piece.nodes], piece)
                if text[0] != "v" and text not in known:
                    known[text] = f"u{len(known)}"
                    lines.append(f"  const V {known[text]} = {text};")
                names.append(known.get(text, text))
            name, kept = f"v{piece.nodes[0]}", self._kept[piece]
            lines.append(f"  const V {name} = {operation(first.code, names)[1]};")
            if kept.base is not None:
                lines.append(f"  put(m + {kept.base} + k, {name});")
            for i, j, stride in kept.stores:
                at = f"y{i} + {j} + {stride} * k"
                put = f"put({at}, {name})" if stride == 1 else f"store({at}, {stride}, {name})"
                lines.append(f"  {put};")
        return [*lines, "}"]

    def _operand(self, nodes: Sequence[int], user: LanePiece) -> str:
        """Return the vector of operands from the k-th lane on."""
        first, node = nodes[0], self._nodes[nodes[0]]
        if first in self._of:
            piece, k = self._of[first]
            if piece.lanes is None:
                return f"all(s{first})"
            if (piece.phase, piece.lanes) == (user.phase, user.lanes):
                return f"v{piece.nodes[0]}"
            return f"get(m + {(self._kept[piece].base or 0) + k} + k)"
        if len(set(nodes)) == 1:
            return f"all({self._value(first)})"
        entries = [self._nodes[i].place[1] for i in nodes]
        x, stride = f"x{node.place[0]}", _stride(entries)
        if stride == 1:
            return f"get({x} + {entries[0]} + k)"
        if stride is not None:
            return f"load({x} + {entries[0]} + {stride} * k, {stride})"
        table = self._tables.setdefault(tuple(entries), f"t{len(self._tables)}")
        return f"(V) {{{', '.join(f'{x}[{table}[k + {n}]]' for n in range(self._width))}}}"


def _stride(entries: Sequence[int]) -> int | None:
    """Return the step from each entry to the next, if it is always the same and upwards."""
    steps = {b - a for a, b in pairwise(entries)}
    return steps.pop() if len(steps) == 1 and min(steps) > 0 else None
