"""What no step can follow is told, with its remedy, before the first step."""

import re

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Compiled,
    Frame,
    Ipopt,
    Mechanism,
    PaperStep,
    Planar,
    PlanarRevoluteClearance,
    PlaneContact,
    Revolute,
    Solver,
    SpringDamper,
    Sqp,
    StepBounds,
    Variational,
    assemble,
    load_problem,
    simulate,
)
from nsopt.mechanics.equations import assembly
from nsopt.simulation.driver import Driver
from nsopt.simulation.limits import find_fastest_swing
from nsopt.simulation.run import Run

FINE = StepBounds(1e-4, 1e-3)
PAPER = {"scheme": PaperStep(), "solver": Solver(backend=Ipopt())}
"""With which nothing is compiled."""


@pytest.fixture(autouse=True)
def begun(monkeypatch):
    """No step is made."""
    monkeypatch.setattr(Driver, "done", True)


def told(message, dynamics, steps=FINE, **options):
    """Simulate; the warning must point to the call here."""
    with pytest.warns(UserWarning, match=re.escape(message)) as warned:
        simulate(dynamics, duration=1.0, steps=steps, progress=False, **PAPER | options)
    assert len(warned) == 1
    assert warned[0].filename == __file__


def rod(clearance):
    body = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
    pin, bushing = Frame(GROUND), Frame.at(body, (0.0, 0.0, 0.0))
    loose = Mechanism([body], [Planar("plane", pin, bushing)])
    hinge = PlanarRevoluteClearance("hinge", pin, bushing, clearance=clearance)
    return assemble(loose, [hinge], gravity=(0.0, -9.81, 0.0))


def oscillator(stiffness, mass=1.0, coordinates="absolute"):
    ball = Body("ball", mass, position=(1.0, 0.0, 0.0), point_mass=True)
    spring = SpringDamper("spring", Frame(GROUND), Frame(ball), stiffness, free_length=1.0)
    return assemble(Mechanism([ball], coordinates=coordinates), [spring])


def chain(count):
    bodies = [Body(f"b{k}", 1.0, (1, 1, 1), position=(k + 0.5, 0, 0)) for k in range(count)]
    ends = [GROUND, *bodies]
    joints = [
        Revolute(f"j{k}", Frame.at(ends[k], (k, 0, 0)), Frame.at(ends[k + 1], (k, 0, 0)))
        for k in range(count)
    ]
    return assemble(Mechanism(bodies, joints, "absolute"))


def test_a_step_of_a_second_through_a_millimetre():
    """h^2 g / 2 over c is 4905; sqrt(2 c / g) is 14 ms."""
    dynamics = load_problem("case_a").dynamics
    told("h_min = 1 s a body falls 4.9e+03 times the clearance 0.001 m of 'hinge'", dynamics,
         StepBounds(1.0, 1.0))  # fmt: skip
    told("give h_min and h_max of about 0.01 s or less", dynamics, StepBounds(1.0, 1.0))


def test_a_clearance_near_the_tolerance_of_gaps():
    message = "the clearance 1e-09 m of 'hinge' is hardly more than the 1e-10 m"
    told(message, rod(1e-9), StepBounds(1e-7, 1e-6))


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_a_spring_too_stiff_for_the_step(coordinates):
    """sqrt(k / m) is 1e6 rad/s."""
    dynamics = oscillator(1e12, coordinates=coordinates)
    told("'ball' swings at 1e+06 rad/s, too fast for h_min = 0.0001 s: give h_min and h_max of "
         "about 1e-06 s", dynamics)  # fmt: skip
    simulate(dynamics, duration=1.0, steps=StepBounds(1e-6, 1e-6), progress=False, **PAPER)


@pytest.mark.parametrize(("stiffness", "mass"), [(1.0, 1.0), (3e7, 0.2), (1e12, 5.0)])
def test_the_frequency_of_an_oscillator(stiffness, mass):
    dynamics = oscillator(stiffness, mass)
    run = Run.check(dynamics, None, 1.0, FINE, None)
    exact = np.sqrt(stiffness / mass)
    assert find_fastest_swing(dynamics, run)[0] == pytest.approx(exact, rel=1e-5)


def test_what_is_held_does_not_swing():
    """A spring of 1e12 N/m between a body that cannot move and the ground."""
    body = Body("block", 1.0, (1, 1, 1), position=(1.0, 0.0, 0.0))
    hinge = Revolute("hinge", Frame.at(GROUND, (1.0, 0.0, 0.0)), Frame(body))
    spring = SpringDamper("spring", Frame(GROUND), Frame(body), 1e12, free_length=1.0)
    simulate(assemble(Mechanism([body], [hinge]), [spring]), steps=FINE, progress=False, **PAPER)


@pytest.mark.slow
def test_forty_bodies_by_quadratic_programs():
    """40 bodies of 6 velocities, 40 hinges of 5 rows."""
    dynamics = chain(40)
    told("a step has 440 unknowns, for which quadratic programs (Sqp) take seconds: use "
         "solver=Compiled(), Ipopt, or relative coordinates", dynamics, scheme=Variational(),
         solver=Solver(backend=Sqp()))  # fmt: skip
    told("Sqp", dynamics, solver=Compiled())  # PaperStep chooses h itself: by Sqp
    simulate(dynamics, steps=FINE, progress=False, **PAPER)


def test_five_hundred_contacts(monkeypatch):
    """Told before they are assembled, which takes 8 s."""

    class AssembledError(Exception):
        pass

    def assembled(*_):
        raise AssembledError

    monkeypatch.setattr(assembly, "SymbolicMechanism", assembled)
    ball = Body("ball", 1.0, (1, 1, 1))
    contacts = [PlaneContact(f"c{k}", Frame(GROUND), Frame(ball)) for k in range(500)]
    with (
        pytest.warns(
            UserWarning, match="500 contacts take tens of seconds .* state those alone"
        ) as warned,
        pytest.raises(AssembledError),
    ):
        assemble(Mechanism([ball]), contacts)
    assert warned[0].filename == __file__
    with pytest.raises(AssembledError):  # without a warning, which would be another error
        assemble(Mechanism([ball]), contacts[:200])


def test_what_can_be_followed_is_not_told_of():
    for dynamics in (load_problem("case_a").dynamics, rod(1e-4), oscillator(1e4), chain(5)):
        simulate(dynamics, duration=1.0, steps=FINE, progress=False, **PAPER)
