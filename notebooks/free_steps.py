# %% [markdown]
"""
# Free steps over a horizon

In the paper the size h of a step is an unknown of its program. Over a horizon each step has one
then, between bounds. This lesson states that in three ways on four motions through contact, and
compares them with phases, the default: the sequence of contact first found in steps, then solved
again with the times of its changes as unknowns.
"""

# %%
from dataclasses import replace
from time import process_time

import numpy as np
from matplotlib import pyplot as plt
from scipy.optimize import minimize, minimize_scalar

from nsopt import (
    GROUND,
    AppliedForce,
    AppliedTorque,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    PaperStep,
    Parameter,
    Planar,
    PlanarRevoluteClearance,
    PlaneContact,
    StepBounds,
    Variational,
    assemble,
)
from nsopt.plots import save
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    FREE,
    IN_STEPS,
    PLAN,
    Cost,
    EndAt,
    EvenSteps,
    Horizon,
    InputEffort,
    Optimization,
    Quintic,
    StartAt,
    Through,
)

G = 9.81  # m/s^2

# %% [markdown]
"""
## Four motions

A mass is **lifted** from a floor. A **sled** on a floor with friction begins backwards, at a speed
to be chosen, and is pushed forwards. A cart **bounces** off a wall with restitution 0.5. A
**pendulum** is lifted on a hinge with a clearance of 1 cm, in the plane, its pin at the wall of the
bore all along. The first three have least costs in closed form, or as the least of a function of
two numbers, and times at which contact changes. Of the pendulum the reference is the motion in
phases with twice as many steps.
"""


# %%
class Miss(Cost):
    """(v(T) - 5/3)^2 and the integral of v^2 [Stewart, Anitescu 2010, Numer. Math. 114]."""

    def rate(self, m):
        return m.v[0] ** 2

    def final(self, m):
        return (m.v[0] - 5 / 3) ** 2


def pushed_sled():
    """Return 1 kg that 2 N push against 1 N of friction for 2 s."""
    body = Body("sled", 1.0, point_mass=True)
    law = ContactLaw(friction=1 / G)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=law, planar=True)
    push = AppliedForce("push", Frame(body), (2.0, 0.0, 0.0))
    d = assemble(Mechanism([body], coordinates="relative"), [floor, push], gravity=(0, 0, -G))
    back = Through([[0, 0, 0], [-0.3, 0, 0], [0.9, 0, 0]], [0.0, 0.25, 1.0])
    return Optimization(d, Horizon(2.0), [Miss()], [StartAt(np.zeros(3), [np.nan, 0, 0])], back)


def least_of_sled():
    """Return the least cost of the sled, and when it turns round."""

    def cost(v):
        end = 2 + v / 3
        return (end - 5 / 3) ** 2 - v**3 / 9 + end**3 / 3

    found = minimize_scalar(cost, bounds=(-2, -1), method="bounded", options={"xatol": 1e-10})
    return found.fun, -found.x / 3


def least_of_bounce(e):
    """Return the least cost of two cubic ways, and when the wall is struck."""

    def cost(x):
        parts = (x[0], x[1]), (2 - x[0], e * x[1])
        return sum(12 / T**3 - 12 * v / T**2 + 4 * v**2 / T for T, v in parts)

    found = minimize(cost, [0.9, 1.8], method="Nelder-Mead", options={"xatol": 1e-10})
    return found.fun, found.x[0]


def worn_pendulum(c):
    """Return a rod of 1 kg on a worn hinge, lifted by a quarter turn with least torque."""
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
    pin, bushing = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
    hinge = PlanarRevoluteClearance("hinge", pin, bushing, clearance=c)
    motor = AppliedTorque("motor", Frame(rod), (0.0, 0.0, Parameter("torque", 0.0)))
    loose = Mechanism([rod], [Planar("plane", pin, bushing)], "relative")
    d = assemble(loose, [hinge, motor], gravity=(0.0, -G, 0.0))
    hung, lifted, still = (0.0, -c, -np.pi / 2), (0.0, -c, 0.0), (0.0, 0.0, 0.0)
    return Optimization(
        d,
        Horizon(0.8),
        [InputEffort(input="torque")],
        [StartAt(hung, still), EndAt((FREE, FREE, 0.0), still)],
        Quintic(hung, lifted),
        inputs=["torque"],
        scheme=Variational(normal_implicitness=0.5),
    )


lift, sled, pendulum = load_optimization("lift"), pushed_sled(), worn_pendulum(1e-2)
bounce = load_optimization("bounce")
RISE = np.sqrt(6 / G)  # s
LEAST = {  # least cost, and when contact changes [s]
    "lift": (48 / RISE**3, 2 - RISE),
    "sled": least_of_sled(),
    "bounce": least_of_bounce(0.5),
    "pendulum": (pendulum.solve(steps=100).objective, np.nan),
}

# %% [markdown]
"""
## Stating free steps

`Horizon(duration, steps, h=StepBounds(h_min, h_max))` makes each h an unknown. What they gain
depends on the scheme:

- `PaperStep` and `Variational` demand that no gap is below zero at nodes, and that only what is
  closed at the end of a step presses. Nothing ties a change of contact to a node.
- `ContactAligned` has cross complementarity: what presses in a step is closed at both of its ends.
  So contacts change at nodes alone, and free steps put nodes there.

Two ways keep steps alike: the cost `EvenSteps`, and `breaks`, shares of the steps at which h may
change. Between breaks all steps are equal, as finite elements with switch detection have them
between switches; but how many lie between two switches is given.
"""


