"""Several contacts that slide in space at once, each in a direction of its own: a sled on feet."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline

from nsopt import (
    GROUND,
    AppliedForce,
    AppliedTorque,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    assemble,
)
from nsopt.trajectory import (
    EndAt,
    Horizon,
    InputEffort,
    MotionPhase,
    Quintic,
    Sliding,
    StartAt,
    optimize_phases,
)

G, MU, MASS = 9.81, 0.1, 2.0
FEET = 0.1 * np.array([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
HEIGHT, TURNING = 0.1, 0.03  # m of the centre of mass, kg m^2 about the vertical


def tripod():
    """A sled on three feet that two forces at the floor and a torque move; it is free to tip."""
    body = Body("sled", MASS, (0.02, 0.02, TURNING), position=(0, 0, HEIGHT))
    below = Frame(body, (0, 0, -HEIGHT))
    pull = AppliedForce("pull", below, (Parameter("x", 0.0), Parameter("y", 0.0), 0.0))
    twist = AppliedTorque("twist", Frame(body), (0.0, 0.0, Parameter("turn", 0.0)))
    law = ContactLaw(friction=MU)
    feet = [
        PlaneContact(f"foot {k}", Frame(GROUND), Frame(body, (*at, -HEIGHT)), law=law)
        for k, at in enumerate(FEET)
    ]
    return assemble(Mechanism([body]), [pull, twist, *feet], (0.0, 0.0, -G))


def slide_on_feet(steps, end, velocities):
    """Return phases from (0, 0, 0) to (x, y, angle) within 1 s, of given (x, y, turn) rates."""
    places = [
        [*x[:2], HEIGHT, np.cos(x[2] / 2), 0, 0, np.sin(x[2] / 2)] for x in (np.zeros(3), end)
    ]
    rates = [[*v[:2], 0, 0, 0, v[2]] for v in velocities]
    inputs = {"x": 1.0, "y": 1.0, "turn": 30.0}  # a torque that costs little spins it round
    slide = MotionPhase(
        tripod(),
        Horizon(1.0, steps),
        [InputEffort(input=x, weight=w) for x, w in inputs.items()],
        [StartAt(places[0], rates[0]), EndAt(places[1], rates[1])],
        Quintic(*places),
        list(inputs),
        modes={f"foot {k}": Sliding() for k in range(3)},
    )
    result = optimize_phases([slide])
    assert result.completed, result.stop_reason
    return result


def test_three_feet_slide_straight_as_one():
    v = np.array([1.0, 0.5, 0.0])
    result = slide_on_feet(6, (0.6, 0.3, 0.0), (v, v))
    d, u, rubs = np.hypot(0.6, 0.3), np.hypot(*v[:2]), MU * MASS * G
    least = MASS**2 * (12 * u**2 - 24 * d * u + 12 * d**2) + rubs**2
    assert result.objective == pytest.approx(least, rel=1e-8)


def compute_rates(y, forces):
    """Return rates of (x, y, angle) and its rates, on three feet by statics and Coulomb's law."""
    turned = np.array([[np.cos(y[2]), -np.sin(y[2])], [np.sin(y[2]), np.cos(y[2])]])
    arms = FEET @ turned.T
    slips = y[3:5] + y[5] * np.column_stack([-arms[:, 1], arms[:, 0]])
    ways = slips / np.linalg.norm(slips, axis=1)[:, None]
    # Weight, and no moment about the two horizontal axes: forces at the floor have the arm HEIGHT.
    tips = [
        np.ones(3),
        arms[:, 1] - HEIGHT * MU * ways[:, 1],
        arms[:, 0] - HEIGHT * MU * ways[:, 0],
    ]
    normal = np.linalg.solve(tips, [MASS * G, -HEIGHT * forces[1], -HEIGHT * forces[0]])
    friction = -MU * normal[:, None] * ways
    moment = arms[:, 0] @ friction[:, 1] - arms[:, 1] @ friction[:, 0] + forces[2]
    return [*y[3:], *((friction.sum(0) + forces[:2]) / MASS), moment / TURNING]


def follow_forces(result):
    """Return (x, y, angle) and rates after the same forces, less those of the optimum, (6,)."""
    motion = result.phases[0]
    t = np.linspace(0, 1, 4001)
    inputs = motion.sample(times=t)["input"].sel(input_name=["x", "y", "turn"]).values
    forces = make_interp_spline(t, inputs, k=1)  # they have kinks at nodes

    def read(k):
        q, v = motion["q"].values[k], motion["v"].values[k]
        return np.array([*q[:2], 2 * np.arctan2(q[6], q[3]), *v[[0, 1, 5]]])

    y = solve_ivp(
        lambda t, y: compute_rates(y, forces(t)),
        (0, 1),
        read(0),
        rtol=1e-9,
        atol=1e-11,
        max_step=2e-3,
    )
    return y.y[:, -1] - read(-1)


def test_three_feet_that_turn_move_as_by_their_own_equations():
    """Each slips in a direction of its own; against statics and another integrator."""
    velocities = (1.0, 0.0, 0.3), (0.8, 0.5, 1.0)
    off = [
        np.abs(follow_forces(slide_on_feet(n, (0.9, 0.2, 0.6), velocities))).max() for n in (8, 16)
    ]
    assert off[0] < 1e-6
    assert off[0] > 12 * off[1]
