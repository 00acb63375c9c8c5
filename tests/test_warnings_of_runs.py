"""What steps do not follow is told, by the numbers on record, with a remedy."""

import re

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq

from nsopt import (
    GROUND,
    Body,
    CompliantContact,
    ContactLaw,
    Driven,
    Flores,
    Frame,
    Hertz,
    HuntCrossley,
    JointDrives,
    Mechanism,
    MoreauJean,
    Planar,
    PlanarRevoluteClearance,
    PlaneContact,
    Prismatic,
    Revolute,
    Slide,
    SphereContact,
    Spherical,
    SpringDamper,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.caveats import caveats
from nsopt.problem import load_problem

G = (0, 0, -9.81)
REACH, SPIN = 0.3, 100.0


def run(d, duration, h, scheme=None, fixed=False):
    steps = StepBounds(h if fixed else h / 1000, h)
    return simulate(d, duration=duration, steps=steps, scheme=scheme, progress=False)


def fast_rod(coordinates="absolute", floor=False, joint=Revolute):
    body = Body(
        "rod",
        1.0,
        (0.01, 0.02, 0.02),
        position=(REACH, 0, 0),
        velocity=(0, REACH * SPIN, 0),
        angular_velocity=(0, 0, SPIN),
    )
    hinge = joint("hinge", Frame(GROUND), Frame.at(body, (0, 0, 0)))
    plane = Frame(GROUND, (0, -5, 0), (0, 1, 0))
    far = [PlaneContact("floor", plane, Frame(body), radius=0.02)] if floor else []
    return assemble(Mechanism([body], [hinge], coordinates), far)


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_a_fast_body_on_a_ball_joint_is_ahead(coordinates):
    """By its angle in six turns, which is w t, at thirty steps a turn; on a hinge it is not."""
    duration, h = 6 * 2 * np.pi / SPIN, 2 * np.pi / SPIN / 30
    rod = fast_rod(coordinates, joint=Spherical)
    result = run(rod, duration, h)
    x, y, _ = result["body_position"].values[-1, 0]
    (text,) = result.warnings
    assert "body 'rod' on ideal joints" in text
    told = float(text.split("some ")[1].split(" rad")[0])
    assert told == pytest.approx(np.arctan2(y, x), rel=0.1)
    assert not run(rod, duration / 60, h / 10).warnings
    assert not run(fast_rod(coordinates), duration, h).warnings


@pytest.mark.parametrize("floor", [False, True])
def test_what_moreau_jean_loses_is_told_beside_a_wall_that_is_never_touched(floor):
    result = run(fast_rod(floor=floor), 0.05, 2 * np.pi / SPIN / 60, MoreauJean())
    energy = result["total_energy"].values
    (text,) = (x for x in result.warnings if "lost in the discretisation" in x)
    assert float(text.split(" J")[0]) == pytest.approx(energy[0] - energy[-1], rel=0.05)
    assert "Variational" in text


@pytest.mark.parametrize(
    ("gap", "e", "together"), [(0.05, 1, False), (1e-5, 1, True), (1e-5, 0, False)]
)
def test_impacts_of_a_body_with_two_others_in_one_step_are_told(gap, e, together):
    """A heavy ball meets the floor, and a light one meets it right after; both may stay there."""
    heavy = Body("heavy", 3.0, (0.01,) * 3, position=(0, 0, 0.11))
    light = Body("light", 1.0, (1e-3,) * 3, position=(0, 0, 0.26 + gap))
    rails = [
        Prismatic(f"rail {b.name}", Frame(GROUND, b.position), Frame(b)) for b in (heavy, light)
    ]
    law = ContactLaw(restitution=e)
    floor = PlaneContact("floor", Frame(GROUND), Frame(heavy), radius=0.1, law=law)
    balls = SphereContact("balls", Frame(heavy), Frame(light), 0.1, radius=0.05, law=law)
    d = assemble(Mechanism([heavy, light], rails, "relative"), [floor, balls], gravity=G)
    result = run(d, 0.08, 1e-3, fixed=True)
    assert any("strike in one step" in text for text in result.warnings) == together


def test_balls_that_pass_through_each_other_are_told():
    balls = [
        Body(name, 1.0, point_mass=True, position=(x, 0, 0)) for name, x in (("a", 0), ("b", 1))
    ]
    contact = SphereContact("balls", *map(Frame, balls), 0.1, radius=0.1)
    result = run(assemble(Mechanism(balls, [], "relative"), [contact]), 0.01, 1e-3)
    assert not result.warnings
    data = result.data.copy(deep=True)
    data["body_position"].values[5:, 0, 0] = 2.0
    (text,) = type(result)(data).warnings
    assert text.startswith("bodies of contact 'balls' passed through each other within a step")


def test_a_body_is_off_within_the_step_in_which_it_lands():
    """It is at the floor after 5 ms, by the record after 20 ms: 3.75 mm away from there at 5 ms."""
    body = Body("body", 1.0, point_mass=True, position=(0, 0, 0.025), velocity=(0, 0, -1.0))
    floor = PlaneContact("floor", Frame(GROUND), Frame(body))
    d = assemble(Mechanism([body], [], "relative"), [floor])
    steps = StepBounds(0.02, 0.02)
    result = simulate(d, duration=0.2, steps=steps, progress=False)
    (text,) = (text for text in result.warnings if "closes within a step" in text)
    assert float(text.split("some ")[1].split(" m")[0]) == pytest.approx(3.75e-3, rel=0.02)


def test_impacts_of_a_driven_body_at_the_end_of_its_steps_are_told():
    """Periodic motion in closed form: what the stop takes is off by what is told and a half."""
    e, w, s, phase, v0 = 0.6, 2.2, 0.1, 2.713175414699495, -0.714023071494247
    x = (1.0, 0.0, 0.0)
    body = Body("mass", 1.0, (1.0,) * 3, position=(s - 1e-9, 0, 0), velocity=(1.02 * v0, 0, 0))
    rail = Prismatic("rail", Frame(GROUND, (0, 0, 0), x), Frame(body, (0, 0, 0), x))
    slide = Slide(rail.a, rail.b)
    drive = JointDrives("drive", [slide], lambda t, q, v: ca.cos(w * t + phase) - q[0])
    wall = Frame(GROUND, (s, 0, 0), (-1.0, 0, 0))
    stop = PlaneContact("stop", wall, Frame(body), law=ContactLaw(restitution=e))
    d = assemble(Mechanism([body], [rail], "relative"), [stop, drive])
    result = run(d, 20 * 2 * np.pi / w, 1e-2, fixed=True)
    (text,) = (text for text in result.warnings if "are placed at the end of their" in text)
    told = float(text.split("off by some ")[1].split(" %")[0])
    taken = result["contact_loss"].values[:, 0]
    right = (1 / e**2 - 1) / 2 * v0**2
    off = 100 * abs(taken[taken > 0.1][-8:].mean() / right - 1)
    assert off / 1.6 < told < 1.6 * off


@pytest.mark.parametrize("beside", [0.0, 1e3])
@pytest.mark.parametrize("h", [0.019, 0.0087])
def test_what_a_first_impact_takes_for_being_late_is_told(h, beside):
    """A force drives a mass against a stop, which it meets at 2 m/s, and holds it there.

    Beside a motion of a thousand times its energy that is no matter.
    """
    x = (1.0, 0.0, 0.0)
    body = Body("mass", 1.0, (1.0,) * 3, position=(-0.2, 0, 0))
    rail = Prismatic("rail", Frame(GROUND, (0, 0, 0), x), Frame(body, (0, 0, 0), x))
    drive = JointDrives("drive", [Slide(rail.a, rail.b)], lambda t, q, v: 10.0)
    wall = Frame(GROUND, (0, 0, 0), (-1.0, 0, 0))
    stop = PlaneContact("stop", wall, Frame(body), law=ContactLaw(restitution=0.5))
    speed = (0, np.sqrt(2 * beside * 2.0), 0)
    other = Body("other", 1.0, point_mass=True, position=(0, 1, 0), velocity=speed)
    d = assemble(Mechanism([body, other], [rail], "relative"), [stop, drive])
    result = simulate(d, duration=0.25, steps=StepBounds(h, h), progress=False)
    off = np.nansum(result["contact_loss"].values) / ((1 - 0.5**2) / 2 * 2.0**2) - 1
    told = [x for x in result.warnings if "are placed at the end of their" in x]
    assert len(told) == (off > 0.01 and not beside)
    if told:
        part = float(told[0].split("off by some ")[1].split(" %")[0])
        assert part == pytest.approx(100 * off, rel=0.05)


def test_how_far_bodies_are_off_where_friction_stops_them_as_they_land_is_told():
    """A particle thrown onto a rough floor falls freely until then, and sticks."""
    body = Body("ball", 1.0, point_mass=True, position=(0, 0, 0.1), velocity=(2.0, 0, 0))
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=ContactLaw(friction=5.0))
    d = assemble(Mechanism([body]), [floor], gravity=G)
    result = simulate(d, duration=0.24, steps=StepBounds(0.06, 0.06), progress=False)
    text, speed, forces = result.warnings  # of positions, of the impulse, of what lasts after it
    assert "closes after a flight of 3 steps" in speed
    assert "while it stays closed" in forces
    told = float(text.split("some ")[1].split(" m")[0])
    met = np.sqrt(2 * 0.1 / 9.81)  # at a height of zero
    x = result["body_position"].values[:, 0]
    above, beyond = np.interp(met, result["time"].values, x[:, 2]), x[-1, 0] - 2.0 * met
    assert told == pytest.approx(max(above, beyond), rel=0.1)