# %%
def in_steps(stated, n, scheme=None, free=True, even=0.0, breaks=()):
    """Return a motion in steps alone, their sizes free or alike."""
    T = stated.horizon.bounds[0]
    h = StepBounds(0.2 * T / n, 5 * T / n) if free else None
    return replace(
        stated,
        horizon=Horizon(T, n, h, breaks),
        costs=[*stated.costs, *([EvenSteps(weight=even)] if even else [])],
        scheme=scheme or stated.scheme,
        plan=IN_STEPS,
    )


def in_phases(stated, n):
    """Return the same by the default plan, from steps that are alike if its scheme allows."""
    return replace(stated, horizon=replace(stated.horizon, steps=n), plan=PLAN)


mass = replace(lift, scheme=Variational(), horizon=Horizon(2.0))
paper, aligned = PaperStep(), lift.scheme
RUNS = [  # motion, way, statement
    ("lift", "alike", in_steps(mass, 20, free=False)),
    ("lift", "free, the paper's step", in_steps(mass, 20, paper)),
    ("lift", "free", in_steps(mass, 20)),
    ("lift", "free, cross complementarity", in_steps(lift, 20)),
    ("lift", "the same, 40 steps", in_steps(lift, 40)),
    ("lift", "20 steps, alike in each part", in_steps(lift, 20, breaks=[0.6])),
    ("lift", "phases", in_phases(mass, 20)),
    ("sled", "alike", in_steps(sled, 20, free=False)),
    ("sled", "free", in_steps(sled, 20)),
    ("sled", "free, EvenSteps", in_steps(sled, 20, even=1.0)),
    ("sled", "phases", in_phases(sled, 20)),
    ("bounce", "free, cross complementarity", in_steps(bounce, 20)),
    ("bounce", "phases", in_phases(bounce, 20)),
    ("pendulum", "alike", in_steps(pendulum, 50, free=False)),
    ("pendulum", "free, EvenSteps", in_steps(pendulum, 50, even=1.0)),
    ("pendulum", "phases", in_phases(pendulum, 50)),
]


# %% [markdown]
"""
## The table

`switch` is when the mass leaves the floor, the sled turns round, the cart meets the wall; seconds
are of the processor.
"""


# %%
def switch(name, result):
    """Return when contact changes [s]."""
    t, borders = result["time"].values, result.data.attrs.get("borders", [])
    if len(borders) > 2:
        return borders[1]
    if name == "lift":  # the end of the last step in which the floor presses
        return t[np.flatnonzero(result["impulse"].values[:, 0] > 1e-6)[-1]]
    if name == "sled":
        v = result["v"].values[:, 0]
        k = np.flatnonzero((v[:-1] < 0) & (v[1:] >= 0))[0]
        return t[k] - v[k] * (t[k + 1] - t[k]) / (v[k + 1] - v[k])
    if name == "bounce":
        return t[np.nanargmax(result["impact_impulse"].values[:, 0])]
    return np.nan


found = {}
print(f"{'motion':9}{'way':32}{'cost':>9}{'off':>9}{'s':>6}  {'switch, h [s]':22}warnings")
for name, way, stated in RUNS:
    parameters = {"restitution": 0.5} if name == "bounce" else {}
    begin = process_time()
    result = found[name, way] = stated.solve(parameters)
    seconds = process_time() - begin
    cost = result.objective - result.detailed_cost.get("EvenSteps", 0.0)
    least, _ = LEAST[name]
    h = np.diff(result["time"].values)
    sizes = f"{switch(name, result):.4f}, {h.min():.3f} to {h.max():.3f}"
    off = cost / least - 1
    print(f"{name:9}{way:32}{cost:9.4f}{off:+9.0e}{seconds:6.1f}  {sizes:24}{len(result.warnings)}")
for name, (least, when) in LEAST.items():
    print(f"{name:9}{'true':32}{least:9.4f}{'':15}  {when:.4f}")

# %%
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ways = ["free", "free, cross complementarity", "phases"]
for k, way in enumerate(ways):
    t = found["lift", way]["time"].values
    ax.plot(t, np.full(len(t), k), "|", markersize=18)
ax.axvline(2 - RISE, color="grey", linewidth=0.8)
ax.set_yticks(range(len(ways)), ways)
ax.set(xlabel="nodes of the lift [s]; grey: when the mass leaves the floor", ylim=(-0.5, 2.5))

# %% [markdown]
"""
What to take from this:

- Free steps alone gain what the discretisation gets wrong: a last step of half a second lifts the
  mass for 14 % less than any motion can. Such results have warnings, three here. Steps that are
  alike, or asked to be by `EvenSteps`, are off by less, of first order where contact changes.
- With cross complementarity contact changes at a node, at the right time. The cost is too high, as
  that of a force held over each step, and of second order. It takes longest, and has no friction.
- Phases have the times of changes as unknowns as well, but know which contact does what. They are
  of fourth order: exact where the motion is a cubic, as of these three.
- So leave steps as they are and take the default. Free steps, with cross complementarity, are for
  motions that phases do not state: "What stays in steps" in the guide of motions through contact.
"""

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/free_steps_{k}.png")
