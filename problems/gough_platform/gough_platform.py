"""A Gough platform on seven legs, one more than it needs: which rows are redundant, by name."""

import numpy as np

from nsopt import GROUND, Body, Distance, Frame, Mechanism

FEET = np.radians([10, 110, 130, 230, 250, 350])  # on a circle of 1 m
TOPS = np.radians([50, 70, 170, 190, 290, 310])  # on a circle of 0.5 m
HEIGHT, MASS, INERTIA = 1.0, 20.0, (1.2, 1.2, 2.4)  # m, kg, kg m^2


def model(seventh: bool = True, turn: float = 0.0) -> Mechanism:
    """Return the platform on legs of given lengths.

    Parameters
    ----------
    seventh : bool
        Whether it has a leg in the middle, beside six around.
    turn : float [rad]
        By which it is turned about the vertical; at pi / 2 the six do not hold it.
    """
    platform = Body("platform", MASS, INERTIA, (0, 0, HEIGHT))
    feet = [np.array([np.cos(x), np.sin(x), 0]) for x in FEET]
    tops = [np.array([np.cos(x + turn) / 2, np.sin(x + turn) / 2, HEIGHT]) for x in TOPS]
    if seventh:
        feet.append(np.zeros(3))
        tops.append(np.array([0, 0, HEIGHT]))
    legs = [
        Distance(
            f"leg {k}",
            Frame(GROUND, foot),
            Frame.at(platform, top),
            float(np.linalg.norm(top - foot)),
        )
        for k, (foot, top) in enumerate(zip(feet, tops, strict=True), 1)
    ]
    return Mechanism([platform], legs)


mechanism = model()