def test_flights_that_rebounds_end_with_are_no_forces_that_alternate():
    """Of a ball that comes to rest: its weight holds it, short flights end with more."""
    body = Body("ball", 1.0, point_mass=True, position=(0, 0, 0.05))
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=ContactLaw(restitution=0.6))
    result = run(assemble(Mechanism([body]), [floor], gravity=G), 0.42, 5e-3, fixed=True)
    lasts = result["contact_mode"].values[:, 0] == 1
    force = np.linalg.norm(result["contact_force"].values[lasts, 0], axis=1)
    assert force[-1] == pytest.approx(9.81, rel=1e-6)
    assert force.max() > 1.3 * 9.81
    assert not [x for x in result.warnings if "alternate from step to step" in x]


@pytest.mark.parametrize(("h", "told"), [(5e-3, True), (2e-4, False)])
def test_pins_that_roll_far_in_their_bores_in_a_step_are_told(h, told):
    body = Body("body", 1.0, (0.002, 0.01, 0.01), position=(0.2, 0, 0))
    hinge = PlanarRevoluteClearance(
        "hinge", Frame(GROUND), Frame.at(body, (0, 0, 0)), clearance=2e-3
    )
    plane = Planar("plane", Frame(GROUND), Frame(body))
    d = assemble(Mechanism([body], [plane], "relative"), [hinge], (0, -9.81, 0))
    assert any("rolls in its bore" in text for text in run(d, 0.3, h).warnings) == told


