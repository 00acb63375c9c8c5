"""Compiled functions against CasADi's virtual machine, and the cache against what may befall it.

Run as a script, this file is the other process of the tests: it compiles the chain and prints how
that went, see ``worker``.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import c_units, compile_native, native
from nsopt.mpcc.compiler import Compiler
from tests.mpcc.compilers import CC, forget, needs_compiler, script, swing

pytestmark = pytest.mark.usefixtures("folder")


def chain(length=10):
    """Implicit steps of a particle between walls, each solved by Newton's method on min maps."""
    P, state, h = ca.SX.sym("P", 2), ca.SX.sym("state", 2), ca.SX.sym("h")
    v = state[1] + h * ca.sin(3 * state[0]) + P[0] - P[1]
    q = state[0] + h * v
    residual = ca.Function("residual", [P, state, h], [ca.fmin(P, ca.vertcat(1 + q, 1 - q))])
    options = {"abstol": 1e-11, "max_iter": 60, "error_on_fail": False}
    solve = ca.rootfinder("solve", "fast_newton", residual, options)
    end = ca.Function("end", [P, state, h], [ca.vertcat(q, v)])
    s, t = ca.MX.sym("s", 2), ca.MX.sym("t")
    step = ca.Function("step", [s, t], [end(solve(0, s, t), s, t)], ["s", "h"], ["next"])
    return step.mapaccum("chain", length)


def worker():
    """Say ready, wait for a line, compile, and print the figures."""
    print("ready", flush=True)
    sys.stdin.readline()
    done = compile_native(chain())
    print(json.dumps([done.native, done.cached, values(done.function).tolist()]))


def values(function):
    """Evaluate at three random states: (2, 30)."""
    rng = np.random.default_rng(5)
    starts = rng.uniform([-1, -8], [1, 8], (3, 2))
    steps = rng.uniform(1e-3, 2e-1, (3, function.size2_in(1)))
    return np.hstack([np.array(function(s, h[None])) for s, h in zip(starts, steps, strict=True)])


def assert_right(compiled, function=None):
    """Compare with the virtual machine, to round-off; the swing unless told."""
    np.testing.assert_allclose(compiled, values(function or swing()), rtol=1e-13, atol=1e-13)


def processes(count):
    """Compile the chain in fresh processes that start together: native, cached, values of each."""
    command = [sys.executable, "-W", "error", __file__]
    pipe = subprocess.PIPE
    running = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        for _ in range(count)
    ]
    for process in running:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    ends = [process.communicate() for process in running]
    assert all(process.returncode == 0 for process in running), ends
    return [json.loads(out) for out, _ in ends]


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """Make the real compiler note its compilations; return a function that counts them."""
    log = tmp_path / "log"
    note = f'test "$1" = --version || echo compiled >> {log}'
    monkeypatch.setenv("CC", script(tmp_path / "counted", note, f'exec {CC} "$@"'))
    return lambda: len(log.read_text().splitlines()) if log.exists() else 0


def entries(folder):
    return sorted(path.suffix for path in folder.iterdir())


def the(folder, suffix):
    (path,) = folder.glob(f"*{suffix}")
    return path


# What is compiled


@needs_compiler
@pytest.mark.parametrize("length", [1, 7, 10, 100])
def test_compiled_equals_the_virtual_machine(length):
    function = chain(length)
    done = compile_native(function)
    assert (done.native, done.cached) == (True, False)
    assert done.function.name() == function.name()
    assert done.function.name_in() == function.name_in()
    assert done.seconds > 0
    assert_right(values(done.function), function)


@needs_compiler
def test_same_name_different_functions():
    x = ca.SX.sym("x", 3)
    square, cube = (compile_native(ca.Function("power", [x], [x**n])) for n in (2, 3))
    assert square.function(2).full().ravel().tolist() == [4, 4, 4]
    assert cube.function(2).full().ravel().tolist() == [8, 8, 8]


@needs_compiler
def test_rounding_is_that_of_single_operations(monkeypatch):
    """A fused multiply-add would give 2^-60 for the tail of this product."""
    if platform.machine() in ("x86_64", "AMD64"):
        monkeypatch.setenv("CC", f"{CC} -march=native")
    x, y, z = (ca.SX.sym(name) for name in "xyz")
    done = compile_native(ca.Function("tail", [x, y, z], [x, y, z, x * y - z]))
    a = 1 + 2.0**-30
    assert done.native
    assert float(done.function(a, a, a * a)[3]) == 0


