"""Figures of robots: forces of the ground against the balance of momentum, paths of points."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsopt import (
    GROUND,
    Body,
    Fixed,
    Frame,
    Mechanism,
    Result,
    Revolute,
    Solver,
    Sqp,
    StepBounds,
    StribeckLaw,
    Tracker,
    TurnFriction,
    Variational,
    assemble,
    simulate,
)
from nsopt.plots import (
    FIGURES,
    Curves,
    Recorded,
    Vector,
    base_force,
    draw,
    draw_curves,
    draw_vectors,
    joint_torques,
    save,
    tracked_points,
)
from nsopt.plots.figures.robot import ground_wrench, read_followed_paths
from nsopt.plots.style import GREY

GRAVITY = np.array([0.0, -9.81, 0.0])
FOOT = np.array([0.3, 0.1, 0.2])  # where the second arm stands
TIP = (0.3, 0.02, 0.0)
STEP = 1e-3
MASSES = np.array([2.0, 1.0, 1.5])


def bar(name, start, mass):
    return Body(name, mass, (0.01, 0.05, 0.06), position=np.add(start, (0.25, 0.0, 0.0)))


def arms(coordinates="absolute"):
    """An arm that is bolted on, with a forearm, and one in a rubbing hinge stated the other way."""
    upper, fore = bar("upper", (0.0, 0.0, 0.0), 2.0), bar("fore", (0.5, 0.0, 0.0), 1.0)
    loose = bar("loose", FOOT, 1.5)
    elbow = (0.5, 0.0, 0.0)
    joints = [
        Fixed("foot", Frame(GROUND), Frame.at(upper, (0.0, 0.0, 0.0))),
        Revolute("elbow", Frame.at(upper, elbow), Frame.at(fore, elbow)),
        Revolute("hinge", Frame.at(loose, FOOT), Frame(GROUND, FOOT)),
    ]
    rub = TurnFriction("rub", joints[2].a, joints[2].b, StribeckLaw(0.3, 0.3), radius=0.05)
    mechanism = Mechanism([upper, fore, loose], joints, coordinates=coordinates)
    return assemble(mechanism, [rub, Tracker("tip", Frame(fore, TIP))], gravity=GRAVITY)


def run(coordinates):
    return simulate(
        arms(coordinates),
        None,
        0.05,
        steps=StepBounds(STEP, STEP),
        scheme=Variational(),
        solver=Solver(backend=Sqp()),
        title=coordinates,
        progress=False,
    )


@pytest.fixture(scope="module", params=["absolute", "relative"])
def result(request):
    return run(request.param)


def momentum(result):
    """Return linear and angular momentum about the world's origin in mid-step, (step, 2, 3)."""
    J, total = np.diag([0.01, 0.05, 0.06]), np.zeros((result.data.sizes["time"] - 1, 2, 3))
    for b, mass in enumerate(MASSES):
        r = result["body_position"].values[:, b]
        turn = Rotation.from_quat(result["body_quaternion"].values[:, b], scalar_first=True)
        turned = (turn[1:] * turn[:-1].inv()).as_rotvec()
        middle = Rotation.from_rotvec(turned / 2) * turn[:-1]
        p = mass * np.diff(r, axis=0) / STEP
        spin = middle.apply(middle.inv().apply(turned / STEP) @ J)
        total[:, 0] += p
        total[:, 1] += np.cross((r[1:] + r[:-1]) / 2, p) + spin
    return total


def needed(result):
    """Return what must act beside gravity between two mid-steps, about the origin."""
    change = np.diff(momentum(result), axis=0) / STEP
    weights = MASSES[:, None] * GRAVITY
    change[:, 0] -= weights.sum(axis=0)
    change[:, 1] -= np.cross(result["body_position"].values[1:-1], weights).sum(axis=1)
    return change


def test_wrench_of_the_ground_balances_momentum(result):
    # The torque is about the foot, the origin of the world; friction of the hinge counts in it.
    recorded = ground_wrench(result)
    assert np.all(np.isfinite(recorded[0]))  # known at the start too
    true = needed(result)
    assert np.abs(true[:, 0, 1]).max() > 10
    assert np.abs(true[:, 1, 2]).max() > 5
    friction = result["joint_resistance"].sel(joint="hinge", axis="z").values
    assert np.abs(friction[5:]).max() > 0.05
    assert np.abs(true[:, 1, 0]).max() > 1
    assert np.allclose(recorded[1:-1], true, atol=5e-3)


def test_base_force_carries_the_wrench(result):
    figure = base_force(result)
    wrench = ground_wrench(result)
    assert len(figure.axes) == 6
    for k, ax in enumerate(figure.axes):
        axis, column = divmod(k, 2)
        (line,) = ax.lines
        assert np.allclose(line.get_ydata(), wrench[:, column, axis], equal_nan=True)
        assert ("[N m]" if column else "[N]") in ax.get_ylabel()
    assert "torque about foot" in [ax.get_title() for ax in figure.axes]


