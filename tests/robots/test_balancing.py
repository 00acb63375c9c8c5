"""Static balancing: springs that are known to balance exactly, and what is refused."""

import re
from dataclasses import replace

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    ExtensionSpring,
    Frame,
    JointDrives,
    Mechanism,
    Parameter,
    PlaneContact,
    Relative,
    Revolute,
    Turn,
    assemble,
)
from nsopt.robots import fit_springs, inverse_dynamics

G = (0.0, 0.0, -9.81)
LIFT = np.column_stack([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])  # turns x towards world z
MASS, LENGTH, NEAR = 3.0, 0.4, 0.15  # kg, m to the centre of mass, m to the spring
POSTURES = np.linspace(-1.4, 1.4, 15)[:, None]


def arm(mass=MASS):
    """A level arm on a hinge at the origin, in joint coordinates."""
    link = Body("link", mass, (1e-3, 0.02, 0.02), (LENGTH, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND, axes=LIFT), Frame(link, (-LENGTH, 0, 0), LIFT))
    return Mechanism([link], [hinge], coordinates="relative"), link


def spring(link, stiffness, height, free_length=0.0, pretension=0.0):
    ends = Frame(GROUND, (0, 0, height)), Frame(link, (NEAR - LENGTH, 0, 0))
    return ExtensionSpring(
        "spring", *ends, stiffness, free_length=free_length, pretension=pretension
    )


def fit(bounds, postures=POSTURES, joints=("hinge",), elements=None, **numbers):
    mechanism, link = arm()
    stated = {"stiffness": Parameter("k", 500.0), "height": 0.2} | numbers
    elements = [spring(link, **stated)] if elements is None else elements(link)
    return fit_springs(mechanism, elements, G, postures=postures, joints=joints, bounds=bounds)


def test_a_spring_of_no_free_length_balances_a_weight_exactly():
    """k h b = m g l [Herder, Energy-free systems, 2001], in every posture."""
    balanced = fit({"k": (0.0, 1e5)})
    assert balanced.converged
    assert balanced.parameters["k"] * 0.2 * NEAR == pytest.approx(MASS * 9.81 * LENGTH, rel=1e-10)
    assert np.abs(balanced.after).max() < 1e-8
    weight = MASS * 9.81 * LENGTH - 500 * 0.2 * NEAR
    assert balanced.before[:, 0] == pytest.approx(weight * np.cos(POSTURES[:, 0]))
    assert balanced.columns == ("hinge.rate",)


def test_stiffness_and_place_are_found_together():
    bounds = {"k": (100.0, 3000.0), "h": (0.05, 0.5)}
    balanced = fit(bounds, height=Parameter("h", 0.3))
    k, h = balanced.parameters["k"], balanced.parameters["h"]
    assert k * h * NEAR == pytest.approx(MASS * 9.81 * LENGTH, rel=1e-9)
    assert np.abs(balanced.after).max() < 1e-8


def test_a_wound_spring_balances_as_one_of_no_free_length():
    """The fit winds it to F_0 = k L_0 by itself [CHARMIE 2023, section 5.2]."""
    bounds = {"k": (0.0, 1e4), "F": (0.0, 1e3)}
    balanced = fit(bounds, free_length=0.1, pretension=Parameter("F", 20.0))
    k, F = balanced.parameters["k"], balanced.parameters["F"]
    assert k * 0.2 * NEAR == pytest.approx(MASS * 9.81 * LENGTH, rel=1e-7)
    assert pytest.approx(k * 0.1, rel=1e-7) == F
    assert np.abs(balanced.after).max() < 1e-8


def test_slack_is_the_smallest_length_less_the_free_length():
    balanced = fit({"k": (0.0, 1e4)}, free_length=0.1, pretension=40.0)
    spans = np.hypot(NEAR * np.cos(POSTURES[:, 0]), 0.2 - NEAR * np.sin(POSTURES[:, 0]))
    assert balanced.slack == {"spring": pytest.approx(spans.min() - 0.1)}


