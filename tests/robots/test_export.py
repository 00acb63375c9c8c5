"""Exported C, compiled by itself without mercy for warnings, against the CasADi function."""

import itertools
import re
import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest

from nsopt import Prismatic
from nsopt.robots import DHRow, export_c, forward_dynamics, inverse_dynamics, serial_from_dh
from tests.mpcc.compilers import CC, needs_compiler

STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=off"]


def arm():
    rows = [
        DHRow(0.4, 0.5, 0.1, 0.2, mass=2.0, com=(-0.2, 0.01, 0.02), inertia=(0.02, 0.03, 0.04)),
        DHRow(0.3, -1.0, 0.0, 0.1, mass=1.0, com=(-0.1, 0.02, 0.0), inertia=(0.01, 0.02, 0.02)),
        DHRow(0.1, 0.3, 0.2, joint=Prismatic, mass=0.5, inertia=(1e-3, 1e-3, 1e-3)),
    ]
    return serial_from_dh(rows)


def with_solvers():
    """Inner functions, a map, linear equations, Newton's method, branches and infinity."""
    x, A, y = ca.MX.sym("x", 3, 4), ca.MX.sym("A", 4, 4), ca.MX.sym("y")
    s = ca.SX.sym("s", 3)
    inner = ca.Function("inner", [s], [ca.sin(s) * ca.fmax(s[0], 0), ca.sign(s[1])])
    u, v = inner.map(4)(x)
    z, p = ca.SX.sym("z"), ca.SX.sym("p")
    root = ca.rootfinder("root", "fast_newton", ca.Function("r", [z, p], [z**3 + z - p]))
    outputs = [u, ca.solve(A, v.T), root(1, y), ca.if_else(y > 0, y, ca.inf), ca.norm_fro(A)]
    names = ["u", "solution", "root", "branch", "norm"]
    return ca.Function("with_solvers", [x, A, y], outputs, ["x", "A", "w"], names)


def without_arguments():
    return ca.Function("constants", [], [ca.DM([[1, 2], [3, 4]])], [], ["value"])


FUNCTIONS = [
    lambda: inverse_dynamics(arm()),
    lambda: forward_dynamics(arm()),
    with_solvers,
    without_arguments,
]


def main(function):
    """A C program that reads inputs, calls twice and prints outputs."""
    name, inputs, outputs = function.name(), function.name_in(), function.name_out()
    lines = ["#include <stdio.h>", f'#include "{name}.h"', "int main(void) {"]
    lines += [f"  double {word}[{name.upper()}_{word.upper()}_SIZE];" for word in inputs + outputs]
    lines.append("  int i;")
    for word in inputs:
        size = f"{name.upper()}_{word.upper()}_SIZE"
        lines.append(f'  for (i = 0; i < {size}; i++) if (scanf("%lf", {word} + i) != 1) return 9;')
    lines += [f"  if ({name}({', '.join(inputs + outputs)})) return 8;"] * 2
    for word in outputs:
        size = f"{name.upper()}_{word.upper()}_SIZE"
        lines.append(f'  for (i = 0; i < {size}; i++) printf("%.17g\\n", {word}[i]);')
    return "\n".join([*lines, "  return 0;", "}", ""])


