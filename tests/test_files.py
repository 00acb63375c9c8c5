"""Files are whole or not there, whoever else writes them and whatever goes wrong."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import nsopt
from nsopt.files import NotWrittenError, check_writable, create, replacing, tell_exposure
from nsopt.sweep.store import SOURCES


@pytest.mark.parametrize("durable", [False, True])
def test_an_error_leaves_the_file_as_it_was(tmp_path, durable):
    path = tmp_path / "x.nc"
    path.write_text("old")

    def break_off():
        with replacing(path, durable=durable) as new:
            new.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert [file.name for file in tmp_path.iterdir()] == ["x.nc"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("durable", [False, True])
def test_nothing_is_seen_before_the_file_is_whole(tmp_path, durable):
    path = tmp_path / "x.nc"
    with replacing(path, durable=durable) as new:
        assert new.suffix == ".nc"
        new.write_text("whole")
        assert not path.exists()
    assert [file.name for file in tmp_path.iterdir()] == ["x.nc"]
    assert path.read_text() == "whole"


def test_writers_of_one_file_do_not_meet(tmp_path):
    """All of them write half before any goes on: one of the whole texts is there at the end."""
    path, both = tmp_path / "x.nc", Barrier(4)

    def write(letter):
        with replacing(path) as new, new.open("w") as file:
            file.write(5 * letter)
            file.flush()
            both.wait(60)
            file.write(5 * letter)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, "abcd"))
    assert path.read_text() in [10 * letter for letter in "abcd"]
    assert len(list(tmp_path.iterdir())) == 1


def test_stored_points_depend_on_sources_that_exist():
    """Else a point of an older program would be taken for one of this program."""
    package = Path(nsopt.__file__).parent
    assert all(any((package / name).rglob("*.py")) for name in SOURCES)


@pytest.mark.unit
@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_written_through_a_link(tmp_path, there):
    """Neither to what it leads to nor in its place."""
    target, link = tmp_path / "target.nc", tmp_path / "x.nc"
    if there:
        target.write_text("old")
    link.symlink_to(target)
    with pytest.raises(OSError, match="it is a link to"):
        check_writable(link)
    with pytest.raises(FileExistsError):
        create(link, "new")
    with pytest.raises(NotWrittenError, match="it is a link to"), replacing(link) as new:
        create(new, "new")
    assert link.is_symlink()
    assert target.exists() == there
    assert not there or target.read_text() == "old"
    assert len([*tmp_path.iterdir()]) == 1 + there


@pytest.mark.unit
@pytest.mark.skipif(os.name != "posix", reason="no permissions of this kind")
@pytest.mark.parametrize(
    ("mode", "told"), [(0o700, ""), (0o775, ""), (0o777, "every user"), (0o1777, "")]
)
def test_folders_in_which_others_replace_files(tmp_path, mode, told):
    tmp_path.chmod(mode)
    found = tell_exposure(tmp_path)
    assert (told in found) if told else not found
