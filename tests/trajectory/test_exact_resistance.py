"""Resistances of joints in the cost of exact optima: contacts without any are no obstacle."""

from dataclasses import dataclass

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Bushing,
    Frame,
    Mechanism,
    PlaneContact,
    Prismatic,
    assemble,
)
from nsopt.trajectory import (
    Cost,
    Effort,
    EndAt,
    Horizon,
    JointResistance,
    Quintic,
    StartAt,
    optimize,
)

DAMPING = 2.0  # N s/m


@dataclass(frozen=True, kw_only=True)
class SquaredDamping(Cost):
    """What `JointResistance` is of a single damped joint."""

    def rate(self, m):
        return (DAMPING * m.v[0]) ** 2


def lift_damped(cost):
    mass = Body("mass", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(mass))
    floor = PlaneContact("floor", Frame(GROUND), Frame(mass))
    mechanism = Mechanism([mass], [rail], "relative", [Actuator("rail")])
    damper = Bushing("damper", *rail.frames, damping=(0.0, 0.0, DAMPING), joint="rail")
    d = assemble(mechanism, [floor, damper], gravity=(0, 0, -9.81))
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [np.nan])]
    return optimize(d, Horizon(2.0, 20), [Effort(), cost], ends, Quintic([0.0], [1.0]))


def test_a_contact_without_resistance_adds_none():
    by_joints, by_hand = (
        lift_damped(cost) for cost in (JointResistance(force=1.0), SquaredDamping())
    )
    assert by_joints.data.attrs["contact_sequence"] == "floor touches; no contact"
    assert by_joints.objective == pytest.approx(by_hand.objective, rel=1e-9)
    assert by_hand.objective > 1.01 * 100.35  # that of a lift without damping


def test_what_resists_between_bodies_that_touch_stays_in_steps():
    """A damper between two sliders counts as the resistance of the contact between them."""
    sliders = [Body(x, 1.0, (1.0, 1.0, 1.0)) for x in ("left", "right")]
    along = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0.0]])
    rails = [Prismatic(f"{x.name} rail", Frame(GROUND, axes=along), Frame(x)) for x in sliders]
    touch = PlaneContact("touch", Frame(sliders[0]), Frame(sliders[1]))
    mount = Bushing("mount", Frame(sliders[0]), Frame(sliders[1]), damping=(1.0, 1.0, 1.0))
    drives = [Actuator(x.name) for x in rails]
    d = assemble(Mechanism(sliders, rails, "relative", drives), [touch, mount])
    ends = [StartAt([0.0, 0.5], [0.0, 0.0]), EndAt([0.2, 0.3], [0.0, 0.0])]
    costs = [Effort(), JointResistance(force=1.0)]
    result = optimize(d, Horizon(1.0, 8), costs, ends, Quintic([0.0, 0.5], [0.2, 0.3]))
    assert result.completed
    assert "the forces of 'touch', a contact" in result.data.attrs["not_exact"]
