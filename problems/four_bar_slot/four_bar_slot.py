"""A four-bar linkage whose coupler point is held in a slot: shaky of order 5, and it cannot move.

Examples 2 to 4 of [mobility 2016].
"""

import numpy as np

from nsopt import GROUND, Body, Frame, Mechanism, PinInSlot, Relative, Revolute

A, B, D = 3.0, 1.0, 4 * np.sqrt(3)  # m, so that the coupler point's path is straight to order 5


def model(cut: tuple[str, ...] = ("joint 3", "joint 5"), slot: bool = True) -> Mechanism:
    """Return the linkage.

    Parameters
    ----------
    cut : tuple of str
    slot : bool
        Whether the coupler point is in it; without, it is a four-bar linkage.
    """
    first = Body("link 1", 0.0)
    second = Body("link 2", 0.0, position=(0, D, 0))
    third = Body("link 3", 0.0, position=(A, 0, 0))

    def hinge(name: str, a: Body | None, b: Body, x: float, y: float) -> Revolute:
        return Revolute(name, Frame.at(a, (x, y, 0)), Frame.at(b, (x, y, 0)))

    pin = PinInSlot("joint 3", Frame(GROUND, (0, D, 0), np.eye(3)), Frame(second, axes=np.eye(3)))
    joints = [
        hinge("joint 1", GROUND, first, -A, 0),
        hinge("joint 2", first, second, B, D),
        *([pin] if slot else []),
        hinge("joint 4", second, third, -B, D),
        hinge("joint 5", GROUND, third, A, 0),
    ]
    return Mechanism([first, second, third], joints, Relative(cut))


mechanism = model()
