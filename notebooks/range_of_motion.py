# %% [markdown]
"""
# A joint that stops, stiffens and dissipates

The pendulum of [RoM 2023, section 4]: a ball joint whose pointer must stay within an irregular
cone. We look at one run, then at what the three numbers of the restriction do: how soft it is,
how strong, how much it dissipates. The first run compiles for some seconds; all others use the
same code, for the numbers are Parameters.

As a notebook it shows its pictures; as a script it leaves them in `results/`.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt

from nsopt import Compiled, StepBounds, Variational, load_problem, simulate
from nsopt.plots import range_of_motion, save

pendulum = load_problem("rom_pendulum_elastic").dynamics


def run(duration=2.0, **numbers):
    """Simulate with other numbers of the restriction; angles in degrees."""
    if "compliance" in numbers:
        numbers["compliance"] = np.radians(numbers["compliance"])
    return simulate(
        pendulum,
        duration=duration,
        steps=StepBounds(5e-4, 5e-4),
        scheme=Variational(),
        solver=Compiled(),
        parameters=numbers,
        title=", ".join(f"{name} = {value:.3g}" for name, value in numbers.items()) or "reference",
        progress=False,
    )


# %% [markdown]
"""
## One run

Released level at longitude 135 deg, the pendulum swings through the vertical and leaves the cone
on the other side, by some 5 deg; the moment of about 100 N m brings it back. No energy is lost:
the moment is the gradient of a potential, which the energies contain.
"""

# %%
reference = run(5.0)
print(reference.summary())
print(f"deepest {np.degrees(reference['cone.excess'].values.max()):.2f} deg outside")
range_of_motion(reference)

# %% [markdown]
"""
## How soft, how strong

A larger compliance lets the pendulum go deeper, and the peak comes later and lower. With 1.5 deg
the plateau of 226 N m is reached, so the pendulum goes beyond the compliance. A larger peak
moment does the opposite.
"""

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
for degrees in (1.5, 6.5, 11.5, 16.5, 21.5):
    result = run(0.45, compliance=degrees)
    left.plot(result.data["time"], result["cone.moment"], label=f"{degrees} deg")
for peak in (126.0, 176.0, 226.0, 276.0, 326.0):
    result = run(0.45, peak=peak)
    right.plot(result.data["time"], result["cone.moment"], label=f"{peak:.0f} N m")
for ax, what in ((left, "compliance"), (right, "peak")):
    ax.set(xlim=(0.33, 0.42), xlabel="time [s]", ylabel="moment [N m]", title=what)
    ax.legend(fontsize=8)

# %% [markdown]
"""
## How much it dissipates

With 0.1 N m s the cone is still reached, at about 0.40 s; with 1 and more it never is, and the
pendulum comes to rest hanging.
"""

# %%
dampings = [0.1, 1.0, 3.39, 10.0]
range_of_motion(*(run(5.0, damping=damping) for damping in dampings))

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/range_of_motion_{k}.png")
