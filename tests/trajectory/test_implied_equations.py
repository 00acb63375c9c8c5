"""Pins that hang and rest by conditions: in given modes their equations are not stated again."""

import casadi as ca
import numpy as np
import pytest

from nsopt import Variational
from nsopt.mpcc import Bound
from nsopt.trajectory import PLAN
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.phases import Sliding, with_modes
from nsopt.trajectory.phases.given_states import GivenState
from nsopt.trajectory.phases.implied import EndConditions, state_contacts, state_rows
from tests.trajectory.lifted import ARM, PENDULUM, chains, lifted, on_an_ideal_hinge

CLEARANCE, STEPS = 1e-3, 10


class Lowered(Condition):
    """The first pin is a given distance below the middle of its bore at the start, and moves."""

    def __init__(self, distance):
        self.distance = distance

    def start(self, m):
        place = np.array([0.0, -self.distance])
        return [Bound("lowered", m.q[:2], place, place)]


class LoweredByForce(Lowered):
    """The same if the pin presses with no force, an unknown of the phase; else it is elsewhere."""

    def start(self, m):
        force = m.p[[x.endswith("_normal") for x in m.dynamics.parameter_names].index(True)]
        place = np.array([0.0, -self.distance])
        return [Bound("lowered by a force", m.q[:2] - force, place, place)]


class Moved(Condition):
    """The first body has a speed at the start, which has no gradient at rest."""

    def start(self, m):
        return [Bound("speed", ca.norm_2(m.v[:2]), np.ones(1), np.ones(1))]


def state_equations(links, *conditions):
    """Return what each pin states at the start and at the end, beside these conditions."""
    chain = chains.chain(links, [CLEARANCE] * len(links))
    modes = {x.name: Sliding() for x in chain.dynamics.contacts}
    d, forces = with_modes(chain.dynamics, modes, chain.inputs)
    p, given = d.values(None), GivenState(np.full(d.nq, np.nan), np.full(d.nv, np.nan))
    guess = np.append(np.tile([0.0, -CLEARANCE, 0.3], len(links)), np.zeros(d.nv))
    inputs = (*chain.inputs, *(name for x in forces for name in x.inputs))
    rows = [state_rows(d, conditions, name, inputs, p) for name in ("start", "end")]
    ends = tuple(EndConditions.of(d, [x], guess) for x in rows)
    found = state_contacts(d, forces, STEPS, (given, given), ends, (), p, False, ((), ()))
    return [(x.start_equations[:2], x.end_equations[:2]) for x in found]


@pytest.mark.parametrize("links", [PENDULUM[0], ARM[0]])
def test_pins_that_hang_and_rest_state_nothing_again(links):
    angles, chain = np.zeros(len(links)), chains.chain(links, [CLEARANCE] * len(links))
    found = state_equations(links, chains.HungAt(chain, angles), chains.TurnedTo(chain, angles))
    # At the end pins rest, wherever on their walls they are.
    assert found == [((False, False), (True, False))] * len(links)


def test_equations_that_do_not_follow_stay():
    assert state_equations(PENDULUM[0]) == [((True, True), (True, True))]
    assert state_equations(PENDULUM[0], Lowered(CLEARANCE)) == [((False, True), (True, True))]


def test_a_condition_that_contradicts_a_mode_is_refused():
    """Such a pin is off its wall: the gap of a bore is (c^2 - e^2) / (2 c), here 3 c / 8."""
    with pytest.raises(ValueError, match=r"its distance is 0\.000375 m, not zero"):
        state_equations(PENDULUM[0], Lowered(CLEARANCE / 2))


@pytest.mark.parametrize("condition", [LoweredByForce(CLEARANCE), Moved()])
def test_conditions_that_imply_nothing_at_a_state_leave_all(condition):
    assert state_equations(PENDULUM[0], condition) == [((True, True), (True, True))]


@pytest.mark.slow
def test_a_small_clearance_costs_as_much_as_an_ideal_hinge():
    """The pin presses throughout, so the rod is on an ideal hinge but for a radius c."""
    c = 1e-5
    best = lifted(PENDULUM, c, 100, scheme=Variational(normal_implicitness=0.5), plan=PLAN)
    assert best.completed
    assert best.data.attrs["contact_sequence"] == "shoulder touches"
    offset = np.linalg.norm(best["q"].values[:, :2], axis=1)
    assert offset == pytest.approx(c, rel=1e-9)
    assert best["normal_force"].values.min() >= 0
    ideal = on_an_ideal_hinge()
    assert best.objective == pytest.approx(ideal.objective, rel=2e-3)
    angle = np.interp(best["time"].values, ideal["time"].values, ideal["q"].values[:, 0])
    assert best["q"].values[:, 2] == pytest.approx(angle, abs=5e-3)
