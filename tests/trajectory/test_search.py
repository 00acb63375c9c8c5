"""The plan of search: its strategies run in order, are on record, and a user may change them."""

import ast
import json
import traceback
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from nsopt import GROUND, Actuator, Body, Frame, Mechanism, Prismatic, assemble
from nsopt.mpcc import Backend, Ipopt, Point, Solver
from nsopt.schemes import Scheme
from nsopt.trajectory import (
    PLAN,
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    MotionPhase,
    Optimization,
    Quintic,
    StartAt,
    optimize_phases,
)
from nsopt.trajectory.search import FromGuess, KeepLimits, Plan, RoughFirst, Strategy
from nsopt.trajectory.transcription.base import Transcription
from tests.test_layers import modules


def limited_cart():
    """1 kg on a rail, its drive limited to 5 N."""
    cart = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(cart))
    return assemble(Mechanism([cart], [rail], "relative", [Actuator("rail", effort=5.0)]))


def moved(plan=PLAN):
    """The cart moved by 1 m in 1 s at least effort, with less than the 6 N of that."""
    d = limited_cart()
    conditions = [StartAt([0.0], [0.0]), EndAt([1.0], [0.0]), ActuatorLimits()]
    guess = Quintic([0.0], [1.0])
    return Optimization(d, Horizon(1.0, 20), [Effort()], conditions, guess, plan=plan)


def ran(result):
    return json.loads(result.data.attrs["search"])


def least_effort(limit=5.0):
    """The integral of u^2 of u = limit to t, then linear through zero in the middle, by symmetry.

    Its way is 1: limit (1/4 - (1 - 2 t)^2/12) = 1.
    """
    ramp = np.sqrt(12 * (0.25 - 1 / limit))  # 1 - 2 t
    return limit**2 * (1 - ramp) + limit**2 * ramp / 3


def test_strategies_that_ran_are_on_record_with_all_iterations():
    result = moved().solve()
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(least_effort(), rel=2e-3)
    names = [x["strategy"] for x in ran(result)]
    assert names[0] == "RoughFirst"
    order = [type(x).__name__ for x in PLAN.strategies]
    assert [x for x in order if x in names] == names
    assert sum(x["iterations"] for x in ran(result)) == round(float(result["iterations"].sum()))
    told = [x for x in result.summary(full=True).splitlines() if ": " in x and "iterations," in x]
    assert len(told) == len(names) <= 8


def test_phases_of_many_steps_are_solved_in_few_first():
    d = limited_cart()
    ends = [StartAt([0.0], [0.0])], [EndAt([1.0], [0.0])]
    phases = [
        MotionPhase(d, Horizon((0.2, 0.8), 30), [Effort()], [*end, ActuatorLimits()], x)
        for end, x in zip(ends, (Quintic([0.0], [0.5]), Quintic([0.5], [1.0])), strict=True)
    ]
    result = optimize_phases(phases, duration=1.0)
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(least_effort(), rel=1e-3)
    assert [ran(x)[0]["strategy"] for x in result.phases] == ["FewStepsFirst"] * 2


def test_a_plan_without_a_strategy_ends_at_the_same_optimum():
    roughly, at_once = moved().solve(), moved(PLAN.without(RoughFirst)).solve()
    assert ran(at_once)[0]["strategy"] == "FromGuess"
    assert roughly.objective == pytest.approx(at_once.objective, rel=1e-6)


@dataclass(frozen=True)
class Doubtful(Strategy):
    """Solves again from a solution, as a user's strategy might."""

    why = "to be sure"

    def applies(self, search, found):
        return found.is_solved

    def solve(self, search, found):
        now = found.program
        again = search.solve(now, Point.cold(found.end.x, len(now.nlp.lower)))
        return replace(found, solution=again) if again.ok else found


def test_a_strategy_of_a_user_is_run_in_its_place():
    result = moved(Plan((FromGuess(), Doubtful(), KeepLimits()))).solve()
    assert result.completed, result.stop_reason
    assert [x["strategy"] for x in ran(result)][:2] == ["FromGuess", "Doubtful"]
    assert ran(result)[1]["why"] == "to be sure"
    assert result.objective == pytest.approx(least_effort(), rel=2e-3)


def test_a_plan_that_solves_nothing_is_refused():
    with pytest.raises(ValueError, match=r"no strategy of the plan .* give it FromGuess"):
        moved(Plan((KeepLimits(),))).solve()
    with pytest.raises(TypeError, match="plan of an optimization must be a Plan, got"):
        moved((FromGuess(),)).solve()


