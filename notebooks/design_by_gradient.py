# %% [markdown]
"""
# Design by gradient

How does a motion change with a clearance? A simulation has an exact answer: each step is the
solution of equations, so its derivative follows from theirs, and the derivatives of all steps are
chained. This lesson looks at such derivatives through an impact, finds a clearance and a damping
from a noisy measurement, and chooses the clearances of a chain at least cost within a tolerance.

As a notebook it shows its pictures; as a script it leaves them in `results/`. The first run
compiles for some seconds.
"""

# %%
from time import perf_counter

import casadi as ca
import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    ContactAligned,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlanarRevoluteClearance,
    PlaneContact,
    RevoluteClearance,
    StepBounds,
    TorsionSpringDamper,
    assemble,
)
from nsopt.plots import save
from nsopt.trajectory import (
    FullWindow,
    GrowingWindow,
    Limit,
    Measured,
    Unknown,
    design,
    fit,
    sensitivities,
)

# %% [markdown]
"""
## A pendulum on a worn hinge

1 kg, released level; a hinge with 1 mm of clearance and some damping. Clearance and damping are
Parameters. What we look at is the angle, a function of the state.
"""

# %%
CLEARANCE, DAMPING = 1e-3, 0.05  # m, N m s/rad
rod = Body("rod", mass=1.0, inertia=(0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
pin, bushing = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
hinge = RevoluteClearance(
    "hinge",
    pin,
    bushing,
    length=0.1,
    clearance=Parameter("clearance", CLEARANCE),
    axial_clearance=1e-3,
    radius=0.01,
)
damper = TorsionSpringDamper("damper", pin, bushing, 0.0, damping=Parameter("damping", DAMPING))
pendulum = assemble(Mechanism([rod]), [hinge, damper], gravity=(0.0, -9.81, 0.0))


def angle(_t, q, _v, _p):
    """Return the rotation about z [rad]."""
    return 2 * ca.atan2(q[6], q[3])


# %% [markdown]
"""
## The derivative through an impact

`sensitivities` simulates the motion and prepares its derivatives; `forward` gives those of all
outputs at all times. The pin hits its bushing after 14 ms, and from there on the angle depends on
the clearance: it ripples, for the bushing slides to and fro on its pin at a frequency that goes
with the clearance, and ripples of two clearances run apart. Dots are finite differences, from two
more simulations.
"""

# %%
STEPS = StepBounds(1e-6, 1e-3)
TIMES = 0.01 * np.arange(1, 201)  # s


def motion(clearance=CLEARANCE, damping=DAMPING, times=TIMES, by=("clearance", "damping")):
    """Simulate, with derivatives of the angle."""
    return sensitivities(
        pendulum,
        times=times,
        steps=STEPS,
        outputs=angle,
        by=by,
        by_start=False,
        parameters={"clearance": clearance, "damping": damping},
    )


found = motion()
slopes = found.forward().parameters[:, 0]  # (time, parameter)
fine = 1e-3 * np.arange(1, 2001)
trajectory = motion(times=fine).forward().parameters[:, 0]
d = 1e-6 * CLEARANCE
by_differences = (motion(CLEARANCE + d).value - motion(CLEARANCE - d).value).ravel() / (2 * d)
off = np.abs(by_differences - slopes[:, 0]).max() / np.abs(slopes[:, 0]).max()
print(f"finite differences are off by {off:.1e} of the largest derivative")

figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
axes[0].plot(fine, trajectory[:, 0], linewidth=0.8, label="derivative")
axes[0].plot(TIMES[3::4], by_differences[3::4], "o", markersize=4, label="finite differences")
axes[0].set(ylabel="by clearance [rad/m]")
axes[1].plot(fine, trajectory[:, 1])
axes[1].set(ylabel="by damping [rad/(N m s/rad)]", xlabel="time [s]")
axes[0].legend(loc="upper left")

# %% [markdown]
"""
`adjoint` gives the gradient of one number, a weighted sum of outputs, going backwards. Its cost
does not grow with the number of parameters. The two agree to round-off.
"""

# %%
weights = np.sin(TIMES)[:, None]
begin = perf_counter()
backwards = found.adjoint(weights).parameters
seconds = perf_counter() - begin
forwards = np.einsum("nm,nmp->p", weights, found.forward().parameters)
print(f"2,000 steps {1e3 * found.simulation_seconds:.0f} ms, each differentiated in")
linearising = 1e3 * found.linearisation_seconds
print(f"{linearising:.0f} ms together, the gradient {1e3 * seconds:.1f} ms more")
print(f"forward and adjoint differ by {np.abs(backwards / forwards - 1).max():.0e}")

# %% [markdown]
"""
## When the time of an impact matters

A ball dropped from 1 m rebounds with e = 0.8. Dropped from higher up it arrives later and faster:
the derivative of its height at 0.7 s by the height at the start is 0.190552, from the parabolas.
`ContactAligned` ends a step at the impact and differentiates its time too. A scheme of fixed steps
would find 1, whatever the step, and is refused.
"""

# %%
ball = Body("ball", 1.0, (0.1, 0.1, 0.1), (0.0, 0.0, 1.0))
floor = PlaneContact("floor", Frame(GROUND), Frame(ball), law=ContactLaw(restitution=0.8))
drop = {
    "dynamics": assemble(Mechanism([ball]), [floor], gravity=(0.0, 0.0, -9.81)),
    "times": 0.7,
    "steps": StepBounds(1e-6, 1e-2),
    "outputs": lambda _t, q, _v, _p: q[2],
}
print(f"{sensitivities(**drop, scheme=ContactAligned()).forward().q0[0, 0, 2]:.6f}")
try:
    sensitivities(**drop)
except ValueError as error:
    print(error)

# %% [markdown]
"""
## A measurement and its parameters

Somebody measured the angle every 10 ms, with noise of 0.02 mrad. How large are clearance and
damping? Over the clearance the residual of all angles has one valley at 1 mm, for the first drop
through the clearance shifts everything after it. After 1.5 s alone there are two more, 3 % off on
either side: ripples that are one period off look alike.
"""

# %%
NOISE = 2e-5  # rad
random = np.random.default_rng(1)
noisy = found.value + NOISE * random.normal(size=found.value.shape)
LATE = TIMES > 1.5

scan = CLEARANCE * np.linspace(0.94, 1.06, 31)
off = np.array([(motion(c, by=()).value - noisy).ravel() for c in scan]) / NOISE
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for name, which in (("all 2 s", TIMES > 0), ("after 1.5 s alone", LATE)):
    ax.semilogy(1e3 * scan, np.sqrt(np.mean(off[:, which] ** 2, axis=1)), label=name)
ax.set(xlabel="clearance [mm]", ylabel="residual / noise")
ax.set_yticks([1, 3, 10, 30], ["1", "3", "10", "30"])
ax.minorticks_off()
ax.legend()

# %% [markdown]
"""
`fit` starts with a window around the first impact and lets it grow; what a short window yields is
exact enough for the next. Here the guesses are 40 % and 60 % off; once for all angles, and once for
the late ones alone, in one window.
"""


# %%
def fitted(which, window):
    """Find clearance and damping from some of the angles."""
    return fit(
        pendulum,
        Measured(TIMES[which], noisy[which], angle, NOISE),
        [Unknown("clearance", 0.6e-3, 1e-4, 3e-3), Unknown("damping", 0.08, 0.0, 0.2)],
        steps=STEPS,
        window=window,
        check=False,  # the angles are of the same steps, whose error is none then
    )


fits = {"all": fitted(TIMES > 0, GrowingWindow()), "late": fitted(LATE, FullWindow())}
for name, answer in fits.items():
    print(f"{name}: {answer.outcomes[0].evaluations} motions, converged: {answer.converged}")
    for what, value, error in zip(answer.names, answer.values, answer.errors, strict=True):
        print(f"  {what} {value:.6g} +- {error:.1g}")
    print(f"  {answer.message}")

# %% [markdown]
"""
Errors are standard errors from the noise stated. `converged` asks whether noise explains what is
left; in the next valley it does not, and the fit says so in place of passing 3 % off as an answer.
`starts=10` then tries other starts; `outcomes` has all of them, failures included.

## Clearances at least cost

Two links hang one from the other, each on a pin with clearance. The lower end may sag by 1 mm. A
joint of clearance c costs price / c; the upper one is four times as dear. What clearances?
"""

# %%
PRICES, MOST = (4e-4, 1e-4), 1e-3  # m times the price of one unit, m
upper = Body("upper", 1.0, (0.01, 0.01, 0.01), (0.0, -0.1, 0.0))
lower = Body("lower", 1.0, (0.01, 0.01, 0.01), (0.0, -0.3, 0.0))
pins = [
    PlanarRevoluteClearance(
        "pin 1", Frame(GROUND), Frame.at(upper, (0, 0, 0)), Parameter("c1", 3e-4), 0.01
    ),
    PlanarRevoluteClearance(
        "pin 2",
        Frame.at(upper, (0, -0.2, 0)),
        Frame.at(lower, (0, -0.2, 0)),
        Parameter("c2", 3e-4),
        0.01,
    ),
]
chain = assemble(Mechanism([upper, lower]), pins, gravity=(0.0, -9.81, 0.0))


def sag(_t, q, _v, _p):
    """Return how far the lower link has come down [m]."""
    return -0.3 - q[8]


def cost(_y, p):
    """Return what both joints cost."""
    return PRICES[0] / p["c1"] + PRICES[1] / p["c2"]


best = design(
    chain,
    [Unknown("c1", 3e-4, 5e-5, 2e-3), Unknown("c2", 3e-4, 5e-5, 2e-3)],
    cost,
    [Limit("sag", lambda y, _p: y, MOST)],
    times=[0.06, 0.08],
    outputs=sag,
    steps=STEPS,
)
print(f"c1 = {1e3 * best.values[0]:.4f} mm, c2 = {1e3 * best.values[1]:.4f} mm: {best.message}")
print(f"cost {best.cost:.4f}, with 0.5 mm each {sum(PRICES) / (MOST / 2):.4f}")
print(f"sag {1e3 * best.resimulated['sag']:.4f} mm, simulated again with half the step")

# %% [markdown]
"""
By hand: both sags add up to c1 + c2, and the cost is least where price / c^2 is the same for both,
so 2/3 and 1/3 mm. The design knows nothing of that: it has simulated the fall into the bearings,
with the gradient of each. A limit on a motion that no hand computes is stated the same way.
"""

# %%
c1, c2 = np.meshgrid(np.linspace(0.1, 1.0, 100), np.linspace(0.1, 1.0, 100))
total = cost(None, {"c1": 1e-3 * c1, "c2": 1e-3 * c2})
figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
lines = ax.contour(c1, c2, total, levels=[0.7, 0.9, 1.1, 1.4, 2.0, 3.0], cmap="viridis")
ax.clabel(lines, fmt="%.1f", fontsize=8)
ax.fill_between([0.1, 1.0], [0.9, 0.0], 1.0, color="#f0e0d8", label="sags too far")
ax.plot(0.3, 0.3, "o", fillstyle="none", color="black", label="guess")
ax.plot(*(1e3 * best.values), "o", color="black", label="found")
ax.set(xlim=(0.1, 1), ylim=(0.1, 1), xlabel="c1 [mm]", ylabel="c2 [mm]", title="cost")
ax.set_aspect("equal")
ax.legend(loc="upper right")

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/design_by_gradient_{k}.png")
