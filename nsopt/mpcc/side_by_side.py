"""C code of functions in which numbers that are alike are computed side by side.

CasADi's code has a statement for each operation of each body, and of long chains does not fit in
the processor's caches. Here operations that are alike for bodies one behind the other (`Lanes`) are
one loop over these bodies, whose statements are of vectors. What is computed of one body after the
other in the same way, as the elimination of multipliers along a chain, is a loop too (`repeats`);
what is left is as CasADi has it. Each operation rounds as it does alone, so results are the same to
the bit.
"""

from __future__ import annotations

import re
from collections import defaultdict

import casadi as ca

from nsopt.mpcc.lane_pieces import divided
from nsopt.mpcc.lane_writer import LaneWriter
from nsopt.mpcc.lanes import MANY, Lanes
from nsopt.mpcc.processor import vectors
from nsopt.mpcc.vector_operations import head, scalar_head
from nsopt.mpcc.vector_program import calls_others

GENERATORS = (
    *("lane_graph", "lane_pieces", "lane_places", "lane_writer", "lanes", "repeats"),
    *("side_by_side", "vector_operations"),
)
"""Modules on which the code depends."""

FEW = 100
"""Operations in loops, and numbers handed on, below which a function stays as it is."""


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
    """Return the statements of a function; None where few would be in loops."""
    if f.n_instructions() < FEW or calls_others(f):
        return None
    graph = lanes.graph(f)
    pieces = divided(graph, max(MANY, vectors().lanes))
    handed_on = sum(not graph.nodes[node].of for *_, node in graph.outputs)
    if handed_on + sum(len(piece.nodes) for piece in pieces if not piece.alone) < FEW:
        return None
    return LaneWriter(f, graph, pieces).body()
