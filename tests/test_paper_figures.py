"""Figures of the papers: each command of the page can be run, by the name of its paper."""

import subprocess
import sys

import pytest

from benchmarks.paper_figures import PAGE, ROOT, make_shell_line, read_commands
from nsopt.plots import FIGURES

COMMANDS = read_commands(PAGE.read_text(encoding="utf-8"))
pytestmark = pytest.mark.unit


def test_each_paper_has_commands_that_there_are():
    assert list(COMMANDS) == ["NLP-clearance", "CoPCoD", "RoM", "CHARMIE", "mobility"]
    for program, first, *words in (c.split() for own in COMMANDS.values() for c in own):
        if program == "python":
            assert (ROOT / first).is_file()
        elif "--what" in words:
            assert words[words.index("--what") + 1] in FIGURES


def test_a_command_runs_from_any_folder(tmp_path):
    line = make_shell_line("python benchmarks/paper_figures.py --help")
    told = subprocess.run(line, shell=True, check=True, cwd=tmp_path, capture_output=True).stdout
    assert b"{NLP-clearance,CoPCoD,RoM,CHARMIE,mobility}" in told
    assert make_shell_line("nsopt list") == f"{sys.executable} -m nsopt list"
