"""Whatever can be simulated can be optimized: of one start there is one motion, that simulated."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Composition,
    ContactAligned,
    ContactLaw,
    Frame,
    LinearisedClosure,
    LuGreLaw,
    Mechanism,
    MoreauJean,
    PaperStep,
    Planar,
    PlaneContact,
    PoissonImpact,
    Revolute,
    Solver,
    Start,
    StepBounds,
    StribeckLaw,
    TurnFriction,
    Variational,
    assemble,
    simulate,
)
from nsopt.mechanics import Constraint
from nsopt.schemes import UnifiedScheme
from nsopt.trajectory import (
    DAMPED,
    GRADUAL,
    IN_STEPS,
    STRAIGHT,
    WARM_START,
    WIDE,
    Duration,
    During,
    Horizon,
    Simulated,
    StartAt,
    Through,
    Touching,
    optimize,
)
from tests.catalog import (
    CLEARANCES,
    COMPLIANT,
    CONTACTS,
    DISTANCE,
    DRIVES,
    IN_PLANE,
    JOINTS,
    LOADS,
    SPRINGS,
    TRACKERS,
)
from tests.catalog_methods import SCHEMES
from tests.catalog_ranges import CONES, PRINTED_CONES, RANGES


def of_each_kind(rows):
    """The first row of each class of element and of law: numbers are the business of elements."""
    kinds = {}
    for row in rows:
        element = row.build(Frame(GROUND), Frame(Body("body", 1.0, (1.0, 1.0, 1.0))))
        kinds.setdefault((type(element), type(getattr(element, "law", None))), row)
    return list(kinds.values())


SMOOTH = of_each_kind(
    [*SPRINGS, *TRACKERS, *DRIVES, *CONES, *PRINTED_CONES, *RANGES, *LOADS, *COMPLIANT]
)
FORCE_LAWS = [
    StribeckLaw(0.2, 0.4, stribeck=0.1, creep=1e-2),
    LuGreLaw(1e3, 0.5, 0.1, 0.2, 0.3, 0.1, creep=1e-3),
]


def hung(row, **law):
    """A body on the ground with one element, under a weight that points nowhere special."""
    body = Body("body", 1.0, (0.02, 0.03, 0.04), (0.02, 0.01, 0.03))
    element = row.build(Frame(GROUND), Frame.at(body, (0, 0, 0)))
    if law:
        element = replace(element, law=ContactLaw(**law))
    held = [element] if isinstance(element, Constraint) else []
    others = [] if held else [element]
    return assemble(Mechanism([body], held), others, gravity=(1.0, -2.0, -9.81))


KNOWN = Solver(schedules=(WARM_START, GRADUAL, DAMPED, WIDE), retries=1)
"""From the motion itself: what is asked is whether both state the same."""


def both(d, start, T, n, scheme, guess=None, solver=None):
    """The motion of n steps from a start, simulated and as the only one that an optimum can be."""
    options = {"steps": StepBounds(T / n, T / n), "scheme": scheme, "solver": Solver()}
    simulated = simulate(d, Start(*start), T, **options, progress=False)
    guess, conditions = guess or Simulated(simulated), [StartAt(*start)]
    stated = (d, Horizon(T, n), [Duration()], conditions, guess)
    optimum = optimize(*stated, scheme=scheme, solver=solver, plan=IN_STEPS)
    assert simulated.completed
    assert optimum.completed, optimum.stop_reason
    return simulated, optimum


def apart(simulated, optimum):
    """The largest difference of coordinates."""
    return np.abs(optimum["q"].values - simulated["q"].values).max()


@pytest.mark.parametrize("row", SMOOTH, ids=str)
def test_every_force(row):
    d = hung(row)
    q, _ = d.stated_start()
    runs = both(d, (q, np.array([0.3, 0.4, -0.5, 1.0, -1.0, 2.0])), 0.02, 10, Variational())
    assert apart(*runs) < 1e-9


@pytest.mark.parametrize("row", [*JOINTS, DISTANCE], ids=str)
def test_every_joint(row):
    d = hung(row)
    runs = both(d, d.stated_start(), 0.02, 10, Variational())
    assert apart(*runs) < 1e-9


RUB = {"dry and viscous": {"friction": 0.3, "viscous": 2.0}, "smooth": {}}


ALIKE = {"triangular prismatic", "irregular prismatic", "sphere, face of a box"}
"""Of walls as the planar one and the plane have."""
RUBBING = [row for row in CLEARANCES + CONTACTS + IN_PLANE if str(row) not in ALIKE]
EVERY_CONTACT = [
    *((row, "smooth") for row in CLEARANCES + CONTACTS + IN_PLANE),
    *(pytest.param(row, "dry and viscous", marks=pytest.mark.slow) for row in RUBBING),
]


@pytest.mark.parametrize(("row", "law"), EVERY_CONTACT, ids=str)
def test_every_contact(row, law):
    """In 20 ms a body moves 2 cm and meets the wall; blows are placed to a step, friction too."""
    d = hung(row, **RUB[law])
    q, _ = d.stated_start()
    v = np.array([0.3, 0.4, -0.5, 1.0, -1.0, 2.0])
    runs = both(d, (q, v), 0.02, 10, Variational(), solver=KNOWN)
    assert apart(*runs) < 5e-4


VELOCITY_LEVEL = [
    (rows[0], law)
    for rows in (CLEARANCES, CONTACTS, IN_PLANE)
    for law in ({}, {"viscous": 2.0}, {"friction": 0.3})
]
"""Gaps and slip are those of `test_every_contact`: one row of each kind."""


@pytest.mark.slow
@pytest.mark.parametrize(("row", "law"), VELOCITY_LEVEL, ids=str)
def test_every_contact_at_the_velocity_level(row, law):
    """Contacts that are switched on by where they are; the switch has a width over a horizon."""
    d = hung(row, **law)
    q, _ = d.stated_start()
    v = np.array([0.3, 0.4, -0.5, 1.0, -1.0, 2.0])
    runs = both(d, (q, v), 0.02, 10, MoreauJean(), solver=KNOWN)
    assert apart(*runs) < 1e-4


def links(coordinates, law=None):
    """Two links let go with a swing, their hinges rubbing under what they bear."""
    upper = Body("upper", 1.0, (0.02, 0.02, 0.02), (0.0, -0.2, 0.0))
    lower = Body("lower", 0.5, (0.01, 0.01, 0.01), (0.0, -0.5, 0.0))
    knee = [Frame.at(body, (0.0, -0.4, 0.0)) for body in (upper, lower)]
    hip = [Frame(GROUND), Frame.at(upper, (0.0, 0.0, 0.0))]
    joints = [Revolute("hip", *hip), Revolute("knee", *knee)]
    pairs = {"rub hip": hip, "rub knee": knee} if law else {}
    rub = [TurnFriction(name, *pair, law, radius=0.02) for name, pair in pairs.items()]
    d = assemble(Mechanism([upper, lower], joints, coordinates), rub, gravity=(0, -9.81, 0))
    v = np.array([3.0, -2.0])
    if coordinates == "absolute":
        v = np.array([0.6, 0, 0, 0, 0, 3.0, 1.3, 0, 0, 0, 0, 1.0])
    return d, (d.stated_start()[0], v)


OTHERS = [x for x in SCHEMES if not isinstance(x, PaperStep)]
GIVEN, PRINTED = PaperStep(finds_h=False), PaperStep(LinearisedClosure(), False, True)
"""Forms that other equations or unknowns make; the printed one has loops and turns of its own."""
KINDS = (Variational(), MoreauJean(), PaperStep(), PRINTED, ContactAligned())
"""One of each kind in absolute coordinates too, which take twice the time."""


@cache
def swung(coordinates):
    """The links, and how they move by `Variational`: what other schemes start from."""
    d, start = links(coordinates)
    return d, start, Simulated(both(d, start, 0.5, 20, Variational())[0])


EACH = [
    *((x, "relative") for x in [PaperStep(), GIVEN, *OTHERS]),
    *((x, "absolute") for x in KINDS),
]


@pytest.mark.parametrize(("scheme", "coordinates"), EACH, ids=str)
def test_every_scheme(scheme, coordinates):
    d, start, guess = swung(coordinates)
    runs = both(d, start, 0.5, 20, scheme, guess)
    assert apart(*runs) < 1e-8
    if isinstance(scheme, UnifiedScheme):
        simulated, optimum = (run["joint_reaction"].values[1:] for run in runs)
        np.testing.assert_allclose(optimum, simulated, rtol=0, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "coordinates"),
    [*((x, "relative") for x in FORCE_LAWS), (FORCE_LAWS[-1], "absolute")],
    ids=["Stribeck-relative", "LuGre-relative", "LuGre-absolute"],
)
def test_joints_that_rub_under_their_reactions(law, coordinates):
    """One statement at the velocity level; by kicks at nodes one of the same order."""
    d, start = links(coordinates, law)
    assert apart(*both(d, start, 0.5, 20, MoreauJean())) < 1e-8
    off = [apart(*both(d, start, 0.5, n, Variational())) for n in (20, 80)]
    assert off[1] < off[0] / 4
    assert off[0] < 2e-4


def top():
    """A body with a foot, thrown spinning onto a floor."""
    body = Body("top", 1.0, (0.02, 0.03, 0.04))
    floor = PlaneContact("floor", Frame(GROUND), Frame.at(body, (0.3, 0.2, 0.1)))
    d = assemble(Mechanism([body]), [floor], gravity=(0.0, 0.0, -9.81))
    q = d.stated_start()[0].copy()
    q[2] = 0.2
    return d, (q, np.array([0.1, 0.2, -1.0, 0.5, -0.8, 0.3]))


@cache
def thrown():
    """The top, and how it moves by `Variational`."""
    d, start = top()
    return d, start, Simulated(both(d, start, 0.2, 40, Variational())[0])


ONCE = [PaperStep(), GIVEN, Variational()]
STEADY = [
    *ONCE,
    *(
        pytest.param(x, marks=pytest.mark.slow)
        for x in [PRINTED, *OTHERS]
        if x not in ONCE and not x.ends_early
    ),
]


@pytest.mark.parametrize("scheme", STEADY, ids=repr)
def test_every_scheme_with_an_impact(scheme):
    d, start, guess = thrown()
    simulated, optimum = both(d, start, 0.2, 40, scheme, guess)
    assert np.nanmax(simulated["impulse"].values) > 0.1
    # Kicks at nodes, and projections along gradients where they end, are alike to first order.
    alike = scheme in (Variational(), MoreauJean(project=True))
    assert apart(simulated, optimum) < (1e-4 if alike else 1e-6)
    added = [float(x["projection_work"].values[-1]) for x in (simulated, optimum)]
    assert added[1] == pytest.approx(added[0], rel=1e-2, abs=1e-12)


def bar(impact, e):
    """A bar dropped flat on two feet of restitutions e, as `ContactAligned` knows its impact."""
    body = Body("bar", 1.0, (0.01, 0.05, 0.05))
    plane = Planar("plane", Frame(GROUND), Frame(body))
    floor = Frame(GROUND, axes=(0, 1, 0))
    feet = [
        PlaneContact(
            name, floor, Frame.at(body, (x, 0, 0)), law=ContactLaw(restitution=restitution)
        )
        for name, x, restitution in (("left", -0.4, e[0]), ("right", 0.4, e[1]))
    ]
    d = assemble(Mechanism([body], [plane], "relative"), feet, gravity=(0, -9.81, 0))
    fall, n, k = np.sqrt(2 * 0.2 / 9.81), 10, 0.8
    T = fall + 0.06
    q, v = np.array([0.0, 0.2, 0.0]), np.zeros(3)
    met = [During(Touching(x), k, k) for x in ("left", "right")]
    result = optimize(
        d,
        Horizon(T, n, StepBounds(T / n / 4, 3 * T / n), breaks=[k]),
        [Duration()],
        [StartAt(q, v), *met],
        Through([q, np.zeros(3), [0.0, 0.05, 0.0]], [0.0, k, 1.0]),
        scheme=ContactAligned(impact=impact),
        solver=Solver(schedules=(STRAIGHT,)),
    )
    assert result.completed, result.stop_reason
    assert result["time"].values[8] == pytest.approx(fall, rel=1e-7)
    rise, rate = result["v"].values[-1, 1:]
    return rise + 9.81 * 0.06, rate, 9.81 * fall


def test_an_impact_by_the_law_of_poisson():
    """Each foot gives back its part of what it took: not what Newton's law says of their speeds."""
    e, arm, J = np.array([0.8, 0.6]), 0.4, 0.05
    rise, rate, speed = bar(PoissonImpact(), e)
    taken = speed / 2  # each foot stops half of 1 kg
    assert rise == pytest.approx(taken * e.sum(), rel=1e-6)
    assert rate == pytest.approx(taken * arm * (e[1] - e[0]) / J, rel=1e-6)
    feet = np.array([rise - arm * rate, rise + arm * rate])
    assert np.abs(feet - e * speed).min() > 0.4


def test_schemes_with_impacts_at_the_ends_of_steps_refuse_restitution():
    d, start = top()
    floor = replace(d.contacts[0], law=ContactLaw(restitution=0.5))
    d = assemble(d.mechanism, [floor], gravity=d.gravity)
    for scheme in (Variational(), MoreauJean()):
        with pytest.raises(ValueError, match=r"contact 'floor' rebounds with e = 0\.5, but"):
            both(d, start, 0.1, 10, scheme)


NO_FRICTION = [
    (ContactAligned(), "no friction over a horizon, but 'hip' has it: use Variational or"),
    (Composition(), r"depends on reactions .* 'hip' has: use Variational or"),
]


@pytest.mark.parametrize(("scheme", "said"), NO_FRICTION, ids=repr)
def test_schemes_that_know_no_friction_under_reactions_say_so(scheme, said):
    d, start = links("relative", FORCE_LAWS[0])
    conditions, guess = [StartAt(*start)], Through([start[0], start[0]], [0.0, 1.0])
    with pytest.raises(ValueError, match=said):
        optimize(d, Horizon(0.1, 10), [Duration()], conditions, guess, scheme=scheme)
