"""The operations of a function as a graph, with what is known of each number."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca


class Likeness(NamedTuple):
    """What a number is, and whose.

    Attributes
    ----------
    form : int
        The same for all numbers that are alike; larger than those of what they are computed from.
    first, last : int or None
        The lanes it is computed from; None where it has no owner.
    whole : bool
        Whether it is computed from more lanes than neighbours, as parts of a sum over all are.
    """

    form: int
    first: int | None = None
    last: int | None = None
    whole: bool = False


class LaneNode(NamedTuple):
    """An operation on nodes before it; without any an entry of an input, or a constant.

    ``place`` is that input and its entry.
    """

    like: Likeness
    code: int
    of: tuple[int, ...]
    place: tuple[int, int]
    constant: float


class LaneGraph(NamedTuple):
    """Operations, the same ones once, and of each output entry (output, entry, node)."""

    nodes: list[LaneNode]
    outputs: list[tuple[int, int, int]]


class Operation(NamedTuple):
    """An operation of a function on results of operations before it, and how often it is used."""

    code: int
    of: tuple[int, ...]
    place: tuple[int, int]
    constant: float
    uses: int


def operations(f: ca.Function) -> tuple[list[Operation], list[tuple[int, int, int]]]:
    """Return the operations of an SX function, each with a result of its own, and its outputs."""
    found: list[Operation] = []
    outputs: list[tuple[int, int, int]] = []
    uses: list[int] = []
    result: dict[int, int] = {}  # in each register
    for k in range(f.n_instructions()):
        code, given, out = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if code == ca.OP_OUTPUT:
            outputs.append((out[0], out[1], result[given[0]]))
            continue
        place, of, constant = (0, 0), tuple[int, ...](), 0.0
        if code == ca.OP_INPUT:
            place = given[0], given[1]
        elif code == ca.OP_CONST:
            constant = f.instruction_constant(k)
        else:
            of = tuple(result[i] for i in given)
        for i in of:
            uses[i] += 1
        result[out[0]] = len(found)
        found.append(Operation(code, of, place, constant, 0))
        uses.append(0)
    return [one._replace(uses=n) for one, n in zip(found, uses, strict=True)], outputs
