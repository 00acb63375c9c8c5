# %% [markdown]
"""
# A program with complementarity of one's own

Every time step of nsopt is a program in which of two quantities one is zero: the gap or the force,
the slip or what friction could still hold. This lesson states such programs (MPCCs) without any
mechanism: a bilevel problem in ten lines, what relaxing the pairs does, how phase II leaves a point
that is not optimal, what the statuses mean, and a program that is solved again and again.

As a notebook it shows its pictures; as a script it leaves them in `results/`.
"""

# %%
from dataclasses import replace

import casadi as ca
import numpy as np
from matplotlib import pyplot as plt

from nsopt import Mpcc, Solver, Sqp
from nsopt.mpcc import ActiveSet, FischerBurmeister, MultiStart, Scholtes
from nsopt.plots import save

# %% [markdown]
"""
## Ten lines

A follower chooses y to minimize (y - 1)^2 - 1.5 x y under three limits; a leader chooses x knowing
that (Bard's bilevel program). The follower's conditions of optimality are constraints of the
leader: each limit is zero or its multiplier is. The solution is x = 1, y = 0 with objective 17.
"""


# %%
def bard():
    """State Bard's program."""
    m = Mpcc("bard")
    x, y = m.variable("x", 1, lower=0, guess=2), m.variable("y", 1, lower=0, guess=1)
    lam = m.variable("lam", 3, lower=0, guess=1)
    m.equal("follower", 2 * (y - 1) - 1.5 * x + lam[0] - 0.5 * lam[1] + lam[2])
    limits = ca.vertcat(3 * x - y - 3, 4 + 0.5 * y - x, 7 - x - y)
    m.complement("limits", limits, lam, labels=("first", "second", "third"))
    m.minimize((x - 5) ** 2 + (2 * y + 1) ** 2)
    return m


solution = Solver().build(bard()).solve().require()
print(solution.summary())

# %% [markdown]
"""
`require` returns the solution or raises; nothing that a solver says counts, residuals are computed
again at the point. With an objective "solved" also means that no direction lowers it to first
order, on any branch of the pairs (B-stationary).

## Relaxations

A pair G H = 0 with G, H >= 0 is a corner, which solvers of smooth programs dislike. Scholtes'
relaxation lets G H be at most sigma and makes sigma smaller in stages, each from the solution of
the stage before. Below: the region of a pair on the left; on the right what the single programs of
Bard's problem are worth, started at the guess, without phase II and without the Newton steps that
polish a solution of the last stage. The objective errs in proportion to sigma.
"""

# %%
sigmas = 10.0 ** -np.arange(9)
objectives = []
for sigma in sigmas:
    alone = Solver(relaxation=Scholtes(), schedules=((sigma,),), phase_two=False, polish=False)
    objectives.append(alone.build(bard()).solve().objective)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
G = np.geomspace(1e-3, 2, 400)
for sigma in (0.3, 0.1, 0.03, 0.01):
    left.fill_between(G, np.minimum(sigma / G, 2), color="C0", alpha=0.2, linewidth=0)
    left.annotate(f"{sigma:g}", (np.sqrt(sigma), np.sqrt(sigma)))
left.plot([0, 0, 2], [2, 0, 0], color="black", linewidth=3)
left.set(xlabel="G", ylabel="H", xlim=(-0.05, 1.2), ylim=(-0.05, 1.2), aspect="equal")
left.set_title("a pair, relaxed by sigma")
right.loglog(sigmas, np.abs(17 - np.array(objectives)), "o-")
right.set(xlabel="sigma", ylabel="error of the objective", title="Bard's program, one stage")

# %% [markdown]
"""
A schedule of one small sigma is fast close to a solution, as in a time step, and fails more often
from far away. A program with an objective therefore starts at sigma = 1 by itself.

## Phase II

The nearest point of two half-lines, 0 <= x _|_ y >= 0, to (1, 1) is (1, 0), or (0, 1). At the
corner the objective falls both ways, yet a smooth program may end there: each relaxed one has a
stationary point nearby. Phase II solves the branch where the homotopy ended, and asks a linear
program with complementarity whether another branch goes further down. It may also leave a local
solution for a better one close by: (1, 0), at a distance of 2 from (1, 2), for (0, 2).
"""


