"""A library of C by its numbers, the cache against what may befall it, and where nothing compiles.

Run as a script, this file is the other process of the tests, see ``worker``.
"""

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nsopt.mpcc.backends import linear_solver
from nsopt.mpcc.backends.linear_solver import compile_library
from tests.mpcc.compilers import CC, needs_compiler, script

pytestmark = pytest.mark.usefixtures("folder")

EXPORT = '__attribute__((visibility("default")))'


def power(n=3):
    """C code of x^n, in two units one of which calls the other."""
    multiply = "double multiply(double x, double y)"
    product = "multiply(x, " * (n - 1) + "x" + ")" * (n - 1)
    return [
        f"{multiply};\n{EXPORT} double power(double x) {{ return {product}; }}\n",
        f"{multiply} {{ return x * y; }}\n",
    ]


def compiled(n=3):
    return compile_library("power", power(n))


def value(path, *x, name="power"):
    """Call a function of numbers."""
    function = ctypes.CDLL(str(path))[name]
    function.argtypes, function.restype = [ctypes.c_double] * len(x), ctypes.c_double
    return function(*x)


def worker():
    """Say ready, wait for a line, compile, and print the cube of two."""
    print("ready", flush=True)
    sys.stdin.readline()
    print(value(compiled(), 2.0))


def processes(count):
    """Compile in fresh processes that start together; return the cube of two of each."""
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
    return [float(out) for out, _ in ends]


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """Make the real compiler note its libraries; return a function that counts them."""
    log = tmp_path / "log"
    note = f'case "$*" in *library.so*) echo compiled >> {log};; esac'
    monkeypatch.setenv("CC", script(tmp_path / "counted", note, f'exec {CC} "$@"'))
    return lambda: len(log.read_text().splitlines()) if log.exists() else 0


def kept(folder):
    """Return how many libraries are kept; leaves of other tests may be on their way there too."""
    found = list(folder.glob("*.so"))
    assert all(path.with_suffix(".json").exists() for path in found)
    return len(found)


def the(folder, suffix):
    (path,) = folder.glob("*.so")
    return path.with_suffix(suffix)


# What is compiled


@needs_compiler
def test_units_call_each_other():
    assert value(compiled(), 1.5) == 1.5**3


@needs_compiler
def test_other_code_of_the_same_name(folder):
    assert [value(compiled(n), 2.0) for n in (1, 2, 3)] == [2.0, 4.0, 8.0]
    assert kept(folder) == 3


@needs_compiler
def test_rounding_is_that_of_single_operations(monkeypatch):
    """A fused multiply-add would give 2^-60 for the tail of this product."""
    monkeypatch.setenv("NSOPT_CFLAGS", "-O2")
    if platform.machine() in ("x86_64", "AMD64"):
        monkeypatch.setenv("CC", f"{CC} -march=native")
    tail = f"{EXPORT} double tail(double x, double y, double z) {{ return x * y - z; }}\n"
    a = 1 + 2.0**-30
    assert value(compile_library("tail", [tail]), a, a, a * a, name="tail") == 0


@needs_compiler
@pytest.mark.skipif(sys.platform == "darwin", reason="its linker is not asked")
def test_what_is_not_defined_is_refused_when_linked():
    """Not found out in the middle of a run."""
    with pytest.raises(RuntimeError, match="multiply"):
        compile_library("power", power()[:1])


# The cache


@pytest.mark.slow
@needs_compiler
def test_second_process_does_not_compile(counted, folder):
    assert processes(1) + processes(1) == [8.0, 8.0]
    assert counted() == 1
    assert kept(folder) == 1
    assert folder.stat().st_mode & 0o777 == 0o700


@needs_compiler
def test_cache_serves_a_compiler_that_no_longer_compiles(tmp_path, monkeypatch):
    """The same compiler by another path, which now fails: its libraries are still good."""
    compiled()
    answer = f'test "$1" = --version && exec {CC} "$1"'
    monkeypatch.setenv("CC", script(tmp_path / Path(CC).name, answer, "exit 1"))
    assert value(compiled(), 2.0) == 8


@needs_compiler
def test_another_compiler_gets_its_own_entry(tmp_path, monkeypatch, folder):
    compiled()
    other = 'test "$1" = --version && echo other 1.0 && exit'
    for k, cc in enumerate([script(tmp_path / "other", other, f'exec {CC} "$@"'), f"{CC} -O1"]):
        monkeypatch.setenv("CC", cc)
        for _ in range(2):
            assert value(compiled(), 2.0) == 8
            assert kept(folder) == k + 2


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
def test_damaged_entry_is_rebuilt(damage, folder, counted):
    suffix, change = DAMAGE[damage]
    compiled()
    path = the(folder, suffix)
    sound = path.read_bytes()
    path.write_bytes(change(sound))
    assert_rebuilt(counted)
    assert path.read_bytes() == sound