@needs_compiler
def test_loaded_once_in_a_process(counted):
    first, second = compile_native(chain()), compile_native(chain())
    assert second.cached
    assert second.function is first.function
    assert counted() == 1


# The cache


@pytest.mark.slow
@needs_compiler
def test_second_process_does_not_compile(counted, folder):
    first = processes(1)[0]
    second = processes(1)[0]
    assert [first[:2], second[:2]] == [[True, False], [True, True]]
    assert second[2] == first[2]
    assert_right(np.array(first[2]), chain())
    assert counted() == 1
    assert entries(folder) == [".json", ".so"]
    assert folder.stat().st_mode & 0o777 == 0o700


@needs_compiler
def test_cache_serves_a_compiler_that_no_longer_compiles(tmp_path, monkeypatch):
    """The same compiler by another path, which now fails: its libraries are still good."""
    assert not compile_native(swing()).cached
    answer = f'test "$1" = --version && exec {CC} "$1"'
    monkeypatch.setenv("CC", script(tmp_path / Path(CC).name, answer, "exit 1"))
    forget(monkeypatch)
    done = compile_native(swing())
    assert done.cached
    assert_right(values(done.function))


@needs_compiler
def test_another_compiler_gets_its_own_entry(tmp_path, monkeypatch, folder):
    compile_native(swing())
    other = 'test "$1" = --version && echo other 1.0 && exit'
    for cc in (script(tmp_path / "other", other, f'exec {CC} "$@"'), f"{CC} -O1"):
        monkeypatch.setenv("CC", cc)
        assert not compile_native(swing()).cached
        assert compile_native(swing()).cached
    assert entries(folder) == [".json"] * 3 + [".so"] * 3


