"""CHARMIE in motion: closed loops, loads and their sharing against the paper's closed forms."""

import numpy as np
import pytest

from nsopt import Frame, Prismatic, Relative, assemble
from nsopt.robots import ClosedLoops, EqualSharing, ToleranceOrder, forward_kinematics
from tests.robots.charmie import GRAVITY, forms, geo, model, study
from tests.states import array

TIMES = np.linspace(0, 5, 21)  # s
ROBOT = model.charmie(Relative(model.CUTS))
MECHANISM = ROBOT.mechanism
BODIES = {body.name: body for body in MECHANISM.bodies}
JOINTS = {joint.name: joint for joint in MECHANISM.joints}
CENTRES = forward_kinematics(MECHANISM, [Frame(body) for body in MECHANISM.bodies])


@pytest.fixture(scope="module")
def loops():
    dynamics = assemble(MECHANISM, ROBOT.elements, gravity=GRAVITY)
    return ClosedLoops(dynamics, model.ACTUATED)


@pytest.fixture(scope="module")
def motions(loops):
    states, near = [], None
    for t in TIMES:
        states.append(loops.motion(*study.driven(t), near=near))
        near = states[-1].q
    return states


@pytest.fixture(scope="module")
def shared(loops, motions):
    return [loops.loads(motion, study.rules(MECHANISM)) for motion in motions]


class Snapshot:
    """Positions, axes and inertial loads of all bodies in one motion, world axes."""

    def __init__(self, motion):
        values = [np.asarray(x) for x in CENTRES(*motion[:3])]
        self.r = dict(zip(BODIES, values[0].T, strict=True))
        self.A = dict(zip(BODIES, np.split(values[1], len(BODIES), axis=1), strict=True))
        self.w = dict(zip(BODIES, values[2][3:].T, strict=True))
        self.acceleration = dict(zip(BODIES, values[3].T, strict=True))

    def inertial(self, name):
        """Force with weight, and torque about the centre of mass, that the motion takes."""
        body, a = BODIES[name], self.acceleration[name]
        J = self.A[name] @ np.diag(body.inertia) @ self.A[name].T
        w = self.w[name]
        return body.mass * (a[:3] - GRAVITY), J @ a[3:] + np.cross(w, J @ w)

    def at(self, frame):
        if frame.body is None:
            return np.asarray(frame.origin)
        return self.r[frame.body.name] + self.A[frame.body.name] @ np.asarray(frame.origin)


def wrenches(loops, snapshot, loads, name):
    """Force and torque about its centre of mass by each joint and spring on a body, by name."""
    pairs = {}
    for k, joint_name in enumerate(loops.dynamics.joint_names):
        joint = JOINTS[joint_name]
        for frame, sign in ((joint.b, 1), (joint.a, -1)):
            if frame.body is BODIES[name]:
                f, n = sign * loads.reactions[:3, k], sign * loads.reactions[3:, k]
                arm = snapshot.at(joint.b) - snapshot.r[name]
                if joint_name in loops.driven:
                    push = loads.tau[loops.driven.index(joint_name)]
                    along = (
                        sign * push * (snapshot.A[joint.a.body.name] @ joint.a.axes)[:, 2]
                        if (joint.a.body)
                        else sign * push * np.asarray(joint.a.axes)[:, 2]
                    )
                    slides = isinstance(joint, Prismatic)
                    f, n = (f + along, n) if slides else (f, n + along)
                pairs[joint_name] = f, n + np.cross(arm, f)
    for spring in MECHANISM_SPRINGS:
        for here, there in ((spring.a, spring.b), (spring.b, spring.a)):
            if here.body is BODIES[name]:
                span = snapshot.at(there) - snapshot.at(here)
                length = np.linalg.norm(span)
                pull = spring.stiffness * (length - spring.free_length) + spring.pretension
                f = pull * span / length
                pairs[spring.name] = f, np.cross(snapshot.at(here) - snapshot.r[name], f)
    return pairs


MECHANISM_SPRINGS = [e for e in ROBOT.elements if e.name.startswith("spring")]


def test_end_effector_goes_the_path_of_the_closed_form(motions):
    body = BODIES["body_12a"]
    tip = Frame(body, geo.D12A - np.array(geo.LINK["12a"].centre))
    path = forward_kinematics(MECHANISM, [tip])
    for t, motion in zip(TIMES, motions, strict=True):
        assert array(path(*motion[:3])[0]) == pytest.approx(forms.end_effector(t), abs=1e-10)


@pytest.mark.slow
def test_joints_that_actuators_move_follow_the_closed_forms(loops, motions):
    names = loops.dynamics.v_names
    at_4, at_5 = (names.index(x) for x in ("joint_4.speed", "joint_5.rate"))
    for t, motion in zip(TIMES, motions, strict=True):
        act = forms.validation_lengths(t)
        up, turn = forms.rates_4(act), forms.rates_5(act)
        angles = np.array([x[at_4] for x in motion[:3]]), np.array([x[at_5] for x in motion[:3]])
        assert angles[0] == pytest.approx(-np.array(up), abs=1e-10)
        assert angles[1] == pytest.approx(np.array(turn), abs=1e-10)


