"""Where nothing compiles: CasADi's virtual machine takes over, and says so once."""

import casadi as ca
import pytest

from nsopt.mpcc import compile_native
from tests.mpcc.compilers import needs_compiler, script, swing

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("cc", ["/no/such/compiler", "no-such-compiler -x", "false", "'unbalanced"])
def test_without_a_compiler(cc, monkeypatch):
    monkeypatch.setenv("CC", cc)
    function = swing()
    with pytest.warns(RuntimeWarning, match="virtual machine") as said:
        done = [compile_native(f) for f in (function, swing(3))]
    assert len(said) == 1
    assert done[0].function is function
    assert not any(d.native or d.cached for d in done)


def test_no_compiler_on_the_path(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.warns(RuntimeWarning, match=r"tried cc, gcc, clang.*install gcc or clang, or set"):
        assert not compile_native(swing()).native


@needs_compiler
def test_compile_error(tmp_path, monkeypatch, folder):
    lines = [f"echo native0.c:{i}: wrong >&2" for i in range(9)]
    fails = 'test "$1" = --version && echo fails 1.0 && exit', f"echo x >> {tmp_path}/log", *lines
    monkeypatch.setenv("CC", script(tmp_path / "fails", *fails, "exit 1"))
    function = swing()
    with pytest.warns(RuntimeWarning, match=r"native0.c:0: wrong") as said:
        done = [compile_native(function), compile_native(function)]
    assert len(said) == 1
    assert "native0.c:4" in str(said[0].message)
    assert "native0.c:5" not in str(said[0].message)
    assert all(d.function is function and not d.native for d in done)
    assert (tmp_path / "log").read_text() == "x\n"
    assert not folder.exists()


@needs_compiler
def test_function_that_calls_compiled_code_falls_back():
    """Its C lacks the inner library: refused when linked, not found out in the middle of a run."""
    x = ca.MX.sym("x")
    inner = compile_native(ca.Function("inner", [x], [x * x])).function
    outer = ca.Function("outer", [x], [inner(x) + 1])
    with pytest.warns(RuntimeWarning, match="'outer' runs in CasADi's virtual machine"):
        done = compile_native(outer)
    assert not done.native
    assert float(done.function(3)) == 10
