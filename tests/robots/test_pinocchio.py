"""Inverse and forward dynamics and mass matrices of real robots against pinocchio.

Every file of example-robot-data on a fixed base, some of each kind on a floating one, without their
mimic joints, with them against pinocchio's own, and with them against the projection of the free
model; `pytest -s` prints a table.
"""

import re
import warnings
from dataclasses import replace
from functools import cached_property
from importlib import metadata
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from nsopt import Fixed, Prismatic
from nsopt.robots import (
    forward_dynamics,
    forward_kinematics,
    inverse_dynamics,
    load_urdf,
    mass_matrix,
)

STATES = 100
LIMIT = 1e-9
FAST = ("double_pendulum_continuous", "panda", "kinova")
"""Small robots with every kind of joint; the others are slow in all."""

FLOATING = (*FAST, "quadrotor_base", "solo12", "icub", "talos_reduced", "anymal-kinova")
"""A base adds the same six freedoms to each robot: small ones, one without joints, what walks."""

LATE = ("romeo", "talos_full_v2", "talos_full_v2_box")
"""Robots with a joint that comes before the one it follows, which pinocchio cannot load."""


def found():
    """Files by folder and name."""
    try:
        listed = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        return {}
    paths = sorted(Path(str(f.locate())) for f in listed if f.suffix == ".urdf")
    return {f"{path.parents[1].name}/{path.stem}": path for path in paths}


FILES = found()
assert FILES, "these tests need the package example-robot-data: pip install -e .[dev]"
WHOLE = [name for name in FILES if name != "ur_description/ur3"]  # a robot without links
MIMICS = [n for n in WHOLE if "<mimic" in FILES[n].read_text() and "talos_" not in Path(n).name]
MIMICS += [n for n in WHOLE if "talos_full" in n]  # the other talos have theirs on fixed joints


def each(names):
    """Parametrize by file, all but the small ones slow."""
    marked = [
        name if Path(name).name in FAST else pytest.param(name, marks=pytest.mark.slow)
        for name in names
    ]
    return pytest.mark.parametrize("name", marked)


@pytest.fixture(scope="module")
def table():
    """Rows of name, model, number of freedoms and three errors, printed at the end.

    The last is nan where joints move no mass: forward dynamics must then be refused.
    """
    rows = []
    yield rows
    print(f"\n{'robot':48s} {'model':9s}  nv   inverse      mass   forward")
    for name, model, nv, *errors in sorted(rows):
        print(f"{name:48s} {model:9s} {nv:3d}", *(f"{error:9.1e}" for error in errors))


@pytest.fixture
def file(name, tmp_path):
    """The path; where a mimic names no joint, that of a copy with the side put before the name."""
    if "alex_psyonic_hands" not in name:
        return FILES[name]
    text = FILES[name].read_text()
    side = None
    lines = []
    for line in text.splitlines():
        if match := re.search(r'<joint name="(Left|Right)_', line.replace(" = ", "=")):
            side = match[1]
        lines.append(re.sub(r'(<mimic joint = ")', rf"\1{side}_", line))
    path = tmp_path / FILES[name].name
    path.write_text("\n".join(lines))
    return path