@dataclass(frozen=True)
class KeepLoosely(KeepLimits):
    """A strategy of a user, derived from one of nsopt."""


def test_derived_strategies_count_as_those_they_derive_from():
    loosely = PLAN.with_others(KeepLoosely(rounds=2))
    assert loosely.find(KeepLimits) == KeepLoosely(rounds=2)
    assert len(loosely.strategies) == len(PLAN.strategies)
    assert loosely.without(KeepLimits).find(KeepLimits) is None
    kinds = [type(x) for x in loosely.before(loosely.find(KeepLimits)).strategies]
    assert kinds == [type(x) for x in PLAN.before(PLAN.find(KeepLimits)).strategies]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda: PLAN.without(KeepLimits()), TypeError, "without takes classes"),
        (lambda: PLAN.with_others(Doubtful()), ValueError, "has no Doubtful to be replaced"),
        (lambda: Plan((FromGuess,)), TypeError, r"strategies such as FromGuess\(\), got <class"),
    ],
)
def test_changes_of_a_plan_that_would_change_nothing_are_refused(change, error, message):
    with pytest.raises(error, match=message):
        change()


def test_a_plan_tells_why_it_has_each_strategy():
    lines = str(PLAN).splitlines()
    assert len(lines) == len(PLAN.strategies)
    assert all(line.partition(": ")[2] for line in lines)


@dataclass(frozen=True)
class Counted(Backend):
    """IPOPT that notes how many functions of nsopt lead to its calls."""

    frames: list = field(default_factory=list)

    def build(self, nlp):
        call = Ipopt().build(nlp)

        def counted(*given):
            stack = [frame for frame, _ in traceback.walk_stack(None)]
            self.frames.append([x for x in stack if x.f_globals["__name__"].startswith("nsopt.")])
            return call(*given)

        return counted


def test_few_functions_lead_from_optimize_to_a_backend():
    backend = Counted()
    result = replace(moved(), solver=Solver(backend)).solve()
    assert result.completed, result.stop_reason
    first = [frame.f_code.co_name for frame in reversed(backend.frames[0])]
    assert len(first[first.index("optimize") :]) <= 8, first


def kinds_of(base):
    return {base} | {x for kind in base.__subclasses__() for x in kinds_of(kind)}


def list_names(nodes):
    """Return the names in expressions, of attributes too."""
    parts = [x for y in nodes for x in ast.walk(y)]
    names = {x.id for x in parts if isinstance(x, ast.Name)}
    return names | {x.attr for x in parts if isinstance(x, ast.Attribute)}


def name_of(function):
    return getattr(function, "id", getattr(function, "attr", None))


def is_type(node):
    return isinstance(node, ast.Call) and name_of(node.func) == "type"


def list_kinds(tree):
    """Yield the names in each question of which class something is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in ("isinstance", "issubclass"):
            yield list_names(node.args)
        elif isinstance(node, ast.Compare) and any(map(is_type, (node.left, *node.comparators))):
            yield list_names([node.left, *node.comparators])
        elif isinstance(node, ast.MatchClass):
            yield list_names([node.cls])


def list_makers(tree):
    """Yield the names in each call of a class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield {name_of(node.func)}


def find(listed):
    """Yield modules and the names that a function lists in them."""
    for module, file in modules().items():
        for names in listed(ast.parse(file.read_text(encoding="utf-8"))):
            yield module, names


@pytest.mark.unit
def test_no_module_asks_which_transcription_or_scheme_there_is():
    """Their members say what others need to know; only whether an argument is a Scheme is asked."""
    homes = {
        "nsopt.trajectory.transcription": kinds_of(Transcription),
        "nsopt.schemes": kinds_of(Scheme) - {Scheme},
    }
    for home, kinds in homes.items():
        names = {x.__name__ for x in kinds}
        asked = [x for x, named in find(list_kinds) if named & names and not x.startswith(home)]
        assert not asked, home


@pytest.mark.unit
def test_warm_starts_have_one_place():
    made = {x for x, names in find(list_makers) if "WarmStart" in names and x.startswith("nsopt.")}
    assert made == {"nsopt.mpcc.backends.warm_start"}


@pytest.mark.unit
@pytest.mark.parametrize(
    "source",
    [
        "isinstance(x, Stepped)",
        "isinstance(x, (Collocation, stepped.Stepped))",
        "issubclass(type(x), base.Stepped)",
        "type(x) is Stepped",
        "type(x) in (Collocation, Stepped)",
        "match x:\n    case Stepped(): pass",
    ],
)
def test_a_question_of_the_class_is_found(source):
    assert any("Stepped" in names for names in list_kinds(ast.parse(source)))
