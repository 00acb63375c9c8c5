"""The statements of a function in C, those of several numbers in loops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby

import casadi as ca

from nsopt.mpcc.lane_graph import LaneGraph
from nsopt.mpcc.lane_pieces import LanePiece, LaneRange
from nsopt.mpcc.lane_places import Places, stride_of
from nsopt.mpcc.processor import vectors
from nsopt.mpcc.repeats import Repeat
from nsopt.mpcc.vector_operations import operation, scalar


class LaneWriter:
    """The statements of a function whose numbers are divided into pieces."""

    def __init__(self, f: ca.Function, graph: LaneGraph, pieces: Sequence[LanePiece]) -> None:
        self._f, self._nodes, self._outputs, self._pieces = f, *graph, pieces
        self._places = Places(graph, pieces)
        self._tables: dict[tuple[int, ...], str] = {}
        self._width = vectors().lanes

    def body(self) -> str:
        """Return the statements, indented: a line of only a brace ends the function."""
        groups: dict[tuple[int, LaneRange | None], list[LanePiece]] = defaultdict(list)
        for piece in self._pieces:
            groups[piece.phase, piece.lanes].append(piece)
        lines: list[str] = []
        for (_, along), pieces in sorted(groups.items(), key=lambda group: group[0][0]):
            if along:
                lines += self._loop(along, pieces)
                continue
            for repeat, group in groupby(pieces, lambda piece: piece.repeat):
                some = list(group)
                lines += self._again(repeat, some) if repeat else self._alone(some)
        lines += self._handed_on()
        start = [f"double m[{max(1, self._places.size)}];"]
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

    def _handed_on(self) -> list[str]:
        """Return what gives outputs the numbers that no loop along lanes has stored."""
        lines: list[str] = []
        places: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
        for i, j, node in self._outputs:
            if self._places.written(i, node):
                continue
            found = self._places.at(node)
            if found is None:
                lines.append(f"y{i}[{j}] = {self._places.value(node)};")
            else:
                places[i, found[0]].append((j, found[1]))
        for (i, array), entries in places.items():
            to, of = (self._index(side) for side in zip(*entries, strict=True))
            count = len(entries)
            lines.append(f"for (long k = 0; k < {count}; ++k) y{i}[{to}] = {array}[{of}];")
        return lines

    def _index(self, entries: Sequence[int]) -> str:
        """Return the k-th of these."""
        stride = stride_of(entries)
        return self._table(entries) + "[k]" if stride is None else f"{entries[0]} + {stride} * k"

    def _table(self, entries: Sequence[int]) -> str:
        return self._tables.setdefault(tuple(entries), f"t{len(self._tables)}")

    def _alone(self, pieces: Sequence[LanePiece]) -> list[str]:
        """Return the statements of numbers alone."""
        lines = []
        for piece in pieces:
            (i,), base = piece.nodes, self._places.kept[piece].base
            node = self._nodes[i]
            values = [self._places.value(k) for k in node.of]
            lines.append(f"const double s{i} = {scalar(node.code, values)};")
            if base is not None:
                lines.append(f"m[{base}] = s{i};")
        return lines

    def _again(self, repeat: Repeat, pieces: Sequence[LanePiece]) -> list[str]:
        """Return a loop of what is computed one time after the other."""
        lines = [f"for (long k = 0; k < {repeat.times}; ++k) {{"]
        carried: dict[int, str] = {}  # what the time before computed, with its first values
        for piece in pieces:
            (first, *_), kept = piece.nodes, self._places.kept[piece]
            values = []
            for operands in self._places.operands(piece):
                from_loop = self._places.from_loop(piece, operands)
                if from_loop is not None:
                    of, before = from_loop
                    values.append(f"{'sc'[before]}{of.nodes[0]}")
                    if before:
                        carried[of.nodes[0]] = self._places.value(operands[0])
                elif len(set(operands)) == 1:
                    values.append(self._places.value(operands[0]))
                else:
                    array, entries = self._places.in_array(operands)
                    values.append(f"{array}[{self._index(entries)}]")
            lines.append(f"  const double s{first} = {scalar(self._nodes[first].code, values)};")
            if kept.base is not None:
                lines.append(f"  m[{kept.base} + {kept.step} * k] = s{first};")
            lines += [f"  y{i}[{j} + {stride} * k] = s{first};" for i, j, stride in kept.stores]
        begin = [f"double c{i} = {value};" for i, value in carried.items()]
        return [*begin, *lines, *(f"  c{i} = s{i};" for i in carried), "}"]

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
            for operands in self._places.operands(piece):
                text = self._operand(operands, piece)
                if text[0] != "v" and text not in known:
                    known[text] = f"u{len(known)}"
                    lines.append(f"  const V {known[text]} = {text};")
                names.append(known.get(text, text))
            name, kept = f"v{piece.nodes[0]}", self._places.kept[piece]
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
        from_loop = self._places.from_loop(user, nodes)
        if from_loop is not None:
            return f"v{from_loop[0].nodes[0]}"
        if len(set(nodes)) == 1:
            return f"all({self._places.value(nodes[0])})"
        x, entries = self._places.in_array(nodes)
        stride = stride_of(entries)
        if stride == 1:
            return f"get({x} + {entries[0]} + k)"
        if stride is not None:
            return f"load({x} + {entries[0]} + {stride} * k, {stride})"
        table = self._table(entries)
        return f"(V) {{{', '.join(f'{x}[{table}[k + {n}]]' for n in range(self._width))}}}"
