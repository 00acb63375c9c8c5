# %% [markdown]
"""
# Two joints with clearance at once

A four-bar linkage whose coupler is worn at both ends. With one worn joint the links are led by the
other three; with two the coupler is led by contacts alone, and each joint flies, hits or presses:
nine modes together. This lesson runs the linkage with ideal joints, with either joint worn and with
both, and asks whether the effects of two clearances add up.

As a notebook it shows its pictures; as a script it leaves them in `results/`.
"""

# %%
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    Compiled,
    ContactLaw,
    Driven,
    FollowContacts,
    Frame,
    LargestStep,
    Mechanism,
    Planar,
    PlanarRevoluteClearance,
    PointOnLine,
    Revolute,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.analysis import mode_statistics, quantity
from nsopt.plots import contact_modes, orbits, save

# %% [markdown]
"""
## The linkage

Crank 0.1 m, coupler 0.3 m, rocker 0.25 m, 0.3 m between the bearings, thin rods of 2 kg/m, the
crank driven at 600 rpm. Bodies state the velocities of ideal joints: the coupler's and the rocker's
from the closure of the loop.
"""

# %%
CRANK, COUPLER, ROCKER, BASE = 0.1, 0.3, 0.25, 0.3  # m
SPEED = 600 * 2 * np.pi / 60  # rad/s
CLEARANCE = 5e-4  # m


def pins():
    """Return the four pins at the start, the crank upright (4, 3)."""
    span = np.hypot(BASE, CRANK)
    along = (span**2 + COUPLER**2 - ROCKER**2) / (2 * span)
    x = np.array([BASE, -CRANK, 0]) / span
    upper = np.array([0, CRANK, 0]) + along * x
    upper += np.sqrt(COUPLER**2 - along**2) * np.cross([0, 0, 1], x)
    return np.array([[0, 0, 0], [0, CRANK, 0], upper, [BASE, 0, 0]])


A, B, C, D = pins()
TURN_LEFT = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 0]])  # times w: velocity at an arm
arms = np.column_stack([TURN_LEFT @ (C - B), -TURN_LEFT @ (C - D)])[:2]
RATES = np.linalg.solve(arms, -SPEED * (TURN_LEFT @ B)[:2])  # of coupler and rocker [rad/s]


def rod(name, a, b, speed, base, base_velocity):
    """Return a thin rod from a to b that turns at a speed, one point of it moving as given."""
    length = np.linalg.norm(b - a)
    J = 2.0 * length**3 / 12
    return Body(
        name,
        2.0 * length,
        (J / 100, J, J),
        position=(a + b) / 2,
        orientation=turned(np.arctan2(b[1] - a[1], b[0] - a[0])),
        velocity=base_velocity + speed * TURN_LEFT @ ((a + b) / 2 - base),
        angular_velocity=(0, 0, speed),
    )


def turned(angle):
    """Return the Euler parameters of a rotation about z."""
    return (np.cos(angle / 2), 0, 0, np.sin(angle / 2))


def four_bar(*worn):
    """Return the linkage with clearance in the joints that are named, "lower" and "upper"."""
    still = np.zeros(3)
    crank = rod("crank", A, B, SPEED, A, still)
    coupler = rod("coupler", B, C, RATES[0], B, SPEED * TURN_LEFT @ B)
    rocker = rod("rocker", D, C, RATES[1], D, still)
    bearing = Revolute("crank bearing", Frame(GROUND, A), Frame.at(crank, A))
    joints = [
        bearing,
        Revolute("rocker bearing", Frame(GROUND, D), Frame.at(rocker, D)),
        Driven("motor", bearing, SPEED),
    ]
    ends = {
        "lower": (Frame.at(crank, B), Frame.at(coupler, B)),
        "upper": (Frame.at(rocker, C), Frame.at(coupler, C)),
    }
    whole = [name for name in ends if name not in worn]
    # In the plane a loop is closed by two rows; the joint before it carries the coupler.
    joints += [
        kind(name, *ends[name]) for kind, name in zip((Revolute, PointOnLine), whole, strict=False)
    ]
    if not whole:
        joints.append(Planar("plane", Frame(GROUND), Frame(coupler)))
    law = ContactLaw(restitution=0.5, friction=0.02)
    contacts = [
        PlanarRevoluteClearance(name, *ends[name], clearance=CLEARANCE, radius=0.01, law=law)
        for name in worn
    ]
    mechanism = Mechanism([crank, coupler, rocker], joints, "relative")
    return assemble(mechanism, contacts, gravity=(0, -9.81, 0))


