"""Optimizations stated once and solved for other numbers, beside optima known or stated anew."""

import numpy as np
import pytest

from nsopt import (
    Actuator,
    Body,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    Revolute,
    assemble,
)
from nsopt.mpcc import StructuredProgram
from nsopt.trajectory import (
    FREE,
    IN_STEPS,
    ActuatorLimits,
    Duration,
    Earlier,
    Effort,
    EndAt,
    Horizon,
    JerkLimits,
    Optimization,
    Periodic,
    PreparedOptimization,
    Reach,
    StartAt,
    Straight,
    Within,
    optimize,
)
from tests.trajectory.mechanisms import cart, gantry

REST = Straight([0], [1])


@pytest.fixture
def built(monkeypatch):
    """Programs that are built, in a list."""
    programs = []
    plain = StructuredProgram.__init__

    def build(self, *stated):
        programs.append(self)
        plain(self, *stated)

    monkeypatch.setattr(StructuredProgram, "__init__", build)
    return programs


def between(start, end):
    return [StartAt([start], [0]), EndAt([end], [0])]


def prepared(dynamics, conditions, *more, **options):
    horizon = options.pop("horizon", Horizon(1.0, 20))
    return PreparedOptimization(dynamics, horizon, [Effort(), *more], conditions, REST, **options)


