"""Object code on the disk: used again, by its content, and made anew where it was changed."""

import subprocess
import sys

import casadi as ca
import pytest

from nsopt.leaves import Leaf, leaf
from tests.leaves.functions import assert_same_bits, compiled, interpret, sx
from tests.leaves.waiting import finish

X, P = [0.3, 0.4], [2.0]


def swing(length=1.0):
    x, p = sx(2, 1)
    return ca.Function("swing", [x, p], [ca.vertcat(x[1], -length * p * ca.sin(x[0]))])


@pytest.fixture
def made(monkeypatch):
    """Count the modules that LLVM compiles."""
    modules = []

    def note(module, level, *tell):
        modules.append(level)
        return make(module, level, *tell)

    make = leaf.make_object
    monkeypatch.setattr(leaf, "make_object", note)
    return modules


def test_code_is_used_again(folder, made):
    for _ in range(2):
        assert_same_bits(compiled(Leaf(swing()))(X, P), interpret(swing(), X, P))
    assert made == [0]
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".o"]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_functions_that_differ_in_numbers_alone_share_code(folder, made):
    leaves = [compiled(Leaf(swing(length))) for length in (0.7, 1.3, 0.7)]
    for found, length in zip(leaves, (0.7, 1.3, 0.7), strict=True):
        assert_same_bits(found(X, P), interpret(swing(length), X, P))
    assert made == [0]


def test_numbers_that_change_what_is_computed_make_other_code(folder, made):
    for length in (0.7, 1.0, 0.0):  # a product, none, and nothing
        assert_same_bits(compiled(Leaf(swing(length)))(X, P), interpret(swing(length), X, P))
    assert made == [0, 0, 0]


def test_good_code_on_the_disk_comes_first(folder, made):
    Leaf(swing()).compile(2)
    other = Leaf(swing())
    other.improve()
    finish()
    assert other.code.level == 2
    assert made == [2]


@pytest.mark.parametrize("suffix", [".o", ".json"])
def test_changed_code_is_made_anew(suffix, folder, made):
    Leaf(swing()).compile(0)
    (path,) = folder.glob(f"*{suffix}")
    sound = path.read_bytes()
    middle = len(sound) // 2
    path.write_bytes(sound[:middle] + bytes([sound[middle] ^ 1]) + sound[middle + 1 :])
    assert_same_bits(compiled(Leaf(swing()))(X, P), interpret(swing(), X, P))
    assert made == [0, 0]
    assert path.read_bytes() == sound


def test_folder_that_others_may_write_to_is_not_trusted(folder, made, monkeypatch):
    monkeypatch.setattr("nsopt.kept_code._said", set())
    Leaf(swing()).compile(0)
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="others may write to it"):
        Leaf(swing()).compile(0)
    assert made == [0, 0]


@pytest.mark.slow
def test_second_process_compiles_nothing(folder):
    code = (
        "from nsopt.leaves import Leaf, leaf\n"
        "from tests.leaves.test_kept import X, P, swing\n"
        "leaf.make_object = None\n"
        "made = Leaf(swing())\n"
        "made.compile(0)\n"
        "print(made(X, P).tolist())\n"
    )
    expected = compiled(Leaf(swing()))(X, P).tolist()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{expected}\n"