def test_auxiliary_bodies_are_where_the_closed_forms_put_them(motions):
    for t, motion in zip(TIMES, motions, strict=True):
        d_4 = forms.displacement_4(forms.validation_lengths(t).value)
        snapshot = Snapshot(motion)
        r, A = snapshot.r["body_3"], snapshot.A["body_3"]
        origin = r - A @ np.array(geo.LINK["3"].centre)
        for half in (geo.LEFT, geo.RIGHT):
            points = forms.balancing_points(half, d_4)
            ends = [JOINTS[f"joint_{half.label}{x}"].b for x in ("a_rod", "b_1", "c")]
            for frame, point in zip(ends, points, strict=True):
                seen = A.T @ (snapshot.at(frame) - origin)
                assert seen == pytest.approx(point, abs=1e-10)


def test_bodies_between_two_points_have_the_length_and_turn_of_the_closed_forms(loops, motions):
    """Eqs. 20 and 21: actuators and the spring 5s, against z of the body that they start on."""
    names = loops.dynamics.q_names
    for t, motion in zip(TIMES, motions, strict=True):
        at, snapshot = forms.places(forms.validation_coordinates(t)), Snapshot(motion)
        for label, (body, start), (other, end) in (
            ("4d", ("3", geo.D3), ("4", geo.E4)),
            ("5d", ("4", geo.F4), ("5", geo.G5)),
            ("5s", ("4", geo.S4), ("5", geo.S5)),
        ):
            a, b = at[body].point(start), at[other].point(end)
            distance = motion.q[names.index(f"length_{label}.distance")]
            assert distance == pytest.approx(forms.length(a, b), abs=1e-10)
            above = at[body].point(start + np.array([0, 0, 1.0]))
            cosine = snapshot.A[f"body_{body}"][:, 2] @ snapshot.A[f"aux_{label}_1"][:, 2]
            assert cosine == pytest.approx(np.cos(forms.angle(a, b, above)), abs=1e-10)


@pytest.mark.slow
def test_every_body_is_in_equilibrium(loops, motions, shared):
    for motion, loads in zip(motions, shared, strict=True):
        snapshot = Snapshot(motion)
        for name in BODIES:
            force, torque = snapshot.inertial(name)
            acting = wrenches(loops, snapshot, loads, name).values()
            assert sum(f for f, _ in acting) == pytest.approx(force, abs=1e-9)
            assert sum(n for _, n in acting) == pytest.approx(torque, abs=1e-9)


def test_base_force_is_that_of_the_centre_of_mass_however_loads_are_shared(loops, motions, shared):
    k = loops.dynamics.joint_names.index("joint_1")
    for motion, loads in zip(motions, shared, strict=True):
        snapshot, plain = Snapshot(motion), loops.loads(motion)
        whole = sum(snapshot.inertial(name)[0] for name in BODIES)
        pushes = {name: loads.tau[loops.driven.index(name)] for name in ("joint_1",)}
        for either in (loads, plain):
            force = either.reactions[:3, k] + np.array([pushes["joint_1"], 0, 0])
            assert force == pytest.approx(whole, abs=1e-9)
        assert plain.tau == pytest.approx(loads.tau, abs=1e-9)
        assert plain.reactions[:, k] == pytest.approx(loads.reactions[:, k], abs=1e-9)


def test_loads_on_body_5_are_shared_as_printed(loops, motions, shared):
    for motion, loads in zip(motions, shared, strict=True):
        snapshot = Snapshot(motion)
        A, r = snapshot.A["body_5"], snapshot.r["body_5"]
        acting = wrenches(loops, snapshot, loads, "body_5")
        arms = {name: A.T @ (snapshot.at(JOINTS[name].b) - r) for name in acting if name in JOINTS}
        wanted = [name for name in acting if name not in ("joint_5", "joint_5d_2")]
        known = [
            forms.Wrench(A.T @ acting[name][0], A.T @ acting[name][1], np.zeros(3))
            for name in wanted
        ]
        inertial = [A.T @ x for x in snapshot.inertial("body_5")]
        force, torque = forms.required(*inertial, known)
        span = A.T @ (snapshot.at(JOINTS["joint_5d_2"].b) - snapshot.at(JOINTS["joint_5d_1"].b))
        shares = forms.share_body_5(
            force, torque, arms["joint_5d_2"], arms["joint_5"], np.arctan2(span[1], span[2])
        )
        for share, name in zip(shares, ("joint_5d_2", "joint_5"), strict=True):
            f, n = (A.T @ x for x in acting[name])
            assert share.force == pytest.approx(f, abs=1e-9)
            assert share.about_centre() == pytest.approx(n, abs=1e-9)


