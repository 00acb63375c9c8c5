"""Pins that roll round in their bores, in given modes: on the wall at every node."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedTorque,
    Body,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlanarRevoluteClearance,
    Revolute,
    Variational,
    assemble,
)
from nsopt.caveats import measure_alternation
from nsopt.trajectory import (
    IN_STEPS,
    PLAN,
    EndAt,
    Horizon,
    InputEffort,
    StartAt,
    Straight,
    optimize,
)
from tests.trajectory.lift import G

START, END = np.radians(-90), np.radians(-30)


def swing(clearance, steps, plan=PLAN):
    """Return the swing of a hanging rod by a torque, on a worn hinge or without clearance."""
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
    pin, bushing = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
    torque = AppliedTorque("torque", Frame(rod), (0, 0, Parameter("u", 0.0)))
    if not clearance:
        hinge = Mechanism([rod], [Revolute("hinge", pin, bushing)], "relative")
        d, ends = assemble(hinge, [torque], gravity=(0, -G, 0)), ([START], [END], [END])
    else:
        worn = PlanarRevoluteClearance("hinge", pin, bushing, clearance=clearance)
        plane = Mechanism([rod], [Planar("plane", pin, bushing)], "relative")
        d = assemble(plane, [worn, torque], gravity=(0, -G, 0))
        ends = [0, -clearance, START], [0, -clearance, END], [np.nan, np.nan, END]
    at_rest = np.where(np.isnan(ends[2]), np.nan, 0.0)
    conditions = [StartAt(ends[0], np.zeros(d.nv)), EndAt(ends[2], at_rest)]
    scheme = Variational(normal_implicitness=0.5) if clearance else None
    return optimize(
        d,
        Horizon(1.0, steps),
        [InputEffort(input="u")],
        conditions,
        Straight(ends[0], ends[1]),
        inputs=["u"],
        scheme=scheme,
        plan=plan,
    )


def warns_of_forces(best):
    """Return whether a warning tells that forces alternate."""
    return any("alternate" in text for text in best.warnings)


@pytest.fixture(scope="module")
def ideal():
    return swing(0.0, 80)


def largest_error_of_force(best, ideal):
    """Return by how much forces are off those of an ideal hinge, over the largest of them.

    Without the first and the last tenth: a pin at rest is not yet where the load is.
    """
    t, true = ideal["time"].values, np.linalg.norm(ideal["joint_reaction"].values[:, 0], axis=-1)
    at, force = best["time"].values, best["normal_force"].values[:, 0]
    inner = (at > 0.1) & (at < 0.9)
    return np.abs(force - np.interp(at, t, true))[inner].max() / true.max()


@pytest.mark.slow
def test_a_pin_rolls_round_its_bore():
    best, ideal = swing(1e-3, 40), swing(0.0, 40)
    assert best.completed
    assert best.data.attrs["contact_sequence"] == "hinge touches"
    assert np.abs(best["gap"].values).max() < 1e-12
    offset = best["q"].values[:, :2]
    assert np.linalg.norm(offset, axis=1) == pytest.approx(1e-3, abs=1e-12)
    assert np.ptp(np.arctan2(offset[:, 1], offset[:, 0])) > 1.0
    # It presses, so it is an ideal hinge but for a radius of 1 mm.
    assert best["normal_force"].values.min() > 0
    assert best.objective == pytest.approx(ideal.objective, rel=5e-3)
    # Forces of exact motions are along normals: no pin crosses its bore within a step.
    assert "crossed_steps" not in best.data.attrs


@pytest.mark.slow
def test_a_bore_too_small_for_the_steps_has_the_forces_of_an_ideal_hinge(ideal):
    """Its pin would roll to and fro within less than a step, and does not."""
    best = swing(1e-4, 40)
    assert best.data.attrs["contact_sequence"] == "hinge touches"
    assert not warns_of_forces(best)
    assert largest_error_of_force(best, ideal) < 0.02
    assert best.objective == pytest.approx(ideal.objective, rel=2e-3)


@pytest.mark.slow
def test_a_motion_from_fewer_steps_stays_near_them(ideal):
    """Solved from further off its pin rolls to and fro, under nearly twice the force."""
    best = swing(1e-4, 140)
    assert not warns_of_forces(best)
    assert largest_error_of_force(best, ideal) < 0.15
    assert best.objective == pytest.approx(ideal.objective, rel=2e-3)


@pytest.mark.slow
def test_forces_that_alternate_are_told(ideal):
    """Where steps begin to see how the pin rolls, forces are wrong while the cost is right."""
    best, in_steps = swing(3e-4, 80), swing(3e-4, 80, IN_STEPS)
    assert best.objective == pytest.approx(ideal.objective, rel=1e-3)
    assert largest_error_of_force(best, ideal) > 0.1
    assert warns_of_forces(best)
    # As the warning says, even steps with a normal in the middle of each damp it.
    assert not warns_of_forces(in_steps)
    assert largest_error_of_force(in_steps, ideal) < 0.05


def test_how_much_of_a_force_alternates():
    t = np.linspace(0, 1, 201)
    smooth = 10 + np.sin(2 * np.pi * t)
    assert measure_alternation(smooth) < 1e-3
    zigzag = np.where(np.arange(201) % 2, 2.0, -2.0)
    assert measure_alternation(10 + zigzag) == pytest.approx(2 / np.sqrt(104), rel=1e-2)
    # Where a contact opens and closes, its force jumps once.
    assert measure_alternation(np.where(t < 0.5, smooth, 0.0)) < 1e-3