def load(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of inertias and of what is ignored
        return load_urdf(path, **options)


def movable(mechanism):
    """Joints with a coordinate of their own, in the order of q."""
    followers = {mimic.joint for mimic in mechanism.mimics}
    return [j for j in mechanism.joints if not isinstance(j, Fixed) and j.name not in followers]


class Tree:
    """A model of pinocchio in the coordinates of a mechanism on a fixed base."""

    def __init__(self, model, joints):
        self.model, self.data = model, model.createData()
        self.ids = [model.getJointId(joint.name) for joint in joints]
        assert max(self.ids, default=0) < model.njoints
        self.at = np.array([model.idx_vs[i] for i in self.ids], dtype=int)
        self.nv = len(joints)

    def q(self, q):
        x = pin.neutral(self.model)
        for i, angle in zip(self.ids, q, strict=True):
            k = self.model.idx_qs[i]
            if self.model.nqs[i] == 2:
                x[k : k + 2] = np.cos(angle), np.sin(angle)
            else:
                x[k] = angle
        return x

    def v(self, v):
        x = np.zeros(self.model.nv)
        x[self.at] = v
        return x

    def forces(self, q, v, a):
        return pin.rnea(self.model, self.data, self.q(q), self.v(v), self.v(a))[self.at]

    def mass(self, q):
        M = np.array(pin.crba(self.model, self.data, self.q(q)))
        M = np.triu(M) + np.triu(M, 1).T
        return M[np.ix_(self.at, self.at)]


class Floating(Tree):
    """The same with a free root, whose centre of mass is at c in its link."""

    def __init__(self, model, joints, c):
        super().__init__(model, joints)
        self.at = np.concatenate([np.arange(6), self.at]).astype(int)
        self.nv += 6
        self.c = np.asarray(c)

    def q(self, q):
        x = super().q(q[7:])
        R = self.R(q)
        x[:3] = q[:3] - R @ self.c
        x[3:7] = np.roll(q[3:7], -1)
        return x

    def R(self, q):
        return Rotation.from_quat(np.roll(q[3:7], -1)).as_matrix()

    def to_link(self, q):
        """Jacobian of pinocchio's velocities by ours."""
        T = np.eye(self.nv)
        T[:3, :3] = self.R(q).T
        T[:3, 3:6] = np.cross(np.eye(3), self.c)  # c x
        return T

    def forces(self, q, v, a):
        T, w = self.to_link(q), v[3:6]
        rate = T @ a
        rate[:3] -= np.cross(w, self.R(q).T @ v[:3])
        full = [np.zeros(self.model.nv) for _ in range(2)]
        full[0][self.at], full[1][self.at] = T @ v, rate
        return T.T @ pin.rnea(self.model, self.data, self.q(q), *full)[self.at]

    def mass(self, q):
        T = self.to_link(q)
        return T.T @ super().mass(q) @ T


class Projected:
    """A tree whose joints follow others: q = G x + g."""

    def __init__(self, tree, joints, own, mimics):
        self.tree, self.nv = tree, len(own)
        column = {joint.name: k for k, joint in enumerate(own)}
        row = {joint.name: k for k, joint in enumerate(joints)}
        self.G, self.g = np.zeros((len(joints), len(own))), np.zeros(len(joints))
        for name, k in column.items():
            self.G[row[name], k] = 1
        for mimic in mimics:
            self.G[row[mimic.joint], column[mimic.of]] = mimic.ratio
            self.g[row[mimic.joint]] = mimic.offset

    def forces(self, q, v, a):
        G = self.G
        return G.T @ self.tree.forces(G @ q + self.g, G @ v, G @ a)

    def mass(self, q):
        return self.G.T @ self.tree.mass(self.G @ q + self.g) @ self.G


def random_states(mechanism, floating, count):
    rng = np.random.default_rng(0)
    joints = movable(mechanism)
    reach = np.array([1.0 if isinstance(j, Prismatic) else np.pi for j in joints])
    q = reach[:, None] * rng.uniform(-1, 1, (len(joints), count))
    if floating:
        p = rng.normal(size=(4, count))
        q = np.vstack([rng.uniform(-1, 1, (3, count)), p / np.linalg.norm(p, axis=0), q])
    n = len(joints) + 6 * floating
    return q, rng.normal(size=(n, count)), rng.normal(size=(n, count))


def relative(error, size):
    return np.abs(error).max() / max(np.abs(size).max(), 1e-300)


class Computed:
    """The functions of a mechanism."""

    def __init__(self, mechanism):
        self.mechanism = mechanism
        self.inverse, self.mass = inverse_dynamics(mechanism), mass_matrix(mechanism)

    @cached_property
    def forward(self):
        return forward_dynamics(self.mechanism)


def errors(own, reference, floating=False, count=STATES):
    """Largest relative errors of inverse dynamics and mass matrix, backward error of forward."""
    n, (q, v, a) = reference.nv, random_states(own.mechanism, floating, count)
    forces = np.array(own.inverse(q, v, a))
    masses = np.array(own.mass(q)).reshape(n, count, n)
    wanted = np.stack([reference.forces(*x) for x in zip(q.T, v.T, a.T, strict=True)], axis=1)
    M = [reference.mass(x) for x in q.T]
    inverse = max(relative(forces[:, k] - wanted[:, k], wanted[:, k]) for k in range(count))
    mass = max(relative(masses[:, k] - M[k], M[k]) for k in range(count))
    if any(not np.diag(X).all() for X in M):  # joints that move no mass
        with pytest.raises(ValueError, match="mass"):
            forward_dynamics(own.mechanism)
        return inverse, mass, np.nan
    vdot = np.array(own.forward(q, v, wanted))
    back = [reference.forces(*x) for x in zip(q.T, v.T, vdot.T, strict=True)]
    forward = max(relative(back[k] - wanted[:, k], wanted[:, k]) for k in range(count))
    return inverse, mass, forward


def check(table, name, model, mechanism, reference, **options):
    if not reference.nv:
        table.append((name, model, 0, 0.0, 0.0, 0.0))
        assert not movable(mechanism)
        return
    compare(table, name, model, Computed(mechanism), reference, **options)


def compare(table, name, model, own, reference, **options):
    row = errors(own, reference, **options)
    table.append((name, model, reference.nv, *row))
    assert row[:2] == pytest.approx((0, 0), abs=LIMIT)
    assert np.isnan(row[2]) or row[2] <= LIMIT


@each(WHOLE)
def test_robot_on_a_fixed_base(name, file, table):
    mechanism = replace(load(file), mimics=())
    model = pin.buildModelFromUrdf(str(file))
    reference = Tree(model, movable(mechanism))
    assert sorted(reference.at) == list(range(model.nv))
    check(table, name, "fixed", mechanism, reference)


@each([name for name in WHOLE if Path(name).name in FLOATING])
def test_robot_on_a_floating_base(name, file, table):
    mechanism = replace(load(file, floating_base=True), mimics=())
    model = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
    reference = Floating(model, movable(mechanism), mechanism.bodies[0].position)
    assert sorted(reference.at) == list(range(model.nv))
    check(table, name, "floating", mechanism, reference, floating=True, count=20)


@each(MIMICS)
def test_robot_with_mimics(name, file, table):
    """It is the projection of one without, and what pinocchio makes of it where it loads it."""
    mechanism = load(file)
    joints = movable(replace(mechanism, mimics=()))
    tree = Tree(pin.buildModelFromUrdf(str(file)), joints)
    own = Computed(mechanism)
    assert mechanism.mimics
    projected = Projected(tree, joints, movable(mechanism), mechanism.mimics)
    compare(table, name, "projected", own, projected)
    if name.partition("/")[2] in LATE:
        with pytest.raises(ValueError, match="parent joint of the mimic joint is not in the"):
            pin.buildModelFromUrdf(str(file), mimic=True)
        return
    model = pin.buildModelFromUrdf(str(file), mimic=True)
    reference = Tree(model, movable(mechanism))
    assert sorted(reference.at) == list(range(model.nv))
    compare(table, name, "mimic", own, reference)


@each([n for n in WHOLE if Path(n).name in (*FAST, "tiago_no_hand", "icub")])
def test_merged_links_move_alike(name, file, table):
    mechanism = replace(load(file, merge_fixed=True), mimics=())
    reference = Tree(pin.buildModelFromUrdf(str(file)), movable(mechanism))
    check(table, name, "merged", mechanism, reference)


def test_the_empty_robot_is_refused_by_both():
    path = FILES["ur_description/ur3"]
    with pytest.raises(ValueError, match="has no links"):
        load_urdf(path)
    with pytest.raises(ValueError, match="does not contain a valid URDF"):
        pin.buildModelFromUrdf(str(path))


def test_a_mimic_that_names_no_joint_is_refused():
    path = next(path for name, path in FILES.items() if "alex_psyonic_hands" in name)
    with pytest.raises(ValueError, match="'Left_index_q2' mimics 'index_q1', which is no joint"):
        load(path)


def test_all_files_are_compared():
    assert len(WHOLE) == 68
    assert len(FILES) == 69


@pytest.mark.filterwarnings("ignore:(kinova|panda|ur5_robot).urdf")
@pytest.mark.parametrize("name", ["kinova_description/kinova", "ur_description/ur5_robot"])
def test_frames_of_links_by_name(name):
    robot, model = load_urdf(FILES[name]), pin.buildModelFromUrdf(str(FILES[name]))
    links = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY][1:]
    known = [link for link in links if link in {body.name for body in robot.bodies}]
    assert len(known) > 6
    q = np.random.default_rng(0).uniform(-1, 1, model.nv)
    data, turned = model.createData(), pin.integrate(model, pin.neutral(model), q)
    pin.framesForwardKinematics(model, data, turned)
    rest = np.zeros(model.nv)
    kinematics = forward_kinematics(robot, [robot.frame(link) for link in known])(q, rest, rest)
    positions, axes = (np.array(x) for x in kinematics[:2])
    for k, link in enumerate(known):
        placed = data.oMf[model.getFrameId(link, pin.FrameType.BODY)]
        assert positions[:, k] == pytest.approx(placed.translation, abs=1e-12), link
        assert axes[:, 3 * k : 3 * k + 3] == pytest.approx(placed.rotation, abs=1e-12), link


@pytest.mark.filterwarnings("ignore:ur5_robot.urdf")
def test_a_link_that_is_not_there_is_named():
    robot = load_urdf(FILES["ur_description/ur5_robot"])
    with pytest.raises(ValueError, match=r"no link 'tool1': one of .*wrist_3_link"):
        robot.frame("tool1")