@pytest.mark.parametrize("h", [4e-3, 1e-3])
def test_sticking_on_what_turns_creeps_by_what_is_told(h):
    R, w = 0.4, 4.0
    plate = Body("plate", 5.0, (1, 1, 1.0), angular_velocity=(0, 0, w))
    block = Body("block", 0.5, point_mass=True, position=(R, 0, 0), velocity=(0, w * R, 0))
    hub = Revolute("hub", Frame(GROUND), Frame(plate))
    top = PlaneContact("top", Frame(plate), Frame(block), law=ContactLaw(friction=0.9))
    members = [hub, Driven("motor", hub, w)]
    d = assemble(Mechanism([plate, block], members, "relative"), [top], G)
    result = run(d, 1.0, h, scheme=MoreauJean())
    x, y, _ = result["body_position"].sel(body="block").values[-1]
    (text,) = (text for text in result.warnings if "sticks on what turns" in text)
    told = float(text.split("by some ")[1].split(" m")[0])
    assert told == pytest.approx(np.hypot(x, y) - R, rel=0.1)


def dropped(law, h, duration, restitution=0.7):
    """Of a ball of 1 kg that falls 5 cm on a compliant floor, at fixed h."""
    ball = Body("ball", 1.0, (0.004,) * 3, position=(0, 0, 0.15))
    contact = ContactLaw(restitution=restitution)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball), radius=0.1, law=contact)
    d = assemble(Mechanism([ball]), [CompliantContact("floor", floor, law)], G)
    return run(d, duration, h, fixed=True)


