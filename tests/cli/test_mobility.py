"""``nsopt mobility``, as a user calls it."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nsopt.cli import BAD_INPUT
from tests.cli.commands import call, complaint

ALONE = '''"""A four-bar linkage."""
from nsopt import *
from nsopt.mobility import linkage
mechanism = linkage([(0, 0, 1, y, -x, 0) for x, y in ((0, 0), (0.5, 1), (1.6, 1.2), (2, 0))])
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("linkage_alone.py").write_text(ALONE)
    return tmp_path


@pytest.mark.slow
def test_a_mechanism_alone(folder):
    output = call("mobility", "linkage_alone.py", "--order", 3).output
    assert "it moves with 1 freedom" in output
    assert "freedom by counting     -2" in output
    assert "3 of 'joint 4'" in output
    assert np.ptp(np.asarray(Image.open("results/linkage_alone_mobility.png"))) > 0


@pytest.mark.slow
def test_the_mechanism_of_a_problem(folder):
    output = call("mobility", "bricard", "--order", 2, "--out", "b.svg").output
    assert "freedom by counting     0" in output
    assert "it moves with 1 freedom" in output
    assert Path("b.svg").is_file()


def test_refusals(folder):
    assert "no loop" in complaint("mobility", "double_pendulum")
    assert "defines a mechanism alone: nsopt mobility" in complaint("run", "linkage_alone.py")
    Path("none.py").write_text('"""None."""\n')
    assert "none.py defines no mechanism" in complaint("mobility", "none.py")
    assert "unknown parameter 'mass'" in complaint(
        "mobility", "linkage_alone.py", "--set", "mass=1"
    )
    call("mobility", "linkage_alone.py", "--order", 0, code=BAD_INPUT)


def test_it_is_listed_as_such():
    listed = call("list").output.partition("nsopt mobility")[2]
    assert "bennett" in listed
    assert "bricard" not in listed
