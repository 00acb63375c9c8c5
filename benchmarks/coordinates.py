"""Random worn mechanisms in absolute and in relative coordinates: are the motions the same?

Both are taken with h, h/2, h/4 and h/8, and with shorter steps where that is not enough. A pair is
compared up to the last time to which both motions converge: until then the largest distance of a
body in one from the same in the other is to be within the sum of both errors (`refined.Refined`).

One line a pair; with --rows they are kept, and a run that was interrupted goes on after them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from common import Array, machine, table
from random_mechanisms import Case, cases, run
from refined import HALVINGS, Refined
from worn_mechanisms import DRAWN

from nsopt import FollowContacts, LargestStep, Result, StepBounds, Variational

H, H_MIN = 2e-4, 1e-9  # s
PLACED = 3e-4
"""Of the kinetic energy, error of an impact in the first run; halved with h."""

TIMES = 21
"""At which motions are compared."""

HEAD = (
    *("mechanism", "pairs", "not run", "impacts, median", "to the end", "in part"),
    *("apart", "distance over errors, median", "largest", "distance [m], median", "largest "),
)


@dataclass(frozen=True)
class Row:
    """What came of a pair; lengths until the last time that is compared."""

    kind: str
    pair: str
    impacts: int = 0
    until: float = 0.0  # s
    h: float = 0.0  # s, the shortest
    distance: float = 0.0  # m
    errors: float = 0.0  # m, sum of both
    why: str = ""  # it was not run

    @property
    def ratio(self) -> float:
        """How far apart both are, over what their errors allow."""
        return self.distance / self.errors

    def text(self) -> str:
        """Return a line."""
        if self.why:
            return f"{self.pair}: {self.why}"
        return (
            f"{self.pair}: {self.distance:.1e} m apart, errors {self.errors:.1e} m, "
            f"{self.impacts} impacts in {self.until:.3g} s, h {self.h:.2g} s"
        )


class Motions:
    """A case by steps that are halved again and again."""

    def __init__(self, case: Case, duration: float) -> None:
        self._case, self.times = case, np.linspace(0, duration, TIMES)
        self._results: list[Result] = []

    def refine(self, levels: int) -> Refined:
        """Return the motion at so many levels.

        Raises
        ------
        RuntimeError
            If a run does not finish.
        """
        for k in range(len(self._results), levels):
            contacts = FollowContacts(placed=PLACED / 2**k)
            bounds, control = StepBounds(H_MIN, H / 2**k), LargestStep(contacts=contacts)
            result = run(self._case, Variational(), self.times[-1], bounds, control)
            if isinstance(result, str):
                raise RuntimeError(result)
            if not result.completed:
                raise RuntimeError(result.stop_reason)
            self._results.append(result)
        return Refined(np.array([self._places(x) for x in self._results]))

    def impacts(self, until: float) -> int:
        """Return how often contacts closed in the last run."""
        result = self._results[-1]
        pressed = np.nan_to_num(result["impulse"].values[result["time"].values <= until]) > 0
        return int((pressed[1:] & ~pressed[:-1]).sum())

    def _places(self, result: Result) -> Array:
        t, places = result["time"].values, result["body_position"].values
        return np.stack([np.interp(self.times, t, x) for x in places.reshape(t.size, -1).T], axis=1)


def compared(absolute: Case, relative: Case, name: str, duration: float, most: int) -> Row:
    """Return what comes of a pair in up to ``most`` levels."""
    pair = [Motions(case, duration) for case in (absolute, relative)]
    for levels in range(HALVINGS + 1, most + 1):
        try:
            one, other = (motions.refine(levels) for motions in pair)
        except RuntimeError as failed:
            return Row(absolute.label, name, why=str(failed).splitlines()[0])
        both = one.converges() & other.converges()
        if both[-1]:
            break
    last = int(np.flatnonzero(both)[-1])
    apart = np.abs(one.places[-1] - other.places[-1]).max(axis=1)
    apart, errors = np.maximum.accumulate(apart), one.error() + other.error()
    until = float(pair[0].times[last])
    return Row(
        absolute.label,
        name,
        pair[0].impacts(until),
        until,
        H / 2 ** (levels - 1),
        float(apart[last]),
        float(errors[last]),
    )


def pairs(chosen: argparse.Namespace) -> Iterator[tuple[str, Case, Case]]:
    """Yield the pairs with their names."""
    for kind in chosen.kinds:
        for seed in range(chosen.models):
            taken = cases([kind], [seed], chosen.runs, chosen.seed, both=True)
            for k in range(chosen.runs):
                one, other = islice(taken, 2)
                rough = "rough" if one.rough else "smooth"
                name = f"{kind}, seed {one.seed}, {one.worn} worn, {rough}, run {k}"
                yield name, one, other


def show(rows: list[Row], duration: float) -> None:
    """Print the table."""
    lines = []
    for kind in [*DRAWN, "all"]:
        of = [x for x in rows if kind in ("all", x.kind)]
        met = [x for x in of if not x.why]
        if not met:
            continue
        whole = sum(x.until > 0.999 * duration for x in met)
        ratios, lengths = [x.ratio for x in met], [x.distance for x in met]
        lines.append(
            [
                *(kind, str(len(of)), str(len(of) - len(met))),
                f"{np.median([x.impacts for x in met]):.0f}",
                *(str(whole), str(len(met) - whole), str(sum(x > 1 for x in ratios))),
                *(f"{np.median(ratios):.2g}", f"{max(ratios):.2g}"),
                *(f"{np.median(lengths):.1e}", f"{max(lengths):.1e}"),
            ]
        )
    print(table(HEAD, lines))


def main(arguments: list[str]) -> int:
    """Run the benchmark; the exit code tells whether any pair is apart or was not run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=[*DRAWN], default=[*DRAWN])
    parser.add_argument("--models", type=int, default=7, help="of each kind (default 7)")
    parser.add_argument("--runs", type=int, default=8, help="of each model (default 8)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--duration", type=float, default=0.1, help="[s]")
    parser.add_argument("--levels", type=int, default=5, help="h, h/2 ... at most (default 5)")
    parser.add_argument("--rows", type=Path, help="a file of one JSON line a pair")
    chosen = parser.parse_args(arguments)
    print(machine(), f"; seed {chosen.seed}")
    kept = chosen.rows.read_text().splitlines() if chosen.rows and chosen.rows.exists() else []
    rows = [Row(**json.loads(line)) for line in kept]
    done = {row.pair for row in rows}
    for name, one, other in pairs(chosen):
        if name in done:
            continue
        rows.append(compared(one, other, name, chosen.duration, chosen.levels))
        print(rows[-1].text(), flush=True)
        if chosen.rows:
            with chosen.rows.open("a") as file:
                file.write(json.dumps(asdict(rows[-1])) + "\n")
    show(rows, chosen.duration)
    return int(any(row.why or row.ratio > 1 for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