def time_of_contact(K):
    """Of the same [s], without weight."""
    speed = np.sqrt(2 * 9.81 * 0.05)
    return 2.94 * (5 * speed**2 / (4 * K)) ** 0.4 / speed


@pytest.mark.parametrize(("count", "told"), [(2, True), (7, False), (40, False)])
def test_compliant_contacts_of_few_steps_are_told_where_they_are_off(count, told):
    """Hertz's law gives all energy back, and of 7 steps one is near the largest force."""
    K, energy = 1e6, 9.81 * 0.05
    result = dropped(Hertz(K, 1.5), time_of_contact(K) / count, 0.13)
    assert any("is over within" in text for text in result.warnings) == told
    kept = result["total_energy"].values[-1] - 9.81 * 0.1
    deep = brentq(lambda x: K * x**2.5 / 2.5 - 9.81 * (0.05 + x), 1e-3, 1e-2)
    force = result["contact_force"].values.max()
    off = max(abs(kept / energy - 1), abs(force / (K * deep**1.5) - 1))
    assert (off > 0.05) == told


def test_a_compliant_contact_that_lets_go_inside_its_wall_is_told():
    """Where long steps leave it there, pressed now and then, to the end of the run."""
    data = dropped(HuntCrossley(1e6, 1.5), time_of_contact(1e6) / 40, 0.104).data.copy(deep=True)
    assert data["gap"].values[-1, 0] < 0
    assert not caveats(data)
    data["contact_force"].values[::2] = 0
    (text,) = caveats(data)
    assert "is over within 2 steps" in text


def test_a_compliant_contact_between_the_ends_of_steps_is_told():
    """Of 2 ms, at two steps: no end of a step is within it."""
    result = dropped(Flores(1e8, 1.5), 0.0010160485, 0.16)
    assert not np.any(result["contact_force"].values)
    assert any("is over within" in text for text in result.warnings)
    assert "of up to" not in result.summary()


def test_a_spring_at_rest_is_no_warning():
    body = Body("mass", 1.0, (1.0, 1.0, 1.0), position=(0.2, 0, 0))
    spring = SpringDamper("spring", Frame(GROUND), Frame(body), 1e4, free_length=0.2)
    assert not run(assemble(Mechanism([body]), [spring]), 0.1, 1e-3).warnings


def test_an_engine_that_hangs_in_its_springs_is_no_warning():
    """They hold 17 J; what rounding makes of that is no energy that steps lose."""
    engine, springs = Body("engine", 120.0, (3, 3, 3)), []
    for k, (x, y) in enumerate([(0.5, 0.5), (-0.5, 0.5), (0.5, -0.5), (-0.5, -0.5)]):
        ends = Frame(GROUND, (x, y, 1.0)), Frame(engine, (x, y, 0.0))
        length = 1.0 - 120 * 9.81 / 4 / 1e4
        springs.append(SpringDamper(f"spring{k}", *ends, stiffness=1e4, free_length=length))
    result = run(assemble(Mechanism([engine]), springs, gravity=G), 0.1, 1e-3)
    assert np.max(np.abs(result["v"].values)) < 1e-12
    assert result.warnings == ()


