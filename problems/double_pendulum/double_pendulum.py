"""A double pendulum of two rods, an open chain.

The same motion in absolute and in relative coordinates; numbers chosen here.
"""

from nsopt import GROUND, Body, Dynamics, Frame, Mechanism, Problem, Revolute, StepBounds, assemble

MASSES = (1.0, 0.6)  # kg
LENGTHS = (0.5, 0.4)  # m
GRAVITY = (0.0, -9.81, 0.0)


def rod(name: str, mass: float, length: float, start: float) -> Body:
    """Return a thin rod along x that begins at (start, 0, 0), at rest."""
    J = mass * length**2 / 12
    return Body(name, mass, (J / 100, J, J), position=(start + length / 2, 0.0, 0.0))


def mechanism(coordinates: str = "absolute") -> Mechanism:
    """Return both rods, stretched out and level at the start."""
    upper = rod("upper", MASSES[0], LENGTHS[0], 0.0)
    lower = rod("lower", MASSES[1], LENGTHS[1], LENGTHS[0])
    elbow = (LENGTHS[0], 0.0, 0.0)
    joints = [
        Revolute("shoulder", Frame(GROUND), Frame.at(upper, (0.0, 0.0, 0.0))),
        Revolute("elbow", Frame.at(upper, elbow), Frame.at(lower, elbow)),
    ]
    return Mechanism([upper, lower], joints, coordinates=coordinates)


def model(coordinates: str = "absolute") -> Dynamics:
    """Return the assembled pendulum."""
    return assemble(mechanism(coordinates), gravity=GRAVITY)


problem = Problem(model(), duration=2.0, steps=StepBounds(1e-3, 2e-3))
