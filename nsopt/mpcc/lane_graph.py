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

    ``stated`` is the number of a constant, or which input and entry.
    """

    like: Likeness
    code: int
    of: tuple[int, ...]
    stated: float | tuple[int, int] | None

    @property
    def place(self) -> tuple[int, int]:
        """Which input and entry a node is that is one."""
        assert isinstance(self.stated, tuple)
        return self.stated

    @property
    def constant(self) -> float:
        """The number of a node that is a constant."""
        assert isinstance(self.stated, float)
        return self.stated


class LaneGraph(NamedTuple):
    """Operations, the same ones once, and of each output entry (output, entry, node)."""

    nodes: list[LaneNode]
    outputs: list[tuple[int, int, int]]


class Operations(NamedTuple):
    """The operations of a function in order, each with a result of its own.

    Attributes
    ----------
    codes : list of int
    of : list of tuple of int
        The operations whose results they take; none for inputs and constants.
    stated : list of float or (int, int)
        Of a constant its number, of an entry of an input which input and entry.
    uses : list of int
        How often each result is taken.
    outputs : list of (output, entry, operation)
    """

    codes: list[int]
    of: list[tuple[int, ...]]
    stated: list[float | tuple[int, int] | None]
    uses: list[int]
    outputs: list[tuple[int, int, int]]


def operations(f: ca.Function) -> Operations:
    """Return the operations of an SX function; each result of a call counts as one of its own."""
    found = Operations([], [], [], [], [])
    codes, of, stated, uses, outputs = found
    result: dict[int, int] = {}  # in each register
    expressions = None
    for k in range(f.n_instructions()):
        code, out = f.instruction_id(k), f.instruction_output(k)
        if code == ca.OP_CONST:
            stated.append(f.instruction_constant(k))
            of.append(())
        else:
            given = f.instruction_input(k)
            if code == ca.OP_OUTPUT:
                outputs.append((out[0], out[1], result[given[0]]))
                continue
            if code == ca.OP_INPUT:
                stated.append((given[0], given[1]))
                of.append(())
            else:
                operands = tuple([result[i] for i in given])
                for i in operands:
                    uses[i] += 1
                if code == ca.OP_CALL:
                    expressions = f.instructions_sx() if expressions is None else expressions
                    called = expressions[k].which_function().__hash__()
                    for i, register in enumerate(out):
                        if register >= 0:
                            result[register] = len(codes)
                            codes.append(hash((code, called, i)))
                            of.append(operands)
                            stated.append(None)
                            uses.append(0)
                    continue
                stated.append(None)
                of.append(operands)
        result[out[0]] = len(codes)
        codes.append(code)
        uses.append(0)
    return found
