# %% [markdown]
"""
# Can it move?

Counting says that a four-bar linkage of hinges has -2 freedoms, and yet it moves. This lesson looks
at what mechanisms with loops can really do: redundant rows by name, freedom order by order, motions
that meet in singular postures, mechanisms that move a little and no further, and the derivatives of
constraints behind it all.

As a notebook it shows its pictures; as a script it leaves them in `results/`.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt

from nsopt import GROUND, Body, Frame, Mechanism, PinInSlot, PointOnLine, Relative, Revolute
from nsopt.mobility import LoopConstraints, linkage, mobility
from nsopt.plots import mobility as draw
from nsopt.plots import save

# %% [markdown]
"""
## A four-bar linkage

Joint screws (omega, v) are enough: a hinge along z through (x, y) is (0, 0, 1, y, -x, 0). `linkage`
makes a mechanism of them, on bodies without mass.
"""


# %%
def hinges(*places):
    """Return the screws of hinges along z."""
    return [(0, 0, 1, y, -x, 0) for x, y in places]


four_bar = mobility(linkage(hinges((0, 0), (0.5, 1), (1.6, 1.2), (2, 0))))
print(four_bar)

# %% [markdown]
"""
Three of six rows are redundant, all of them what the plane holds already: a slide along z and two
tilts. One freedom is left, and tracing follows it: the motion is finite. Redundant rows are no
fault in a simulation, only shares of reactions are then not known. In a machine they mean stress
where pins are not quite parallel. A pin that holds a point on a line, in place of a hinge, has
none of them:
"""

# %%
links = [Body(f"link {k}", 0.0, position=(k, 1, 0)) for k in (1, 2, 3)]
around = [GROUND, *links, GROUND]
places = [(0, 0, 0), (0.5, 1, 0), (1.6, 1.2, 0), (2, 0, 0)]
pins = [
    (PointOnLine if k == 3 else Revolute)(
        f"pin {k + 1}", Frame.at(around[k], place), Frame.at(around[k + 1], place)
    )
    for k, place in enumerate(places)
]
print(mobility(Mechanism(links, pins)))

# %% [markdown]
"""
## Where motions meet

Folded flat, a parallelogram is free in two directions to first order. To second order only two
lines are left: on one it goes on as a parallelogram, on the other as an antiparallelogram.
"""

# %%
flat = mobility(linkage(hinges((0, 0), (1, 0), (3, 0), (2, 0))), order=3)
print(flat)
draw(flat)

# %% [markdown]
"""
An optimization that ends in such a posture has multipliers that are not unique; where it fails the
message names the posture and the joint.

## Free to fifth order, and yet it cannot move

A four-bar linkage of special proportions leads the middle of its coupler along a line that is
straight to fifth order. Held to the straight line by a pin in a slot, it seems free, to first
order, to second, ... and only the sixth says that it is not.
"""


# %%
def held_coupler():
    """Return the mechanism of Example 4 of [mobility 2016]."""
    a, b, d = 3.0, 1.0, 4 * np.sqrt(3)
    first, third = Body("link 1", 0.0), Body("link 3", 0.0, position=(a, 0, 0))
    second = Body("link 2", 0.0, position=(0, d, 0))

    def hinge(name, one, other, x, y):
        return Revolute(name, Frame.at(one, (x, y, 0)), Frame.at(other, (x, y, 0)))

    slot = Frame(GROUND, (0, d, 0), np.eye(3))
    joints = [
        hinge("joint 1", GROUND, first, -a, 0),
        hinge("joint 2", first, second, b, d),
        PinInSlot("joint 3", slot, Frame(second, axes=np.eye(3))),
        hinge("joint 4", second, third, -b, d),
        hinge("joint 5", GROUND, third, a, 0),
    ]
    return Mechanism([first, second, third], joints, Relative(["joint 3", "joint 5"]))


shaky = mobility(held_coupler())
print(shaky)
draw(shaky)

# %% [markdown]
"""
## What is behind it

`LoopConstraints` has the derivatives of all constraints along a motion, of any order, from the
joint screws. With x = (1, 3, -3), the direction above, the four-bar part can follow to every order,
and the slot's row leaves zero at order six: 8 sqrt(3) q^6.
"""

# %%
loops = LoopConstraints(held_coupler())
J = loops.jacobian()
inverse = np.linalg.inv(J[4:6, 1:])  # of joint 5, by joints 2 and 4
motion = []
for order in range(1, 7):
    first_guess = np.array([1.0 if order == 1 else 0.0, 0.0, 0.0])
    off = loops.derivatives(*motion, first_guess)[-1]
    motion.append(first_guess - np.array([0.0, *(inverse @ off[4:6])]))
    rows = loops.derivatives(*motion)[-1]
    print(f"order {order}: joint 5 {np.abs(rows[4:]).max():.1e}, slot {rows[0]:.6g}")
print(f"6! 8 sqrt(3) = {720 * 8 * np.sqrt(3):.6g}")

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/mobility_{k}.png")