# %%
def corner(aim):
    """State the nearest point of two half-lines."""
    m = Mpcc("corner")
    x, y = m.variable("x", 1), m.variable("y", 1)
    m.complement("pair", x, y)
    m.minimize((x - aim[0]) ** 2 + (y - aim[1]) ** 2)
    return m


cases = (
    ((1, 1), (0, 0), Solver(relaxation=FischerBurmeister(), schedules=((1e-10,),))),
    ((1, 2), (1, 0), Solver(backend=Sqp(), schedules=((1e-10,),))),
)
for target, start, solver in cases:
    for phase_two in (False, True):
        program = replace(solver, phase_two=phase_two).build(corner(target))
        end = program.solve({}, {"x": start[0], "y": start[1]})
        at = ", ".join(f"{end[name].item():.2g}" for name in ("x", "y"))
        print(f"to {target}, phase II {phase_two}: ({at}), objective {end.objective:.3g}")

# %% [markdown]
"""
## What is not solved says so

An objective without a least value, and a program without a feasible point. Neither is called
solved, and the summary tells why.
"""

# %%
runaway = Mpcc("unbounded")
x, y = runaway.variable("x", 1, guess=1), runaway.variable("y", 1)
runaway.complement("pair", x, y)
runaway.minimize(-x)
print(Solver().build(runaway).solve().summary(), end="\n\n")

nowhere = Mpcc("infeasible")
x, y = nowhere.variable("x", 1, lower=1, guess=1), nowhere.variable("y", 1, lower=1, guess=1)
nowhere.complement("pair", x, y)
nowhere.minimize(x + y)
print(Solver().build(nowhere).solve().summary())

# %% [markdown]
"""
Before it says so, other relaxations and another search of the solver are tried (`Solver(recovery=)`
gives them, an empty one leaves them out); not where an unknown grows without bound.

## Several starts

A solution is the best nearby. Where there may be others, `multi_start` tries random starts, between
the bounds of what has two: a double well of x, whose parts y of either sign are a pair.
"""

# %%
m = Mpcc("wells")
x = m.variable("x", 1, lower=-3, upper=3, guess=2)
parts = m.variable("parts", 2)
m.equal("sum", x - parts[0] + parts[1])
m.complement("sign", parts[0], parts[1])
m.within("size", parts[0] + parts[1], 0.5, 2.5)
m.minimize(x**4 - 5 * x**2 + x)
near = Solver(active_set=ActiveSet(radius=1e-3))  # no branch that is far away
for solver in (near, replace(near, multi_start=MultiStart(starts=4))):
    solution = solver.build(m).solve().require()
    print(f"x = {solution['x'].item():.4g}, objective {solution.objective:.4g}")
print(solution.summary())

# %% [markdown]
"""
## The same program for many numbers

`parameter` leaves numbers open; a program that is built once serves all of them, and each solution
is the start of the next. Small programs are solved fastest by SQP. The aim goes round a circle; the
nearest point of the half-lines changes from one to the other at 45 degrees, and rests in the corner
where both coordinates of the aim are negative.
"""

# %%
m = Mpcc("moved")
aim, z = m.parameter("aim", 2), m.variable("z", 2, lower=-1, upper=2)
m.complement("pair", z[0], z[1])
m.minimize(ca.sumsqr(z - aim))
program = Solver(backend=Sqp()).build(m)

angles = np.linspace(0, 2 * np.pi, 73)
points, guess = [], None
for angle in angles:
    guess = program.solve({"aim": (np.cos(angle), np.sin(angle))}, guess).require()
    points.append(np.ravel(guess["z"]))
points = np.array(points)

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.plot(np.degrees(angles), points, ".-", label=["x", "y"])
axes.set(xlabel="direction of the aim [deg]", ylabel="nearest point", xticks=range(0, 361, 45))
axes.legend()

# %% [markdown]
"""
All statements, kinds of stationary points, options and figures measured are in `docs/mpcc.md`.
"""

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/mpcc_{k}.png")