def flip(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGE = {
    "a bit of the library": (".so", flip),
    "half a library": (".so", lambda content: content[: len(content) // 2]),
    "an empty library": (".so", lambda content: b""),
    "more library": (".so", lambda content: content + b"\0"),
    "a bit of the manifest": (".json", flip),
    "half a manifest": (".json", lambda content: content[: len(content) // 2]),
    "an empty manifest": (".json", lambda content: b""),
    "no text": (".json", lambda content: b"\xff\xfe"),
}


@needs_compiler
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_entry_is_rebuilt(damage, folder, counted, monkeypatch):
    suffix, change = DAMAGE[damage]
    compile_native(swing())
    path = the(folder, suffix)
    sound = path.read_bytes()
    path.write_bytes(change(sound))
    assert_rebuilt(monkeypatch, counted)
    assert path.read_bytes() == sound


@needs_compiler
@pytest.mark.parametrize("suffixes", [[".json"], [".so"], [".so", ".json"]])
def test_entry_of_another_function_is_rebuilt(suffixes, tmp_path, folder, counted, monkeypatch):
    x = ca.SX.sym("x")
    compile_native(ca.Function("chain", [x], [x]), folder=tmp_path / "other")
    compile_native(swing())
    for suffix in suffixes:
        shutil.copy(the(tmp_path / "other", suffix), the(folder, suffix))
    assert_rebuilt(monkeypatch, counted, before=2)


@needs_compiler
@pytest.mark.parametrize("suffix", [".so", ".json"])
def test_missing_half_is_rebuilt(suffix, folder, counted, monkeypatch):
    compile_native(swing())
    the(folder, suffix).unlink()
    assert_rebuilt(monkeypatch, counted)


def assert_rebuilt(monkeypatch, counted, before=1):
    """Compile again as fresh processes would: anew, then from the cache, both times right."""
    for cached in (False, True):
        forget(monkeypatch)
        done = compile_native(swing())
        assert done.native
        assert done.cached == cached
        assert_right(values(done.function))
    assert counted() == before + 1


@needs_compiler
def test_verified_library_that_does_not_load_is_rebuilt(folder, counted, monkeypatch):
    """As one made on another machine, in a folder that both see."""
    compile_native(swing())
    build = native._Build.of(native.found_compiler(), swing())
    build.entry.write(b"not a library", folder)
    assert build.entry.read(folder) == b"not a library"
    assert_rebuilt(monkeypatch, counted)


@needs_compiler
def test_loaded_code_outlives_its_entry(folder):
    """Truncating a library in place would end a process that had mapped it."""
    done = compile_native(swing())
    the(folder, ".so").write_bytes(b"")
    shutil.rmtree(folder)
    assert_right(values(done.function))


@pytest.mark.slow
@needs_compiler
def test_two_processes_at_once(counted, folder):
    both = processes(2)
    assert all(done[0] for done in both)
    assert both[0][2] == both[1][2]
    assert_right(np.array(both[0][2]), chain())
    compiled = counted()
    assert 1 <= compiled <= 2
    assert entries(folder) == [".json", ".so"]
    assert compile_native(chain()).cached
    assert counted() == compiled


@needs_compiler
def test_unusable_folder(folder):
    """A file stands where the folder should: not even root can write there."""
    folder.write_text("")
    with pytest.warns(RuntimeWarning, match=r"cache cannot be used .* NSOPT_CACHE") as said:
        done = [compile_native(swing(n)) for n in (3, 4, 3)]
    assert len(said) == 1
    assert [(d.native, d.cached) for d in done] == [(True, False), (True, False), (True, True)]
    assert_right(values(done[0].function), swing(3))


@needs_compiler
def test_folder_that_others_may_write_to_is_not_trusted(folder, counted, monkeypatch):
    compile_native(swing())
    folder.chmod(0o777)
    forget(monkeypatch)
    with pytest.warns(RuntimeWarning, match="others may write to it"):
        done = compile_native(swing())
    assert not done.cached
    assert counted() == 2


def give_away(file):
    """Make a file another user's, as far as this one may."""
    if os.getuid() == 0:
        os.chown(file, 12345, -1)
    else:
        file.chmod(0o666)


def share(file):
    file.chmod(0o666)


def link(file):
    """Put the file elsewhere, a link in its place."""
    elsewhere = file.parent.parent / f"elsewhere{file.suffix}"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


@needs_compiler
@pytest.mark.parametrize("suffix", [".so", ".json"])
@pytest.mark.parametrize("how", [give_away, share, link])
def test_files_that_others_may_have_written_are_not_loaded(
    folder, counted, monkeypatch, suffix, how
):
    """Also in a folder of one's own; a new entry takes their place."""
    before = os.umask(0)
    compile_native(swing())
    os.umask(before)
    (file,) = folder.glob(f"*{suffix}")
    how(file)
    for cached, times in ((False, 2), (True, 2)):
        forget(monkeypatch)
        assert compile_native(swing()).cached is cached
        assert counted() == times


if __name__ == "__main__":
    worker()


@needs_compiler
def test_long_code_is_several_units(monkeypatch):
    """Of functions that call each other, and what CasADi defines for them, across units."""
    monkeypatch.setattr(native, "LONG", 4_000)
    monkeypatch.setattr(native, "processes", lambda: 3)
    monkeypatch.setattr(c_units, "SHORT", 500)
    function = towers()
    source = native.generated(function)
    units = c_units.units_of(source, 3)
    assert len(units) == 3
    assert max(map(len, units)) < 0.7 * len(source)
    done = compile_native(function)
    assert done.native
    given = 0.3, np.linspace(-2, 2, 20)
    for found, expected in zip(done.function(*given), function(*given), strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-13)


@pytest.mark.parametrize(
    ("flags", "expected"), [("", True), ("-g", True), ("-O0", False), ("-g -O2", False)]
)
def test_long_functions_ask_for_less_unless_a_level_is_stated(monkeypatch, flags, expected):
    for name in ("LONG", "LINES"):
        monkeypatch.setattr(native, name, 10)
    monkeypatch.setenv("NSOPT_CFLAGS", flags)
    compiler = Compiler(("cc",), "cc 1")
    units = native._Build.of(compiler, towers()).units()
    assert any("optimize(" in unit for unit in units) == expected


def towers():
    """Functions of a number each of which calls the one before twice, and of a vector its parts."""
    x, v, y = ca.SX.sym("x"), ca.SX.sym("v", 20), ca.SX.sym("y", 20)
    f = ca.Function("ground", [x, v], [ca.sin(x) + v, ca.fmax(v, x)], {"never_inline": True})
    for k in range(4):
        a, b = (ca.MX.sym(name, n) for name, n in (("a", 1), ("b", 20)))
        low, high = f(a, b[::-1])
        again, _ = f(ca.norm_2(low), ca.vertcat(high[10:], low[:10]))
        own = ca.Function(
            f"own{k}", [x, v, y], [ca.cos(v * x) + ca.sin(y) / (k + 1), ca.exp(-v * v)]
        )
        f = ca.Function(f"floor{k}", [a, b], own(ca.norm_inf(high), again, low))
    return f
