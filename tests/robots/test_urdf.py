"""URDF files: what is loaded from small robots worked out by hand, what is warned of, refused."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsopt import Fixed, Planar, Prismatic, Revolute, assemble
from nsopt.mechanics import Mimic
from nsopt.robots import load_urdf
from tests.robots.chains import homogeneous, poses, starts

pytestmark = pytest.mark.unit

INERTIAL = (
    '<inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/>'
    '<inertia ixx="{J[0]}" iyy="{J[1]}" izz="{J[2]}" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def link(name, xyz="0 0 0", rpy="0 0 0", mass=1.0, J=(2.0, 3.0, 4.0), more=""):
    inertial = "" if mass is None else INERTIAL.format(xyz=xyz, rpy=rpy, mass=mass, J=J)
    return f'<link name="{name}">{inertial}{more}</link>'


def joint(name, parent, child, kind="revolute", axis="0 0 1", xyz="0 0 0", rpy="0 0 0", more=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{more}</joint>'
    )


@pytest.fixture
def load(tmp_path):
    """Load a robot of the given elements."""

    def load(*elements, **options):
        path = tmp_path / "robot.urdf"
        path.write_text(f'<robot name="r">{"".join(elements)}</robot>')
        return load_urdf(path, **options)

    return load


ARM = (
    link("base", mass=None),
    joint("shoulder", "base", "upper", xyz="0 0 1"),
    link("upper", xyz="0.5 0 0.1"),
    joint("elbow", "upper", "lower", axis="0 -2 0", xyz="1 0 0"),
    link("lower", xyz="0.3 0 0", rpy=f"0 0 {np.pi / 2}"),
)


def test_bodies_move_as_worked_out_by_hand(load):
    """The shoulder turns about z, the elbow about -y: the forearm rises with a positive angle."""
    robot, q1, q2 = load(*ARM), 0.7, 0.4
    where = poses(robot, shoulder=q1, elbow=q2)
    out = np.array([np.cos(q1), np.sin(q1), 0])
    up = np.array([0, 0, 1.0])
    assert where["upper"][:3, 3] == pytest.approx(0.5 * out + 1.1 * up)
    assert where["lower"][:3, 3] == pytest.approx(
        out + up + 0.3 * (np.cos(q2) * out + np.sin(q2) * up)
    )
    assert where["lower"][:3, 0] == pytest.approx(np.cos(q2) * out + np.sin(q2) * up)


def test_bodies_are_posed_at_zero_coordinates(load):
    robot = load(*ARM)
    for name, pose in starts(robot).items():
        assert pose == pytest.approx(poses(robot)[name], abs=1e-15)
    assert robot.coordinates == "relative"


def test_inertia_is_turned_into_link_axes(load):
    upper, lower = load(*ARM).bodies[1:]
    assert np.array_equal(upper.inertia, np.diag([2.0, 3.0, 4.0]))
    assert np.array_equal(lower.inertia, np.diag([3.0, 2.0, 4.0]))
    assert lower.mass == 1.0


def test_joints_have_the_order_of_the_file_and_bodies_start_at_the_root(load):
    robot = load(*ARM[::-1])
    assert [b.name for b in robot.bodies] == ["base", "upper", "lower"]
    assert [j.name for j in robot.joints] == ["ground_base", "elbow", "shoulder"]


@pytest.mark.parametrize(
    ("kind", "of"), [("revolute", Revolute), ("continuous", Revolute), ("prismatic", Prismatic)]
)
@pytest.mark.parametrize(
    "axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -3), (1, -2, 2)]
)
def test_z_of_a_joint_is_along_its_axis(load, kind, of, axis):
    robot = load(
        link("a"),
        joint("j", "a", "b", kind, " ".join(map(str, axis)), rpy="0.1 0.2 0.3", xyz="1 2 3"),
        link("b", xyz="0 0 2"),
    )
    j = robot.joints[1]
    turn = Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_matrix()
    assert isinstance(j, of)
    assert j.b.axes[:, 2] == pytest.approx(np.array(axis) / np.linalg.norm(axis))
    assert j.a.axes == pytest.approx(turn @ j.b.axes)
    assert j.a.origin == pytest.approx([1, 2, 3])
    assert j.b.origin == pytest.approx([0, 0, -2])
    if sum(map(bool, axis)) == 1:
        assert set(np.ravel(j.b.axes)) <= {0.0, 1.0, -1.0}
    assert np.linalg.det(j.b.axes) == pytest.approx(1)


def test_right_angles_are_exact(load):
    half = f"{np.pi / 2} 0 {-np.pi / 2}"
    robot = load(link("a"), joint("j", "a", "b", "fixed", rpy=half), link("b"))
    assert set(np.ravel(robot.joints[1].a.axes)) <= {0.0, 1.0, -1.0}


def test_root_is_held_or_free(load):
    held, free = load(*ARM), load(*ARM, floating_base=True)
    root = held.joints[0]
    assert isinstance(root, Fixed)
    assert (root.name, root.a.body, root.b.body.name) == ("ground_base", None, "base")
    assert [j.name for j in free.joints] == ["shoulder", "elbow"]


def test_a_link_with_the_name_of_a_joint_is_renamed(load):
    robot = load(
        link("grip"), joint("grip", "grip", "ground_grip", xyz="0 0 1"), link("ground_grip")
    )
    assert [b.name for b in robot.bodies] == ["grip_link", "ground_grip"]
    assert [j.name for j in robot.joints] == ["ground_grip_", "grip"]
    assert robot.joints[1].a.body is robot.bodies[0]


def test_planar_joint(load):
    j = load(link("a"), joint("j", "a", "b", "planar", axis="1 0 0"), link("b")).joints[1]
    assert isinstance(j, Planar)
    assert j.b.axes[:, 2] == pytest.approx([1, 0, 0])


def test_floating_joint_leaves_its_link_free(load):
    with pytest.warns(UserWarning, match="ignored 1 floating joint") as warned:
        robot = load(link("a"), joint("j", "a", "b", "floating", xyz="1 0 0"), link("b"))
    assert len(warned) == 1
    assert [j.name for j in robot.joints] == ["ground_a"]
    assert robot.bodies[1].position == pytest.approx((1, 0, 0))


def driven(load, kind, more):
    return load(link("a"), joint("j", "a", "b", kind, more=more), link("b")).actuators[0]


def test_actuator_has_limits_and_losses(load):
    more = (
        '<limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="5" friction="6"/>'
    )
    drive = driven(load, "prismatic", more)
    assert dataclasses.astuple(drive)[:7] == ("j", -1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("kind", "limit", "expected"),
    [
        ("revolute", "", (-np.inf, np.inf)),
        ("revolute", '<limit velocity="1" effort="1"/>', (-np.inf, np.inf)),
        ("revolute", '<limit upper="1"/>', (0, 1)),  # the standard's default of the other
        ("continuous", '<limit lower="-1" upper="1"/>', (-np.inf, np.inf)),
        ("prismatic", '<limit lower="-inf" upper="inf"/>', (-np.inf, np.inf)),
    ],
)
def test_range_of_an_actuator(load, kind, limit, expected):
    drive = driven(load, kind, limit)
    assert (drive.lower, drive.upper) == expected


def fingers(*mimics):
    """A palm with joints f0, f1, ..., of the given mimic tags."""
    parts = [link("palm")]
    for i, mimic in enumerate(mimics):
        parts += [joint(f"f{i}", "palm", f"finger{i}", more=mimic), link(f"finger{i}")]
    return parts


def mimic(of, ratio=None, offset=None):
    text = "" if ratio is None else f' multiplier="{ratio}"'
    text += "" if offset is None else f' offset="{offset}"'
    return f'<mimic joint="{of}"{text}/>'


def test_mimics_of_mimics_follow_the_free_joint(load):
    """f2 = 3 f1 + 1 and f1 = 2 f0 + 0.5 make f2 = 6 f0 + 2.5."""
    robot = load(*fingers("", mimic("f0", 2, 0.5), mimic("f1", 3, 1), mimic("f0")))
    assert robot.mimics == (
        Mimic("f1", "f0", 2.0, 0.5),
        Mimic("f2", "f0", 6.0, 2.5),
        Mimic("f3", "f0", 1.0, 0.0),
    )


@pytest.mark.parametrize(("kind", "merge"), [("revolute", False), ("prismatic", True)])
def test_followers_start_at_their_offsets(load, kind, merge):
    """The hand beyond the follower, with joints turned and off the axes of their links."""
    robot = load(
        *(link("base"), link("a"), link("b", xyz="0.1 0.2 0.3"), link("hand", xyz="0 0.1 0")),
        joint("lead", "base", "a", xyz="0.4 0 0", rpy="0.1 0.2 0.3"),
        joint("fol", "a", "b", kind, "1 2 2", "0.4 0 0", "0.3 0 0.5", more=mimic("lead", 0.5, 0.3)),
        joint("grip", "b", "hand", "fixed", xyz="0 0.2 0", rpy="0 1 0"),
        merge_fixed=merge,
    )
    q, _ = assemble(robot).stated_start()
    assert q == pytest.approx([0.0])
    z = np.array([1, 2, 2]) / 3
    moved = np.eye(4)
    if kind == "revolute":
        moved[:3, :3] = Rotation.from_rotvec(0.3 * z).as_matrix()
    else:
        moved[:3, 3] = 0.3 * z
    rpy = ((0.1, 0.2, 0.3), (0.3, 0, 0.5))
    a, b = (homogeneous(Rotation.from_euler("xyz", x).as_matrix(), (0.4, 0, 0)) for x in rpy)
    com = 0.2 * np.array([0, 1, 0]) + Rotation.from_euler("y", 1).apply([0, 0.1, 0])
    masses = [(1.0, [0.1, 0.2, 0.3])] + ([(1.0, com)] if merge else [])
    com = sum(m * np.asarray(r) for m, r in masses) / len(masses)
    bodies = {body.name: body for body in robot.bodies}
    assert bodies["b"].position == pytest.approx((a @ b @ moved @ [*com, 1])[:3])


def test_mimic_of_a_fixed_joint_is_ignored(load):
    parts = fingers("", mimic("f0"))
    parts[3] = parts[3].replace("revolute", "fixed")
    with pytest.warns(UserWarning, match="ignored 1 mimic of a fixed joint"):
        assert load(*parts).mimics == ()


def test_unphysical_inertia_is_warned_of_and_kept(load):
    with pytest.warns(UserWarning, match="is that of no body") as warned:
        robot = load(link("a", J=(4, 1, 2)), joint("j", "a", "b", "fixed"), link("b", J=(-1, 1, 1)))
    assert [str(w.message).partition(": ")[0] for w in warned] == [
        "inertia of link 'a' is that of no body, its principal moments are 1, 2, 4 kg m^2",
        "inertia of link 'b' is that of no body, its principal moments are -1, 1, 1 kg m^2",
    ]
    assert warned[0].filename == __file__
    assert np.array_equal(robot.bodies[0].inertia, np.diag([4.0, 1.0, 2.0]))
    assert not robot.bodies[0].physical


def test_massless_link_moves(load):
    robot = load(link("a"), joint("j", "a", "b"), link("b", mass=None))
    assert robot.bodies[1].mass == 0
    assert not np.any(robot.bodies[1].inertia)


def test_what_is_ignored_is_said_once(load):
    extra = '<safety_controller k_velocity="1"/><calibration rising="0"/>'
    with pytest.warns(UserWarning, match="robot.urdf: ignored") as warned:
        load(
            link("a", more='<visual><geometry><mesh filename="no.stl"/></geometry></visual>'),
            joint("j", "a", "b", more=extra),
            link("b", more="<collision/>"),
            "<gazebo/><gazebo/>",
            '<transmission name="t"/><material name="m"/>',
        )
    assert [str(w.message) for w in warned] == [
        "robot.urdf: ignored 1 calibration of a joint, 2 gazebo, 1 safety_controller of a joint, "
        "1 transmission"
    ]


def test_missing_meshes_are_no_matter(load):
    mesh = '<visual><geometry><mesh filename="package://none/no.dae"/></geometry></visual>'
    assert load(link("a", more=mesh + mesh.replace("visual", "collision"))).bodies[0].mass == 1


def cuboid(mass, x, y, z):
    """Principal moments about the centre."""
    return tuple(mass / 12 * (np.array([y, z, x]) ** 2 + np.array([z, x, y]) ** 2))


def test_merged_halves_are_the_whole(load):
    """A cuboid of 4 kg, 2 x 1 x 3 m, cut in two at x = 0; one half hangs turned by 90 degrees."""
    half = cuboid(2, 1, 1, 3)
    turned = tuple(np.array(half)[[1, 0, 2]])
    parts = [
        link("world", mass=None),
        joint("hinge", "world", "left", xyz="0 0 5"),
        link("left", xyz="-0.5 0 0", mass=2, J=half),
        joint("weld", "left", "right", "fixed", xyz="1 2 3", rpy=f"0 0 {np.pi / 2}"),
        link("right", xyz="-2 0.5 -3", mass=2, J=turned),
        joint("tip", "right", "hand", "prismatic", axis="1 0 0", xyz="0 0 1"),
        link("hand", xyz="0.1 0.2 0.3"),
    ]
    whole = load(*parts, merge_fixed=True)
    assert [b.name for b in whole.bodies] == ["world", "left", "hand"]
    assert [j.name for j in whole.joints] == ["ground_world", "hinge", "tip"]
    body = whole.bodies[1]
    assert body.mass == 4
    assert np.asarray(body.inertia) == pytest.approx(np.diag(cuboid(4, 2, 1, 3)), abs=1e-14)
    q = {"hinge": 0.3, "tip": -0.7}
    apart, merged = poses(load(*parts), **q), poses(whole, **q)
    assert merged["hand"] == pytest.approx(apart["hand"])
    assert merged["left"][:3, 3] == pytest.approx(
        (apart["left"][:3, 3] + apart["right"][:3, 3]) / 2
    )


def test_merged_root_is_still_held(load):
    parts = [link("world", mass=None), joint("j", "world", "pole", "fixed"), link("pole")]
    robot = load(*parts, merge_fixed=True)
    assert [b.name for b in robot.bodies] == ["world"]
    assert [j.name for j in robot.joints] == ["ground_world"]
    assert robot.bodies[0].mass == 1


def test_merged_massless_links_keep_their_frame(load):
    parts = [link("a", mass=None), joint("j", "a", "b", "fixed", xyz="1 0 0"), link("b", mass=None)]
    robot = load(*parts, merge_fixed=True)
    assert starts(robot)["a"] == pytest.approx(homogeneous(np.eye(3), [0, 0, 0]))


TWO = link("a") + link("b")
J = joint("j", "a", "b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no links"),
        ("<link/>", "a <link> has no name"),
        (TWO + link("a") + J, "2 links are named 'a'"),
        (TWO + J + J, "2 joints are named 'j'"),
        (TWO, "links 'a', 'b' are children of no joint"),
        (TWO + J + joint("k", "a", "b"), "'b' hangs on two joints, 'j' and 'k'"),
        (TWO + J + joint("k", "b", "a"), "joints 'j', 'k' hang on each other in a cycle"),
        (TWO + link("c") + J.replace('"a"', '"c"') + joint("k", "a", "a"), "joints 'k' hang on"),
        (TWO + J.replace("revolute", "screw"), "type of joint 'j' must be one of .* got 'screw'"),
        (TWO + J.replace(' type="revolute"', ""), "type of joint 'j' .* got None"),
        (TWO + J.replace('<parent link="a"/>', ""), "joint 'j' has no parent"),
        (TWO + joint("j", "a", "x"), "child 'x' of joint 'j' is no link"),
        (TWO + joint("j", "x", "b"), "parent 'x' of joint 'j' is no link"),
        (TWO + joint("j", "a", "b", axis="0 0 0"), "axis of joint 'j' has no length"),
        (TWO + joint("j", "a", "b", axis="0 1"), "xyz in <axis> of joint 'j' must be 3 finite"),
        (TWO + joint("j", "a", "b", xyz="0 1 x"), "xyz in <origin> of joint 'j' must be 3 finite"),
        (TWO + joint("j", "a", "b", rpy="0 1 nan"), "rpy in <origin> of joint 'j'"),
        (link("a", mass=-2), "mass of link 'a' must not be negative, got -2"),
        (link("a", mass="heavy"), "value in <mass> of link 'a' must be a finite number"),
        (link("a").replace('ixy="0"', ""), "<inertia> of link 'a' has no ixy"),
        (link("a").replace('<mass value="1.0"/>', ""), "<inertial> of link 'a' has no <mass>"),
        (link("a").replace(' value="1.0"', ""), "<mass> of link 'a' has no value"),
        (
            TWO + joint("j", "a", "b", more='<limit lower="1" upper="0"/>'),
            "limits of the actuator of joint 'j' are reversed",
        ),
        (
            TWO + joint("j", "a", "b", more='<dynamics damping="-1"/>'),
            "damping of the actuator of joint 'j' must not be negative",
        ),
        ("".join(fingers("", mimic("x"))), "joint 'f1' mimics 'x', which is no joint"),
        (TWO + link("c") + J.replace("<origin", '<child link="c"/><origin'), "'j' has 2 <child> t"),
        (TWO + J.replace("<axis", '<parent link="b"/><axis'), "joint 'j' has 2 <parent> tags"),
        (TWO + J.replace("<axis", '<axis xyz="1 0 0"/><axis'), "joint 'j' has 2 <axis> tags"),
        (TWO.replace("</link>", "<inertial/></link>", 1) + J, "link 'a' has 2 <inertial> tags"),
        (link("a").replace("<mass", '<mass value="2"/><mass'), "link 'a' has 2 <mass> tags"),
        (link("a", mass="1_0"), "value in <mass> of link 'a' must be a finite number, got '1_0'"),
        (TWO + joint("j", "a", "b", xyz="0 0 \u0661"), "xyz in <origin> of joint 'j' must be 3 f"),
        (TWO + J + 200_000 * "<x>" + 200_000 * "</x>", "<x> is inside 100 other tags"),
        ("".join(fingers(mimic("f1"), mimic("f0"))), "joint 'f0' mimics itself, by way of f1"),
        ("".join(fingers(mimic("f0"))), "joint 'f0' mimics itself"),
        (
            "".join(fingers(mimic("f1"), "")).replace('"f1" type="revolute"', '"f1" type="fixed"'),
            "joint 'f0' mimics 'f1', but 'f1' is fixed",
        ),
    ],
)
def test_bad_robots_are_refused_by_name(load, text, message):
    with pytest.raises(ValueError, match=f"^robot.urdf: .*{message}"):
        load(text)
