"""Write tables of pages in docs/measured/ anew, each by the command in the comment above it.

    python benchmarks/write_tables.py docs/measured/compliant_laws.md

    <!-- python benchmarks/compliant_laws.py -->
    what the last run wrote
    <!-- end -->

Of what a command prints the tables in Markdown count, and the line of ``common.machine``.
``--only WORD`` writes those alone whose command has that word.
"""

from __future__ import annotations

import argparse
import datetime
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^<!-- (python .+?) -->\n.*?^<!-- end -->$", re.DOTALL | re.MULTILINE)
MACHINE = re.compile(r"^.*\d cores, load .*$", re.MULTILINE)
TABLE = re.compile(r"^\|.*\|\n(?:\|.*\|\n?)+", re.MULTILINE)


def written(command: str, printed: str, day: datetime.date) -> str:
    """Return a block of a page from what its command printed.

    Raises
    ------
    ValueError
        If there is no table, or no line of the machine: the page keeps what it had.
    """
    machine, tables = MACHINE.search(printed), TABLE.findall(printed)
    if machine is None or not tables:
        missing = "line of common.machine" if tables else "table in Markdown"
        raise ValueError(f"{command} prints no {missing}: the page is left as it is")
    parts = [f"`{command}`, {day}: {machine[0].strip()}.", *(x.rstrip() for x in tables)]
    return f"<!-- {command} -->\n" + "\n\n".join(parts) + "\n\n<!-- end -->"


def printed_by(command: str) -> str:
    """Return what a command prints, run in the folder of the project."""
    _, *words = shlex.split(command)
    done = subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def rewrite(page: Path, only: str = "") -> list[str]:
    """Write the tables of a page anew; return the commands that were run."""
    text = page.read_text(encoding="utf-8")
    commands = [m[1] for m in BLOCK.finditer(text) if only in m[1]]
    for command in commands:
        block = written(command, printed_by(command), datetime.date.today())
        before = re.compile(rf"^<!-- {re.escape(command)} -->\n.*?^<!-- end -->$", re.S | re.M)
        text = before.sub(lambda _, block=block: block, text)
        page.write_text(text, encoding="utf-8")  # what is done stays if the next one fails
    return commands


def main() -> None:
    """Write the pages that are named."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--only", default="", help="a word of the commands to run")
    options = parser.parse_args()
    for page in options.pages:
        commands = rewrite(page, options.only)
        print(f"{page}: {len(commands)} tables: {'; '.join(commands) or 'none'}")


if __name__ == "__main__":
    main()
