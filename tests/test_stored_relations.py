"""What the variables of a run say of each other holds in all runs, and is missed where altered."""

import re
import warnings

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Check,
    CompliantContact,
    ContactLaw,
    Flores,
    Frame,
    Hertz,
    KelvinVoigt,
    Mechanism,
    MoreauJean,
    PlaneContact,
    Revolute,
    SphereContact,
    StepBounds,
    assemble,
    simulate,
)
from nsopt.stored_checks import check_complete, check_values

ROUGH = ContactLaw(friction=0.4, restitution=0.3)


def chain(coordinates):
    """Two rods that fall onto a rigid floor with friction, and against a compliant wall."""
    a, b = (
        Body(x, 1.0, (0.01, 0.02, 0.02), position=(k, 0, 0.1)) for x, k in (("a", 0.1), ("b", 0.3))
    )
    hinge = Revolute("hinge", *(Frame.at(x, (0.2, 0, 0.1), (0, 1, 0)) for x in (a, b)))
    floor = [PlaneContact(f"on_{x.name}", Frame(GROUND), Frame(x), 0.05, law=ROUGH) for x in (a, b)]
    wall = SphereContact("wall", Frame(GROUND, (0.5, 0, 0.1)), Frame(b), 0.05, 0.149, law=ROUGH)
    compliant = CompliantContact("wall", wall, Flores(1e6, 1.5))
    mechanism = Mechanism([a, b], [hinge], coordinates)
    return assemble(mechanism, [*floor, compliant], (0.5, 0, -9.81))


def run(coordinates, **options):
    steps = StepBounds(1e-6, 1e-3)
    return simulate(
        chain(coordinates), duration=0.2, steps=steps, progress=False, check=None, **options
    ).data


@pytest.fixture(scope="module")
def runs():
    return {coordinates: run(coordinates) for coordinates in ("absolute", "relative")}


def check_all(data):
    check_complete(data)
    check_values(data)