def test_bounds_hold():
    exact = MASS * 9.81 * LENGTH / (0.2 * NEAR)
    balanced = fit({"k": (0.0, 0.8 * exact)}, stiffness=Parameter("k", 100.0))
    assert balanced.parameters["k"] == pytest.approx(0.8 * exact, rel=1e-6)
    assert balanced.parameters["k"] <= 0.8 * exact
    rest = 0.2 * MASS * 9.81 * LENGTH * np.cos(POSTURES[:, 0])
    assert balanced.after[:, 0] == pytest.approx(rest, rel=1e-4)


def test_what_is_restated_holds_the_torque_that_is_told():
    """Static torque of the restated robot, by `assemble` anew, also where it does not vanish."""
    balanced = fit({"k": (0.0, 500.0)}, free_length=0.1)
    d = assemble(balanced.mechanism, balanced.elements, G)
    torque = [-float(d.applied(0, q, 0, d.values())) for q in POSTURES]
    assert balanced.after[:, 0] == pytest.approx(torque)
    assert np.abs(torque).max() > 0.1


def test_the_fit_is_least_within_its_bounds():
    """By central differences of the cost: level along k, still falling beyond the bound of h."""
    balanced = fit(
        {"k": (0.0, 1e4), "h": (0.05, 0.5)}, height=Parameter("h", 0.3), free_length=0.15
    )
    d = assemble(balanced.mechanism, balanced.elements, G)

    def cost(k, h):
        p = d.values({"k": k, "h": h})
        return sum(float(d.applied(0, q, 0, p)) ** 2 for q in POSTURES)

    k, h = balanced.parameters["k"], balanced.parameters["h"]
    assert h == pytest.approx(0.5)
    assert (cost(k * 1.001, h) - cost(k * 0.999, h)) / 0.002 == pytest.approx(0, abs=1e-3)
    assert (cost(k, h * 1.001) - cost(k, h * 0.999)) / 0.002 < -1
    assert cost(k, h) < 0.2 * np.sum(balanced.before**2)


def two_links():
    upper = Body("upper", 2.0, (1e-3, 0.02, 0.02), (0.2, 0, 0))
    fore = Body("fore", 1.0, (1e-3, 0.01, 0.01), (0.55, 0, 0))
    joints = [
        Revolute("shoulder", Frame(GROUND, axes=LIFT), Frame(upper, (-0.2, 0, 0), LIFT)),
        Revolute("elbow", Frame(upper, (0.2, 0, 0), LIFT), Frame(fore, (-0.15, 0, 0), LIFT)),
    ]
    return Mechanism([upper, fore], joints, coordinates="relative"), upper, fore


def test_only_the_named_joints_are_balanced():
    mechanism, upper, _ = two_links()
    k = Parameter("k", 100.0)
    lifts = ExtensionSpring("s", Frame(GROUND, (0, 0, 0.3)), Frame(upper, (-0.1, 0, 0)), k)
    postures = [(a, -a) for a in np.linspace(-1, 1, 9)]  # forearm level
    balanced = fit_springs(
        mechanism, [lifts], G, postures=postures, joints=["shoulder"], bounds={"k": (0.0, 1e4)}
    )
    weight = [float(inverse_dynamics(mechanism, G)(q, [0, 0], [0, 0])[0]) for q in postures]
    pull = [0.3 * 0.1 * np.cos(a) for a, _ in postures]
    k = balanced.parameters["k"]
    assert k == pytest.approx(np.dot(weight, pull) / np.dot(pull, pull))  # linear least squares
    assert balanced.after[:, 0] == pytest.approx(np.array(weight) - k * np.array(pull))


def test_motors_under_a_law_do_not_help():
    def driven(link):
        turn = Turn(Frame(GROUND, axes=LIFT), Frame(link, (-LENGTH, 0, 0), LIFT))
        drives = JointDrives("drives", [turn], lambda t, q, v: [11.0])
        return [spring(link, Parameter("k", 500.0), 0.2), drives]

    balanced = fit({"k": (0.0, 1e5)}, elements=driven)
    assert balanced.before == pytest.approx(fit({"k": (0.0, 1e5)}).before)
    assert [e.name for e in balanced.elements] == ["spring", "drives"]


