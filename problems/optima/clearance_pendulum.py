"""A pendulum on a worn hinge, lifted by a quarter turn with least torque.

A free body whose bushing is held by a pin with radial and axial clearance alone. As the radial
``clearance`` goes to zero the cost tends to that of the ideal hinge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nsopt import (
    GROUND,
    AppliedTorque,
    Body,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    Revolute,
    RevoluteClearance,
    Variational,
    assemble,
)
from nsopt.trajectory import (
    Bound,
    Condition,
    Guess,
    Horizon,
    InputEffort,
    NodeSample,
    Optimization,
    Quintic,
    Trajectory,
)

LENGTH = 0.5  # m, from the hinge to the centre of mass
TURN = np.pi / 2
CLEARANCE = Parameter("clearance", 1e-3)  # m, radial
AXIAL = 1e-3  # m


def model(ideal: bool = False) -> Dynamics:
    """Return the pendulum; with an ideal hinge it is in joint coordinates."""
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.0, -LENGTH, 0.0))
    pin, bushing = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
    motor = AppliedTorque("motor", Frame(rod), (0.0, 0.0, Parameter("torque", 0.0)))
    gravity = (0.0, -9.81, 0.0)
    if ideal:
        hinge = Revolute("hinge", pin, bushing)
        return assemble(Mechanism([rod], [hinge], "relative"), [motor], gravity)
    worn = RevoluteClearance(
        "hinge", pin, bushing, length=0.1, clearance=CLEARANCE, axial_clearance=AXIAL
    )
    return assemble(Mechanism([rod]), [worn, motor], gravity)


class Hung(Condition):
    """At the start the rod hangs straight down on its pin, at rest."""

    def start(self, m: NodeSample) -> list[Bound]:
        q, c = m.q - 0, m.input(CLEARANCE.name)
        q[1] += LENGTH + c
        q[3] -= 1
        still = np.zeros(6)
        return [Bound("hung", q, np.zeros(7), np.zeros(7)), Bound("rest", m.v, still, still)]


class Lifted(Condition):
    """At the end it is turned by a quarter and at rest, its bushing too.

    In the plane of the motion: what never leaves it need not be brought back to rest, and rows
    that say so leave the solver without a direction.
    """

    def end(self, m: NodeSample) -> list[Bound]:
        along = m.motion(Frame(next(iter(m.dynamics.mechanism.bodies)))).A[0, 0]
        none = np.zeros(3)
        rest = Bound("rest", m.v[[0, 1, 5]], none, none)
        return [Bound("lifted", along, none[:1], none[:1]), rest]


class Swing(Guess):
    """A quintic of the angle, the bushing hung on its pin."""

    def trajectory(
        self, share: NDArray[np.float64], bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        x = Quintic([0.0], [TURN]).trajectory(share, bounds, inputs)
        angle, rate, none = x.q[:, 0], x.v[:, 0], np.zeros(len(share))
        sine, cosine = np.sin(angle), np.cos(angle)
        place = [LENGTH * sine, -LENGTH * cosine - CLEARANCE.value, none]
        turned = [np.cos(angle / 2), none, none, np.sin(angle / 2)]
        rates = [LENGTH * cosine * rate, LENGTH * sine * rate, none, none, none, rate]
        q, v = np.column_stack([*place, *turned]), np.column_stack(rates)
        return x._replace(q=q, v=v, a=np.zeros_like(v))


optimization = Optimization(
    model(),
    Horizon(0.8, steps=100),
    [InputEffort(input="torque")],
    [Hung(), Lifted()],
    Swing(),
    inputs=["torque"],
    # With places at the start of steps the bushing rattles, and grids end in optima of their own.
    scheme=Variational(normal_implicitness=0.5),
)