def complain(data):
    """Return by what a result is refused, or what a warning says of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check_all(data)
        except ValueError as error:
            return str(error)
    return "; ".join(str(x.message) for x in caught)


@pytest.mark.parametrize(
    "options",
    [{}, {"store_every": 3}, {"times": np.linspace(0.01, 0.19, 17)}, {"scheme": MoreauJean()}],
    ids=["steps", "some", "times", "MoreauJean"],
)
@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_runs_contradict_nothing(runs, coordinates, options):
    data = run(coordinates, **options) if options else runs[coordinates]
    assert np.nanmax(data["impulse"]) > 0
    check_all(data)


def dropped(height, **options):
    """A ball that falls onto a floor, where it stays; ``law`` of a compliant one."""
    ball = Body("ball", 1.0, position=(0, 0, height), point_mass=True)
    floor, law = (
        PlaneContact("floor", Frame(GROUND), Frame(ball), law=ROUGH),
        options.pop("law", None),
    )
    floor = floor if law is None else CompliantContact("floor", floor, law)
    d = assemble(Mechanism([ball]), [floor], (0, 0, -9.81))
    steps = options.pop("steps", StepBounds(1e-6, 1e-3))
    return simulate(d, duration=0.3, steps=steps, progress=False, check=None, **options).data


@pytest.mark.parametrize("law", [Hertz(1e6), Flores(1e6), KelvinVoigt(1e5, damping_coefficient=9)])
def test_an_impact_on_a_compliant_floor_contradicts_nothing(law):
    """Its forces are those at the times, its impulses means of steps."""
    data = dropped(0.05, law=law)
    assert np.nanmax(data["impact_impulse"]) > 0
    check_all(data)


@pytest.mark.parametrize(
    "options",
    [
        {"times": np.array([0.2, 0.3])},
        {"store_every": 10**6},
        {"height": 1e-6},
        {"height": 1e-6, "steps": StepBounds(1e-3, 1e-3)},
    ],
    ids=["times", "store_every", "step", "fixed"],
)
def test_what_stops_between_two_rows_contradicts_nothing(options):
    """At both the body is at rest, yet it moved."""
    data = dropped(**{"height": 0.05, **options})
    assert abs(data["body_velocity"]).max() < 1e-9
    assert np.ptp(data["body_position"].values[..., 2]) > 0.9 * options.get("height", 0.05)
    check_all(data)


def test_an_arm_contradicts_nothing():
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(rod, (0, 0, 0)))
    d = assemble(Mechanism([rod], [hinge], "relative"), gravity=(0, -9.81, 0))
    data = simulate(d, duration=0.1, steps=StepBounds(1e-3, 1e-3), progress=False).data
    check_all(data)
    for name, other in (("joint_coordinate", "q"), ("joint_rate", "v")):
        altered = data.assign({name: 1.001 * data[name]})
        assert f"'{other}' is not what '{name}' says" in complain(altered)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("body_position", "'q' is not what 'body_position' says"),
        ("body_velocity", "'v' is not what 'body_velocity' says"),
        ("body_angular_velocity", "'v' is not what 'body_angular_velocity' says"),
        ("body_acceleration", "'acceleration' is not what 'body_acceleration' says"),
        ("acceleration", "'acceleration' is not what 'body_acceleration' says"),
        ("impact_impulse", "'impact_impulse' is not a part of 'impulse'"),
        ("contact_force", "'contact_force' is not what makes 'impulse'"),
        ("complementarity_residual", "'complementarity_residual' is not the force"),
    ],
)
def test_a_variable_that_shrank_or_grew_is_named(runs, name, fault):
    """By a thousandth, in all columns; by the direction in which it matters."""
    data = runs["absolute"]
    factor = 0.999 if name == "contact_force" else 1.001
    assert fault in complain(data.assign({name: factor * data[name]}))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            lambda data: data.assign(contact_mode=data["contact_mode"].roll(time=3)),
            "'contact_mode' is not 2 where there is an 'impact_impulse'",
        ),
        (
            lambda data: data.assign(body_position=data["body_position"].roll(time=50)),
            "'body_position' is not within what 'body_velocity' lets it move",
        ),
        (lambda data: data.assign_coords(axis=["x", "z", "y"]), "'axis' is not x, y, z"),
        (
            lambda data: data.assign(q=data["q"].astype("f4").astype(int)),
            "'q' is of type int64",
        ),
        (
            lambda data: data.assign(gap=data["gap"].assign_attrs(units="mm")),
            "attribute 'units' of 'gap' is 'mm', not 'm'",
        ),
        (lambda data: data.assign_attrs(h_max=1e-4), "'h_max' is 0.0001, less than 'h'"),
        (lambda data: data.assign(iterations=data["iterations"] + 0.5), "are no whole numbers"),
        (lambda data: data.assign_attrs(steps_unfollowed=10**6), "is more than all .* 'steps'"),
    ],
)
def test_what_no_run_writes_is_named(runs, change, fault):
    assert re.search(fault, complain(change(runs["absolute"])))


@pytest.mark.parametrize("lost", ["contact_loss_sum", "error_contact_loss_sum"])
def test_a_figure_without_its_error_or_an_error_without_its_figure_is_named(lost):
    ball = Body("ball", 1.0, position=(0, 0, 0.01), point_mass=True)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball))
    d = assemble(Mechanism([ball]), [floor], gravity=(0, 0, -9.81))
    steps = StepBounds(1e-3, 1e-3)
    data = simulate(d, duration=0.1, steps=steps, progress=False, check=Check()).data
    check_all(data)
    with pytest.raises(ValueError, match=f"variable '{lost}' is missing"):
        check_all(data.drop_vars(lost))
    altered = data.assign(contact_loss_sum=1.001 * data["contact_loss_sum"])
    assert "'contact_loss_sum' is not the sum of 'contact_loss'" in complain(altered)
    altered = data.assign(error_motion=data["error_motion"] + 1e-3)
    assert "'error_motion' is above zero at the start" in complain(altered)
