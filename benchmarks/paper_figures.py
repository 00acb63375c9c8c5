"""Draw the figures of a paper, by the commands of docs/measured/paper_figures.md.

    python benchmarks/paper_figures.py CoPCoD

runs what stands below that heading in results/papers/CoPCoD, where the pictures are then.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measured" / "paper_figures.md"
PART = re.compile(r"^## (\S+)\n.*?^```\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SCRIPT = re.compile(r"^python (?=\w+/)")


def read_commands(text: str) -> dict[str, list[str]]:
    """Return the commands below each heading of a page."""
    return {name: block.splitlines() for name, block in PART.findall(text)}


def make_shell_line(command: str) -> str:
    """Return a command of the page as a shell runs it from any folder, by this Python."""
    by_script = SCRIPT.sub(f"{sys.executable} {ROOT}/", command)
    return re.sub(r"^nsopt ", f"{sys.executable} -m nsopt ", by_script)


def main() -> None:
    """Run the commands of a paper, and tell how long each took."""
    known = read_commands(PAGE.read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper", choices=list(known))
    paper = parser.parse_args().paper
    folder = ROOT / "results" / "papers" / paper
    folder.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    for command in known[paper]:
        begun = time.perf_counter()
        run = {"cwd": folder, "env": os.environ | {"PYTHONPATH": path, "MPLBACKEND": "Agg"}}
        subprocess.run(make_shell_line(command), shell=True, check=True, **run)
        print(f"{time.perf_counter() - begun:.0f} s: {command}", flush=True)


if __name__ == "__main__":
    main()
