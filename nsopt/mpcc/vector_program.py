"""SX functions for several instances at once as tables of instructions, and a C loop over them.

Compilers take seconds for straight-line code of a hundred thousand statements. Tables of numbers
take a tenth of that, and the loop, whose every instruction is one of whole vectors, runs nearly as
fast. Each operation rounds as it does alone, so the bits of an instance do not depend on the
others.
"""

from __future__ import annotations

import casadi as ca

from nsopt.mpcc.vector_code import entry
from nsopt.mpcc.vector_operations import head, number, operation

LANES = 16
"""Instances at once: fewer pay more often for the choice of an instruction, and of more the
registers of long functions do not fit in the processor's cache."""

END, OWN, COMMON, CONSTANT, OUTPUT = range(5)
"""Instructions beside those of arithmetic."""

LOOP = """
static void run(const int* c, const double* constants, const int* rows_in, const int* rows_out,
                const double* const* in, double* const* out, V* a) {{
for (;; c += 4) switch (c[0]) {{
case {END}: return;
case {OWN}: a[c[1]] = load(in[c[2]] + c[3], rows_in[c[2]]); break;
case {COMMON}: a[c[1]] = all(in[c[2]][c[3]]); break;
case {CONSTANT}: a[c[1]] = all(constants[c[2]]); break;
case {OUTPUT}: if (out[c[1]]) store(out[c[1]] + c[2], rows_out[c[1]], a[c[3]]); break;
{cases}
}} }}
"""


class VectorProgram:
    """The C code of some SX functions that call no others.

    Used as `VectorCode` is, whose code runs a little faster but is compiled for long.
    """

    lanes = LANES

    def __init__(self) -> None:
        self._operations: dict[int, int] = {}
        self._texts: list[str] = []

    def add(self, f: ca.Function, own: int) -> None:
        """Add a function, as `VectorCode.add`."""
        code, constants, registers = self._instructions(f, own)
        name = f.name()
        tables = {
            "int code": code,
            "int rows_in": [f.nnz_in(i) for i in range(f.n_in())],
            "int rows_out": [f.nnz_out(i) for i in range(f.n_out())],
        }
        text = [f"static const double {name}_constants[] = {{{','.join([*constants, '0'])}}};"]
        for table, numbers in tables.items():
            kind, what = table.split()
            entries = ",".join(map(str, numbers))
            text.append(f"static const {kind} {name}_{what}[] = {{{entries}}};")
        numbers_of = ", ".join(f"{name}_{x}" for x in ("code", "constants", "rows_in", "rows_out"))
        text.append(
            f"void {name}_body(const double* const* in, double* const* out, V* s) "
            f"{{ run({numbers_of}, in, out, s); }}\n"
        )
        self._texts += ["\n".join(text), entry(f, own, LANES, registers)]

    def units(self, _: int) -> list[str]:
        """Return one translation unit."""
        cases = "\n".join(
            f"case {code}: a[c[1]] = {operation(kind, ['a[c[2]]', 'a[c[3]]'])[1]}; break;"
            for kind, code in self._operations.items()
        )
        names = {"END": END, "OWN": OWN, "COMMON": COMMON, "CONSTANT": CONSTANT, "OUTPUT": OUTPUT}
        return ["".join([head(LANES), LOOP.format(cases=cases, **names), *self._texts])]

    def _instructions(self, f: ca.Function, own: int) -> tuple[list[int], list[str], int]:
        """Return four numbers for each instruction, the constants, and how many registers."""
        code: list[int] = []
        constants: list[str] = []
        registers = 0
        for k in range(f.n_instructions()):
            kind, out, given = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
            if kind == ca.OP_OUTPUT:
                code += (OUTPUT, *out, given[0])
                continue
            registers = max(registers, out[0] + 1)
            if kind == ca.OP_INPUT:
                code += (OWN if given[0] < own else COMMON, out[0], *given)
            elif kind == ca.OP_CONST:
                code += (CONSTANT, out[0], len(constants), 0)
                constants.append(number(f.instruction_constant(k)))
            else:
                code += (self._code(kind), out[0], given[0], given[-1])
        return [*code, END, 0, 0, 0], constants, registers

    def _code(self, kind: int) -> int:
        """Return the number of an operation of CasADi in the loop."""
        if kind not in self._operations:
            operation(kind, "xy")  # refuses what is not known
            self._operations[kind] = OUTPUT + 1 + len(self._operations)
        return self._operations[kind]


def calls_others(f: ca.Function) -> bool:
    """Return whether an SX function calls others."""
    return any(f.instruction_id(k) == ca.OP_CALL for k in range(f.n_instructions()))
