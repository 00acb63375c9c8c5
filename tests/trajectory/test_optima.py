"""Optima that are known, in closed form or by an independent program."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest
from typer.testing import CliRunner

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    Result,
    assemble,
)
from nsopt.cli import app
from nsopt.mechanics import Force, Load
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    ActuatorLimits,
    Duration,
    Earlier,
    Effort,
    EndAt,
    Horizon,
    InputEffort,
    Quintic,
    StartAt,
    Straight,
    Within,
    optimize,
)


def cart():
    """1 kg on a rail, driven by an actuator."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    return assemble(Mechanism([body], [rail], "relative", [Actuator("rail")]))


def test_double_integrator():
    """From 0 to 1 in 1 s, rest to rest, at least integral of u^2: 12, u = 6 - 12 t."""
    result = optimize(
        cart(),
        Horizon(1.0, 20),
        [Effort()],
        [StartAt([0], [0]), EndAt([1], [0])],
        Straight([0], [1]),
    )
    assert result.completed
    assert result.objective == pytest.approx(12, abs=1e-9)
    t = result["time"].values
    assert result["drive"].values[:, 0] == pytest.approx(6 - 12 * t, abs=1e-8)
    assert result["q"].values[:, 0] == pytest.approx(3 * t**2 - 2 * t**3, abs=1e-9)
    assert result.detailed_cost == {"Effort": pytest.approx(12)}
    assert repr(result).splitlines()[-1].split()[:4] == ["objective", "12", "(Effort:", "12),"]
    assert result.data.attrs["defect"] < 1e-7


def test_bryson_denham():
    """Half the integral of u^2 with x <= l = 1/9: 4 / (9 l) = 4 [Bryson, Denham 1963]."""
    result = optimize(
        cart(),
        Horizon(1.0, 90),
        [Effort(weight=0.5)],
        [StartAt([0], [1]), EndAt([0], [-1]), Within("rail.distance", upper=1 / 9)],
        Straight([0], [0]),
    )
    assert result.objective == pytest.approx(4, abs=1e-5)
    x = result["q"].values[:, 0]
    assert x.max() == pytest.approx(1 / 9, abs=1e-8)
    # On the limit from 3 l to 1 - 3 l.
    assert np.mean(x > 1 / 9 - 1e-5) == pytest.approx(1 / 3, abs=0.05)


@dataclass(frozen=True, eq=False)
class Steering(Force):
    """Turns the velocity of a body without work: m u (-v_y, v_x)."""

    name: str
    frame: Frame
    u: Parameter

    @property
    def frames(self):
        return (self.frame,)

    def loads(self, s):
        v = s.motion(self.frame).v
        return [Load(v, s.value(self.u) * ca.vertcat(-v[1], v[0], 0))]


def bead():
    body = Body("bead", 1.0, point_mass=True)
    steering = Steering("wire", Frame(body), Parameter("u", 0.0))
    return assemble(Mechanism([body], coordinates="relative"), [steering], (0, -9.81, 0))


def test_brachistochrone():
    """Fastest way to (2, -2) from rest: 0.82434 s; a wire does no work, so energy stays."""
    result = optimize(
        bead(),
        Horizon((0.3, 2.0), 80),
        [Duration(), InputEffort(input="u", weight=1e-4)],
        [StartAt([0, 0, 0], [0, 0, 0]), EndAt([2, -2, 0]), Within("u", -5.0, 5.0)],
        Straight([0, 0, 0], [2, -2, 0], {"u": 1.0}, 0.9),
        inputs=["u"],
    )
    assert result.completed, result.stop_reason
    time = result.detailed_cost["Duration"]
    assert time == pytest.approx(0.8243386694391838, abs=1e-4)
    energy = result["total_energy"].values
    assert energy == pytest.approx(0, abs=1e-3)
    assert result["input"].sizes == {"time": 81, "input_name": 1}


def test_a_motion_between_nodes_that_is_none_is_no_solution():
    """On ten steps conditions hold at the nodes, but the defect of steps is 6e-4 m."""
    result = optimize(
        bead(),
        Horizon((0.3, 2.0), 10, defect=1e-4),
        [Duration(), InputEffort(input="u", weight=1e-4)],
        [StartAt([0, 0, 0], [0, 0, 0]), EndAt([2, -2, 0]), Within("u", -5.0, 5.0)],
        Straight([0, 0, 0], [2, -2, 0], {"u": 1.0}, 0.9),
        inputs=["u"],
    )
    assert not result.completed
    assert "give it more steps" in result.stop_reason


def test_an_earlier_optimum_on_another_grid_is_a_guess():
    """The same optimum."""
    conditions = [StartAt([0], [0]), EndAt([1], [0]), Within("rail.speed", upper=1.3)]
    first = optimize(cart(), Horizon(1.0, 20), [Effort()], conditions, Straight([0], [1]))
    again = optimize(cart(), Horizon(1.0, 50), [Effort()], conditions, Earlier(first))
    assert again.objective == pytest.approx(first.objective, rel=2e-3)


