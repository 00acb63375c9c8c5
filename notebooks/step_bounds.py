# %% [markdown]
"""
# Bounds of the step size

A step that may choose its own size needs to know how small and how large it may become. This lesson
moves both bounds on a pendulum with clearance, first for the paper's step, which finds h itself in
each step, then for the variational step, which takes what an error estimate allows, and looks at
what each choice costs and how right the result is.

As a notebook it shows its pictures; as a script it leaves them in `results/`. The variational step
is compiled in the first run, which takes some seconds more.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    Compiled,
    ErrorControl,
    PaperStep,
    StepBounds,
    Variational,
    load_problem,
    simulate,
)
from nsopt.plots import save, step_size

# %% [markdown]
"""
## What is true

Case A: 1 kg on a hinge with 1 mm of clearance, released level, over 2 s. It falls through the
clearance, hits the wall after 14.3 ms, which costs 2.5968 mJ, and swings on in lasting contact.
All else conserves energy. An event-driven computation gives the angle after 2 s; a fine run of
the variational step gives it in between.
"""

# %%
pendulum = load_problem("case_a").dynamics
END = -0.0137398064  # rad, after 2 s, event-driven
LOSS = 2.59676e-3  # J, of the one impact


def run(low, high, **how):
    """Simulate one swing to and fro with h between bounds [s]."""
    return simulate(pendulum, duration=2.0, steps=StepBounds(low, high), progress=False, **how)


def angle(result):
    """Return how far the body has turned about z since the start [rad]."""
    q = result["body_quaternion"].values[:, 0]
    return np.unwrap(2 * np.arctan2(q[:, 3], q[:, 0]), period=4 * np.pi)


fine = run(5e-5, 5e-5, scheme=Variational(), solver=Compiled())
print(f"the fine run ends off by {abs(angle(fine)[-1] - END):.1e} rad")


def figures(result):
    """Return steps, largest error of angle [rad], and swing of energy about what is right [J]."""
    t = result["time"].values
    off = angle(result) - np.interp(t, fine["time"].values, angle(fine))
    energy = result["total_energy"].values
    balance = energy - energy[0] + np.where(t > 0.0145, LOSS, np.nan)
    return len(t) - 1, np.abs(off).max(), np.nanmax(np.abs(balance))


def show(runs):
    """Print a line for each run."""
    print(f"{'h [ms]':>16} {'steps':>6} {'angle off [mrad]':>17} {'energy off [mJ]':>16}")
    for name, result in runs.items():
        steps, off, energy = figures(result)
        print(f"{name:>16} {steps:6d} {1e3 * off:17.3f} {1e3 * energy:16.3f}")


# %% [markdown]
"""
## The paper's step

In each step it looks for the largest h within its bounds that its equations, the wall included,
allow. Two runs with the same upper bound differ in the lower one; a third has half of it.
"""

# %%
BOUNDS = [(2.0, 2.0), (0.5, 2.0), (1.0, 1.0)]  # ms
paper = {
    f"{low:g} to {high:g}": run(1e-3 * low, 1e-3 * high, scheme=PaperStep(), solver=Compiled())
    for low, high in BOUNDS
}
show(paper)

# %% [markdown]
"""
The upper bound decides: with half of it the error is half as large, for twice the steps. This step
is of first order. The lower bound hardly matters here, for h is at the upper one nearly always.
"""

# %%
step_size(paper["0.5 to 2"])

# %% [markdown]
"""
It is smaller in two cases: before the impact, so that a step ends at the wall, and where the
pendulum turns. The last steps share what is left to the end.

## The variational step, h given

Without a rule of its own it takes h at the upper bound, always. The order is two: from 1 ms on,
half of h is a fourth of the error. A step of 2 ms is more exact than the paper's of 1 ms by a
factor of ten.
"""

# %%
SIZES = [2.0, 1.0, 0.5, 0.25]  # ms
fixed = {f"{h:g}": run(1e-3 * h, 1e-3 * h, scheme=Variational(), solver=Compiled()) for h in SIZES}
show(fixed)

# %% [markdown]
"""
## The variational step, error given

`ErrorControl` takes h as large as the estimated local error of a step allows. Bounds far apart
leave it alone: 10 us and 10 ms.
"""


# %%
def controlled(tolerance, low=1e-5, high=1e-2):
    """Simulate with h chosen by the local error [m] within bounds [s]."""
    return run(low, high, scheme=Variational(), solver=Compiled(), control=ErrorControl(tolerance))


TOLERANCES = [1e-5, 1e-6, 1e-7, 1e-8, 1e-9]  # m
free = {f"tolerance {x:.0e}": controlled(x) for x in TOLERANCES}
show(free)

# %% [markdown]
"""
What each step buys: with the error given, 2,800 steps do better than 4,000 of one size, and 6,000
better than 8,000 by a factor of five. With few steps there is less order in it: a tolerance of
1e-5 m is a hundredth of the clearance, and steps become so long that the motion within the
clearance is no longer resolved.
"""

# %%
FAMILIES = [("paper's step", paper), ("variational, h given", fixed), ("error given", free)]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, runs), marker in zip(FAMILIES, "os^", strict=True):
    steps, off, _ = np.transpose([figures(result) for result in runs.values()])
    ax.loglog(steps, 1e3 * off, marker, linestyle="-" if runs is not paper else "", label=name)
ax.set(xlabel="steps", ylabel="largest error of the angle [mrad]")
ax.set_xticks([300, 1000, 3000, 8000], ["300", "1000", "3000", "8000"])
ax.minorticks_off()
ax.legend()

# %% [markdown]
"""
## Where the steps are

The error of a step comes from the pin that slides in its bushing, faster the harder it is pressed:
at the bottom of the swing, at 0.5 and 1.5 s. There steps are short, and long where the pendulum
turns. Three runs with the same tolerance and other bounds:
"""

# %%
bounded = {
    "free": free["tolerance 1e-08"],
    "h_min too large": controlled(1e-8, low=1e-3),
    "h_max too small": controlled(1e-8, high=3e-4),
}
show(bounded)

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for name, result in bounded.items():
    ax.semilogy(result["time"][1:], 1e3 * result["h"][1:], linewidth=1.2, label=name)
ax.set(xlabel="time [s]", ylabel="step size [ms]")
ax.set_yticks([0.3, 1, 3, 10], ["0.3", "1", "3", "10"])
ax.minorticks_off()
ax.legend(loc="upper center")

# %% [markdown]
"""
A lower bound of 1 ms is above what the tolerance asks for over most of the swing: the run goes on
at the bound, with the error of a fixed 1 ms, seven times that of the free one. An upper bound of
0.3 ms is below what it would allow: the tolerance no longer matters, and steps are wasted where
the pendulum turns. The record says which of the two it was, step by step.
"""

# %%
for name, result in bounded.items():
    why, count = np.unique(result["step_reason"].values.astype(str), return_counts=True)
    print(f"{name:>16}: " + ", ".join(f"{n} {w}" for w, n in zip(why, count, strict=True)))

# %% [markdown]
"""
What to take from this:

- With `PaperStep` choose the upper bound by the error, the lower one a fourth of it or less, so
  that steps can end at a wall. Halve both and compare.
- With `Variational` give a tolerance and leave the bounds wide. Set `h_max` where the motion
  between two steps matters in itself, for a picture or a sensor; set `h_min` as a floor for the
  cost, and look at the reasons of steps afterwards.
- A tolerance is a length. Well below the clearance is where the error follows it.
"""

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/step_bounds_{k}.png")
