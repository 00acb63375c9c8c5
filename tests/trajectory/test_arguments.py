"""Wrong arguments of `optimize` are refused by name, with the remedy, before the solve."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from nsopt import (
    AppliedForce,
    Body,
    Frame,
    Mechanism,
    PaperStep,
    Parameter,
    Prismatic,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.trajectory import (
    ActuatorLimits,
    Capsule,
    ClearOf,
    DriveWithin,
    During,
    Earlier,
    Effort,
    EndAt,
    FinalPose,
    FinalTask,
    Guess,
    Horizon,
    InputEffort,
    JointResistance,
    LinksApart,
    Optimization,
    Orient,
    Periodic,
    Perturbed,
    PowerLimits,
    Quintic,
    Reach,
    Simulated,
    StartAt,
    Straight,
    TaskTracking,
    Through,
    Trajectory,
    Within,
)
from tests.trajectory.mechanisms import UNIT, ball_at, cart

pytestmark = pytest.mark.unit

CART = cart(effort=5.0)
ENDS = [StartAt([0], [0]), EndAt([1], [0])]
STATED = Optimization(CART, Horizon(1.0, 4), [Effort()], ENDS, Straight([0], [1]))
ELSEWHERE = Frame(Body("elsewhere", 1.0, UNIT))
STEPS = {"steps": StepBounds(0.05, 0.05), "scheme": PaperStep()}
REST = simulate(CART, None, 0.1, **STEPS, progress=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dynamics": CART.mechanism}, r"dynamics .* got Mechanism\(...\): give assemble\("),
        ({"horizon": 1.0}, r"horizon .* must be a Horizon, got 1.0: give Horizon\("),
        ({"costs": Effort()}, r"costs .* a list, got one Effort alone: write \[Effort\(...\)\]"),
        ({"costs": [Effort]}, r"costs\[0\] .* got the class Effort: write Effort\(...\)"),
        ({"costs": [Effort(), 3]}, r"costs\[1\] .* must be a Cost, got 3: give Effort\(\)"),
        ({"costs": "Effort"}, r"costs .* a list of Cost, got 'Effort': write \[Effort\(\)\]"),
        ({"costs": None}, "costs .* a list of Cost, got None"),
        ({"conditions": ENDS[0]}, r"conditions .* got one StartAt alone: write \[StartAt\(...\)\]"),
        ({"conditions": [ActuatorLimits]}, r"conditions\[0\] .* got the class ActuatorLimits"),
        ({"conditions": [Effort()]}, r"conditions\[0\] .* must be a Condition, got Effort\(...\)"),
        (
            {"conditions": iter(ENDS)},
            "conditions .* must be a list of Condition, got list_iterator",
        ),
        ({"guess": None}, r"guess .* must be a Guess, got None: give Quintic\(start, end\)"),
        ({"guess": Straight}, r"guess .* got the class Straight: write Straight\(...\)"),
        ({"guess": REST}, r"guess .* got Result\(...\): give Earlier\(result\)"),
        ({"inputs": "u"}, r"inputs .* a list of names of Parameters, got 'u': write \['u'\]"),
        ({"inputs": [3]}, r"inputs .* got list\(...\): write \['name', ...\]"),
        ({"scheme": Variational}, r"scheme .* got the class Variational: write Variational\(...\)"),
        ({"scheme": "variational"}, r"scheme .* must be a Scheme, got 'variational'"),
        (
            {"solver": 1e-8},
            r"solver .* must be a Solver, got 1e-08: give Solver\(\)",
        ),
    ],
)
def test_arguments_of_another_kind(change, message):
    with pytest.raises(TypeError, match=message):
        replace(STATED, **change).solve()


def test_parameters_are_a_mapping():
    with pytest.raises(TypeError, match="parameters of optimize must map names to values, got"):
        STATED.solve([1.0])


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: During(Within, 0, 1), TypeError, "During takes a Condition first, got <class"),
        (lambda: Capsule("a", "b", 1.0), TypeError, "near of Capsule must be a Frame"),
        (
            lambda: ClearOf("a", ball_at((0, 0, 0), 1)),
            TypeError,
            "mover of ClearOf must be a Frame",
        ),
        (lambda: ClearOf(ELSEWHERE, "a"), TypeError, "obstacle of ClearOf must be a Sphere, Cap"),
        (lambda: LinksApart([ELSEWHERE]), TypeError, "links of LinksApart must be Sphere or Caps"),
        (lambda: During(Within("x"), "0", 1), ValueError, "first of During must be numbers"),
        (lambda: During(Within("x"), 0, np.nan), ValueError, "last of During must be finite"),
        (lambda: Reach(ELSEWHERE, (0, np.nan, 0)), ValueError, "position of Reach must be finite"),
        (lambda: Quintic([np.inf], [1]), ValueError, r"start of Quintic must be finite, got \[inf"),
        (lambda: Quintic(0, 1), ValueError, "start and end of Quintic must be alike"),
        (lambda: Quintic([0], [1], -1.0), ValueError, "duration of Quintic must be positive"),
        (lambda: Straight([0], [np.nan]), ValueError, "end of Straight must be finite"),
        (lambda: Straight(["a"], [1]), ValueError, "start of Straight must be numbers"),
        (lambda: Straight([0], [1, 1]), ValueError, "start and end of Straight must be alike"),
        (
            lambda: Straight([0], [1], {"u": np.inf}),
            ValueError,
            "input 'u' of Straight must be fin",
        ),
        (lambda: Straight([0], [1], duration=0.0), ValueError, "duration of Straight must be pos"),
        (lambda: Through([[0], [np.nan]]), ValueError, "poses of Through must be finite"),
        (lambda: Through([[0], [1, 2]]), ValueError, "poses of Through must be numbers"),
        (
            lambda: Through([[0], [1], [2]], [0, np.nan, 1]),
            ValueError,
            "shares of Through must be finite",
        ),
        (lambda: Through([[0], [1]], duration=np.nan), ValueError, "duration of Through must be f"),
        (lambda: Earlier(None), TypeError, "Earlier takes a Result, got None"),
        (lambda: Simulated("run.nc"), TypeError, "Simulated takes a Result, got 'run.nc'"),
        (
            lambda: Simulated(REST, {"u": np.nan}),
            ValueError,
            "input 'u' of Simulated must be finite",
        ),
        (lambda: Perturbed(None, 0), TypeError, "Perturbed takes a Guess, got None"),
        (
            lambda: Perturbed(Straight([0], [1]), -1),
            ValueError,
            "seed of Perturbed must not be neg",
        ),
        (
            lambda: Horizon([1.0, 2.0], 4),
            TypeError,
            "duration of Horizon must be a number or a pair",
        ),
        (lambda: Horizon((1, 2, 3), 4), TypeError, r"a pair \(least, most\) in s, got \(1, 2, 3\)"),
        (lambda: Horizon("1", 4), TypeError, "duration of Horizon must be a number .* got '1'"),
        (lambda: Horizon(np.nan, 4), ValueError, "duration of Horizon must be positive, got nan"),
        (lambda: Horizon(1.0, 4, h=0.1), TypeError, r"h of Horizon must be StepBounds\(h_min, h_m"),
        (
            lambda: Horizon(1.0, 4.0),
            ValueError,
            "steps of Horizon must be 2 or more, got 4.0: give",
        ),
        (lambda: Horizon(1.0, 4, breaks=[np.nan]), ValueError, "breaks of Horizon must be finite"),
        (lambda: Horizon(1.0, 4, breaks=0.5), ValueError, "breaks of Horizon must have shape"),
    ],
)
def test_parts_refuse_numbers_that_are_none(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (
            StartAt([np.inf], [0]),
            "q of StartAt is inf for rail.distance: give a number, or FREE to",
        ),
        (EndAt(v=[-np.inf]), "v of EndAt is -inf for rail.speed"),
        (
            EndAt([0, 1]),
            r"q of EndAt must have shape \(1,\), got \(2,\): one for each of rail.dist",
        ),
        (Periodic([np.inf]), "advance of Periodic is inf for rail.distance"),
        (
            Within("rail.distance", np.nan),
            "lower limit of 'rail.distance' must be a number, got nan",
        ),
        (Within("rail.distance", np.inf), "limits of 'rail.distance' leave no number: lower inf"),
        (Within("rail.distance", "a"), "lower limit of 'rail.distance' must be numbers, got 'a'"),
        (DriveWithin("rail", 0, np.nan), "upper limit of the drive of 'rail' must be a number"),
        (Reach(ELSEWHERE, (0, 0, 0)), "frame of Reach is on body 'elsewhere', which is not in the"),
        (Orient(ELSEWHERE, np.eye(3)), "frame of Orient is on body 'elsewhere'.* one of cart"),
        (ClearOf(ELSEWHERE, ball_at((0, 0, 0), 1.0)), "mover of ClearOf is on body 'elsewhere'"),
    ],
)
def test_conditions_that_do_not_fit(condition, message):
    with pytest.raises(ValueError, match=message):
        replace(STATED, conditions=[condition]).solve()


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (FinalPose(q=[np.inf]), "q of FinalPose is inf for rail.distance"),
        (FinalPose(q=[np.nan]), "FinalPose has no target: give a coordinate"),
        (FinalTask(frame=ELSEWHERE, position=(0, 0, 0)), "frame of FinalTask is on body 'elsewh"),
        (TaskTracking(frame=ELSEWHERE, path=lambda t: (t, 0, 0)), "frame of TaskTracking is on"),
    ],
)
def test_costs_that_do_not_fit(cost, message):
    with pytest.raises(ValueError, match=message):
        replace(STATED, costs=[cost]).solve()


@pytest.mark.parametrize(
    "make", [ActuatorLimits, lambda x: PowerLimits(1.0, x)], ids=["range", "power"]
)
def test_one_name_is_no_list_of_names(make):
    with pytest.raises(TypeError, match=r"must be a sequence of names, got 'rail': write \['rail'"):
        make("rail").check(CART)
    make(["rail"]).check(CART)
    with pytest.raises(TypeError, match="joints of JointResistance must be a sequence of names"):
        JointResistance(joints="rail").check(CART)


def test_a_frame_that_is_none():
    with pytest.raises(TypeError, match="frame of Reach must be a Frame, got 'cart': use Frame"):
        replace(STATED, conditions=[Reach("cart", (0, 0, 0))]).solve()


def test_limits_that_nobody_states():
    """Any of range, speed and force will do."""
    for bare in (cart(), assemble(replace(CART.mechanism, actuators=[]))):
        with pytest.raises(
            ValueError, match=r"ActuatorLimits limits nothing.* effort=...\), or le"
        ):
            ActuatorLimits().check(bare)
    for limit in ({"effort": 2.0}, {"velocity": 3.0}, {"lower": -1.0}, {"upper": 1.0}):
        ActuatorLimits().check(cart(**limit))


def test_postures_that_leave_all_free_are_none():
    """The way of least effort from rest, with nothing wanted at the end, is to stay."""
    free = [ENDS[0], EndAt([np.nan], [np.nan]), Periodic([np.nan])]
    result = replace(STATED, conditions=free).solve()
    assert result.completed
    assert result.objective == pytest.approx(0, abs=1e-12)


# Guesses


@dataclass(frozen=True)
class Odd(Guess):
    """A course with something changed."""

    change: dict

    def trajectory(self, share, bounds, inputs):
        trajectory = Straight([0], [1]).trajectory(share, bounds, inputs)
        return trajectory._replace(
            **{k: make(getattr(trajectory, k)) for k, make in self.change.items()}
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"q": lambda x: np.hstack([x, x])},
            "the guess has 2 coordinates, the mechanism has 1: rai",
        ),
        ({"v": lambda x: x[:, :0]}, "the guess has 0 velocities, the mechanism has 1: rail.speed"),
        ({"a": lambda x: np.hstack([x, x])}, "the guess has 2 accelerations.* got it from Odd"),
        ({"inputs": lambda x: np.zeros((len(x), 1))}, "has 1 inputs, the optimum chooses 0: none"),
        ({"v": lambda x: x / 0}, "the guess Odd is not finite in its velocities, rail.speed"),
        ({"duration": lambda x: -x}, "duration of the guess Odd must be positive, got -1"),
    ],
)
def test_courses_that_do_not_fit(change, message):
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match=message):
        replace(STATED, guess=Odd(change)).solve()


def test_a_value_for_what_is_no_input():
    for guess in (Straight([0], [1], {"torqe": 1.0}), Simulated(REST, {"torqe": 1.0})):
        with pytest.raises(ValueError, match="gives a value to 'torqe', which is no input: one of"):
            guess.trajectory(np.linspace(0, 1, 3), (1.0, 1.0), ["torque"])
    trajectory = Straight([0], [1], {"torque": 2.0}).trajectory(
        np.linspace(0, 1, 3), (1.0, 1.0), ["torque"]
    )
    assert isinstance(trajectory, Trajectory)
    assert trajectory.inputs == pytest.approx(np.full((3, 1), 2.0))


PUSHED = Body("pushed", Parameter("mass", 1.0), UNIT)
LOOSE = assemble(
    Mechanism([PUSHED], [Prismatic("rail", Frame(None), Frame(PUSHED))], "relative"),
    [AppliedForce("push", Frame(PUSHED), (0.0, 0.0, Parameter("force", 0.0)))],
)


@pytest.mark.parametrize(
    ("costs", "inputs", "message"),
    [
        ([Effort()], ["force"], "Effort is a cost of drives, but no joint has one"),
        ([InputEffort(input="force")], [], r"'force', which is not among the inputs: .*'force'\]"),
        ([InputEffort(input="mass")], ["mass"], "the input 'mass' is a mass or a length"),
        ([InputEffort(input="force")], ["force"] * 2, "name one twice: force, force"),
    ],
)
@pytest.mark.parametrize("scheme", [None, Variational()])
def test_what_drives_nothing_is_refused(costs, inputs, message, scheme):
    stated = replace(STATED, dynamics=LOOSE, costs=costs, inputs=inputs, scheme=scheme)
    with pytest.raises(ValueError, match=message):
        stated.solve()


def test_limits_that_limit_nothing_are_refused():
    with pytest.raises(ValueError, match="limits nothing of 'rail"):
        replace(STATED, conditions=[*ENDS, Within("rail.speed")]).solve()
