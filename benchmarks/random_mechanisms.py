"""Random worn mechanisms by every contact of theirs: what finishes, what stops and why, how fast.

Four-bars in the plane and in space, slider-cranks and chains of links, with clearance in one to
four joints, restitution 0 to 0.9, friction 0 to 1, in absolute and relative coordinates. A model is
stated once and run with several masses, clearances, laws and loads. Nothing drives them, so that no
energy may be gained.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from common import cpu_seconds, machine, solver_seconds, table
from worn_mechanisms import DRAWN, Wear, drawn

from nsopt import (
    Compiled,
    ContactAligned,
    Dynamics,
    LargestStep,
    MoreauJean,
    Result,
    Start,
    StepBounds,
    Variational,
    simulate,
)
from nsopt.schemes import Scheme
from nsopt.simulation import StepControl

SCHEMES: dict[str, Scheme] = {
    "variational": Variational(),
    "contact-aligned": ContactAligned(),
    "moreau-jean": MoreauJean(),
}
STEPS = StepBounds(1e-6, 2e-4)
CONTROL = LargestStep()

HEAD = (
    *("mechanism", "friction", "runs", "finished", "impacts", "retries/step", "gained"),
    *("us/step, median", "slowest", "s/run, median", "slowest"),
)


@dataclass(frozen=True, eq=False)
class Case:
    """One run of a model."""

    label: str
    seed: int
    worn: int
    coordinates: str
    rough: bool
    dynamics: Dynamics
    parameters: Mapping[str, float]

    def __str__(self) -> str:
        return f"{self.label}, seed {self.seed}, {self.worn} worn, {self.coordinates}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The numbers of a run; ``why`` is empty where it finished."""

    case: Case
    why: str
    steps: int
    closures: int
    retries: int
    gained: float  # of the largest kinetic energy
    step_time: float  # s
    seconds: float


