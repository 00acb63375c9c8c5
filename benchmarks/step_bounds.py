"""Step-size bounds compared as in Figs. 30-37 of [NLP-clearance 2024], and its findings judged.

Energy is read where the pendulum rests: on the way the energy of the paper's step swings, in
proportion to h, by more than is lost. A peak of force is an excursion of the hinge's force above
its running median by a quarter of the weight. Beside the paper's step the variational one, with
fixed h = h_max; converged is that step with h = 2.5e-5 s.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from common import Array, cpu_seconds, keep, machine, picture, retried, run, table
from matplotlib.axes import Axes
from scipy.ndimage import median_filter

from nsopt import Compiled, PaperStep, Result, Solver, Sqp, StepBounds, Variational, load_problem
from nsopt.plots.style import COLOURS, GREY, SMALL, axis_labels, look, title

WEIGHT = 9.81  # N, of every pendulum here
PEAK, WINDOW, GRID = 0.25, 0.1, 1e-4  # of the weight; s; s
FINE = 2.5e-5  # s
SOLVER = Solver(backend=Sqp())  # of the paper's step
SWINGING = [(h, 2.0) for h in (1.5, 1.0, 0.5)] + [(h, 1.0) for h in (0.75, 0.5, 0.25)]  # ms
HINGED = [(0.2, 0.2), (0.2, 1.0), (1.0, 1.0), (1.0, 2.0)]
STUDIES = {  # duration [s], bounds [ms]
    "revolute_pendulum": (4.0, SWINGING),
    "pendulum_clearance": (10.0, HINGED),
    "pendulum_ideal": (10.0, HINGED),
}
Bounds = tuple[float, float]
Claim = tuple[str, str, str, list[tuple[Bounds, Bounds]]]
S = SWINGING
SHORTER = [(S[1], S[4]), (S[2], S[4])]  # pairs that differ in h_max
LOWER = [(S[0], S[1]), (S[1], S[2]), (S[3], S[4]), (S[4], S[5])]  # pairs that differ in h_min
WIDER = [(HINGED[0], HINGED[1]), (HINGED[2], HINGED[3])]  # from fixed to bounded
LONGER = [(HINGED[0], HINGED[2]), (HINGED[1], HINGED[3])]
CLAIMS: list[Claim] = [  # claim, problem, what falls from the first of each pair to the second
    ("smaller h_max, less loss", "revolute_pendulum", "lost", SHORTER),
    ("smaller h_min, less loss", "revolute_pendulum", "lost", LOWER),
    ("smaller h_max, nearer the converged loss", "revolute_pendulum", "off", SHORTER),
    ("smaller h_min, nearer the converged loss", "revolute_pendulum", "off", LOWER),
    ("smaller h_max, less swing of energy", "revolute_pendulum", "swing", SHORTER),
    ("longer steps, fewer peaks", "revolute_pendulum", "peaks", [(S[4], S[1]), (S[5], S[2])]),
    ("longer steps, fewer peaks", "pendulum_clearance", "peaks", LONGER),
    ("bounding saves effort with clearance", "pendulum_clearance", "iterations", WIDER),
    (
        "bounding saves effort on the ideal hinge (not so in the paper)",
        "pendulum_ideal",
        "iterations",
        WIDER,
    ),
]


@dataclass(frozen=True, eq=False)
class Figures:
    """Results of a run: energies [mJ], force [N], ``rest`` [s] when the pendulum came to rest."""

    steps: int
    rest: Array
    loss: Array  # at rest
    swing: float  # range of the energy
    peaks: int
    largest: float  # of the peaks, above the median
    iterations: float
    cpu: float  # s
    retried: int
    off: float = 0.0  # from the converged loss

    @property
    def lost(self) -> float:
        """Energy lost when the pendulum last rested."""
        return float(self.loss[-1])


def figures(call: Callable[[], Result], converged: Figures | None = None) -> Figures:
    """Return the figures of a run."""
    result, cpu = cpu_seconds(call)
    rests, lost = at_rest(result), 1e3 * result["dissipated_energy"].values
    off = abs(lost[rests[-1]] - converged.lost) if converged else 0.0
    return Figures(
        result.data.sizes["time"] - 1,
        result["time"].values[rests],
        lost[rests],
        float(np.ptp(lost)),
        *force_peaks(result),
        float(np.nansum(result["iterations"])),
        cpu,
        retried(result),
        off,
    )


def at_rest(result: Result) -> Array:
    """Return where the pendulum turns back, one place a swing."""
    kinetic, t = result["kinetic_energy"].values, result["time"].values
    slow = np.flatnonzero((kinetic < 0.01 * kinetic.max()) & (t > 0.2))
    swings = np.split(slow, np.flatnonzero(np.diff(t[slow]) > 0.2) + 1)
    rests = np.array([k[np.argmin(kinetic[k])] for k in swings])
    return rests[rests < len(t) - 1]  # at the end it may be just on its way to rest


def force_peaks(result: Result) -> tuple[int, float]:
    """Return how many peaks the hinge's force has, and the largest."""
    t, force = result["time"].values, result["joint_reaction"].values[1:, 0]
    grid = np.arange(t[0] + GRID / 2, t[-1], GRID)
    size = np.linalg.norm(force, axis=-1)[np.searchsorted(t[1:], grid)]
    above = size - median_filter(size, round(WINDOW / GRID) | 1)
    high = above > PEAK * WEIGHT
    return int(np.sum(high[1:] & ~high[:-1])), float(above.max())


