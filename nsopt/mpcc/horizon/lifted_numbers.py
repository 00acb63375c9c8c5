"""Numbers in an expression as inputs of it, so that one code serves all of them."""

from __future__ import annotations

import casadi as ca

KEPT = (0.0, 1.0, -1.0, 2.0)  # numbers that are part of the structure of an expression


def lift_numbers(f: ca.Function) -> tuple[ca.Function, ca.DM]:
    """Return an SX function with its numbers as a last input, and the numbers (k,).

    Numbers inside of functions that it calls stay there.
    """
    inputs = [ca.SX.sym(f"x{i}", f.sparsity_in(i)) for i in range(f.n_in())]
    outputs = [ca.SX(f.sparsity_out(i)) for i in range(f.n_out())]
    values: list[list[ca.SX]] = [[ca.SX(0)] * f.nnz_out(i) for i in range(f.n_out())]
    work: dict[int, ca.SX] = {}
    symbols: dict[float, ca.SX] = {}
    expressions = None
    for k in range(f.n_instructions()):
        kind, out, given = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
        if kind == ca.OP_INPUT:
            work[out[0]] = inputs[given[0]].nz[given[1]]
        elif kind == ca.OP_OUTPUT:
            values[out[0]][out[1]] = work[given[0]]
        elif kind == ca.OP_CONST:
            number = f.instruction_constant(k)
            structural = number in KEPT or not abs(number) < float("inf")
            if not structural and number not in symbols:
                symbols[number] = ca.SX.sym(f"c{len(symbols)}")
            work[out[0]] = ca.SX(number) if structural else symbols[number]
        elif kind == ca.OP_CALL:
            expressions = f.instructions_sx() if expressions is None else expressions
            results = _call(expressions[k].which_function(), [work[x] for x in given])
            work.update((x, y) for x, y in zip(out, results, strict=True) if x >= 0)
        elif len(given) == 2:
            work[out[0]] = ca.SX.binary(kind, work[given[0]], work[given[1]])
        else:
            work[out[0]] = ca.SX.unary(kind, work[given[0]])
    for matrix, entries in zip(outputs, values, strict=True):
        if entries:
            matrix.nz[:] = ca.vertcat(*entries)
    numbers = ca.vertcat(ca.SX(0, 1), *symbols.values())
    function = ca.Function(f.name(), [*inputs, numbers], outputs)
    return function, ca.DM(list(symbols)) if symbols else ca.DM(0, 1)


def _call(f: ca.Function, given: list[ca.SX]) -> list[ca.SX]:
    """Return the entries of the outputs of a call, from those of its inputs."""
    arguments, first = [], 0
    for i in range(f.n_in()):
        last = first + f.nnz_in(i)
        arguments.append(ca.SX(f.sparsity_in(i), ca.vertcat(ca.SX(0, 1), *given[first:last])))
        first = last
    results = f.call(arguments)
    return [x for result in results for x in ca.vertsplit(ca.SX(result.nz[:]))]
