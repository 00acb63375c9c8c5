"""Driven loops with damping, friction and joints that move with time, against forms by hand."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Distance,
    Frame,
    Mechanism,
    Prismatic,
    Revolute,
    Screw,
    StribeckLaw,
    TurnFriction,
    assemble,
)
from nsopt.robots import ClosedLoops, joint_reactions, resistances

pytestmark = pytest.mark.unit


def test_a_drive_overcomes_damping_and_dry_friction():
    """m a + d v + F."""
    cart = Body("cart", 3.0, (0.1, 0.1, 0.1))
    rail = Prismatic("rail", Frame(GROUND), Frame(cart))
    robot = Mechanism([cart], [rail], "relative", [Actuator("rail", damping=2.0, friction=4.0)])
    loops = ClosedLoops(assemble(robot, resistances(robot)), ["rail"])
    loads = loops.loads(loops.motion([0.2], [1.5], [0.5]))
    assert loads.tau == pytest.approx([3 * 0.5 + 2 * 1.5 + 4], abs=1e-5)  # creep: 2e-6 off


def test_a_bearing_rubs_under_the_reaction_it_holds():
    """A crank that carries its weight and its centripetal force: mu R F beside the others."""
    mass, length, radius, mu, w, angle = 2.0, 0.5, 0.05, 0.2, 3.0, 0.7
    crank = Body("crank", mass, (0.1, 0.1, 0.1), position=(length, 0, 0))
    a, b = Frame(GROUND), Frame.at(crank, (0, 0, 0))
    rub = TurnFriction("rub", a, b, StribeckLaw(mu), radius=radius)
    robot = Mechanism([crank], [Revolute("pin", a, b)], "relative")
    loops = ClosedLoops(assemble(robot, [rub], (0, -9.81, 0)), ["pin"])
    loads = loops.loads(loops.motion([angle], [w], [0.0]))
    along = np.array([np.cos(angle), np.sin(angle)])
    force = mass * (np.array([0, 9.81]) - length * w**2 * along)
    assert loads.reactions[:2, 0] == pytest.approx(force, abs=1e-9)
    torque = mass * 9.81 * length * np.cos(angle) + mu * radius * np.linalg.norm(force)
    assert loads.tau == pytest.approx([torque], abs=1e-6)


def test_a_loop_that_moves_with_time_is_taken_at_its_time():
    """A point on a rail at the end of a rod of length L(t) from a crank at rest: x' = L'."""
    cart = Body("cart", 1.0, (0.1, 0.1, 0.1), position=(1.0, 0, 0))
    arm = Body("arm", 1.0, (0.1, 0.1, 0.1))
    along = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])  # z along x
    joints = [
        Revolute("pin", Frame(GROUND), Frame(arm)),
        Prismatic("rail", Frame(GROUND, axes=along), Frame.at(cart, (0, 0, 0), along)),
        Distance("rod", Frame(arm), Frame(cart), lambda t: 1.0 + 0.1 * t + 0.2 * t**2),
    ]
    loops = ClosedLoops(assemble(Mechanism([arm, cart], joints, "relative")), ["pin"])
    for t in (0.0, 0.5, 2.0):
        motion = loops.motion([0.0], [0.0], [0.0], t=t)
        assert motion.q[1] == pytest.approx(0.1 * t + 0.2 * t**2, abs=1e-12)  # from 1 m
        assert motion.v[1] == pytest.approx(0.1 + 0.4 * t, abs=1e-12)
        assert motion.a[1] == pytest.approx(0.4, abs=1e-11)


@pytest.mark.parametrize("pitch", [0.7, -0.02])
def test_a_screw_holds_the_whole_weight(pitch):
    """Its torque drives, so the force it holds does not depend on units or pitch."""
    nut = Body("nut", 10.0, (0.1, 0.1, 0.1))
    robot = Mechanism([nut], [Screw("screw", Frame(GROUND), Frame(nut), pitch)], "relative")
    held = np.asarray(joint_reactions(robot)([0.3], [0.0], [0.0])).ravel()
    assert held[:3] == pytest.approx([0, 0, 98.1], abs=1e-10)
    assert held[5] == pytest.approx(-98.1 * pitch / (2 * np.pi), abs=1e-10)


def test_absolute_coordinates_and_mechanisms_are_refused():
    nut = Body("nut", 10.0, (0.1, 0.1, 0.1))
    robot = Mechanism([nut], [Prismatic("rail", Frame(GROUND), Frame(nut))], "absolute")
    with pytest.raises(ValueError, match='coordinates="relative"'):
        ClosedLoops(assemble(robot), ["rail"])
    with pytest.raises(TypeError, match="got Mechanism: assemble"):
        ClosedLoops(robot, ["rail"])
