"""Contact forces with which phases start, against weights; parameters of phases that are alike."""

from dataclasses import replace

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    Solver,
    assemble,
)
from nsopt.trajectory import (
    Effort,
    EndAt,
    Horizon,
    MotionPhase,
    Quintic,
    Sliding,
    StartAt,
    Straight,
    optimize_phases,
)
from nsopt.trajectory.phases import PhaseProgram

G, MASS = 9.81, 2.0
UP = np.column_stack([(1, 0, 0), (0, 0, -1), (0, 1, 0)])  # z of the floor is y of the world
UNIT = (1.0, 1.0, 1.0)


def state_phase(guess, feet=("floor",), drives=("along",)):
    """A phase of a block on feet, which a motor draws along x."""
    sled, body = Body("sled", 1e-3, UNIT), Body("block", MASS, UNIT)
    joints = [
        Prismatic("along", Frame(GROUND, axes=(1, 0, 0)), Frame(sled, axes=(1, 0, 0))),
        Prismatic("rise", Frame(sled, axes=(0, 1, 0)), Frame(body, axes=(0, 1, 0))),
    ]
    mechanism = Mechanism([sled, body], joints, "relative", [Actuator(x) for x in drives])
    ground, law = Frame(GROUND, axes=UP), ContactLaw(friction=0.4)
    contacts = [PlaneContact(x, ground, Frame(body), law=law, planar=True) for x in feet]
    d = assemble(mechanism, contacts, (0.0, -G, 0.0))
    modes = dict.fromkeys(feet, Sliding())
    return MotionPhase(d, Horizon(1.0, 10), [Effort()], (), guess, modes=modes)


def read_normal_forces(phase):
    """The normal forces at the points of the guess with which a phase starts."""
    program = PhaseProgram.of(phase, "phase 0", None, Solver())
    x = program.transcription
    inputs = program.start()[:-1].reshape(-1, x.node_size)[:, -len(x.inputs) :]
    return inputs[:, [name.endswith("_normal") for name in x.inputs]]


@pytest.mark.parametrize("feet", [("floor",), ("left", "right")])
def test_they_share_the_weight(feet):
    forces = read_normal_forces(state_phase(Quintic([0, 0], [1, 0]), feet))
    assert forces == pytest.approx(np.full((21, len(feet)), MASS * G / len(feet)), rel=1e-12)


def test_they_are_those_of_the_accelerations():
    forces = read_normal_forces(state_phase(Quintic([0, 0], [0, 0.3])))
    s = np.linspace(0, 1, 21)
    a = 0.3 * (60 * s - 180 * s**2 + 120 * s**3)
    assert forces[:, 0] == pytest.approx(MASS * (G + a), rel=1e-12)


def test_nothing_pulls_at_the_ground():
    """A block that falls faster than freely."""
    forces = read_normal_forces(state_phase(Quintic([0, 0], [0, -3.0])))
    s = np.linspace(0, 1, 21)
    a = -3.0 * (60 * s - 180 * s**2 + 120 * s**3)
    assert a.min() < -G
    assert forces[:, 0] == pytest.approx(np.maximum(MASS * (G + a), 0), rel=1e-12, abs=1e-12)


def test_forces_of_a_guess_stay():
    guess = Straight([0, 0], [1, 0], inputs={"left_normal": 3.0})
    forces = read_normal_forces(state_phase(guess, ("left", "right")))
    assert forces == pytest.approx(np.tile([3.0, MASS * G - 3.0], (21, 1)), rel=1e-12)


def test_what_drives_hold_needs_none():
    forces = read_normal_forces(state_phase(Quintic([0, 0], [1, 0]), drives=("along", "rise")))
    assert not forces.any()


def test_phases_that_are_alike_have_parameters_of_their_own():
    """Two carts of other masses, from rest to rest over 1 m in 1 s: 12 m^2 each."""
    cart = Body("cart", Parameter("m", 1.0), UNIT)
    joint = Prismatic("slide", Frame(GROUND, axes=(1, 0, 0)), Frame(cart, axes=(1, 0, 0)))
    d = assemble(Mechanism([cart], [joint], "relative", [Actuator("slide")]), [], (0, 0, 0))
    ends = [StartAt([0], [0]), EndAt([1], [0])]
    first = MotionPhase(d, Horizon(1.0, 10), [Effort()], ends, Quintic([0], [1]))
    ends = [StartAt([1], [0]), EndAt([2], [0])]
    second = replace(first, conditions=ends, guess=Quintic([1], [2]), parameters={"m": 3.0})
    best = optimize_phases([first, second])
    assert best.completed, best.stop_reason
    costs = [x.objective for x in best.phases]
    assert costs == pytest.approx([12, 12 * 9], rel=1e-8)
