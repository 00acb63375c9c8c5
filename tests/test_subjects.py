"""Subjects of commits: which are refused, and why."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

SCRIPT = Path(__file__).resolve().parents[1] / ".ci" / "subjects.py"


@pytest.fixture(scope="module")
def subjects():
    spec = importlib.util.spec_from_file_location("subjects", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        ("Say in the summary how many impacts only a smaller h would tell apart", "characters"),
        ("Count turns of springs; tell angles that jump", "several purposes"),
        ("count turns of springs", "small letter"),
        ("fixup! Count turns of springs", "small letter"),
        ("Count turns of springs.", "full stop"),
        ("Counted turns of springs", "imperative"),
        ("Counting turns of springs", "imperative"),
        ("", "small letter"),
    ],
)
def test_a_bad_subject_is_refused(subjects, subject, fault):
    assert fault in " ".join(subjects.find_faults(subject))


@pytest.mark.parametrize("subject", ["Count turns of springs", "Speed up chains", "S" + "o" * 59])
def test_a_good_subject_is_accepted(subjects, subject):
    assert subjects.find_faults(subject) == []


def test_the_script_ends_with_what_is_wrong():
    said = subprocess.run(
        [sys.executable, SCRIPT, "Counted turns; told angles"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 1
    assert said.stdout.count("commit 'Counted turns; told angles'") == 2
