# %% [markdown]
"""
# A hinge with clearance

A pendulum hangs on a pin in a bushing that is a little wider than the pin. It falls through the
clearance, hits the wall, then slides along it. Each time step is a small nonlinear program: its
unknowns are the motion, the contact forces and the step size itself, which may move within bounds.
This lesson states such a pendulum, simulates it with two bounds of the step size, and looks at it
in the five figures that a joint with clearance needs: the path of the pin in its bushing, the gap,
the force, the energy, and the difference from the same pendulum on an ideal hinge.

As a notebook it shows its pictures; as a script it leaves them in `results/`.
"""

# %%
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    PaperStep,
    Revolute,
    RevoluteClearance,
    Solver,
    Sqp,
    StepBounds,
    assemble,
    simulate,
)
from nsopt.plots import contact_forces, contact_paths, deviations, energies, gaps, residuals, save

# %% [markdown]
"""
## The mechanism

A rod of 1 kg, held 0.4 m from its centre of mass, starts at rest along x. The pin lies along z in
the ground; the bushing belongs to the rod. Units are SI, positions are those at the start.
"""

# %%
rod = Body("rod", mass=1.0, inertia=(2e-3, 5.4e-2, 5.4e-2), position=(0.4, 0.0, 0.0))
pin = Frame(GROUND, (0.0, 0.0, 0.0))
bushing = Frame.at(rod, (0.0, 0.0, 0.0))
loose = RevoluteClearance(
    "hinge", pin, bushing, length=0.06, clearance=5e-4, axial_clearance=5e-4, radius=0.01
)
tight = Revolute("hinge", pin, bushing)

gravity = (0.0, -9.81, 0.0)
with_clearance = assemble(Mechanism([rod]), [loose], gravity=gravity)
without = assemble(Mechanism([rod], [tight], "absolute"), gravity=gravity)

# %% [markdown]
"""
## Three runs

The pendulum with clearance once with steps between 1 and 2 ms, once with finer ones; the ideal one
with the finer ones. The summary says how each run went and what it left unsolved.
"""

# %%
coarse_steps, fine_steps = StepBounds(1e-3, 2e-3), StepBounds(2.5e-4, 5e-4)


def run(dynamics, steps, title):
    """Simulate one swing to and fro."""
    return simulate(
        dynamics,
        duration=1.5,
        steps=steps,
        scheme=PaperStep(),
        solver=Solver(backend=Sqp()),
        title=title,
        progress=False,
    )


coarse = run(with_clearance, coarse_steps, "clearance")
fine = run(with_clearance, fine_steps, "clearance")
ideal = run(without, fine_steps, "ideal")
for result in (coarse, fine, ideal):
    print(result.summary(), end="\n\n")

# %% [markdown]
"""
## 1. Where the pin is in its bushing

The picture is the clearance circle: how far the ends of the bushing are off the axis of the pin,
over the clearance. From the centre both ends fall straight down to the wall, and from then on they
slide along it, to the side to which the rod pulls.
"""

# %%
contact_paths(fine)

# %% [markdown]
"""
## 2. How far the joint is open

The gaps between pin and bushing over the clearance, for the first 30 ms: 0 and 1 are radial, one at
each end of the hinge, 2 and 3 are at its faces. The radial ones close at 10 ms and stay closed: no
bounce, for restitution is zero unless a `ContactLaw` says else; and no depth, for walls are rigid.
The gaps at the faces stay open, nothing pushes along the pin.
"""


# %%
def zoomed(figure, end):
    """Return a figure that shows times up to an end [s]."""
    figure.axes[0].set_xlim(0.0, end)
    return figure


zoomed(gaps(fine), 0.03)

# %% [markdown]
"""
## 3. What the hinge carries

The hinge with clearance carries what the ideal one does, with a ripple where the bushing slides to
and fro on the pin, faster the harder it is pressed. The hit at 10 ms is no force but an impulse: a
stem, by the axis on the right. Over a step it would be a force that grows as steps become finer, so
it is left out of the curve, and the summary tells it apart too: an impact at each end of the hinge.
"""

# %%
contact_forces(fine, ideal)

# %% [markdown]
"""
## 4. Energy

Look at the balance, enlarged at the lower right: nothing drives the pendulum, so it should stay at
zero but for what the hit takes. That is the distance between the fine run and the ideal one, about
1.2 mJ: half the mass that the hinge feels, 0.25 kg, times the square of the speed after 0.5 mm of
free fall. The swing of the balance is the error of the step equations; it is of first order, four
times as large with steps four times as long.
"""

# %%
energies(coarse, fine, ideal)

# %% [markdown]
"""
## 5. What the clearance changes

How far the centre of mass is off that of the ideal pendulum, and how far the rod is turned from it.
The rod falls through the clearance first and gets a turn of 0.9 mrad by the hit; from then on it is
another pendulum, by some milliradians, and its centre of mass is up to three clearances away. The
step's own error is larger than that over a swing with coarse steps, but it is the same in both runs
and drops out of their difference, if both have the same bounds: 4.10 mrad about z at most, and 4.09
by a step of second order.
"""

# %%
deviations(fine, ideal)

# %% [markdown]
"""
## What is left unsolved

All that a step must meet is recomputed from its own numbers, whatever the solver says; dashed lines
are the limits of acceptance, zeros are drawn at 1e-18. Each run stays orders of magnitude below the
limits, and gaps and joints hold to round-off at all times: nothing drifts. The ideal hinge has no
contacts, so it is in three of the pictures only. What bounds of the step size do is a lesson of its
own, `step_bounds.py`.
"""

# %%
residuals(coarse, fine, ideal)

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/clearance_joint_{k}.png")