def parallelogram(coordinates):
    """Two equal cranks of 0.4 m, 0.5 m apart, and a coupler between their ends."""
    cranks = [
        Body(f"crank{k}", 1.0, (1e-3, 5e-3, 5e-3), (x + 0.2, 0, 0)) for k, x in enumerate((0, 0.5))
    ]
    coupler = Body("coupler", 2.0, (1e-3, 0.01, 0.01), (0.65, 0, 0))

    def hinge(name, a, b, x):
        return Revolute(name, Frame.at(a, (x, 0, 0), LIFT), Frame.at(b, (x, 0, 0), LIFT))

    joints = [
        hinge("motor", GROUND, cranks[0], 0.0),
        hinge("far", GROUND, cranks[1], 0.5),
        hinge("pin", cranks[0], coupler, 0.4),
        hinge("end", coupler, cranks[1], 0.9),
    ]
    return Mechanism([*cranks, coupler], joints, coordinates=coordinates), cranks[0]


def test_loops_carry_the_weight_of_all_their_bodies():
    """The coupler only translates, so the motor holds (2 cranks / 2 + coupler) g 0.4 cos(a)."""
    mechanism, crank = parallelogram(Relative(cut=["end"]))
    lift = ExtensionSpring(
        "s", Frame(GROUND, (0, 0, 0.3)), Frame(crank, (-0.1, 0, 0)), Parameter("k", 10.0)
    )
    postures = [(a, a, -a) for a in np.linspace(-1, 1, 8)]  # stretched out it could fold
    balanced = fit_springs(
        mechanism, [lift], G, postures=postures, joints=["motor"], bounds={"k": (0.0, 1e4)}
    )
    weight = (1 + 2) * 9.81 * 0.4
    expected = [(weight - 10 * 0.3 * 0.1) * np.cos(a) for a, _, _ in postures]
    assert balanced.before[:, 0] == pytest.approx(expected)
    assert balanced.parameters["k"] == pytest.approx(weight / 0.03, rel=1e-9)
    assert np.abs(balanced.after).max() < 1e-8
    for joints, postures, says in [
        (["motor", "far"], [(0.3, 0.3, -0.3)], "loops leave 1 freedoms in posture 0, but 2"),
        (["motor"], [(0, 0, 0)], "loops leave 2 freedoms in posture 0, but 1"),
        (["motor"], [(0.3, 0.3, -0.3), (0.3, 0.2, 0)], "posture 1 leaves joint 'end' open by"),
        (["end"], [(0.3, 0.3, -0.3)], "the joint 'end', which has no coordinates: one of motor"),
    ]:
        with pytest.raises(ValueError, match=re.escape(says)):
            fit_springs(
                mechanism, [lift], G, postures=postures, joints=joints, bounds={"k": (0.0, 1e4)}
            )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"bounds": {}}, "bounds are empty"),
        ({"bounds": {"K": (0, 1)}}, "the Parameter 'K', which is not in the mechanism: one of k"),
        ({"bounds": {"k": (9, 1)}}, "bounds of the Parameter 'k' must be lower < upper, got 9"),
        ({"bounds": {"k": (0, 400)}}, "'k' is stated as 500, outside its bounds 0 and 400"),
        (
            {"bounds": {"k": (-5, 600)}},
            "stiffness of ExtensionSpring 'spring' must not be",
        ),
        ({"postures": []}, "at least one posture"),
        ({"postures": [[0.0], [np.nan]]}, "posture 1 of fit_springs must be finite"),
        ({"postures": [[0.0, 1.0]]}, "posture 0 of fit_springs must have shape (1,)"),
        ({"joints": ()}, "balance no joint"),
        ({"joints": ("elbow",)}, "the joint 'elbow', which has no coordinates: one of hinge"),
        (
            {"elements": lambda link: [PlaneContact("floor", Frame(None), Frame(link))]},
            "PlaneContact 'floor' has no static force",
        ),
    ],
)
def test_what_cannot_be_fitted_is_refused(options, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        fit(**{"bounds": {"k": (0.0, 1e4)}} | options)


def test_absolute_coordinates_are_refused():
    mechanism, link = arm()
    with pytest.raises(ValueError, match='coordinates="relative"'):
        fit_springs(
            replace(mechanism, coordinates="absolute"),
            [spring(link, Parameter("k", 1.0), 0.2)],
            postures=POSTURES,
            joints=["hinge"],
            bounds={"k": (0, 9)},
        )
