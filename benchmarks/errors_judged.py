"""The errors that runs tell, beside those that they have.

`runs`: every named problem and the mechanisms of the gallery, by default calls. A run's true error
is its distance from a reference: `Composition` in h/8 where there are no contacts and it can, else
`Variational` in h/32, impacts placed, or where that does not go the run's own scheme. Another in
twice the steps tells how far to trust it: where motions part by 1 % of their size the comparison
ends, and an error that is not three times as large as the distance of both references is left out
of the ratios.

`cases`: four motions in closed form, or nearly, each in steps of five sizes.

`accuracy`: eight mechanisms by `simulate(..., accuracy=)`, and the processor's time over that of
the unchecked run in the longest of h, h/2, h/4, ... that is as accurate.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import xarray as xr
from common import Array, machine, table
from falling_robots import BENT, stated
from judged_calls import IMPACTS, LONGEST, Call, collect_calls
from told_cases import CASES

from nsopt import (
    GROUND,
    Body,
    Composition,
    Frame,
    Mechanism,
    Problem,
    Result,
    Spherical,
    Start,
    StepBounds,
    Variational,
    assemble,
    load_problem,
)
from nsopt.caveats import FORCES, measure_exchange
from nsopt.contact_modes import find_changes
from nsopt.schemes import Scheme
from nsopt.simulation.check.distances import (
    find_gyration_radii,
    measure_distance,
    measure_energy_distance,
    measure_size,
)
from nsopt.simulation.check.figures import NEEDED, find_figures
from nsopt.simulation.check.repetition import has_contacts, interpolate

POSES = ("body_position", "body_quaternion")
ALIKE = 0.01  # part of the size of a motion by which references may part
KNOWN = 3.0  # true error, over the distance of both references, from which a ratio is known
SMALL = 0.01  # force of a joint over the largest of all, up to which it does not count
LASTS = 0.1  # part of the time that a contact must last for its force to count
NOTHING = 1e-10  # part of a size, an error that is rounding
WITHIN = 3.0  # factor by which a told error may be off
LONG = 100_000  # steps of a run from which on it is left out
MOST = 400_000  # steps of the finer reference, else both take longer ones
ACCURACIES = (1e-2, 1e-4, 1e-6)
HALVINGS = 14  # of its h at most


class Row(NamedTuple):
    """What a run tells of one figure, and what is true, both over the size of the figure."""

    name: str
    figure: str
    told: float
    true: float
    seen: bool  # whether an order was seen
    known: bool  # whether the reference is exact enough for a ratio
    until: float  # part of the duration that is compared

    @property
    def ratio(self) -> float:
        """What is told over what is true, one where both are rounding."""
        return max(self.told, NOTHING) / max(self.true, NOTHING)


def refer(call: Call, steps: StepBounds) -> tuple[Result, Result]:
    """Return two references, the finer one last."""
    touches = has_contacts(call.dynamics)
    alike: dict[str, Any] = {"variables": {*POSES, *(NEEDED if touches else ())}, "check": None}
    alike |= {"control": None, "times": None, "store_every": 1, "accuracy": None}
    own = call.options.get("scheme") or Variational()
    ways: list[tuple[Scheme, tuple[int, int]]] = [(Variational(), (16, 32)), (own, (16, 32))]
    if not touches:
        ways.insert(0, (Composition(), (4, 8)))
    for scheme, most in ways:
        parts = most
        least = IMPACTS if touches else 1.0
        while max(parts) * call.duration / steps.h_max > MOST and min(parts) > 2:
            parts = (parts[0] // 2, parts[1] // 2)
        bounds = [StepBounds(least * steps.h_max / n, steps.h_max / n) for n in parts]
        try:
            runs = [call.run(**alike, steps=x, scheme=scheme) for x in bounds]
        except (TypeError, ValueError):
            continue
        if all(x.completed for x in runs):
            return runs[0], runs[1]
    raise RuntimeError("no reference comes to its end")


def sample(result: Result, t: Array) -> xr.Dataset:
    """Return poses and the energy at times (n,)."""
    nodes, found = result["time"].values, {}
    for name in POSES:
        values = result[name].values
        flat = values.reshape(len(nodes), -1)
        columns = [interpolate(t, nodes, x) for x in flat.T]
        found[name] = (("time", "body", name), np.stack(columns, 1).reshape(-1, *values.shape[1:]))
    energy = interpolate(t, nodes, result["total_energy"].values)
    return xr.Dataset({**found, "total_energy": ("time", energy)}, {"time": t})


def judge(name: str, call: Call, result: Result) -> Iterator[Row]:
    """Yield what a run tells of its motion, energy and forces, beside what is true."""
    data, t = result.data, result["time"].values
    p = call.dynamics.values(call.options.get("parameters"))
    radii = find_gyration_radii(call.dynamics, p)
    bounds = StepBounds(data.attrs["h_min"], data.attrs["h_max"])
    references = refer(call, bounds)
    coarse, fine = (sample(x, t) for x in references)
    size = measure_size(fine, radii)
    true, doubt = (measure_distance(x, fine, radii).max(axis=1) for x in (data, coarse))
    parted = np.flatnonzero(doubt > ALIKE * size)
    known = slice(parted[0] if parted.size else None)
    part = t[known][-1] / t[-1] if parted.size and t[known].size else 1.0
    motion = data["error_motion"]
    yield _compare(
        (name, "motion", np.isfinite(motion.attrs["order"]), part),
        [x[known].max(initial=0) for x in (motion.values, true, doubt)],
        size,
    )
    step = 2 * float(np.nanmax(data["h"].values))
    off = [
        measure_energy_distance(
            t, x["total_energy"].values, fine["total_energy"].values, find_changes(data), step
        )
        for x in (data, coarse)
    ]
    energy = data["error_total_energy"]
    yield _compare(
        (name, "energy", np.isfinite(energy.attrs["order"]), part),
        [x[known].max(initial=0) for x in (energy.values, *off)],
        measure_exchange(data),
    )
    if parted.size or not has_contacts(call.dynamics) or "error_rms_force" not in data:
        return
    figures = [find_figures(x.data) for x in references]
    for figure in (*FORCES, "impact_impulse_sum", "contact_loss_sum"):
        error, values = data[f"error_{figure}"], data[figure].values
        a, b = (x[figure] for x in figures)
        counts = np.abs(b) > SMALL * np.abs(b).max()
        if figure in FORCES:
            counts &= (figures[1]["lasting_share"] > LASTS) & bool(error.attrs["unique"])
        for k in np.flatnonzero(counts):
            seen = np.isfinite(np.atleast_1d(error.attrs["orders"])[k])
            yield _compare(
                (f"{name}, {data['contact_joint'].values[k]}", figure, bool(seen), 1.0),
                [float(error[k]), abs(values[k] - b[k]), abs(a[k] - b[k])],
                abs(b[k]),
            )


def _compare(of: tuple[str, str, Any, float], values: list[float], size: float) -> Row:
    told, true, doubt = (float(x) / size for x in values)
    name, figure, seen, part = of
    known = true > KNOWN * doubt or max(true, doubt) < NOTHING
    return Row(name, figure, told, true, bool(seen), known, float(part))


def show_runs(wanted: list[str]) -> None:
    """Print what each run tells, and how many are told well."""
    rows: dict[str, list[Row]] = {}
    for name, call in collect_calls(wanted):
        begin = time.perf_counter()
        try:
            if call.duration > LONG * call.bounds.h_max:
                print(f"{name}: too long")
                continue
            result = call.run()
            if "error_motion" not in result.data:
                print(f"{name}: error unknown, {result.data.attrs.get('error_unknown')}")
                continue
            rows[name] = list(judge(name, call, result))
        except (RuntimeError, TypeError, ValueError, NotImplementedError) as refused:
            print(f"{name}: {type(refused).__name__}: {str(refused)[:100]}")
            continue
        for x in rows[name]:
            print("   ", *_cells(x), flush=True)
        print(f"{name}: {time.perf_counter() - begin:.1f} s", flush=True)
    show_rows(rows)


def show_rows(rows: dict[str, list[Row]]) -> None:
    """Print a line a run, and how many figures are told well."""
    head = ["run", "compared", *("motion: told", "true", "over", "energy: told", "true", "over")]
    lines = []
    for name, (motion, energy, *figures) in rows.items():
        cells = [name, f"{motion.until:.0%}"]
        for x in (motion, energy):
            cells += _cells(x)[2:5]
        ratios = [x.ratio for x in figures if x.known]
        lines.append([*cells, f"{min(ratios):.2g} ... {max(ratios):.2g}" if ratios else "-"])
    print("\n" + table([*head, "figures of contacts: told over true"], lines) + "\n")
    every = [x for found in rows.values() for x in found]
    for seen in (True, False):
        among = [x for x in every if x.seen is seen and x.known]
        within = sum(1 / WITHIN <= x.ratio <= WITHIN for x in among)
        low = min((x.ratio for x in among), default=np.nan)
        words = "an order seen" if seen else "none seen"
        print(f"{words}: {len(among)} of {len(every)}, {within} within {WITHIN:g}, least {low:.2g}")


def _cells(x: Row) -> list[str]:
    ratio = f"{x.ratio:.2g}" if x.known else "-"
    seen = "yes" if x.seen else "no"
    return [x.name, x.figure, f"{x.told:.1e}", f"{x.true:.1e}", ratio, seen, f"{x.until:.0%}"]


def show_cases(wanted: list[str]) -> None:
    """Print what four motions in closed form tell in steps of five sizes."""
    lines = []
    for name, case in CASES.items():
        for told in case() if not wanted or name in wanted else ():
            ratio = f"{told.told / told.true:.2g}" if told.true else "-"
            seen = f"{told.order:.2g}" if np.isfinite(told.order) else "none"
            warned = "yes" if told.warned else "no"
            cells = [name, told.steps, f"{told.told:.2e}", f"{told.true:.2e}", ratio, seen, warned]
            lines.append(cells)
            print("   ", *cells, flush=True)
    head = ["case", "steps", "told", "true", "told / true", "order", "warned"]
    print("\n" + table(head, lines))


def heavy_top() -> Problem:
    """Return a top that spins at 50 rad/s on a point, its axis at 30 degrees."""
    turned = (np.cos(np.pi / 12), 0.0, np.sin(np.pi / 12), 0.0)
    axis = np.array([np.sin(np.pi / 6), 0.0, np.cos(np.pi / 6)])
    top = Body(
        "top", 1.0, (0.01, 0.01, 0.005), 0.2 * axis, turned, angular_velocity=(0.0, 0.0, 50.0)
    )
    joint = Spherical("point", Frame(GROUND), Frame(top, (0.0, 0.0, -0.2)))
    dynamics = assemble(Mechanism([top], [joint]), gravity=(0.0, 0.0, -9.81))
    return Problem(dynamics, 2.0, StepBounds(2e-7, 2e-3))


def falling_robot() -> Problem:
    """Return ur5 that falls from a bent posture."""
    dynamics = stated("ur5_robot")
    start = Start(np.full(dynamics.nq, BENT), np.zeros(dynamics.nv))
    return Problem(dynamics, 1.0, StepBounds(2e-7, 2e-3), start)


EIGHT: dict[str, Callable[[], Problem]] = {
    **{
        name: partial(load_problem, name)
        for name in (
            "case_a",
            "revolute_pendulum",
            "four_bar",
            "slider_crank_5000rpm",
            "bricard",
            "rom_pendulum_free",
        )
    },
    "heavy top": heavy_top,
    "ur5 falling": falling_robot,
}


def measure_true_error(call: Call, result: Result, fine: Result) -> float:
    """Return the larger true error of motion and energy, over their sizes."""
    data, t = result.data, result["time"].values
    radii = find_gyration_radii(call.dynamics, call.dynamics.values(call.options.get("parameters")))
    true = sample(fine, t)
    moved = measure_distance(data, true, radii).max() / measure_size(true, radii)
    step = 2 * float(np.nanmax(data["h"].values))
    energies = (x["total_energy"].values for x in (data, true))
    lost = measure_energy_distance(t, *energies, find_changes(data), step)
    return float(max(moved, lost.max() / measure_exchange(data)))


def show_accuracies(wanted: list[str]) -> None:
    """Print how well eight mechanisms keep the accuracy that is asked for, and at what cost."""
    lines = []
    for name, load in EIGHT.items():
        if wanted and name not in wanted:
            continue
        problem = load()
        call = Call(problem.dynamics, problem.start, problem.duration, {"scheme": problem.scheme})
        call.run(steps=StepBounds(1e-4 * problem.duration, 1e-2 * problem.duration), check=None)
        met = {}
        for accuracy in ACCURACIES:
            begin = time.process_time()
            result = call.run(accuracy=accuracy)
            met[accuracy] = result, time.process_time() - begin
        finest = min(x.data.attrs["h_max"] for x, _ in met.values())
        _, fine = refer(call, StepBounds(1e-4 * finest, finest))
        by_hand = list(choose_by_hand(call, fine, min(ACCURACIES)))
        for accuracy, (result, seconds) in met.items():
            best = next((s for error, _, s in by_hand if error <= accuracy), np.nan)
            h = next((h for error, h, _ in by_hand if error <= accuracy), np.nan)
            told = "missed, told" if result.data.attrs["accuracy_missed"] else "met"
            true = measure_true_error(call, result, fine)
            used = f"{result.data.attrs['h_max']:.1e}"
            cells = [name, f"{accuracy:g}", told, f"{true:.1e}", used, f"{seconds:.2f}"]
            cells += [f"{h:.1e}", f"{seconds / best:.1f}"]
            lines.append(cells)
            print("   ", *cells, flush=True)
    head = ["mechanism", "asked", "said", "true", "h [s]", "time [s]", "h by hand [s]", "time over"]
    print("\n" + table(head, lines))


def choose_by_hand(
    call: Call, fine: Result, accuracy: float
) -> Iterator[tuple[float, float, float]]:
    """Yield the true errors, h [s] and times [s] of unchecked runs, until one is accurate."""
    h = call.duration / LONGEST
    for k in range(HALVINGS):
        begin = time.process_time()
        size = h / 2**k
        result = call.run(steps=StepBounds(IMPACTS * size, size), check=None)
        seconds = time.process_time() - begin
        error = measure_true_error(call, result, fine) if result.completed else np.inf
        yield error, size, seconds
        if error <= accuracy:
            return


TABLES = {"runs": show_runs, "cases": show_cases, "accuracy": show_accuracies}


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("names", nargs="*", help="only these")
    options = parser.parse_args()
    mpl.use("Agg")
    print(machine())
    TABLES[options.table](options.names)


if __name__ == "__main__":
    main()
