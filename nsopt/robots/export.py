"""CasADi functions as C for a controller: two files that need nothing but a C99 compiler."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import casadi as ca

from nsopt.files import create, replacing

KEYWORDS = {
    *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else"),
    *("enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "main", "register"),
    *("restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef"),
    *("union", "unsigned", "void", "volatile", "while"),
}
"""Words that C does not take as names of functions or arguments."""
TYPES = {"casadi_real": "double", "casadi_int": "int"}
"""Options of CasADi's code generator."""


def export_c(function: ca.Function, folder: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write ``<name>.c`` and ``<name>.h``, C99 that includes nothing but the C library.

    For inverse dynamics the header declares ::

        int inverse_dynamics(const double *q, const double *v, const double *a, double *tau);

    and ``INVERSE_DYNAMICS_Q_SIZE`` and its like, the lengths of the arrays. Matrices are dense,
    column by column. The answer is 0, or another number where a solver inside has failed. Nothing
    else is visible to a linker. No memory is allocated; what is needed beyond local variables is
    static, and the header then says that calls must not overlap (interrupts, threads).

    Parameters
    ----------
    function : ca.Function
        With dense inputs and outputs. Its numbers are in double precision.
    folder : path
        Made if it is not there. Files of these names are replaced, both or none.

    Returns
    -------
    tuple of Path
        Source and header.

    Raises
    ------
    TypeError
        If it is no Function.
    ValueError
        If an input or output is sparse, C does not take a name, two arguments differ in case alone,
        or a solver inside keeps memory between calls.
    NotADirectoryError
        If ``folder`` is a file.
    OSError
        If a file cannot be written.
    """
    if not isinstance(function, ca.Function):
        raise TypeError(
            f"export_c takes a CasADi Function, such as inverse_dynamics(robot), got "
            f"{type(function).__name__}"
        )
    folder = Path(folder)
    _check(function)
    code = _CFiles(function)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"folder {str(folder)!r} is a file: name a folder")
    name = function.name()
    source, header = folder / f"{name}.c", folder / f"{name}.h"
    _write({source: code.source(), header: code.header()})
    return source, header


def _check(function: ca.Function) -> None:
    name = function.name()
    inputs, outputs = function.name_in(), function.name_out()
    for word in (name, *inputs, *outputs):
        if not (word.isascii() and word.isidentifier()) or word in KEYWORDS:
            raise ValueError(f"C takes no name {word!r}, of function {name!r} or part: rename it")
        if word == name and hasattr(math, word):
            raise ValueError(f"name {word!r} is taken by the C library: rename the function")
        if word.startswith("casadi_"):
            raise ValueError(f"name {word!r} is one of CasADi's own: rename it")
    for word, count in Counter(word.upper() for word in (*inputs, *outputs)).items():
        if count > 1:
            raise ValueError(
                f"{count} arguments of function {name!r} are named {word!r} but for case: rename "
                "all but one, for their lengths become macros in capitals"
            )
    sparsities = [
        *((word, function.sparsity_in(i)) for i, word in enumerate(inputs)),
        *((word, function.sparsity_out(i)) for i, word in enumerate(outputs)),
    ]
    for word, sparsity in sparsities:
        if not sparsity.is_dense():
            raise ValueError(
                f"{word!r} of function {name!r} is sparse, {sparsity.nnz()} of "
                f"{sparsity.numel()} numbers: make it dense by ca.densify"
            )


class _CFiles:
    """The C source and header of a function, made of what CasADi's code generator writes.

    ``inner`` is its C before the interface by CasADi's conventions, ``call`` the function that the
    interface wraps, ``sizes`` the lengths of the arrays "arg", "res", "iw", "w" that this takes.
    """

    def __init__(self, function: ca.Function) -> None:
        self.function, self.name = function, function.name()
        options: dict[str, Any] = {"with_header": False, "with_export": False, **TYPES}
        generator = ca.CodeGenerator(self.name, options)
        generator.add(function)
        text = str(generator.dump())
        # CasADi's own interface comes last: it is cut off, and a plain one takes its place.
        self.inner, interface = re.split(
            rf"^int {self.name}\(", text, maxsplit=1, flags=re.MULTILINE
        )
        if "#error" in self.inner:
            raise ValueError(
                f"CasADi has no C for a solver in function {self.name!r}: use another, such as "
                "fast_newton for equations"
            )
        stateless = re.search(rf"int {self.name}_checkout\(void\) \{{\s*return 0;", interface)
        if not stateless:
            raise ValueError(
                f"function {self.name!r} contains a solver that keeps memory between calls, which "
                "C without CasADi cannot do: state it without, such as by explicit elimination"
            )
        self.sizes = {
            key: int(size) for key, size in re.findall(r"if \(sz_(\w+)\) \*sz_\w+ = (\d+);", text)
        }
        self.call = re.findall(r"return (\w+)\(arg, res, iw, w, mem\)", interface)[0]

    def source(self) -> str:
        inputs, outputs = self.function.name_in(), self.function.name_out()
        lines = [f"{self._write_signature()} {{"]
        for key, kind in (("arg", "const double *"), ("res", "double *")):
            # As long as CasADi says, which is more than there are arguments, and not zero in C.
            lines.append(f"  {kind}casadi_{key}[{max(self.sizes[key], 1)}];")
        for key, kind in (("iw", "int"), ("w", "double")):
            if self.sizes[key]:
                lines.append(f"  static {kind} casadi_{key}[{self.sizes[key]}];")
        for key, names in (("arg", inputs), ("res", outputs)):
            lines += [f"  casadi_{key}[{i}] = {word};" for i, word in enumerate(names)]
        work = [f"casadi_{key}" if self.sizes[key] else "0" for key in ("iw", "w")]
        lines += [f"  return {self.call}(casadi_arg, casadi_res, {', '.join(work)}, 0);", "}"]
        return "\n".join([f'#include "{self.name}.h"', self._hide(), *lines, ""])

    def header(self) -> str:
        guard = f"{self.name.upper()}_H"
        calls = (
            "Work memory is static: not re-entrant, calls must not overlap."
            if self.sizes["iw"] or self.sizes["w"]
            else "Re-entrant: all memory is on the stack."
        )
        return f"""\
/* {self.name}, generated by nsopt; change the model, not this file.
 *
 * Lengths, masses, forces and times are in SI units, angles in radians. Arrays
 * are dense, matrices column by column; outputs must not overlap inputs. The
 * answer is 0, or another number where a solver inside has failed.
 * {calls}
 */
#ifndef {guard}
#define {guard}

{self._write_lengths()}

#ifdef __cplusplus
extern "C" {{
#endif

{self._write_signature()};

#ifdef __cplusplus
}}
#endif

#endif /* {guard} */
"""

    def _hide(self) -> str:
        """Return the inner functions, all static, none with a warning of unused arguments."""
        text = self.inner
        for unwanted in (  # what would make names visible, or tells the version of CasADi
            r"^/\* How to prefix.*?^#endif\n",
            r"^/\* Add prefix to internal symbols \*/\n",
            r"^#define casadi_\w+ CASADI_PREFIX\(\w+\)\n",
            r"^/\* Configuration this file.*?^int \w+_real_size\(void\).*?\n",
        ):
            text = re.sub(unwanted, "", text, flags=re.MULTILINE | re.DOTALL)
        return_types = r"(?:const )?(?:casadi_real|casadi_int|void|int|char)\s*\**\s*"
        text = re.sub(rf"^({return_types}casadi_\w+\()", r"static \1", text, flags=re.MULTILINE)
        uses = " ".join(f"(void){key};" for key in ("arg", "res", "iw", "w", "mem"))
        text = re.sub(
            r"^(static int casadi_f\d+\(const casadi_real\*\* arg.*\{)$",
            rf"\1\n  {uses}",
            text,
            flags=re.MULTILINE,
        )
        return re.sub(r"\n{3,}", "\n\n", _strip_other_functions(text, self.call))

    def _write_signature(self) -> str:
        words = [f"const double *{word}" for word in self.function.name_in()]
        words += [f"double *{word}" for word in self.function.name_out()]
        return f"int {self.name}({', '.join(words) or 'void'})"

    def _write_lengths(self) -> str:
        f, prefix = self.function, self.name.upper()
        shapes = [(word, f.size_in(i)) for i, word in enumerate(f.name_in())]
        shapes += [(word, f.size_out(i)) for i, word in enumerate(f.name_out())]
        return "\n".join(
            f"#define {prefix}_{word.upper()}_SIZE {rows * columns} /* {rows} x {columns} */"
            for word, (rows, columns) in shapes
        )


def _strip_other_functions(text: str, start: str) -> str:
    """Return C without the static functions and tables that ``start`` does not use."""
    parts = _split_definitions(text)
    used = {start}
    while True:
        kept = [part for name, part in parts if not name or name in used]
        found = {name for name, _ in parts if name and re.search(rf"\b{name}\b", "".join(kept))}
        if found <= used:
            return "".join(kept)
        used |= found


def _split_definitions(text: str) -> list[tuple[str, str]]:
    """Return name and text of each static definition in C, and "" and the text of lines between."""
    parts: list[tuple[str, str]] = []
    within = False
    for line in text.splitlines(keepends=True):
        if within:
            parts[-1] = parts[-1][0], parts[-1][1] + line
        elif match := re.match(r"static [^(=[]*?(\w+)\s*[\[(]", line):
            parts.append((match[1], line))
        else:
            parts.append(("", line))
        name, part = parts[-1]
        complete = part.rstrip().endswith((";", "}")) and part.count("{") == part.count("}")
        within = bool(name) and not complete
    return parts


def _write(files: dict[Path, str]) -> None:
    """Write all files or none: each is complete beside its place before any is moved there."""
    folder = next(iter(files)).parent
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        if path.is_dir():
            raise IsADirectoryError(f"{str(path)!r} is a folder: remove it, or name another")
    with ExitStack() as stack:
        for path, text in files.items():
            create(stack.enter_context(replacing(path)), text)