def test_an_input_is_charged_by_its_own_cost():
    """The double integrator with its force as an input instead of an actuator."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))

    @dataclass(frozen=True, eq=False)
    class Push(Force):
        external = True
        name: str
        frame: Frame
        force: Parameter

        @property
        def frames(self):
            return (self.frame,)

        def loads(self, s):
            return [Load(s.motion(self.frame).v, ca.vertcat(0, 0, s.value(self.force)))]

    push = Push("push", Frame(body), Parameter("force", 0.0))
    d = assemble(Mechanism([body], [rail], "relative"), [push])
    result = optimize(
        d,
        Horizon(1.0, 20),
        [InputEffort(input="force")],
        [StartAt([0], [0]), EndAt([1], [0])],
        Straight([0], [1]),
        inputs=["force"],
    )
    assert result.objective == pytest.approx(12, abs=1e-8)
    t = result["time"].values
    assert result["input"].values[:, 0] == pytest.approx(6 - 12 * t, abs=1e-6)
    # Its work is that from outside, and all of it is in the motion.
    assert result["external_work"].values.max() == pytest.approx(1.5**2 / 2, abs=1e-3)
    assert result["dissipated_energy"].values == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "share", "value"),
    [
        pytest.param("double_integrator", "Effort", 12.0, marks=pytest.mark.slow),
        pytest.param("bryson_denham", "Effort", 4.0, marks=pytest.mark.slow),
        ("brachistochrone", "Duration", 0.8243386694391838),
    ],
)
def test_named_optima_by_the_command_line(name, share, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["optimize", name])
    assert done.exit_code == 0, done.output
    assert "Solve_Succeeded" in done.output
    result = Result.open(tmp_path / "results" / f"{name}.nc")
    assert result.detailed_cost[share] == pytest.approx(value, abs=1e-4)
    assert (tmp_path / "results" / f"{name}.png").is_file()


def test_what_is_no_optimization_is_told():
    done = CliRunner().invoke(app, ["optimize", "case_a"])
    assert done.exit_code == 2
    assert "nsopt run case_a" in done.output
    done = CliRunner().invoke(app, ["run", "brachistochrone"])
    assert done.exit_code == 2
    assert "nsopt optimize brachistochrone" in done.output


@pytest.mark.parametrize(
    ("horizon", "message"),
    [
        ({"duration": 0.0}, "duration of Horizon must be positive, got 0 s"),
        ({"duration": (2.0, 1.0)}, "reversed: least 2 s, most 1 s"),
        ({"duration": 1.0, "steps": 1}, "steps of Horizon must be 2 or more, got 1"),
    ],
)
def test_horizons_refuse(horizon, message):
    with pytest.raises(ValueError, match=message):
        Horizon(**horizon)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"costs": []}, "an optimum needs a cost"),
        (
            {"conditions": [StartAt([0, 0], [0])]},
            r"q of StartAt must have shape \(1,\), got \(2,\)",
        ),
        (
            {"conditions": [Within("rail", 0, 1)]},
            "Within names 'rail', which is not in the",
        ),
        ({"conditions": [Within("rail.speed", 1, 0)]}, "limits of 'rail.speed' are reversed"),
        ({"guess": Straight([0, 0], [1, 1])}, "the guess has 2 coordinates, the mechanism has 1"),
        ({"inputs": ["u"]}, "input 'u' is no Parameter of the mechanism: there are none"),
        ({"costs": [InputEffort(input="u")]}, "InputEffort names the input 'u', which is no Param"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_solve(change, message):
    stated = {
        "costs": [Effort()],
        "conditions": [StartAt([0], [0])],
        "guess": Straight([0], [1]),
    } | change
    with pytest.raises(ValueError, match=message):
        optimize(cart(), Horizon(1.0, 5), **stated)


def test_a_free_duration_without_an_upper_bound():
    """Fastest with |u| <= 1 over 1 m: 2 s, bang-bang."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    drive = Actuator("rail", effort=1.0)
    d = assemble(Mechanism([body], [rail], "relative", [drive]))
    result = optimize(
        d,
        Horizon((0.5, np.inf), 40),
        [Duration()],
        [StartAt([0], [0]), EndAt([1], [0]), ActuatorLimits()],
        Straight([0], [1]),
    )
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(2.0, abs=2e-3)


def test_an_input_takes_no_value():
    stated = load_optimization("brachistochrone")
    with pytest.raises(ValueError, match="parameter 'u' is an input, which the optimum chooses"):
        stated.solve({"u": 3.0})


def test_a_problem_to_simulate_is_no_optimization():
    with pytest.raises(ValueError, match="nsopt run case_a"):
        load_optimization("case_a")


def test_restitution_over_a_horizon_is_refused_by_name():
    body = Body("ball", 1.0, point_mass=True, position=(0, 0, 1.0))
    floor = PlaneContact("floor", Frame(None), Frame(body), law=ContactLaw(restitution=0.5))
    d = assemble(Mechanism([body], coordinates="relative"), [floor])
    with pytest.raises(ValueError, match="contact 'floor' rebounds with e = 0"):
        optimize(d, Horizon(1.0, 5), [Duration()], [], Straight([0, 0, 1], [0, 0, 1]))


def test_a_fall_to_a_state_that_follows_is_found(capfd):
    """Its equations are one more than its unknowns: it falls as it must."""
    mass, T = Body("mass", 2.0, (1.0, 1.0, 1.0)), 0.7
    slide = Prismatic("rail", Frame(GROUND), Frame(mass))
    d = assemble(Mechanism([mass], [slide], "relative"), [], (0.0, 0.0, -9.81))
    ends = [StartAt([0.0], [1.0]), EndAt([T - 9.81 * T**2 / 2], [1.0 - 9.81 * T])]
    result = optimize(d, Horizon((0.2, 2.0), 6), [Duration()], ends, Quintic([0.0], [-1.0]))
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(T, abs=1e-10)
    assert not capfd.readouterr().err