@needs_compiler
@pytest.mark.parametrize("suffixes", [[".json"], [".so"], [".so", ".json"]])
def test_entry_of_other_code_is_rebuilt(suffixes, tmp_path, folder, counted, monkeypatch):
    monkeypatch.setenv("NSOPT_CACHE", str(tmp_path / "other"))
    compiled(2)
    monkeypatch.setenv("NSOPT_CACHE", str(folder))
    compiled()
    for suffix in suffixes:
        shutil.copy(the(tmp_path / "other", suffix), the(folder, suffix))
    assert_rebuilt(counted, before=2)


@needs_compiler
@pytest.mark.parametrize("suffix", [".so", ".json"])
def test_missing_half_is_rebuilt(suffix, folder, counted):
    compiled()
    the(folder, suffix).unlink()
    assert_rebuilt(counted)


def assert_rebuilt(counted, before=1):
    """Compile anew, then take what is kept, both times right."""
    for _ in range(2):
        assert value(compiled(), 2.0) == 8
        assert counted() == before + 1


@needs_compiler
def test_verified_library_that_does_not_load_is_rebuilt(folder, counted, monkeypatch):
    """As one made on another machine, in a folder that both see."""
    with monkeypatch.context() as patch:
        patch.setattr(linear_solver, "_compile", lambda *_: b"not a library")
        patch.setattr(linear_solver, "_load", lambda code: code)
        assert compiled() == b"not a library"
    assert the(folder, ".so").read_bytes() == b"not a library"
    compiled()
    assert counted() == 1
    assert value(compiled(), 2.0) == 8
    assert counted() == 1


@needs_compiler
def test_loaded_code_outlives_its_entry(folder):
    """Truncating a library in place would end a process that had mapped it."""
    path = compiled()
    the(folder, ".so").write_bytes(b"")
    shutil.rmtree(folder)
    assert value(path, 2.0) == 8


@pytest.mark.slow
@needs_compiler
def test_two_processes_at_once(counted, folder):
    assert processes(2) == [8.0, 8.0]
    made = counted()
    assert 1 <= made <= 2
    assert kept(folder) == 1
    compiled()
    assert counted() == made


@needs_compiler
def test_unusable_folder(folder):
    """A file stands where the folder should: not even root can write there."""
    folder.write_text("")
    with pytest.warns(RuntimeWarning, match=r"cannot be used .* NSOPT_CACHE") as said:
        assert [value(compiled(n), 2.0) for n in (2, 3, 2)] == [4, 8, 4]
    assert len(said) == 1


@needs_compiler
def test_folder_that_others_may_write_to_is_not_trusted(folder, counted):
    compiled()
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="others may write to it"):
        compiled()
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
def test_files_that_others_may_have_written_are_not_loaded(folder, counted, suffix, how):
    """Also in a folder of one's own; a new entry takes their place."""
    before = os.umask(0)
    compiled()
    os.umask(before)
    how(the(folder, suffix))
    assert_rebuilt(counted)


# Where nothing compiles


@pytest.mark.parametrize("cc", ["/no/such/compiler", "no-such-compiler -x", "false", "'unbalanced"])
def test_without_a_compiler(cc, monkeypatch):
    monkeypatch.setenv("CC", cc)
    with pytest.warns(RuntimeWarning, match="no C compiler") as said:
        assert [linear_solver.library() for _ in range(2)] == [None, None]
    assert len(said) == 1


def test_no_compiler_on_the_path(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"tried cc, gcc, clang.*install gcc or clang, or set"):
        compiled()


@needs_compiler
def test_compile_error(tmp_path, monkeypatch, folder):
    """Told once, by the compiler's first lines; not tried again."""
    lines = [f"echo unit0.c:{i}: wrong >&2" for i in range(9)]
    fails = 'test "$1" = --version && echo fails 1.0 && exit'
    # Units are compiled at the same time: one of them tells.
    once = f"mkdir {tmp_path}/begun 2>/dev/null || exit 1"
    monkeypatch.setenv("CC", script(tmp_path / "fails", fails, once, *lines, "exit 1"))
    with pytest.warns(RuntimeWarning, match=r"unit0.c:0: wrong") as said:
        assert [linear_solver.library() for _ in range(2)] == [None, None]
    assert len(said) == 1
    assert "unit0.c:4" in str(said[0].message)
    assert "unit0.c:5" not in str(said[0].message)
    assert not kept(folder)


if __name__ == "__main__":
    worker()
