"""A row of four-bar linkages of equal rods that passes positions where it could branch off.

IFToMM benchmark A02, N four-bar mechanism; all its cranks stay parallel.
"""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    Dynamics,
    Frame,
    Mechanism,
    PointOnLine,
    Problem,
    Revolute,
    StepBounds,
    assemble,
)

LENGTH, MASS = 1.0, 1.0  # m, kg of each rod
SPEED = 1.0  # m/s, of the upper ends along x at the start
GRAVITY = (0.0, -9.81, 0.0)


def rod(name: str, middle: tuple[float, float], upright: bool) -> Body:
    """Return a thin rod, its body x axis along it, moving as the benchmark starts."""
    J, angle = MASS * LENGTH**2 / 12, np.pi / 2 if upright else 0.0
    return Body(
        name,
        MASS,
        (J / 100, J, J),
        position=(*middle, 0.0),
        orientation=(np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)),
        velocity=(SPEED / 2 if upright else SPEED, 0.0, 0.0),
        angular_velocity=(0.0, 0.0, -SPEED / LENGTH if upright else 0.0),
    )


def mechanism(
    coordinates: str = "absolute",
    closing: type[PointOnLine] | type[Revolute] = PointOnLine,
    loops: int = 2,
) -> Mechanism:
    """Return ``loops`` four-bars side by side: cranks B0, B1, ... upright, couplers between them.

    Parameters
    ----------
    coordinates
    closing : type
        Of the pin that closes each loop. `PointOnLine` holds what the plane leaves to hold;
        `Revolute` is what is built, and three of its rows are redundant.
    loops : int
    """
    cranks = [rod(f"crank{k}", (k * LENGTH, LENGTH / 2), True) for k in range(loops + 1)]
    couplers = [rod(f"coupler{k}", ((k + 0.5) * LENGTH, LENGTH), False) for k in range(loops)]

    def pin(k: int, height: float, body: Body | None) -> Frame:
        return Frame.at(body, (k * LENGTH, height, 0.0))

    joints: list[PointOnLine | Revolute] = [
        Revolute(f"foot{k}", pin(k, 0.0, GROUND), pin(k, 0.0, crank))
        for k, crank in enumerate(cranks)
    ]
    for k, coupler in enumerate(couplers):
        near, far = cranks[k : k + 2]
        joints.append(Revolute(f"left{k}", pin(k, LENGTH, near), pin(k, LENGTH, coupler)))
        joints.append(closing(f"right{k}", pin(k + 1, LENGTH, far), pin(k + 1, LENGTH, coupler)))
    return Mechanism([*cranks, *couplers], joints, coordinates=coordinates)


def model(
    coordinates: str = "absolute",
    closing: type[PointOnLine] | type[Revolute] = PointOnLine,
    loops: int = 2,
) -> Dynamics:
    """Return the assembled linkage."""
    return assemble(mechanism(coordinates, closing, loops), gravity=GRAVITY)


problem = Problem(model(), duration=10.0, steps=StepBounds(1e-4, 2e-3))