def test_loads_on_body_4_are_shared_as_printed(loops, motions, shared):
    for t, motion, loads in zip(TIMES, motions, shared, strict=True):
        snapshot = Snapshot(motion)
        A, r = snapshot.A["body_4"], snapshot.r["body_4"]
        acting = wrenches(loops, snapshot, loads, "body_4")
        d_4 = forms.displacement_4(forms.validation_lengths(t).value)
        unknown = ["joint_4", "joint_4d_2", "joint_4slc", "joint_4src"]
        known = [
            forms.Wrench(A.T @ f, A.T @ n, np.zeros(3))
            for name, (f, n) in acting.items()
            if name not in unknown
        ]
        for half in (geo.LEFT, geo.RIGHT):
            points = forms.balancing_points(half, d_4)
            bar = forms.balance_bar(half, points, geo.SPRING_4S)
            slider = JOINTS[f"joint_{half.label}c"]
            arm = A.T @ (snapshot.at(slider.b) - r)
            known.append(forms.Wrench(bar.rod_on_link_4, np.zeros(3), arm))
            seen = A.T @ acting[slider.name][0]
            assert seen == pytest.approx(bar.rod_on_link_4, abs=1e-9)
        inertial = [A.T @ x for x in snapshot.inertial("body_4")]
        force, torque = forms.required(*inertial, known)
        arms = [A.T @ (snapshot.at(JOINTS[x].b) - r) for x in ("joint_4d_2", "joint_4")]
        span = A.T @ (snapshot.at(JOINTS["joint_4d_2"].b) - snapshot.at(JOINTS["joint_4d_1"].b))
        shares = forms.share_body_4(force, torque, *arms, np.arctan2(span[1], span[2]))
        for share, name in ((shares.actuator, "joint_4d_2"), (shares.joint, "joint_4")):
            f, n = (A.T @ x for x in acting[name])
            assert share.force == pytest.approx(f, abs=1e-9)
            assert share.about_centre() == pytest.approx(n, abs=1e-9)
        for name in ("joint_4slc", "joint_4src"):
            f, n = acting[name]
            torque_z = (A.T @ (n - np.cross(snapshot.at(JOINTS[name].b) - r, f)))[2]
            assert torque_z == pytest.approx(shares.half_z, abs=1e-9)


def test_the_looser_joint_takes_nothing_and_equal_ones_take_halves(loops, motions):
    motion, four = motions[5], BODIES["body_4"]
    names = ("joint_4", "joint_4d_2")
    k = loops.dynamics.joint_names.index("joint_4d_2")
    strict = loops.loads(motion, [ToleranceOrder(names, four, force=study.XY)])
    A = Snapshot(motion).A["body_4"]
    assert (A.T @ strict.reactions[:3, k])[0] == pytest.approx(0, abs=1e-10)
    even = loops.loads(motion, [EqualSharing(names, four, force=study.X)])
    k_4, k_4d = (loops.dynamics.joint_names.index(x) for x in names)
    assert [JOINTS[x].b.body.name for x in names] == ["body_4", "body_4"]
    sides = [(A.T @ even.reactions[:3, i])[0] for i in (k_4, k_4d)]
    assert sides[0] == pytest.approx(sides[1], abs=1e-9)


def test_driving_too_few_joints_is_refused(loops):
    with pytest.raises(ValueError, match="21 degrees of freedom at its start, but 20 joints"):
        ClosedLoops(loops.dynamics, model.ACTUATED[:-1])
    with pytest.raises(ValueError, match="'joint_4d_2' cannot be driven"):
        ClosedLoops(loops.dynamics, [*model.ACTUATED[:-1], "joint_4d_2"])


def test_lengths_out_of_reach_are_refused_by_the_joint_that_stays_open(loops):
    values, rates, changes = study.driven(0.0)
    values[model.ACTUATED.index("length_4d")] = 0.05
    with pytest.raises(ValueError, match="cannot be closed: joint 'joint_4"):
        loops.motion(values, rates, changes)


def test_rules_name_their_joints(loops, motions):
    five = BODIES["body_5"]
    with pytest.raises(ValueError, match="'joint_9', which is not in the mechanism"):
        loops.loads(motions[0], [EqualSharing(("joint_5", "joint_9"), five, force=study.X)])
    with pytest.raises(ValueError, match="'joint_4' is not on it"):
        loops.loads(motions[0], [EqualSharing(("joint_4", "joint_7a"), five, force=study.X)])
    with pytest.raises(ValueError, match="two joints and a component"):
        EqualSharing(("joint_5",), five, force=study.X)


def test_power_of_the_drives_is_the_rate_of_energy(loops, motions, shared):
    """Kinetic energy and potential, springs included, by finite differences along the motion."""
    d, eps = loops.dynamics, 1e-5
    for t, motion, loads in list(zip(TIMES, motions, shared, strict=True))[1:-1:4]:
        if abs(t - 2.5) < 1e-9:
            continue
        ends = []
        for side in (-1, 1):
            q, v, *_ = loops.motion(*study.driven(t + side * eps), near=motion.q)
            ends.append(float(d.kinetic(0, q, v, [])) + float(d.potential(0, q, v, [])))
        rates = study.driven(t)[1]
        assert loads.tau @ rates == pytest.approx((ends[1] - ends[0]) / (2 * eps), rel=1e-6)