def test_tracked_points_are_where_the_body_has_them(result):
    (name,) = read_followed_paths(result)
    b = list(result["body"].values).index("fore")
    turn = Rotation.from_quat(result["body_quaternion"].values[:, b], scalar_first=True)
    path = result["body_position"].values[:, b] + turn.apply(TIP)
    assert name == "tip"
    assert np.allclose(read_followed_paths(result)["tip"], path, atol=1e-12)
    figure = tracked_points(result)
    for a, ax in enumerate(figure.axes):
        factor = {"[m]": 1.0, "[mm]": 1e3}[ax.get_ylabel().split(" ", 1)[1]]
        assert np.allclose(ax.lines[0].get_ydata(), factor * path[:, a], atol=1e-9)


def test_joint_torques_are_sizes_of_reactions(result):
    figure = joint_torques(result, joints=["elbow", "foot"])
    force, torque = figure.axes[:2]
    for ax, variable in ((force, "joint_reaction"), (torque, "joint_reaction_torque")):
        assert {line.get_label() for line in ax.lines} == {"elbow", "foot"}
        for line in ax.lines:
            rows = result[variable].sel(joint=line.get_label()).values
            assert np.allclose(line.get_ydata(), np.sqrt((rows**2).sum(axis=1)), equal_nan=True)
    assert len(joint_torques(result).axes[0].lines) == 3


@pytest.mark.slow
def test_results_are_overlaid_or_side_by_side_also_where_one_stopped_early(result, tmp_path):
    early = result.data.isel(time=slice(0, 10)).assign_attrs(completed=0)
    both = result, Result(early)
    for figure in (base_force(*both), tracked_points(*both)):
        assert all(len(ax.lines) == 2 for ax in figure.axes)
        texts = [text.get_text() for text in figure.legends[0].get_texts()]
        assert [text.endswith("stopped early)") for text in texts] == [False, True]
    figure = joint_torques(*both)
    assert len(figure.axes) % 2 == 0
    save(figure, tmp_path / "both.png")


def test_what_is_not_there_is_told(result):
    with pytest.raises(ValueError, match="no joint 'knee': one of foot, elbow, hinge"):
        joint_torques(result, joints=["knee"])
    bare = Result(result.data.drop_vars([f"tip.{axis}" for axis in "xyz"]))
    with pytest.raises(ValueError, match="give assemble a Tracker"):
        tracked_points(bare)
    floating = Result(result.data.assign_attrs(frames="[]"))
    with pytest.raises(ValueError, match="no joint to the ground in"):
        base_force(floating)
    for name in ("joint_torques", "base_force"):
        assert name in FIGURES
        draw(name, result)


def test_of_many_curves_the_largest_are_named():
    time = np.linspace(0, 1, 20)
    values = {f"joint {k}": k * np.sin(time) for k in range(1, 13)}
    (ax,) = draw_curves("Drives", time, [Curves("torques of the drives", "N m", values)]).axes
    named = [line for line in ax.lines if not line.get_label().startswith("_")]
    assert [line.get_label() for line in named] == [f"joint {k}" for k in range(12, 4, -1)]
    assert [line.get_color() for line in ax.lines].count(GREY) >= 4
    assert len(ax.lines) == 12
    assert "the 8 largest of 12 named" in ax.get_title()
    assert ax.get_ylabel() == "torque [N m]"


def test_arrays_of_another_length_are_refused():
    time = np.linspace(0, 1, 5)
    with pytest.raises(ValueError, match=r"'hip' must have one value for each of the 5 times"):
        draw_curves("Drives", time, [Curves("", "N m", {"hip": np.zeros(4)})])
    with pytest.raises(ValueError, match="no curves to draw"):
        draw_curves("Drives", time, [])
    base = [Vector("force", "F", "N")]
    with pytest.raises(ValueError, match=r"'study' must have shape \(5, 1, 3\)"):
        draw_vectors("Base", base, [Recorded("study", time, np.zeros((5, 3)))])
    with pytest.raises(ValueError, match="nothing to draw"):
        draw_vectors("Base", base, [])


def test_vectors_of_arrays_are_overlaid():
    coarse, fine = np.linspace(0, 1, 5), np.linspace(0, 1, 50)
    recorded = [Recorded(f"n = {len(t)}", t, 1e3 * np.ones((len(t), 2, 3))) for t in (coarse, fine)]
    figure = draw_vectors("Base", [Vector("force", "F", "N"), Vector("p", "", "m")], recorded)
    assert [len(line.get_xdata()) for line in figure.axes[0].lines] == [5, 50]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["n = 5", "n = 50"]