def study(name: str, share: float) -> dict[str, Figures]:
    """Return the runs of a problem by name: of the paper's step by its bounds, and the others."""
    duration, bounds = STUDIES[name]
    problem = load_problem(name)

    def fixed(h: float, reference: Figures | None = None) -> Figures:
        steps = StepBounds(h, h)
        call = partial(run, problem, steps, Variational(), Compiled(), share * duration)
        return figures(call, reference)

    converged = fixed(FINE)
    runs = {}
    for low, high in bounds:
        steps = StepBounds(1e-3 * low, 1e-3 * high)
        call = partial(run, problem, steps, PaperStep(), SOLVER, share * duration)
        runs[text((low, high))] = figures(call, converged)
    highs = dict.fromkeys(high for _, high in bounds)
    runs |= {f"Variational, {h:g} ms": fixed(1e-3 * h, converged) for h in highs}
    return {**runs, "converged": converged}


def text(bounds: Bounds) -> str:
    """Return bounds in words."""
    low, high = bounds
    return f"fixed {low:g} ms" if low == high else f"[{low:g}, {high:g}] ms"


def row(label: str, f: Figures) -> list[str]:
    """Return one line of the table."""
    numbers = [f"{f.lost:.3f}", f"{f.swing:.2f}", str(f.peaks), f"{f.largest:.3g}"]
    return [label, str(f.steps), *numbers, f"{f.iterations:.0f}", f"{f.cpu:.1f}", str(f.retried)]


def judged(claim: Claim, studies: dict[str, dict[str, Figures]]) -> str:
    """Return whether a claim holds in all its pairs, and the numbers."""
    words, name, what, pairs = claim
    values = [[getattr(studies[name][text(b)], what) for b in pair] for pair in pairs]
    falls = [after < 0.98 * before for before, after in values]
    word = "HELD" if all(falls) else "MIXED" if any(falls) else "REFUTED"
    lines = [
        f"    {what}, {text(a)} to {text(b)}: {before:.4g} to {after:.4g}"
        for (a, b), (before, after) in zip(pairs, values, strict=True)
    ]
    return "\n".join([f"{word}: {words} ({name})", *lines])


def draw(studies: dict[str, dict[str, Figures]]) -> None:
    """Draw losses where the pendulum rests, and peaks and effort by bounds."""
    figure, axes = picture("Bounds of the step size", 2, (10.0, 7.2), rows=2)
    for ax, name in zip(axes[0], studies, strict=False):
        runs = studies[name]
        for k, (label, f) in enumerate(runs.items()):
            last = label == "converged"
            style = {"color": "black", "linewidth": 2.0} if last else look(k)._asdict()
            ax.plot(f.rest, f.loss, marker=".", label=label, **style)
        highest = max(f.lost for f in runs.values() if f.retried < 0.01 * f.steps)
        ax.set_ylim(min(0.0, -0.1 * highest), 1.4 * highest)
        title(ax, name)
        axis_labels(ax, "t [s]", "energy lost, at rest [mJ]")
        ax.legend(fontsize=SMALL - 1.5, frameon=False, ncols=2, loc="upper left")
    labels = [(name, b) for name in studies for b in map(text, STUDIES[name][1])]
    bars(axes[1, 0], studies, labels, "peaks", "peaks of the hinge's force")
    bars(axes[1, 1], studies, labels, "iterations", "effort [iterations]")
    keep(figure, "step_bounds")


def bars(
    ax: Axes,
    studies: dict[str, dict[str, Figures]],
    labels: list[tuple[str, str]],
    what: str,
    of: str,
) -> None:
    """Draw one number of all runs of the paper's step."""
    values = [getattr(studies[name][b], what) for name, b in labels]
    colours = [COLOURS[list(studies).index(name)] for name, _ in labels]
    drawn = ax.barh(range(len(labels)), np.maximum(values, 0.5), color=colours)
    ax.bar_label(drawn, [f"{v:.0f}" for v in values], fontsize=SMALL - 1, padding=2, color=GREY)
    ax.set_xscale("log")
    ax.set_yticks(
        range(len(labels)), [f"{n.split('_')[-1]} {b}" for n, b in labels], fontsize=SMALL - 1.5
    )
    ax.invert_yaxis()
    axis_labels(ax, of, None)


def main() -> None:
    """Print the table and what became of the paper's findings; draw both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the runs' durations")
    options = parser.parse_args()
    print(machine())
    studies = {name: study(name, options.share) for name in STUDIES}
    for name, runs in studies.items():
        head = [f"{name}, {options.share * STUDIES[name][0]:g} s", "steps", "lost [mJ]"]
        head += ["swing [mJ]", "peaks", "largest [N]", "iterations", "cpu [s]", "retried"]
        print("\n" + table(head, [row(label, f) for label, f in runs.items()]))
    print("\nThe paper's findings here:")
    print("\n".join(judged(claim, studies) for claim in CLAIMS))
    draw(studies)


if __name__ == "__main__":
    main()