# %% [markdown]
"""
## Four runs

Five turns each, in steps that are shortened so as to end at impacts.
"""

# %%
TURN = 2 * np.pi / SPEED


def run(*worn):
    """Simulate five turns."""
    return simulate(
        four_bar(*worn),
        duration=5 * TURN,
        steps=StepBounds(1e-9, 2e-5),
        scheme=Variational(),
        solver=Compiled(),
        control=LargestStep(contacts=FollowContacts(placed=1e-6)),
        title=" and ".join(worn) or "ideal",
        progress=False,
    )


ideal, lower, upper, both = run(), run("lower"), run("upper"), run("lower", "upper")
print(both.summary())

# %% [markdown]
"""
## The orbits of both pins

Over their clearances, in colours for free flight, impact and lasting contact.
"""

# %%
orbits(both, joint="lower")

# %%
orbits(both, joint="upper")

# %%
contact_modes(both)

# %% [markdown]
"""
## Modes together

How each joint spends its time, worn alone and with the other; and the share of the nine modes of
both joints together. If the joints did not know of each other, each entry of the second table would
be the product of the sums of its row and its column.
"""

# %%
for result in (lower, upper, both):
    for joint, modes in mode_statistics(result).items():
        print(
            f"{joint} of {result.name}: {100 * modes.free:.1f} % free, {modes.impacts} impacts of "
            f"{modes.impulse:.3f} N s in all"
        )

names = ["free", "lasting", "impact"]
mode = both["contact_mode"].values[1:].astype(int)
shares = np.zeros((3, 3))
np.add.at(shares, tuple(mode.T), both["h"].values[1:])
table = pd.DataFrame(100 * shares / shares.sum(), index=names, columns=names)
table.index.name, table.columns.name = "lower", "upper"
print(table.round(2))

# %% [markdown]
"""
## Do the effects add up?

How far the rocker is off that of the ideal linkage. A clearance of 0.5 mm turns a rocker of 250 mm
by some 2 mrad; two of them by the sum of both, as long as both pins press where they would alone.
Where the pins fly and hit, the sum fails.
"""


# %%
def off(result):
    """Return how far the rocker is off the ideal one, at its times [mrad]."""
    t = ideal["time"].values
    angle = np.interp(t, result["time"].values, quantity(result, "rocker bearing.angle"))
    return 1e3 * (angle - quantity(ideal, "rocker bearing.angle"))


crank = quantity(ideal, "crank bearing.angle") / (2 * np.pi)
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.plot(crank, off(lower) + off(upper), color="0.7", linewidth=3, label="lower + upper, added")
for result in (lower, upper, both):
    ax.plot(crank, off(result), linewidth=1, label=result.name)
ax.set(xlabel="turns of the crank", ylabel="rocker, off the ideal [mrad]", xlim=(3, 5))
figure.legend(loc="outside lower center", ncols=4, frameon=False)

# %% [markdown]
"""
## What the drive feels

The moment of the drive without the impulses of impacts, which have no moment that would not depend
on the length of a step.
"""

# %%
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
for result in (both, ideal):
    struck = np.zeros(result.data.sizes["time"], dtype=bool)
    if result.data.sizes["contact"]:
        struck = np.any(np.nan_to_num(result["impact_impulse"].values) > 0, axis=1)
    moment = np.where(struck, np.nan, result["motor.torque"].values)
    turns = quantity(result, "crank bearing.angle") / (2 * np.pi)
    ax.plot(turns, moment, linewidth=1, label=result.name)
ax.set(xlabel="turns of the crank", ylabel="moment of the drive [N m]", xlim=(3, 5))
ax.set_ylim(-280, 120)
figure.legend(loc="outside lower center", ncols=2, frameon=False)

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/two_clearances_{k}.png")
