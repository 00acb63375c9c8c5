# %% [markdown]
"""
# A piston pin that wears

A joint with clearance rubs and hits, wears, has more clearance, and moves differently: this lesson
closes that circle. A slider-crank at 5000 rpm runs a few turns; Archard's law [Archard 1953, J.
Appl. Phys. 24] tells what force and sliding have worn off the pin and its bore; some million turns
like these later the same mechanism runs again with the clearance that is left.

As a notebook it shows its pictures; as a script it leaves them in `results/`.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt

from nsopt import Compiled, Result, StepBounds, Variational, load_problem, simulate
from nsopt.analysis import mode_statistics, wear
from nsopt.plots import orbits, save

# %% [markdown]
"""
## A run, and what it wears off

The named problem of the command line: crank 0.05 m, rod 0.12 m, a pin of 10 mm, driven at constant
speed. Four turns with 0.1 mm of clearance; the first, in which the pin settles, does not count.
"""

# %%
problem = load_problem("slider_crank_5000rpm")
TURN = 60 / 5000  # s
RADIUS, LENGTH = 0.01, 0.02  # m of the bore
COEFFICIENT = 1e-16  # 1/Pa, Archard's over the hardness: mild wear
COUNTED = 3  # turns of a run


def run(clearance):
    """Return three turns with a clearance, after one that does not count."""
    result = simulate(
        problem.dynamics,
        problem.start,
        (1 + COUNTED) * TURN,
        steps=StepBounds(4e-6, 4e-6),
        scheme=Variational(),
        solver=Compiled(),
        parameters={"clearance": clearance},
        title=f"{1e3 * clearance:.3f} mm",
        progress=False,
    )
    t = result["time"].values
    return Result(result.data.isel(time=t >= TURN - 1e-9))


def worn_by(result, turns):
    """Return the wear of as many turns like those of a run."""
    return wear(
        result, "piston pin", COEFFICIENT, radius=RADIUS, length=LENGTH, runs=turns / COUNTED
    )


first = run(1e-4)
found = worn_by(first, 1e6)
print(f"a million turns wear off {1e9 * found.volume:.2f} mm³")
print(f"the clearance grows from {1e3 * found.clearance:.4f} to {1e3 * found.worn:.4f} mm")

# %% [markdown]
"""
By hand: the volume is k times the normal force times the way of sliding, summed. The pin presses
with 1.7 kN on average, and pin and bore slide by the swing of the rod to and fro, four times
asin(0.05 / 0.12), times the radius in every turn; more where the force is large.
"""

# %%
impulse = np.nansum(first["impulse"].values) / COUNTED
way = 4 * np.arcsin(0.05 / 0.12) * RADIUS
print(f"about {1e9 * COEFFICIENT * impulse / TURN * way * 1e6:.2f} mm³")

# %% [markdown]
"""
## Fed back

Ten million turns, the clearance told anew after each two million, and after each five million to
see what the length of these parts does.
"""


# %%
def history(turns_a_part, parts):
    """Return clearances [m] at the ends of parts, and the wear and the run of each part."""
    clearances, worn, runs = [1e-4], [], []
    for _ in range(parts):
        runs.append(run(clearances[-1]))
        worn.append(worn_by(runs[-1], turns_a_part))
        clearances.append(worn[-1].worn)
    return np.array(clearances), worn, runs


fine, worn, runs = history(2e6, 5)
coarse, _, _ = history(5e6, 2)

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(2 * np.arange(6), 1e3 * fine, "o-", label="told every 2 million turns")
ax.plot(5 * np.arange(3), 1e3 * coarse, "s--", label="every 5 million")
ax.set(xlabel="turns [million]", ylabel="clearance [mm]", ylim=(0, 0.14))
ax.legend()

# %% [markdown]
"""
## Where the bore is worn

Depth over the circumference, summed over the parts, and enlarged: the circle is the wall, x the
direction in which the slider goes. Force and sliding are largest near the dead centres, where the
slider is turned back, so that the bore gets longer along x. `wear` leaves a round bore, from which
as much is worn off evenly. At the end the depth along x is more than half of the clearance: from
there on the shape of the bore counts, which this model does not have.
"""

# %%
depth = np.cumsum([each.depth for each in worn], axis=0)
angle = worn[0].angle
closed = [*range(len(angle)), 0]
figure, ax = plt.subplots(figsize=(5.4, 5.4), layout="constrained", subplot_kw={"polar": True})
ax.plot(np.linspace(0, 2 * np.pi, 181), np.zeros(181), color="black", linewidth=1)
for k, depths in enumerate(depth):
    ax.plot(angle[closed], 1e6 * depths[closed], label=f"{2 * (k + 1)} million turns")
ax.set_rlim(-1.2e6 * depth.max(), 1.2e6 * depth.max())
ax.set_rticks([0, *np.round(1e6 * depth.max() * np.array([0.5, 1.0]), -1)])
ax.set_rlabel_position(80)
ax.set_title("worn depth [µm] around the wall", fontsize=10)
figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)

# %% [markdown]
"""
## What the wear changes

The orbit of the pin in its bore, new and after eight million turns, over its clearance; and how the
pin spends a turn.
"""

# %%
orbits(runs[0], runs[-1])

# %%
for each in runs:
    modes = mode_statistics(each)["piston pin"]
    force = np.nanmax(np.linalg.norm(each["lasting_force"].values[:, 0], axis=1))
    print(
        f"{each.name}: {100 * modes.free:.1f} % free, {modes.impacts} impacts, lasting force up to "
        f"{force:.0f} N"
    )

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/wear_{k}.png")
