"""Every cost and condition of contacts and ranges in a program: derivatives against differences."""

import numpy as np
import pytest

from nsopt import (
    Actuator,
    Body,
    Composition,
    ContactAligned,
    ContactLaw,
    CubicLaw,
    Frame,
    Mechanism,
    MoreauJean,
    PlaneContact,
    Prismatic,
    SlideRange,
    Variational,
    assemble,
)
from nsopt.schemes import Scheme
from nsopt.trajectory import (
    Condition,
    Cost,
    During,
    Effort,
    EndAt,
    Horizon,
    Stage,
    StartAt,
    Straight,
    conditions,
    costs,
    optimize,
)
from nsopt.trajectory.transcription.stepped import Stepped
from tests.catalog_trajectory import CONDITIONS, COSTS, STEPPED_CONDITIONS, STEPPED_COSTS
from tests.trajectory.differences import difference
from tests.trajectory.mechanisms import UNIT


def lift():
    """A driven weight above a floor, with ends of its rail that give way."""
    body = Body("weight", 2.0, UNIT)
    rail = Prismatic("rail", Frame(None), Frame(body))
    ends = SlideRange("ends", *rail.frames, -0.1, 0.1, CubicLaw(60.0, 0.2), joint="rail")
    mechanism = Mechanism([body], [rail], "relative", [Actuator("rail")])
    floor = PlaneContact("floor", Frame(None), Frame(body), law=ContactLaw(friction=0.5))
    return assemble(mechanism, [floor, ends], (0, 0, -9))


D = lift()
PLAIN = Effort()


class Program:
    """Three steps, and unknowns drawn beside a guess."""

    def __init__(self, costs, conditions):
        program = Stepped(D, Horizon(0.6, 3), costs, conditions, (), Variational(), D.values())
        self.nlp, random = program.nlp(), np.random.default_rng(0)
        x = program.start_from(Straight([0.3], [0.6]))
        self.x = x + random.uniform(0.01, 0.05, x.size)
        self.p = np.append(D.values(), Stage(1e-2))
        self.way = random.normal(size=x.size)

    def along(self, function):
        """Return the derivative of a function of unknowns and parameters along a random way."""
        return difference(
            lambda s: np.asarray(function(self.x + s * self.way, self.p)).ravel(), 0.0, 1e-4
        )

    def check(self):
        made, nlp = self.nlp.derivatives(), self.nlp
        _, gradient = made.grad_f(self.x, self.p)
        _, J = made.jac_g(self.x, self.p)
        slope = np.asarray(gradient).ravel() @ self.way
        assert slope == pytest.approx(self.along(nlp.terms).sum(), rel=1e-7, abs=1e-9)
        assert np.asarray(J) @ self.way == pytest.approx(self.along(nlp.rows), rel=1e-6, abs=1e-8)
        return np.asarray(nlp.terms(self.x, self.p)).ravel()


@pytest.mark.parametrize("cost", STEPPED_COSTS, ids=lambda cost: type(cost).__name__)
def test_derivatives_of_every_cost(cost):
    cost.check(D)
    once = Program([cost], []).check()
    assert once[0] != 0
    twice = Program([2 * cost], []).check()
    assert twice == pytest.approx(2 * once)


@pytest.mark.parametrize("condition", STEPPED_CONDITIONS, ids=lambda c: type(c).__name__)
def test_derivatives_of_every_condition(condition):
    condition.check(D)
    program = Program([PLAIN], [condition])
    program.check()
    more = program.nlp.g.numel() - Program([PLAIN], []).nlp.g.numel()
    # At all four nodes, or at those of a part: of 0.3 to 0.7 the middle two, of 0.7 to 1 the last.
    assert more == (2 if isinstance(condition, During) else 4)


@pytest.mark.parametrize(
    ("kinds", "base", "rows"),
    [
        (costs, Cost, COSTS + STEPPED_COSTS),
        (conditions, Condition, CONDITIONS + STEPPED_CONDITIONS),
    ],
    ids=["costs", "conditions"],
)
def test_every_kind_has_a_row(kinds, base, rows):
    public = (getattr(kinds, name) for name in kinds.__all__)
    known = {x for x in public if isinstance(x, type) and issubclass(x, base) and x is not base}
    assert known == {type(row) for row in rows}


class WithoutFriction(ContactAligned):
    """A scheme whose horizons have no friction, and that does not say so."""

    def check_horizon(self, dynamics, p):
        Scheme.check_horizon(self, dynamics, p)


class WithoutRebounds(MoreauJean):
    """One that says to end at impacts, and has none at nodes."""

    ends_early = True


@pytest.mark.parametrize(
    ("scheme", "law", "message"),
    [
        (WithoutFriction(), ContactLaw(friction=0.5), "states no friction .* 'floor' has: use Var"),
        (WithoutRebounds(), ContactLaw(0.5), "states no restitution .* has: use ContactAligned"),
    ],
    ids=["friction", "restitution"],
)
def test_what_a_scheme_leaves_out_of_its_horizon_is_refused(scheme, law, message):
    floor = PlaneContact("floor", Frame(None), D.contacts[0].b, law=law)
    d = assemble(D.mechanism, [floor], D.gravity)
    with pytest.raises(ValueError, match=message):
        optimize(d, Horizon(0.6, 3), [Effort()], [], Straight([0.3], [0.6]), scheme=scheme)


@pytest.mark.parametrize("scheme", [ContactAligned(), Composition(), MoreauJean()], ids=repr)
def test_drives_that_are_held_act_in_both_halves_of_a_step(scheme):
    """2 kg by 1 m in 1 s at least effort, of ten forces in turn: 12 m^2 / (1 - 1/10^2)."""
    body = Body("weight", 2.0, UNIT)
    rail = Prismatic("rail", Frame(None), Frame(body))
    d = assemble(Mechanism([body], [rail], "relative", [Actuator("rail")]))
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [0.0])]
    best = optimize(d, Horizon(1.0, 10), [Effort()], ends, Straight([0.0], [1.0]), scheme=scheme)
    assert best.completed, best.stop_reason
    assert best.objective == pytest.approx(48 / 0.99, rel=1e-7)
