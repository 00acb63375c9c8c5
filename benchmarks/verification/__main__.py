"""Compute all figures, print them and write the page; exit code 1 if any falls short."""

from __future__ import annotations

import datetime
import sys
import time
from pathlib import Path

from benchmarks.common import machine

from .figure import Comparison, Figure, available, compare
from .page import line, markdown
from .subjects import SUBJECTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "verification.md"


def main() -> int:
    """Return 0 if every figure is within what is claimed."""
    begin, colour = time.process_time(), sys.stdout.isatty()
    compared: dict[str, list[Comparison]] = {}
    left_out: list[Figure] = []
    for subject in SUBJECTS:
        print(subject.title, flush=True)
        group = compared[subject.title] = []
        for figure in subject.figures:
            if not available(figure):
                left_out.append(figure)
                continue
            group.append(compare(figure))
            print(line(group[-1], colour), flush=True)
    on = f"{datetime.date.today()}: {machine()}"
    PAGE.write_text(markdown(compared, left_out, on), encoding="utf-8")
    every = [x for group in compared.values() for x in group]
    short = sum(not x.holds for x in every)
    print(
        f"{len(every)} figures, {short} fall short, {len(left_out)} left out for want of a package;"
        f" {time.process_time() - begin:.0f} s of this process"
    )
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
