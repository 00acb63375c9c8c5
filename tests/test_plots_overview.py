"""The overview of a simulation, and where its mechanism is drawn."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    CompliantContact,
    Frame,
    Hertz,
    Mechanism,
    PointOnLine,
    Result,
    Solver,
    Sqp,
    StepBounds,
    assemble,
    box_outline,
    link_outline,
    simulate,
)
from nsopt.algebra import rotate
from nsopt.plots import Film, overview
from nsopt.plots.scenes.film import magnify_clearances
from nsopt.plots.scenes.scene import VIEWS, Scene, view_of
from tests.plotted import CLEARANCE, loose, ran_clearance, ran_ideal, ran_stone, repeated, run

clearance, ideal, stone = (
    pytest.fixture(ran, scope="module") for ran in (ran_clearance, ran_ideal, ran_stone)
)


def test_overview_of_every_kind_of_mechanism(clearance, ideal, stone):
    for result in (clearance, ideal, stone):
        figure = overview(result)
        assert len(figure.axes) == 6
        assert all(ax.get_title() for ax in figure.axes)
        assert all(ax.lines or ax.collections for ax in figure.axes)


def test_overview_of_two_joints_shows_both_clearance_circles(clearance):
    names = [f"{joint}[{k}]" for joint in ("lower", "upper", "third") for k in range(4)]
    titles = [ax.get_title() for ax in overview(repeated(clearance, names)).axes]
    assert [t for t in titles if "ends" in t] == ["Bushing ends in lower", "Bushing ends in upper"]


def test_the_force_of_a_joint_is_what_its_contacts_carry_together(clearance):
    axes = next(ax for ax in overview(clearance).axes if ax.get_title().startswith("Joint force"))
    drawn = np.asarray(axes.lines[0].get_ydata())
    together = np.linalg.norm(clearance["lasting_force"].values.sum(axis=1), axis=1)
    assert drawn == pytest.approx(together, nan_ok=True)
    assert np.nanmax(together) > 0


def test_scene_interpolates_poses_and_places_lines(clearance):
    scene = Scene(clearance)
    t, r = scene.poses.time, scene.poses.position
    middle = scene.at((t[3] + t[4]) / 2)
    assert np.allclose(middle.position[0], (r[3] + r[4]) / 2, rtol=1e-14)
    assert np.allclose(scene.at(t).position, r, rtol=1e-15)
    assert np.allclose(scene.at(t).quaternion, scene.poses.quaternion, rtol=1e-14)
    # The stick ends at the bushing, which stays within the clearance of the pin.
    for k in range(len(t)):
        ((stick,),) = scene.place(scene.sticks, scene.poses, k)
        assert np.allclose(stick[0], r[k, 0])
        assert np.hypot(*stick[1, :2]) <= CLEARANCE * (1 + 1e-9)


def test_sticks_and_pins_meet_in_ideal_joints(ideal):
    scene = Scene(ideal)
    ((stick,),) = scene.place(scene.sticks, scene.poses, -1)
    assert np.allclose(stick[1], 0.0, atol=1e-9)
    assert np.allclose(scene.pins, 0.0)


def far_guide(outline=()):
    """A rod whose end slides along a line on the ground, stated from 40 m away."""
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0), outline=outline)
    line = Frame(GROUND, (-40.0, 0.0, 0.0), axes=(1.0, 0.0, 0.0))
    guide = PointOnLine("guide", line, Frame.at(rod, (0.0, 0.0, 0.0)))
    return simulate(
        assemble(Mechanism([rod], [guide]), gravity=(0.0, -9.81, 0.0)),
        duration=0.1,
        steps=StepBounds(1e-2, 1e-2),
        solver=Solver(backend=Sqp()),
        progress=False,
    )


def test_a_far_anchor_does_not_make_the_mechanism_small():
    result = far_guide()
    assert np.allclose(Scene(result).pins, [[-40.0, 0.0, 0.0]])
    low, high = overview(result).axes[0].get_xlim()
    assert high - low < 2.0
    low, high = Film(result).ax.get_xlim()
    assert high - low < 2.0


def test_an_outline_stands_for_its_body():
    """Placed as the body is, in place of the stick to its joint."""
    ends = np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]])
    result = far_guide([*link_outline(*ends, 0.1), ends])
    scene = Scene(result)
    assert scene.sticks == [[]]
    (own,) = scene.place(scene.outlines, scene.poses, -1)
    r, e = scene.poses.position[-1, 0], scene.poses.quaternion[-1, 0]
    angle = 2 * np.arctan2(e[3], e[0])
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    assert np.allclose(own[-1], r + np.outer([-0.5, 0.5], along), atol=1e-9)
    drawn = overview(result).axes[0].collections
    assert any(len(lines.get_segments()) == len(own) for lines in drawn)


@pytest.mark.parametrize("b", [(0.5, 0.0, 0.2), (-0.3, 0.4, 0.2)])
def test_links_are_rounded_about_their_joints(b):
    """All of the rim is half of the width away from the line between them."""
    a = (0.1, 0.1, 0.2)
    rim, *eyes = link_outline(a, b, 0.06)
    assert np.allclose(rim[0], rim[-1])
    line = np.subtract(b, a)
    share = np.clip((rim - a) @ line / (line @ line), 0, 1)
    assert np.allclose(np.linalg.norm(rim - a - share[:, None] * line, axis=1), 0.03)
    assert np.ptp(rim @ line) == pytest.approx((np.linalg.norm(line) + 0.06) * np.linalg.norm(line))
    for eye, middle in zip(eyes, (a, b), strict=True):
        assert np.allclose(eye[:-1].mean(axis=0), middle)
    with pytest.raises(ValueError, match="two joints at one z"):
        link_outline((0, 0, 0), (0, 0, 1), 0.1)
    with pytest.raises(ValueError, match="width of link_outline"):
        link_outline(a, b, 0.0)


def test_boxes_have_their_edges():
    for depth, count in ((0.0, 1), (0.3, 6)):
        box = box_outline(0.4, 0.2, depth)
        assert len(box) == count
        assert np.allclose(np.ptp(np.concatenate(box), axis=0), [0.4, 0.2, depth])


def test_compliant_joints_are_drawn_like_rigid_ones():
    """The stick ends at the bushing, and the clearance can be magnified."""
    soft = run(
        "soft",
        contacts=[lambda body: CompliantContact("soft", loose(body), Hertz(1e9))],
        duration=4e-3,
        steps=(1e-3, 1e-3),
    )
    scene = Scene(soft)
    ((stick,),) = scene.place(scene.sticks, scene.poses, -1)
    fallen = 9.81 * 4e-3**2 / 2
    assert stick[1] == pytest.approx([0.0, -fallen, 0.0], abs=0.3 * fallen)
    (clearance,) = magnify_clearances(soft, 10.0)
    assert clearance.radius == pytest.approx(10 * CLEARANCE)
    assert clearance.offset(scene.poses)[-1] == pytest.approx(10 * stick[1])


def test_euler_parameters_of_either_sign_are_one_turn(clearance):
    flipped = clearance.data.copy(deep=True)
    flipped["body_quaternion"][5:] *= -1
    scene, same = Scene(Result(flipped)), Scene(clearance)
    assert np.allclose(scene.poses.quaternion, same.poses.quaternion)


def test_rotation_by_euler_parameters():
    e = np.array([np.cos(0.3), 0.0, 0.0, np.sin(0.3)])
    assert np.allclose(rotate(e, np.array([[1.0, 0.0, 2.0]])), [[np.cos(0.6), np.sin(0.6), 2.0]])


def test_views(stone):
    scene = Scene(stone)
    assert (view_of(scene).across, view_of(scene).up) == ("x", "y")
    assert (view_of(scene, "yz").across, view_of(scene, "yz").up) == ("z", "y")  # gravity is down
    for name in VIEWS:
        matrix = view_of(scene, name).matrix
        assert np.allclose(matrix @ matrix.T, np.eye(2))
        assert (matrix @ [0.0, 1.0, 0.0])[1] > 0 or name == "xz"
    with pytest.raises(ValueError, match="unknown view 'front': one of xy, xz, yz, oblique"):
        view_of(scene, "front")


@pytest.mark.parametrize(
    ("height", "plane"), [(0.22, ("x", "z")), (0.16, ("x", "z")), (0.14, ("x", "y"))]
)
def test_what_weighs_is_seen_from_aside(stone, height, plane):
    """0.5 m long and 0.3 m wide, as a quadruped that stands; seen from above where it is low."""
    data = stone.data.copy(deep=True).assign_attrs(gravity=[0.0, 0.0, -9.81])
    share = np.linspace(0, 1, data.sizes["time"])[:, None]
    data["body_position"].values[:, 0] = share * [0.5, 0.3, height]
    view = view_of(Scene(Result(data)))
    assert (view.across, view.up) == plane


def test_a_mechanism_that_goes_far_is_drawn_where_it_is(clearance):
    data = clearance.data.copy(deep=True)
    data["body_position"][:, 0, 2] += np.linspace(0, 20, data.sizes["time"])
    far = Result(data)
    assert Scene(far).travels_far()
    assert not Scene(clearance).travels_far()
    texts = [text.get_text() for text in overview(far).axes[0].texts]
    assert texts[0].startswith("t = 0 s")
    assert texts[-1].endswith("z = 20 m")
    guides = Scene(far).guides()
    assert guides
    assert all(line[:, 2].max() > 20 for line in guides)