def test_a_loss_beside_a_floor_that_is_never_touched_is_told():
    """A pendulum of 4.9 J loses 2 % of it, with a floor 50 m away as without."""
    bob = Body("bob", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(bob, (0, 0, 0)))
    floor = PlaneContact("floor", Frame(GROUND, (0, -50, 0), (0, 1, 0)), Frame(bob))
    d = assemble(Mechanism([bob], [hinge], "absolute"), [floor], gravity=(0, -9.81, 0))
    result = run(d, 2.0, 5e-3, MoreauJean())
    lost = -np.diff(result["total_energy"].values[[0, -1]]).item()
    assert 0.02 < lost / (9.81 * 0.5) < 0.03
    (text,) = result.warnings
    assert "lost in the discretisation" in text


@pytest.mark.parametrize(("scheme", "count"), [(MoreauJean(project=True), 1), (Variational(), 0)])
def test_forces_that_alternate_are_told(scheme, count):
    """A rod that turns in a bore: brought back to its walls, its ends press in turn."""
    problem = load_problem("cylindrical_slider")
    steps, start = StepBounds(2.5e-5, 2.5e-5), problem.start
    result = simulate(
        problem.dynamics, start, duration=0.02, steps=steps, scheme=scheme, progress=False
    )
    texts = [x for x in result.warnings if "alternate from step to step" in x]
    assert len(texts) == count
    if texts:
        each, lasts = (float(x) for x in re.findall(r"([\d.]+) N[,;]", texts[0]))
        assert each > 1.2 * lasts
        assert lasts == pytest.approx(4.9, rel=0.03)  # what schemes have whose forces are smooth


def test_a_short_summary_has_fourteen_lines_and_an_optimum_twenty():
    """With every kind of line there is, and more warnings than are told one by one."""
    result = run(fast_rod(floor=True), 0.05, 2 * np.pi / SPIN / 60, MoreauJean())
    data = result.data.copy(deep=True)
    n = data.sizes["time"]
    data.attrs |= {"steps_below_h_min": 30, "steps_by_other_laws": 3, "steps_unfollowed": 50}
    data.attrs |= {"steps_by_other_schemes": 40, "time_by_other_schemes": 0.04}
    data.attrs |= {"redundant_joint_rows": 1, "redundant_rows": '{"hinge": 1}'}
    data.attrs["redundant_contacts"] = 2
    data["lasting_force"].values[:] = 1.0
    data["contact_mode"].values[5:9] = 2
    data["retries"].values[3] = 2
    data["projection_work"].values[-1] = 1.0
    for name in ("bend", "twist"):
        data[name] = ("time", np.linspace(0, 1, n), {"units": "rad", "most": 0.5})
    told = type(result)(data)
    assert len(told.warnings) > 3
    assert len(told.summary().splitlines()) == 14
    assert len(told.summary(full=True).splitlines()) > 20
    for text in told.warnings:
        assert text in told.summary(full=True)
    data.attrs |= {"objective": 1.0, "detailed_cost": '{"a": 1}', "guess_cost": '{"a": 2}'}
    data.attrs |= {"guess_violation": 0.0, "exact_cost": '{"a": 3}', "status": "solved"}
    data.attrs |= {"violation": 1e-9, "limits_exceeded": 1e-9, "limits_tightened": 1}
    data.attrs |= {"stationarity": "B-stationary", "defect": 1e-9, "modes": '{"floor": "Open()"}'}
    data.attrs |= {"impact": '{"floor": [1.0]}', "resimulated_defect": 1e-3}
    data.attrs |= {"resimulated_until": 1.0, "closing_contact": "'floor'", "closing_speed": 1.0}
    assert 14 < len(told.summary().splitlines()) <= 20