def cases(
    kinds: Iterable[str], models: Iterable[int], runs: int, seed: int, both: bool = False
) -> Iterator[Case]:
    """Yield ``runs`` cases of each of the models of a kind, worn in one to four joints.

    In one of the coordinates, or one after the other in both.
    """
    for kind, k in product(kinds, models):
        own = 1000 * seed + k
        rng = np.random.default_rng([own, *kind.encode()])
        drawing = drawn(kind, rng)
        worn = 1 + k % min(4, len(drawing.joints))
        rough, coordinates = bool(k // 4 % 2), ("absolute", "relative")[(k + k // 8) % 2]
        wear, state = Wear(worn, rough), rng.bit_generator.state
        taken = ("absolute", "relative") if both else (coordinates,)
        stated = []
        for name in taken:
            rng.bit_generator.state = state
            stated.append(drawing.model(wear, name, rng))
        for _ in range(runs):
            drawn_numbers = numbers(stated[0], rng)
            for name, dynamics in zip(taken, stated, strict=True):
                yield Case(kind, own, worn, name, rough, dynamics, drawn_numbers)


def numbers(dynamics: Dynamics, rng: np.random.Generator) -> dict[str, float]:
    """Return masses, clearances, restitution, friction and gravity of a run."""
    draws = {
        "c": lambda: 10 ** rng.uniform(-4.5, -2.7),
        "m": lambda: 10 ** rng.uniform(-0.5, 0.5),
        "e": lambda: rng.choice([0.0, rng.uniform(0, 0.9)]),
        "mu": lambda: rng.uniform(0, 1),
        "g": lambda: rng.uniform(-9.81, 9.81),
    }
    names = [parameter.name for parameter in dynamics.parameters]
    return {name: float(draws[name.split("_")[0]]()) for name in names}


def outcome(case: Case, scheme: Scheme, duration: float) -> Outcome:
    """Run a case."""
    result, seconds = cpu_seconds(lambda: run(case, scheme, duration, STEPS))
    if isinstance(result, str):
        return Outcome(case, result, 0, 0, 0, 0.0, np.nan, seconds)
    data = result.data
    pressed = np.nan_to_num(data["impulse"].values) > 0
    kinetic, energy = data["kinetic_energy"].values, data["total_energy"].values
    steps = int(data.attrs["steps"])
    return Outcome(
        case,
        "" if result.completed else str(data.attrs["stop_reason"]),
        steps,
        int((pressed[1:] & ~pressed[:-1]).sum()),
        int(np.nansum(data["retries"])),
        float(np.max(energy - np.minimum.accumulate(energy)) / kinetic.max()),
        solver_seconds(result) / max(steps, 1),
        seconds,
    )


def run(
    case: Case,
    scheme: Scheme,
    duration: float,
    steps: StepBounds,
    control: StepControl = CONTROL,
) -> Result | str:
    """Return the motion, or the message by which it was refused."""
    try:
        return simulate(
            case.dynamics,
            Start.stated(case.dynamics, case.parameters),
            duration,
            steps=steps,
            scheme=scheme,
            solver=Compiled(),
            control=control,
            parameters=case.parameters,
            check=None,
            progress=False,
        )
    except (ValueError, RuntimeError) as refused:
        return f"{type(refused).__name__}: {refused}"


def row(name: str, rough: bool, part: list[Outcome]) -> list[str]:
    """Return one line of the table."""
    steps = sum(x.steps for x in part) or 1
    times, seconds = np.array([x.step_time for x in part]), [x.seconds for x in part]
    return [
        *(name, "yes" if rough else "no", str(len(part)), str(sum(not x.why for x in part))),
        f"{np.median([x.closures for x in part]):.0f}",
        f"{sum(x.retries for x in part) / steps:.4f}",
        f"{max(x.gained for x in part):.1e}",
        f"{1e6 * np.nanmedian(times):.0f}",
        f"{1e6 * np.nanmax(times):.0f}",
        f"{np.median(seconds):.2g}",
        f"{max(seconds):.2g}",
    ]


def show(outcomes: list[Outcome]) -> None:
    """Print the table of a scheme, and what stopped each run that did not finish."""
    rows = []
    for rough in (False, True):
        for kind in [*DRAWN, ""]:
            of = [x for x in outcomes if x.case.rough == rough and kind in ("", x.case.label)]
            if of:
                rows.append(row(kind or "all", rough, of))
    print(table(HEAD, rows))
    for (kind, why), count in Counter((x.case.label, x.why) for x in outcomes if x.why).items():
        print(f"  {count} {kind}: {why}")
    for x in outcomes:
        if x.why:
            print(f"    {x.case}: {x.case.parameters}")


def main(arguments: list[str]) -> int:
    """Run the benchmark; the exit code counts runs by `Variational` that did not finish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=[*DRAWN], default=[*DRAWN])
    parser.add_argument("--models", type=int, default=16, help="of each kind (default 16)")
    parser.add_argument("--first", type=int, default=0, help="number of the first model")
    parser.add_argument("--runs", type=int, default=8, help="of each model (default 8)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--duration", type=float, default=0.5, help="[s]")
    parser.add_argument("--schemes", nargs="+", choices=[*SCHEMES], default=[*SCHEMES])
    chosen = parser.parse_args(arguments)
    print(machine(), f"; seed {chosen.seed}")
    failed = 0
    for name in chosen.schemes:
        outcomes = []
        models = range(chosen.first, chosen.first + chosen.models)
        for case in cases(chosen.kinds, models, chosen.runs, chosen.seed):
            outcomes.append(outcome(case, SCHEMES[name], chosen.duration))
            last = outcomes[-1]
            if last.why:
                print(f"{case}: {last.why}", file=sys.stderr, flush=True)
        print(f"\n{SCHEMES[name]!r}")
        show(outcomes)
        failed += sum(bool(x.why) for x in outcomes) if name == "variational" else 0
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
