"""C code of SX functions for several instances at once, in the lanes of vector registers.

Expressions become straight-line code on vectors, in parts that are functions of their own: for one
long function compilers take a time that grows faster than its length. What an expression calls
becomes a function too, once for all its calls; what is called and is no SX function is evaluated
lane by lane, by the code that CasADi generates. Each operation rounds as it does alone, so the bits
of an instance do not depend on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import casadi as ca

from nsopt.mpcc.vector_operations import head, number, operation

PART = 300
"""Statements of a part: a third of the time in the compiler that all at once would take."""

LONG = 200_000
"""Length of code of one lane from which it is not optimized: that would take minutes."""

AS_IT_IS = """#ifdef __clang__
#pragma clang optimize off
#else
#pragma GCC optimize ("O0")
#endif
"""

_OUTSIDE = "const double* const* in, double* const* out"
_INSIDE = "const V* in, V* out"


class _Statement(NamedTuple):
    """A line of code, the registers that it writes and reads, and the vectors its call needs."""

    writes: tuple[int, ...]
    reads: tuple[int, ...]
    text: str
    work: int = 0


class VectorCode:
    """The C code of some functions, and of all that they call.

    Parameters
    ----------
    lanes : int
        Instances at once.
    """

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self._texts: list[str] = []
        self._called: dict[int, tuple[str, int]] = {}
        self._scalar: list[ca.Function] = []

    def add(self, f: ca.Function, own: int) -> None:
        """Add a function that can be called from outside, by its name.

        Its first ``own`` inputs have a column for each lane, those that follow are common to all
        lanes. Outputs have the columns of each lane side by side.

        Raises
        ------
        NotImplementedError
            If it has operations that are not known here.
        """
        work = self._add_parts(f"{f.name()}_body", _OUTSIDE, *self._statements(f, own))
        self._texts.append(entry(f, own, self.lanes, work))

    def units(self, count: int) -> list[str]:
        """Return translation units, about ``count`` of them and of the same length."""
        calls = "".join(f"void {name}({_INSIDE}, V* s);\n" for name, _ in self._called.values())
        length = sum(map(len, self._texts)) / count
        units, text = [], ""
        for each in [*self._texts, ""]:
            text += each
            if len(text) >= length or (text and not each):
                units.append(head(self.lanes) + calls + text)
                text = ""
        if self._scalar:
            generator = ca.CodeGenerator("scalar", {"with_header": False})
            for f in self._scalar:
                generator.add(f)
            text = str(generator.dump())
            units.append(AS_IT_IS + text if len(text) > LONG else text)
        return units

    def _statements(self, f: ca.Function, own: int | None) -> tuple[list[_Statement], int]:
        """Return the statements of a function and its number of registers.

        ``own`` as for `add`; None of one that is called, with all its inputs as vectors in a row.
        """
        statements, registers = [], 0
        expressions = None
        first_in = [0, *accumulate(f.nnz_in(i) for i in range(f.n_in()))]
        first_out = [0, *accumulate(f.nnz_out(i) for i in range(f.n_out()))]
        for k in range(f.n_instructions()):
            kind, out, given = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
            if kind == ca.OP_OUTPUT:
                (i, j), x = out, given[0]
                text = f"out[{first_out[i] + j}] = a{x};"
                if own is not None:
                    text = f"if (out[{i}]) store(out[{i}] + {j}, {f.nnz_out(i)}, a{x});"
                statements.append(_Statement((), (x,), text))
                continue
            registers = max(registers, *(x + 1 for x in out))
            if kind == ca.OP_CALL:
                expressions = f.instructions_sx() if expressions is None else expressions
                statements.append(self._call(expressions[k].which_function(), given, out))
                continue
            reads: tuple[int, ...] = ()
            if kind == ca.OP_INPUT:
                i, j = given
                value = f"in[{first_in[i] + j}]"
                if own is not None:
                    at = f"in[{i}] + {j}"
                    value = f"load({at}, {f.nnz_in(i)})" if i < own else f"all(*({at}))"
            elif kind == ca.OP_CONST:
                value = f"all({number(f.instruction_constant(k))})"
            else:
                count, value = operation(kind, [f"a{x}" for x in given])
                reads = tuple(given[:count])
            statements.append(_Statement((out[0],), reads, f"a{out[0]} = {value};"))
        return statements, registers

    def _call(self, f: ca.Function, given: Sequence[int], out: Sequence[int]) -> _Statement:
        name, work = self._function(f)
        inputs = ", ".join(f"a{x}" for x in given)
        results = "".join(f" a{x} = o[{i}];" for i, x in enumerate(out) if x >= 0)
        text = f"{{ V i[] = {{{inputs}}}, o[{len(out)}]; {name}(i, o, CALLED);{results} }}"
        return _Statement(tuple(x for x in out if x >= 0), tuple(given), text, work)

    def _function(self, f: ca.Function) -> tuple[str, int]:
        """Return the name of the code of a function that is called, and the vectors it needs."""
        key = f.__hash__()
        if key not in self._called:
            name, work = f"called_{len(self._called)}_{f.name()}", 0
            self._called[key] = name, work  # in its place: what it calls comes behind it
            if f.is_a("SXFunction"):
                work = self._add_parts(name, _INSIDE, *self._statements(f, None))
            else:
                alone = _renamed(f, f"{name}_alone")
                self._scalar.append(alone)
                self._texts.append(_lane_by_lane(name, alone, self.lanes))
            self._called[key] = name, work
        return self._called[key]

    def _add_parts(
        self, name: str, interface: str, statements: list[_Statement], registers: int
    ) -> int:
        """Add a function in parts, which leave registers to each other in s.

        Return how many vectors s has, with those of the functions that it calls.
        """
        parts = [statements[k : k + PART] for k in range(0, len(statements), PART)]
        for k, (lines, (known, needed)) in enumerate(zip(parts, _live(parts), strict=True)):
            used = sorted({x for line in lines for x in (*line.writes, *line.reads)})
            text = [f"void {name}_{k}({interface}, V* s) {{"]
            text += [f"V {', '.join(f'a{x}' for x in used)};"] if used else []
            text += [f"a{x} = s[{x}];" for x in used if x in known]
            text += [line.text.replace("CALLED", f"s + {registers}") for line in lines]
            text += [f"s[{x}] = a{x};" for x in used if x in needed]
            self._texts.append("\n".join([*text, "}\n"]))
        names = [f"{name}_{k}" for k in range(len(parts))]
        text = [f"void {x}({interface}, V* s);" for x in names]
        text += [f"void {name}({interface}, V* s) {{"]
        text += [f"{x}(in, out, s);" for x in names]
        self._texts.append("\n".join([*text, "}\n"]))
        return registers + max((x.work for x in statements), default=0)


def _live(parts: Sequence[Sequence[_Statement]]) -> list[tuple[set[int], set[int]]]:
    """Return the registers that each part gets from those before it, and leaves to those behind."""
    live, found = set[int](), []
    for lines in reversed(parts):
        written, before = set[int](), set(live)
        for line in reversed(lines):
            before.difference_update(line.writes)
            before.update(line.reads)
            written.update(line.writes)
        found.append((before, live & written))
        live = before
    return found[::-1]


def _renamed(f: ca.Function, name: str) -> ca.Function:
    """Return a function under a name that no other has."""
    symbols = [ca.MX.sym(f"x{i}", f.sparsity_in(i)) for i in range(f.n_in())]
    return ca.Function(name, symbols, f.call(symbols))


def _lane_by_lane(name: str, f: ca.Function, lanes: int) -> str:
    """Return the code that calls what CasADi generates for f, once for each lane."""
    first_in = [0, *accumulate(f.nnz_in(i) for i in range(f.n_in()))]
    first_out = [0, *accumulate(f.nnz_out(i) for i in range(f.n_out()))]
    arguments = ", ".join(f"i + {x}" for x in first_in[:-1])
    results = ", ".join(f"o + {x}" for x in first_out[:-1])
    sizes = [max(1, x) for x in (first_in[-1], first_out[-1], f.sz_w(), f.sz_iw())]
    return "\n".join(
        [
            f"int {f.name()}(const double**, double**, long long*, double*, int);",
            f"void {name}({_INSIDE}, V* s) {{",
            "double i[{}], o[{}], w[{}]; long long iw[{}];".format(*sizes),
            f"for (int k = 0; k < {lanes}; ++k) {{",
            f"for (int j = 0; j < {first_in[-1]}; ++j) i[j] = in[j][k];",
            # Generated code may use what lies behind its pointers as work memory.
            f"const double* arg[{f.sz_arg()}] = {{{arguments}}};",
            f"double* res[{f.sz_res()}] = {{{results}}};",
            f"{f.name()}(arg, res, iw, w, 0);",
            f"for (int j = 0; j < {first_out[-1]}; ++j) out[j][k] = o[j];",
            "} }\n",
        ]
    )


def entry(f: ca.Function, own: int, lanes: int, work: int) -> str:
    """Return what CasADi calls and asks of an external function, whose body needs work vectors."""
    name, n, m = f.name(), f.n_in(), f.n_out()
    of_in = [f.sparsity_in(i) for i in range(n)]
    of_in = [ca.repmat(x, 1, lanes) if i < own else x for i, x in enumerate(of_in)]
    of_out = [ca.repmat(f.sparsity_out(i), 1, lanes) for i in range(m)]
    most = max(1, *(x.nnz() for x in of_in))
    export = '__attribute__((visibility("default")))'
    lines = [
        f"void {name}_body({_OUTSIDE}, V* s);",
        f"static const double {name}_zeros[{most}];",
        f"{export} int {name}"
        "(const double** arg, double** res, long long* iw, double* w, int m) {",
        # Inputs that are zero may be left out.
        f"const double* in[{n}];",
        f"for (int k = 0; k < {n}; ++k) in[k] = arg[k] ? arg[k] : {name}_zeros;",
        f"{name}_body(in, res, (V*)w); return 0; }}",
        f"{export} int {name}_work(long long* a, long long* r, long long* i, long long* w) "
        f"{{ *a = {n}; *r = {m}; *i = 0; *w = {lanes * (work + 1)}; return 0; }}",
        f"{export} long long {name}_n_in(void) {{ return {n}; }}",
        f"{export} long long {name}_n_out(void) {{ return {m}; }}",
    ]
    for side, patterns in (("in", of_in), ("out", of_out)):
        names = [f"{name}_{side}{i}" for i in range(len(patterns))]
        for own_name, pattern in zip(names, patterns, strict=True):
            numbers = ", ".join(map(str, pattern.compress()))
            lines.append(f"static const long long {own_name}[] = {{{numbers}}};")
        lines.append(
            f"{export} const long long* {name}_sparsity_{side}(long long i) "
            f"{{ static const long long* const all[] = {{{', '.join(names)}}}; return all[i]; }}"
        )
    return "\n".join([*lines, ""])