def run(words, folder, text=None):
    done = subprocess.run(
        words, cwd=folder, input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_compiler
@pytest.mark.parametrize("make", FUNCTIONS)
def test_a_c_program_computes_the_same(make, tmp_path):
    function = make()
    source, header = export_c(function, tmp_path)
    name = function.name()
    assert (source.name, header.name) == (f"{name}.c", f"{name}.h")
    assert {path.name for path in tmp_path.iterdir()} == {source.name, header.name}
    (tmp_path / "main.c").write_text(main(function))
    run([CC, *STRICT, "main.c", source.name, "-o", "program", "-lm"], tmp_path)
    rng = np.random.default_rng(3)
    for _ in range(3):
        inputs = [rng.normal(size=function.size_in(i)) for i in range(function.n_in())]
        text = "\n".join(f"{x:.17g}" for array in inputs for x in array.ravel(order="F"))
        printed = np.array(run(["./program"], tmp_path, text).split(), dtype=float)
        values = function.call([ca.DM(x) for x in inputs])
        expected = np.concatenate([np.array(x).ravel(order="F") for x in values])
        least = np.abs(expected).min()
        np.testing.assert_allclose(printed, expected, rtol=1e-15, atol=1e-15 * least)


@needs_compiler
@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm on this machine")
@pytest.mark.parametrize("make", FUNCTIONS)
def test_nothing_else_is_visible_to_a_linker(make, tmp_path):
    source, _ = export_c(make(), tmp_path)
    run([CC, *STRICT, "-c", source.name, "-o", "code.o"], tmp_path)
    rows = [line.split() for line in run(["nm", "-g", "code.o"], tmp_path).splitlines()]
    defined = [row[-1] for row in rows if row[-2] != "U"]
    assert [name.lstrip("_") for name in defined] == [source.stem]
    library = {"sin", "cos", "sqrt", "fmax", "fmin", "fabs", "sincos", "memset", "memcpy"}
    assert {row[-1].lstrip("_") for row in rows if row[-2] == "U"} <= library


def test_only_the_c_library_is_included(tmp_path):
    for make in FUNCTIONS:
        for path in export_c(make(), tmp_path):
            for name in re.findall(r"#include (\S+)", path.read_text()):
                assert name in ("<math.h>", "<string.h>", f'"{path.stem}.h"')


def test_the_header_tells_lengths_and_whether_calls_may_overlap(tmp_path):
    _, header = export_c(inverse_dynamics(arm()), tmp_path)
    text = header.read_text()
    for word in ("Q", "V", "A", "TAU"):
        assert f"#define INVERSE_DYNAMICS_{word}_SIZE 3 " in text
    assert "Re-entrant" in text
    assert "column by column" in text
    _, header = export_c(with_solvers(), tmp_path / "new" / "folder")
    assert "not re-entrant" in header.read_text()
    assert "#define WITH_SOLVERS_A_SIZE 16 /* 4 x 4 */" in header.read_text()


def simple(name="f", words=("x", "y")):
    x = ca.SX.sym("x")
    return ca.Function(name, [x], [x**2], [words[0]], [words[1]])


def refused():
    x = ca.SX.sym("x", 2)
    z = ca.SX.sym("z")
    system = ca.Function("r", [z], [z**3 - 1])
    root = ca.rootfinder("root", "kinsol", system)
    w = ca.MX.sym("w")
    return [
        (
            ca.Function("f", [x], [ca.diag(x)], ["x"], ["D"]),
            "'D' of function 'f' is sparse, 2 of 4",
        ),
        (
            ca.Function("f", [ca.SX.sym("x", ca.Sparsity.lower(2))], [x[0] * 0], ["L"], ["y"]),
            "'L' of function 'f' is sparse, 3 of 4",
        ),
        (simple("double"), "C takes no name 'double'"),
        (simple("atan2"), "name 'atan2' is taken by the C library"),
        (simple("f", ("int", "y")), "C takes no name 'int'"),
        (simple("f", ("casadi_w", "y")), "'casadi_w' is one of CasADi's own"),
        (simple("f", ("q", "Q")), "named 'Q' but for case"),
        (ca.Function("f", [w], [root(w)], ["w"], ["z"]), "CasADi has no C for a solver"),
    ]


@pytest.mark.parametrize(("function", "message"), refused())
def test_what_has_no_c_is_refused(function, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        export_c(function, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(NotADirectoryError, match=r"file' is a file: name a folder"):
        export_c(simple(), tmp_path / "file")
    assert (tmp_path / "file").read_text() == "kept"


def test_old_files_stay_whole_where_writing_fails(tmp_path, monkeypatch):
    export_c(simple(), tmp_path)
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    written = itertools.count()

    def full(path, text):
        if next(written):
            raise OSError(28, "no space left")
        path.write_text(text)

    monkeypatch.setattr("nsopt.robots.export.create", full)
    x = ca.SX.sym("x")
    with pytest.raises(OSError, match="no space left"):
        export_c(ca.Function("f", [x], [x**3], ["x"], ["y"]), tmp_path)
    monkeypatch.undo()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_a_folder_in_the_way_is_named(tmp_path):
    (tmp_path / "f.h").mkdir()
    with pytest.raises(IsADirectoryError, match=r"f\.h' is a folder"):
        export_c(simple(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["f.h"]
