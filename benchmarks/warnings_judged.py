"""Warnings of runs of random mechanisms against references: which cry wolf, which are missing.

Each mechanism of `drawn_mechanisms` is run once in steps as a user may choose them. References are
the same in 1/16 and 1/32 of h, of smooth ones also an integration of the accelerations by SciPy.
Where references part, by 1 % of the size of the motion, the run ends before. A run is wrong
where positions of bodies, relative to the size of the motion, the energy, relative to the largest
that is exchanged, the largest lasting force of a contact, or impulses of impacts or losses in a
joint, where they matter, are off by more than 5 %.

References and outcomes are kept in a folder, so that it can be continued, and another version of
nsopt be judged by the same references.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from drawn_mechanisms import structures
from draws import Draw, Exact
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from nsopt import Check, Result, StepBounds, acceleration, simulate
from nsopt.contact_modes import contacts_of_joints

Array = NDArray[np.float64]

FIGURES = ("position", "energy", "force", "impulse", "loss")
WRONG, EXACT = 0.05, 0.01
ALIKE = 0.01
SAMPLES = 400
RECORDED = ("body_position", "lasting_force", "impact_impulse", "contact_loss")
MATTERS = 0.05
"""Of all that a joint transfers, impulses, and of the energy exchanged, losses, that count."""
SHORTEST = 0.2
"""Part of the duration that references must agree in."""


def run(draw: Draw, part: float) -> Result:
    """Return the run in steps of a part of h."""
    h = draw.h * part
    scheme = draw.scheme if part == 1 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulate(
            *(draw.dynamics, draw.start, draw.duration),
            steps=StepBounds(h / 1000, h),
            scheme=scheme,
            parameters=draw.parameters,
            variables=None if part == 1 else RECORDED[: 1 if draw.smooth else None],
            progress=False,
            check=Check() if part == 1 else None,
        )


def sampled(result: Result, times: Array) -> dict[str, Array]:
    """Return positions, energy and the lasting force at times, by straight lines."""
    t = result["time"].values
    x = result["body_position"].values.reshape(len(t), -1)
    columns = [np.interp(times, t, x[:, k]) for k in range(x.shape[1])]
    energy = result["total_energy"].values
    kinetic, potential = result["kinetic_energy"].values, result["potential_energy"].values
    size = float(kinetic.max() + np.ptp(potential))
    return {
        "x": np.stack(columns, axis=1),
        "steps": t,
        "path": x,
        "energy": np.interp(times, t, energy),
        "size": np.array(size),
        "until": np.array(t[-1]),
        "force": largest_lasting(result),
        **sums_of_impacts(result, size),
    }


def sums_of_impacts(result: Result, size: float) -> dict[str, Array]:
    """Return impulses of impacts and losses of each joint, and what they are parts of."""
    if not {*RECORDED} <= {*result.data.variables} or not result["contact"].size:
        return {name: np.zeros(0) for name in ("impulse", "loss", "impulse_of", "loss_of")}
    data, weight = result.data, np.nan_to_num(result["h"].values)
    found: dict[str, list[float]] = {"impulse": [], "loss": [], "impulse_of": []}
    for contacts in contacts_of_joints(data).values():
        found["impulse"].append(float(np.nansum(data["impact_impulse"].values[:, contacts])))
        found["loss"].append(float(np.nansum(data["contact_loss"].values[:, contacts])))
        force = np.nan_to_num(data["lasting_force"].values[:, contacts]).sum(axis=1)
        lasting = float(weight @ np.linalg.norm(force, axis=1))
        found["impulse_of"].append(found["impulse"][-1] + lasting)
    arrays = {name: np.array(x) for name, x in found.items()}
    return arrays | {"loss_of": np.full(len(arrays["loss"]), size)}


def largest_lasting(result: Result) -> Array:
    """Return the force of each contact that 95 % of the time with a lasting force is below."""
    if "lasting_force" not in result or not result["lasting_force"].size:
        return np.zeros(0)
    force = np.linalg.norm(np.nan_to_num(result["lasting_force"].values), axis=2)
    weight = np.nan_to_num(result["h"].values)
    found = []
    for k in range(force.shape[1]):
        order = np.argsort(force[:, k])
        on = force[order, k] > 0
        summed = np.cumsum(weight[order] * on)
        if summed[-1] < 0.1 * weight.sum():
            found.append(np.nan)
        else:
            found.append(force[order[np.searchsorted(summed, 0.95 * summed[-1])], k])
    return np.array(found)


def smooth_positions(draw: Draw, times: Array) -> Array:
    """Return positions by SciPy, of what is smooth."""
    d, p = draw.dynamics, np.array([draw.parameters[x.name] for x in draw.dynamics.parameters])
    rate = acceleration(d)
    nq = d.nq

    def f(t: float, y: Array) -> Array:
        q, v = y[:nq], y[nq:]
        a, _, change = rate(t, q, v, p)
        return np.append(np.asarray(change), np.asarray(a))

    y0 = np.append(np.asarray(draw.start.q), np.asarray(draw.start.v))
    y = solve_ivp(f, (0, times[-1]), y0, t_eval=times, method="DOP853", rtol=1e-7, atol=1e-8).y
    x = [np.asarray(d.poses(y[:nq, k], y[nq:, k], p)[0]).T.ravel() for k in range(len(times))]
    return np.array(x)


def reference(draw: Draw, path: Path) -> dict[str, Array]:
    """Return the reference with the time until which it is one, computed once."""
    if path.is_file():
        with np.load(path) as saved:
            return dict(saved)
    times = np.linspace(0, draw.duration, SAMPLES + 1)
    coarse, fine = (sampled(run(draw, 1 / n), times) for n in (16, 32))
    size = max(float(np.ptp(fine["x"], axis=0).max()), 1e-9)
    off = np.abs(coarse["x"] - fine["x"]).max(axis=1) / size
    off = np.maximum(off, _off_energy(coarse["energy"], fine, 2))
    if draw.exact:
        fine, off = of_exact(draw.exact, fine, times)
    if draw.smooth:
        try:
            off = np.maximum(
                off, np.abs(smooth_positions(draw, times) - fine["x"]).max(axis=1) / size
            )
        except Exception as refused:
            print(f"no integration by SciPy: {type(refused).__name__}: {refused}", file=sys.stderr)
    parted = np.flatnonzero(~(off < ALIKE))
    ends = (float(coarse["until"]), float(fine["until"]))
    until = min(*ends, times[max(parted[0] - 1, 0)] if parted.size else draw.duration)
    force = fine["force"].copy()
    with np.errstate(invalid="ignore"):
        unsure = np.abs(coarse["force"] - force) > ALIKE * force
    force[unsure | (until < draw.duration)] = np.nan
    unsure_sums = False
    for name in ("impulse", "loss"):
        value = np.abs(fine[name])
        parts = np.abs(coarse[name] - fine[name]) > ALIKE * value
        matters = value > MATTERS * fine[f"{name}_of"]
        known = matters & ~parts & (until >= draw.duration)
        unsure_sums |= bool(np.any(matters & parts))
        fine[name] = np.where(known, fine[name], np.nan)
    found = {name: fine[name] for name in ("x", "steps", "path", "energy", "size")}
    found["force"] = force
    found |= {name: fine[name] for name in ("impulse", "loss")}
    found["unsure"] = np.array(unsure_sums)
    found |= {"until": np.array(until), "motion": np.array(size)}
    np.savez(path, **found)
    return found


def of_exact(exact: Exact, fine: dict[str, Array], times: Array) -> tuple[dict[str, Array], Array]:
    """Return an exact reference in place of fine steps, and that nothing is off while it lasts."""
    heights, lost, until = exact(times)
    x, path = fine["x"].copy(), fine["path"].copy()
    x[:, 2::3], path[:, 2::3] = heights, exact(fine["steps"])[0]
    known = {"x": x, "path": path, "energy": fine["energy"][0] - lost}
    known |= {name: np.full_like(fine[name], np.nan) for name in ("force", "impulse", "loss")}
    return fine | known, np.where(times < until * (1 - 1e-9), 0.0, 1.0)


def _off_energy(energy: Array, true: dict[str, Array], window: int) -> Array:
    """Return how far energies are off, over the size of what is exchanged, in a window of time."""
    x, n = true["energy"], len(true["energy"])
    low, high = x.copy(), x.copy()
    for shift in range(-window, window + 1):
        rolled = x[np.clip(np.arange(n) + shift, 0, n - 1)]
        low, high = np.minimum(low, rolled), np.maximum(high, rolled)
    off: Array = np.maximum(np.maximum(energy - high, low - energy), 0)
    return off / max(float(true["size"]), 1e-12)


def judged(draw: Draw, true: dict[str, Array]) -> dict[str, Any]:
    """Return what a run says, and by how much it is off, while its reference lasts.

    What happens in the last step before a reference ends has no time to show.
    """
    times = np.linspace(0, draw.duration, SAMPLES + 1)
    begin = time.perf_counter()
    ends = float(true["until"])
    ends = draw.duration if ends >= draw.duration else ends - draw.h
    try:
        result = run(replace(draw, duration=ends), 1.0)
    except Exception as refused:
        return {"refused": f"{type(refused).__name__}: {refused}"[:300]}
    if _come_round(result):
        return {"without": "measured angles come round, and those of the reference with them"}
    got = sampled(result, times)
    until = min(float(true["until"]), float(got["until"]))
    within = times <= until * (1 + 1e-9)
    # Between steps positions are not the run's: at the times of steps, the reference is known by
    # its own, much shorter ones.
    t, x = result["time"].values, result["body_position"].values
    known = [np.interp(t, true["steps"], column) for column in true["path"].T]
    off = np.abs(x.reshape(len(t), -1) - np.stack(known, axis=1)).max(axis=1)
    off = off[t <= until * (1 + 1e-9)] / float(true["motion"])
    window = max(2, int(np.ceil(2 * draw.h / times[1])))
    energy = _off_energy(got["energy"], true, window)
    force = 0.0
    if draw.determined and got["force"].size and np.any(np.isfinite(true["force"])):
        with np.errstate(invalid="ignore", divide="ignore"):
            force = float(np.nan_to_num(np.nanmax(np.abs(got["force"] / true["force"] - 1))))
    sums = {name: off_by(got[name], true[name]) for name in ("impulse", "loss")}
    if not draw.determined:
        sums["impulse"] = 0.0
    return {
        **sums,
        "unsure": bool(true["unsure"]),
        "position": float(np.nanmax(off)),
        "energy": float(energy[within].max()),
        "force": force,
        "warnings": list(result.warnings),
        "completed": result.completed,
        "seconds": time.perf_counter() - begin,
    }


def off_by(got: Array, true: Array) -> float:
    """Return by how much of themselves sums are off that are known."""
    if got.shape != true.shape or not np.any(np.isfinite(true)):
        return 0.0
    return float(np.nanmax(np.abs(got / true - 1)))


def _come_round(result: Result) -> bool:
    """Return whether an angle of one turn that is measured went beyond it."""
    angles = [x for name, x in result.data.items() if ".angle" in str(name)]
    return any(np.any(np.abs(np.diff(x.values, axis=0)) > np.pi) for x in angles)


def kind_of(x: dict[str, Any]) -> str:
    """Return which of the kinds of outcome one is."""
    if "refused" in x or not x["completed"]:
        return "stopped"
    wrong = max(x[name] for name in FIGURES) > WRONG
    told = "warned" if x["warnings"] else "silent"
    if not wrong and x["warnings"] and x["unsure"]:
        return "warned, unsure"  # references do not agree on impulses or losses
    return f"{told}, {'wrong' if wrong else 'right'}"


def show(outcomes: list[dict[str, Any]]) -> None:
    """Print how many there are of each kind, and each that is silently wrong."""
    counts = Counter(map(kind_of, outcomes))
    for kind, count in sorted(counts.items()):
        print(f"{kind:<16}{count:>5}  {100 * count / len(outcomes):.1f} %")
    warned = [x for x in outcomes if kind_of(x).startswith("warned")]
    exact = sum(max(x[name] for name in FIGURES) <= EXACT for x in warned)
    print(f"of {len(warned)} warned {exact} are off by at most {EXACT:.0%}")
    for x in outcomes:
        if kind_of(x) == "silent, wrong":
            figures = ", ".join(f"{name} {x[name]:.2g}" for name in FIGURES)
            print(f"  silent: {x['number']} {x['label']}, h {x['h']:.2g}: off by {figures}")
    for x in outcomes:
        if kind_of(x) == "warned, right":
            print(f"  warned: {x['number']} {x['label']}, h {x['h']:.2g}: {x['warnings'][0][:110]}")


def main(arguments: list[str]) -> int:
    """Run the benchmark; the exit code says whether more than 1 % are silently wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of references and outcomes")
    parser.add_argument("--version", default="now", help="name of the outcomes' file")
    parser.add_argument("--mechanisms", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", type=int, nargs="*", help="numbers of structures")
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    path = chosen.folder / f"{chosen.version}.jsonl"
    lines = path.read_text().splitlines() if path.is_file() else []
    known = {x["number"]: x for x in map(json.loads, lines)}
    made = structures()
    each = -(-chosen.mechanisms // len(made))
    for k, make in enumerate(made):
        numbers = range(k * each, (k + 1) * each)
        if (chosen.kind and k not in chosen.kind) or all(n in known for n in numbers):
            continue
        structure = make()
        for n in numbers:
            draw = structure.draw(np.random.default_rng([chosen.seed, n]))
            if n in known:
                continue
            try:
                true = reference(draw, chosen.folder / f"{n}.npz")
            except Exception as refused:
                outcome = {"without": f"{type(refused).__name__}: {refused}"[:300]}
            else:
                outcome = judged(draw, true) if true["until"] >= SHORTEST * draw.duration else {}
                outcome = outcome or {"without": "references part"}
            known[n] = {"number": n, "label": draw.label, "h": draw.h} | outcome
            with path.open("a") as file:
                file.write(json.dumps(known[n]) + "\n")
    judgements = [x for x in known.values() if "without" not in x]
    print(f"{len(judgements)} judged, {len(known) - len(judgements)} without a reference")
    show(judgements)
    silent = sum(kind_of(x) == "silent, wrong" for x in judgements)
    return int(silent > 0.01 * len(judgements))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