def loaded(mass):
    """A mass on a rail, driven by an actuator."""
    body = Body("cart", mass, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    return assemble(Mechanism([body], [rail], "relative", [Actuator("rail")]))


def test_other_ends_are_other_limits(built):
    """The integral of u^2 over a motion from rest to rest by d in 1 s is 12 d^2."""
    motion = prepared(cart(), between(0, 1))
    for start, end in ((0, 1), (0, 2), (0.5, -1), (0, 1)):
        result = motion.solve(conditions=between(start, end))
        assert result.completed
        assert result.objective == pytest.approx(12 * (end - start) ** 2, abs=1e-8)
        assert result["q"].values[[0, -1], 0] == pytest.approx([start, end], abs=1e-9)
    assert motion.solve().objective == pytest.approx(12, abs=1e-8)
    assert len(built) == 1


def test_other_parameters_are_numbers(built):
    """The integral of u^2 grows as the mass squared."""
    motion = prepared(loaded(Parameter("mass", 1.0)), between(0, 1))
    for mass in (1.0, 3.0):
        result = motion.solve(parameters={"mass": mass})
        assert result.objective == pytest.approx(12 * mass**2, rel=1e-8)
    assert motion.solve().objective == pytest.approx(12, abs=1e-8)
    assert len(built) == 1


def test_a_range_moves(built):
    """Half the integral of u^2 with x <= l: 4 / (9 l) [Bryson, Denham 1963]."""

    def below(limit):
        return [StartAt([0], [1]), EndAt([0], [-1]), Within("rail.distance", upper=limit)]

    motion = prepared(cart(), below(1 / 9), horizon=Horizon(1.0, 90))
    for limit in (1 / 9, 1 / 8):
        result = motion.solve(conditions=below(limit), guess=Straight([0], [0]))
        assert result.objective == pytest.approx(8 / (9 * limit), abs=2e-4)
        assert result["q"].values[:, 0].max() == pytest.approx(limit, abs=1e-8)
    assert len(built) == 1


def test_another_place_to_reach(built):
    """Each coordinate of a gantry from rest to rest: 12 d^2."""
    dynamics, hand = gantry()

    def conditions(x, y):
        at_rest = EndAt(None, [0, 0])
        return [StartAt([0, 0], [0, 0]), Reach(hand, (x, y, 0)), at_rest]

    motion = PreparedOptimization(
        dynamics,
        Horizon(1.0, 10),
        [Effort()],
        conditions(1, 1),
        Straight([0, 0], [1, 1]),
    )
    for x, y in ((1, 1), (2, -1)):
        result = motion.solve(conditions=conditions(x, y))
        assert result.objective == pytest.approx(12 * (x**2 + y**2), rel=1e-7)
    assert len(built) == 1


@pytest.mark.parametrize(
    "conditions",
    [
        [*between(0, 1), Within("rail.speed", upper=1.3)],
        [StartAt([0], [0]), EndAt([1])],
        [StartAt([0]), EndAt([1]), Periodic([1])],
    ],
    ids=["one more", "one less", "coupled"],
)
def test_other_rows_are_built_anew(built, conditions):
    motion = prepared(cart(), between(0, 1))
    result = motion.solve(conditions=conditions)
    assert len(built) == 2
    anew = optimize(cart(), Horizon(1.0, 20), [Effort()], conditions, REST)
    assert result.objective == pytest.approx(anew.objective, abs=1e-7)
    assert result.objective != pytest.approx(12, abs=0.1)
    assert motion.solve().objective == pytest.approx(12, abs=1e-8)


def test_another_limit_over_steps(built):
    """The motion of least effort has a jerk of 12 d / T^3; where time is dear, that limits T."""

    def limited(jerk):
        return [*between(0, 1), JerkLimits(jerk)]

    motion = prepared(cart(), limited(12.0), Duration(weight=100), horizon=Horizon((0.5, 9.0), 20))
    for jerk, T in ((12.0, 1.0), (1.5, 2.0)):
        result = motion.solve(conditions=limited(jerk))
        assert result["time"].values[-1] == pytest.approx(T, rel=1e-6)
    assert len(built) == 3  # rows of steps are built anew each time


def test_time_that_is_free(built):
    """Least T + integral of u^2: 12 d^2 / T^3 + T, least at T^4 = 36 d^2."""
    motion = prepared(cart(), between(0, 1), Duration(), horizon=Horizon((0.5, 9.0), 20))
    for d in (1.0, 0.5):
        result = motion.solve(conditions=between(0, d))
        T = (36 * d**2) ** 0.25
        assert result["time"].values[-1] == pytest.approx(T, rel=1e-5)
        assert result.objective == pytest.approx(T + 12 * d**2 / T**3, rel=1e-8)
    assert len(built) == 1


def test_what_cannot_be_is_refused_and_nothing_is_kept():
    motion = prepared(cart(), [*between(0, 1), Within("rail.distance", upper=1.5)])
    outside = [*between(0, 2), Within("rail.distance", upper=1.5)]
    with pytest.raises(ValueError, match="rail"):
        motion.solve(conditions=outside)
    with pytest.raises(ValueError, match="mass"):
        motion.solve(parameters={"mass": 2.0})
    assert motion.solve().objective == pytest.approx(12, abs=1e-8)


def test_a_motion_of_before_is_a_guess(built):
    motion = prepared(cart(), between(0, 1))
    first = motion.solve()
    known = first["q"].values.copy()
    again = motion.solve(conditions=between(0, 1.1), guess=Earlier(first))
    assert again.objective == pytest.approx(12 * 1.1**2, abs=1e-8)
    assert np.array_equal(first["q"].values, known)
    assert len(built) == 1


def test_a_motion_of_before_is_nearer_than_a_straight_one():
    rod = Body("rod", 1.0, (0.1, 0.1, 0.1), position=(1.0, 0.0, 0.0))
    hinge = Revolute("hinge", Frame(None), Frame.at(rod, (0, 0, 0)))
    driven = Mechanism([rod], [hinge], "relative", [Actuator("hinge", effort=20.0)])
    strong = ActuatorLimits()
    motion = prepared(assemble(driven, gravity=(0, -9.81, 0)), [*between(0, 2.0), strong])
    first, other = motion.solve(), [*between(0.1, 2.2), strong]
    near = motion.solve(conditions=other, guess=Earlier(first))
    far = motion.solve(conditions=other, guess=Straight([0.1], [2.2]))
    assert near.objective == pytest.approx(far.objective, rel=1e-7)
    assert near["iterations"].sum() < far["iterations"].sum()


def puck():
    """1 kg over the ground, lifted and lowered by an actuator against gravity."""
    body = Body("puck", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    mechanism = Mechanism([body], [rail], "relative", [Actuator("rail")])
    floor = PlaneContact("floor", Frame(None), Frame(body))
    return assemble(mechanism, [floor], gravity=(0, 0, -9.81))


@pytest.mark.slow
def test_through_contacts_as_stated_anew(built):
    dynamics, guess = puck(), Straight([0.2], [0.1])

    def stated(height, end):
        conditions = [StartAt([height], [0]), EndAt([end], [0])]
        task = dynamics, Horizon(0.6, 20), [Effort()], conditions, guess
        return Optimization(*task, plan=IN_STEPS)

    motion = stated(0.2, 0.0).prepared(often=False)
    for height, end in ((0.2, 0.0), (0.3, 0.0), (0.2, 0.1)):
        conditions = stated(height, end).conditions
        result = motion.solve(conditions=conditions)
        count = len(built)
        anew = stated(height, end).solve()
        assert len(built) == count + 1
        assert result.completed
        assert result.objective == pytest.approx(anew.objective, rel=1e-7)
        assert result["q"].values == pytest.approx(anew["q"].values, abs=1e-6)
        assert result.data.attrs["stationarity_kind"] == anew.data.attrs["stationarity_kind"]
    assert len(built) == 4


@pytest.mark.parametrize(
    ("start", "named"),
    [
        (StartAt([np.nan], [0]), "q of StartAt is nan for rail.distance"),
        (StartAt([0], [np.nan]), "v of StartAt is nan for rail.speed"),
        (StartAt({"rail": np.nan}, [0]), "q of StartAt is nan for rail.distance"),
        (StartAt([np.nan], [np.nan]), "nan in place of every number"),
        (EndAt([float("nan")], [0]), "q of EndAt is nan for rail.distance"),
    ],
)
def test_a_measured_state_that_is_no_number_is_refused(start, named):
    mpc = prepared(cart(), between(0, 1))
    with pytest.raises(ValueError, match=named):
        mpc.solve(conditions=[start, EndAt([1], [0])])


def test_what_is_free_is_named():
    """As fast at the end as least effort makes it: 3 d^2 / T^3 for the 12 of rest to rest."""
    ends = [StartAt([0], [0]), EndAt([1], [FREE])]
    stated, mpc = prepared(cart(), ends), prepared(cart(), between(0, 1))
    at_rest, free = mpc.solve(), mpc.solve(conditions=ends)
    assert free.objective == pytest.approx(at_rest.objective / 4, rel=1e-6)
    known = stated.solve(conditions=[ends[0], EndAt([1], [np.nan])])  # free where it is stated
    assert known.objective == pytest.approx(free.objective, rel=1e-8)


def test_a_stated_start_without_a_number_is_refused():
    with pytest.raises(ValueError, match="nan in place of every number"):
        prepared(cart(), [StartAt([np.nan], [np.nan]), EndAt([1], [0])])


@pytest.mark.parametrize(
    ("name", "title", "told"),
    [("", "", "optimum"), ("sledge", "", "sledge"), ("sledge", "of a day", "of a day")],
)
def test_an_optimum_has_the_name_of_its_mechanism(name, title, told):
    sledge = Body("body", 1.0, (0.1,) * 3)
    rail = Prismatic("rail", *(Frame(x, axes=(1, 0, 0)) for x in (None, sledge)))
    d = assemble(Mechanism([sledge], [rail], "relative", [Actuator("rail")], name=name))
    best = optimize(d, Horizon(1.0, 4), [Effort()], between(0, 1), REST, title=title)
    assert best.name == told
    assert best.objective == pytest.approx(12, rel=1e-9)
