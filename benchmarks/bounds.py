"""The bounds that nsopt holds itself to, measured again; an error where one is missed.

``python3 benchmarks/bounds.py`` measures all; ``bounds.py starts contact`` some groups; ``--list``
only names them. ``--keep`` writes each figure, as it is found, to ``benchmarks/bounds/``, by
processor: the table has those of other machines beside those of this one.
Times are compared within one run, with MuJoCo's of the same minute; ``pip install -e '.[bench]'``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import bounded
from common import machine, processor, table

ROOT = Path(__file__).resolve().parents[1]
KEPT = Path(__file__).resolve().parent / "bounds"
CLEARANCE_PROBLEMS = ("revolute_pendulum", "prismatic_slider", "ball_joint")


@dataclass(frozen=True)
class Bound:
    """A figure and what it may be at most."""

    what: str
    unit: str
    most: float
    measure: Callable[[], float]


def take(k: int, measure: Callable[[str], tuple[float, ...]], name: str) -> float:
    """Return one of the figures that are measured together."""
    return measure(name)[k]


def count_lines(pattern: str) -> int:
    """Return the lines of all files of the project whose path matches."""
    files = ROOT.glob(pattern)
    return sum(len(x.read_text(encoding="utf-8").splitlines()) for x in files)


def list_starts() -> Iterator[Bound]:
    """Yield bounds of the time to the first step."""
    for name in bounded.STARTED:
        most = 5.0 if name.startswith("50") else 3.0
        yield Bound(f"{name}: to the first step", "s", most, partial(bounded.start, name))
    for name in ("5 worn hinges", "20 worn hinges"):
        again = partial(bounded.start, name, again=True)
        yield Bound(f"{name}: the next, of other masses", "s", 0.3, again)
    python = partial(bounded.spend, sys.executable, "-c", "import nsopt")
    yield Bound("import nsopt", "s", 0.5, python)
    named = partial(bounded.spend, sys.executable, "-m", "nsopt", "list")
    yield Bound("nsopt list", "s", 0.7, named)


def list_steps() -> Iterator[Bound]:
    """Yield bounds of the time of a step, over that of MuJoCo."""
    yield Bound("case A, over MuJoCo's Euler", "", 0.8, bounded.case_a)
    for n, most in ((5, 1.2), (20, 1.2), (50, 1.5)):
        measure = partial(bounded.worn_chain, n)
        yield Bound(f"{n} worn hinges, over MuJoCo's Euler", "", most, measure)
    yield Bound("growth of a step with 5 to 200 worn hinges", "", 1.05, bounded.growth)
    for name in ("ur5_robot", "go1"):
        a_step, a_run = (partial(take, k, bounded.falls, name) for k in (0, 1))
        yield Bound(f"{name} falls, a step over MuJoCo's Euler", "", 1.0, a_step)
        yield Bound(f"{name} falls within 1e-4, over MuJoCo's RK4", "", 0.5, a_run)


def list_contact() -> Iterator[Bound]:
    """Yield bounds of the error where contact changes, and where it holds."""
    yield Bound("speed after driven impacts at h = 10 ms", "m/s", 1e-4, bounded.driven_impact)
    yield Bound("creep on a turntable in 10 s at h = 4 ms", "m", 1e-9, bounded.turntable)
    for gap in (1e-2, 1e-4, 1e-6):
        measure = partial(bounded.two_balls, gap)
        yield Bound(f"two balls, {gap:g} m apart, fall", "", 1e-2, measure)


def list_errors() -> Iterator[Bound]:
    """Yield bounds of what errors cost, and of how far they hold."""
    for name in CLEARANCE_PROBLEMS:
        measure = partial(bounded.cost_of_check, name)
        yield Bound(f"{name}: its check beyond 1.5 runs or 5 s", "s", 0.0, measure)
    for goal in (1e-2, 1e-4, 1e-6):
        measure = partial(bounded.accuracy, goal)
        yield Bound(f"case A: error over an accuracy of {goal:g}", "", 1.0, measure)


def list_optima() -> Iterator[Bound]:
    """Yield bounds of optima through contact: of their cost, and of the time they take."""
    for name, most in (("lift", 1e-6), ("turn", 1e-5), ("bounce", 1e-6)):
        yield Bound(
            f"{name}: off its closed form", "", most, partial(take, 0, bounded.optimum, name)
        )
    for name, most in (("hopper", 5.24), ("biped_step", 3.04)):
        cost, seconds = (partial(take, k, bounded.optimum, name) for k in (1, 2))
        yield Bound(f"{name}: cost", "", most, cost)
        yield Bound(f"{name}: from the call to the end", "s", 20.0, seconds)


def list_house() -> Iterator[Bound]:
    """Yield bounds of the size of what must be read."""
    yield Bound("lines of nsopt", "", 55_000, partial(count_lines, "nsopt/**/*.py"))
    yield Bound("lines of the README", "", 120, partial(count_lines, "README.md"))


GROUPS: dict[str, Callable[[], Iterator[Bound]]] = {
    "starts": list_starts,
    "steps": list_steps,
    "contact": list_contact,
    "errors": list_errors,
    "optima": list_optima,
    "house": list_house,
}


def read_others(own: Path) -> dict[str, dict[str, float]]:
    """Return the kept figures of other machines by processor."""
    kept = sorted(x for x in KEPT.glob("*.json") if x != own)
    return {x.stem: json.loads(x.read_text(encoding="utf-8")) for x in kept}


def write_figures(own: Path, found: dict[str, float]) -> None:
    """Write what was found to a file, beside the other figures that it has."""
    own.parent.mkdir(exist_ok=True)
    before = json.loads(own.read_text(encoding="utf-8")) if own.exists() else {}
    own.write_text(json.dumps({**before, **found}, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Print the table; return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", default=[*GROUPS], help=", ".join(GROUPS))
    parser.add_argument("--list", action="store_true", help="name the bounds, measure nothing")
    parser.add_argument("--keep", action="store_true", help="write the figures of this machine")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(GROUPS):
        parser.error(f"no group {', '.join(sorted(unknown))}: there are {', '.join(GROUPS)}")
    bounds = [bound for name in options.groups for bound in GROUPS[name]()]
    if options.list:
        print("\n".join(f"{x.what}: at most {x.most:g} {x.unit}".rstrip() for x in bounds))
        return 0
    own = KEPT / f"{processor()}.json"
    others, found = read_others(own), dict[str, float]()
    for bound in bounds:
        found[bound.what] = float(f"{bound.measure():.3g}")
        print(f"{bound.what}: {found[bound.what]:g}", file=sys.stderr, flush=True)
        if options.keep:
            write_figures(own, found)
    missed = [x for x in bounds if not found[x.what] <= x.most]  # NaN is missed too
    print(machine())
    rows = [
        [
            x.what,
            x.unit,
            f"{x.most:g}",
            f"{found[x.what]:g}",
            "missed" if x in missed else "",
            *(f"{other[x.what]:g}" if x.what in other else "" for other in others.values()),
        ]
        for x in bounds
    ]
    print(table(["bound", "unit", "at most", "here", "", *others], rows))
    print(f"{len(bounds) - len(missed)} of {len(bounds)} are met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
