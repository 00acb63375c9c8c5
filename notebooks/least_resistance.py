# %% [markdown]
"""
# From a URDF file to the motion of least resistance

An arm of seven joints is to bring its hand from one pose to another in two seconds. The usual
answer is a polynomial between the two poses. It keeps its limits, but it loads its joints more than
it must. This lesson reads the arm from its file, says what its joints resist with, and looks for
the motion in which they resist least.

As a notebook it shows its pictures; as a script it leaves them in `results/`.
"""

# %%
import base64
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from matplotlib import pyplot as plt

from nsopt import CubicLaw, Frame, assemble
from nsopt.animation import animate
from nsopt.plots import save
from nsopt.problem import problem_folder
from nsopt.robots import forward_kinematics, load_urdf, resistances
from nsopt.trajectory import (
    ActuatorLimits,
    EndAt,
    Horizon,
    JointResistance,
    Quintic,
    Smoothness,
    StartAt,
    optimize,
)

# %% [markdown]
"""
## The arm

The file states links, joints, limits of range, speed and effort, and the damping of each joint.
"""

# %%
arm = load_urdf(problem_folder() / "arm_7dof" / "arm_7dof.urdf")
for x in arm.actuators:
    print(
        f"{x.joint}: {np.degrees(x.lower):+.0f} to {np.degrees(x.upper):+.0f} deg, "
        f"{x.velocity:g} rad/s, {x.effort:g} N m, damping {x.damping:g} N m s/rad"
    )

# %% [markdown]
"""
## What resists

`resistances` makes forces of what the file says of damping and friction. Stops are added here: in
the last part of their range joints 2, 4 and 6 press against a pad, whose moment grows to 40 N m
within 10 degrees beyond the limit.
"""

# %%
pads = CubicLaw(peak=40.0, compliance=np.radians(10.0))
forces = resistances(arm, stop=dict.fromkeys(("joint2", "joint4", "joint6"), pads))
dynamics = assemble(arm, forces, gravity=(0.0, 0.0, -9.81))
print(", ".join(force.name for force in forces))

# %% [markdown]
"""
## What is wanted

From rest to rest in 2 s, within all limits of the actuators, so that the integral of the squared
resistances of all joints is least. Some weight on accelerations keeps the motion from starting
with a jerk, as steeply as the motors allow. The guess is the quintic, which is also what the result
is compared with.
"""

# %%
START = (0.3, 0.6, -0.2, -1.4, 0.1, 0.9, 0.0)  # rad
END = (-1.1, 1.2, 0.5, -0.7, 0.9, -0.3, 0.6)  # rad
DURATION, STILL = 2.0, np.zeros(7)

best = optimize(
    dynamics,
    Horizon(DURATION, steps=100),
    costs=[JointResistance(), Smoothness(weight=10.0)],
    conditions=[StartAt(START, STILL), EndAt(END, STILL), ActuatorLimits()],
    guess=Quintic(START, END),
)
print(best.summary())

# %% [markdown]
"""
A result says of itself whether it is a solution. `completed` is False if a condition is violated,
or if a step that is reintegrated under the same torques misses the next node;
`defect` is the largest of these distances.
"""

# %%
found, before = best.detailed_cost, best.guess_cost
saved = 1 - found["JointResistance"] / before["JointResistance"]
print(f"solved: {best.completed}, defect {best.data.attrs['defect']:.1e} rad")
print(
    f"resistance {before['JointResistance']:.0f} N^2 m^2 s by the quintic, "
    f"{found['JointResistance']:.0f} at best: {100 * saved:.0f} % saved"
)

# %% [markdown]
"""
## Where it is saved

The quintic starts slowly, is fast in the middle and must be nearly twice as fast there as on
average. Damping takes the square of that. The best motion soon reaches an even speed and leaves it
late; how soon is decided by the weight on accelerations. A joint that moves as far at an even
speed all the time resists 30 % less than by the quintic: 7/10 is the ratio of the integrals. More
cannot be saved against damping alone.
"""

# %%
time = best["time"].values
quintic = Quintic(START, END).trajectory(time / DURATION, (DURATION, DURATION), ())
none = np.zeros(0)


def resistance(q, v):
    """Return the size of the resistance of all joints together over a motion [N m]."""
    smooth = (none, 1, np.zeros((6, 0)))  # no parameters, and no friction under load
    of = [dynamics.resistance(0, x, y, *smooth) for x, y in zip(q, v, strict=True)]
    return np.array([np.linalg.norm(np.asarray(wrench)[3:]) for wrench in of])


figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for name, q, v in (
    ("quintic", quintic.q, quintic.v),
    ("best", best["q"].values, best["v"].values),
):
    left.plot(time, v[:, 0], label=name)
    right.plot(time, resistance(q, v), label=name)
left.set(xlabel="time [s]", ylabel="speed of joint 1 [rad/s]")
right.set(xlabel="time [s]", ylabel="resistance of all joints [N m]", ylim=(0, None))
left.legend()

# %% [markdown]
"""
## What the motors do

The torques as parts of what each motor can give. They hold the arm against gravity and pull it
against damping; none exceeds its limit, for that was a condition. With much less weight on
accelerations motors would be at their limits where the motion starts and ends.
"""

# %%
effort = np.array([x.effort for x in arm.actuators])
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
for k, part in enumerate((best["drive"].values / effort).T, 1):
    ax.plot(time, part, label=f"joint {k}")
ax.set(xlabel="time [s]", ylabel="torque / limit", ylim=(-1.05, 1.05))
ax.legend(ncols=2, loc="center left", bbox_to_anchor=(1.0, 0.5))

# %% [markdown]
"""
## The path

The arm at ten times, evenly spaced in time, from light to dark: from the side, and from above.
Even speed makes even distances. Damping alone asks for nothing else, so each joint takes the
straight path, as in the quintic; pads and cones in between would bend it.
"""

# %%
frames = [Frame(None), *(joint.frames[1] for joint in arm.joints), Frame(arm.bodies[-1])]
path = forward_kinematics(arm, frames)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for k in np.linspace(0, len(time) - 1, 10).round().astype(int):
    points = np.asarray(path(best["q"].values[k], STILL, STILL)[0])
    for ax, (i, j) in zip(axes, ((0, 2), (0, 1)), strict=True):
        shade = plt.get_cmap("viridis_r")(0.1 + 0.9 * time[k] / DURATION)
        ax.plot(points[i], points[j], marker="o", markersize=3, color=shade)
        ax.set(xlabel=f"{'xyz'[i]} [m]", ylabel=f"{'xyz'[j]} [m]", aspect="equal")

# %% [markdown]
"""
## To look at

`animate` writes a GIF or an MP4; here into a folder that goes away, and the picture into the
notebook. `nsopt.plots.save_view` makes a page for the browser in which the arm can be turned.
"""


# %%
class Gif:
    """A moving picture that a notebook shows."""

    def __init__(self, path):
        self.data = path.read_bytes()

    def _repr_html_(self):
        return f'<img src="data:image/gif;base64,{base64.b64encode(self.data).decode()}">'


def film(result):
    """Return the moving picture of a result."""
    with TemporaryDirectory() as folder:
        return Gif(animate(result, Path(folder) / "arm.gif", fps=20))


film(best)

# %% [markdown]
"""
The same from the command line, with cones for shoulder and wrist besides the pads:
`nsopt optimize urdf_least_resistance`.
"""

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/least_resistance_{k}.png")
