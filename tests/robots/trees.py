"""Trees of random bodies, their poses by products of 4x4 matrices, and what follows from those.

Velocities, accelerations, energies and virtual power are derivatives of poses.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

from nsopt import (
    GROUND,
    Body,
    Cylindrical,
    Fixed,
    Frame,
    Mechanism,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
)

G = np.array([0.3, -0.5, -9.81])
PITCH = 0.2
TREE = [
    # joint, outer body, inner body; bodies before those that hang on them
    (Revolute, "b0", GROUND),
    (Prismatic, "b1", "b0"),
    (Screw, "b2", "b0"),
    (Cylindrical, "b3", "b2"),
    (Universal, "b4", "b1"),
    (Planar, "b5", "b4"),
    (Spherical, "b6", "b0"),
    (None, "b7", GROUND),
    (Fixed, "b8", "b7"),
    (Spherical, "b9", "b8"),
    (Planar, "b10", "b9"),
    (Fixed, "b11", GROUND),
    (Screw, "b12", "b11"),
    (Universal, "b13", "b12"),
]
AXES_ONLY = [row for row in TREE if row[1] not in ("b6", "b7", "b8", "b9", "b10")]
WAYS = {"inner to outer": [False], "outer to inner": [True], "mixed": [True, False, False]}
SIZES = {Fixed: 0, Revolute: 1, Prismatic: 1, Screw: 1, Cylindrical: 2, Universal: 2, Planar: 3}


def random_body(rng, name):
    axes = Rotation.random(random_state=rng).as_matrix()
    moments = rng.uniform(0.02, 0.03, 3)
    return Body(name, rng.uniform(0.5, 2), axes @ np.diag(moments) @ axes.T)


def random_frame(rng, body):
    return Frame(body, rng.uniform(-0.5, 0.5, 3), Rotation.random(random_state=rng).as_matrix())


def tree(rows=TREE, flips=(False,), seed=0, **options):
    """A mechanism of random bodies and frames; where flipped, frame a is on the outer body."""
    rng = np.random.default_rng(seed)
    bodies = {row[1]: random_body(rng, row[1]) for row in rows}
    joints = []
    for k, (kind, outer, inner) in enumerate(rows):
        if kind is None:
            continue
        frames = [random_frame(rng, bodies.get(inner)), random_frame(rng, bodies[outer])]
        a, b = frames[::-1] if flips[k % len(flips)] else frames
        more = (PITCH,) if kind is Screw else ()
        joints.append(kind(f"j_{outer}", a, b, *more))
    return Mechanism(bodies.values(), joints, coordinates="relative", **options)


def homogeneous(R, p):
    return ca.vertcat(ca.horzcat(ca.SX(R), ca.SX(p)), ca.DM([[0, 0, 0, 1]]))


def inverse(T):
    R = T[:3, :3].T
    return homogeneous(R, -R @ T[:3, 3])


def turn(axis, x):
    c, s = ca.cos(x), ca.sin(x)
    rows = {
        "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }[axis]
    return homogeneous(ca.vertcat(*(ca.horzcat(*row) for row in rows)), [0, 0, 0])


def slide(*p):
    return homogeneous(ca.SX.eye(3), ca.vertcat(*p))


def of_quaternion(p):
    """The rotation of Euler parameters, as a quaternion times a vector times its conjugate."""
    e0, e = p[0], p[1:]
    S = ca.skew(e)
    return (e0**2 - ca.dot(e, e)) * ca.SX.eye(3) + 2 * e @ e.T + 2 * e0 * S


def motion_of(joint, q):
    """The pose of frame b in frame a."""
    if isinstance(joint, Fixed):
        return ca.SX.eye(4)
    if isinstance(joint, Revolute):
        return turn("z", q[0])
    if isinstance(joint, Prismatic):
        return slide(0, 0, q[0])
    if isinstance(joint, Screw):
        return slide(0, 0, PITCH * q[0] / (2 * np.pi)) @ turn("z", q[0])
    if isinstance(joint, Cylindrical):
        return slide(0, 0, q[0]) @ turn("z", q[1])
    if isinstance(joint, Universal):
        return turn("x", q[0]) @ turn("y", q[1])
    assert isinstance(joint, Planar)
    return slide(q[0], q[1], 0) @ turn("z", q[2])


def quasi(p, w):
    """Rates of Euler parameters at an angular velocity in turning axes: p (0, w) / 2."""
    return ca.vertcat(-ca.dot(p[1:], w), p[0] * w + ca.cross(p[1:], w)) / 2


@dataclass
class Moving:
    """A body or frame in the reference, world axes."""

    r: ca.SX
    R: ca.SX
    v: ca.SX = None
    w: ca.SX = None
    a: ca.SX = None
    wdot: ca.SX = None


class Reference:
    """Poses of all bodies by products of matrices, and what follows by differentiation."""

    def __init__(self, mechanism):
        self.mechanism = mechanism
        outer = {self._outer(j).body.name for j in mechanism.joints}
        self.free = [body for body in mechanism.bodies if body.name not in outer]
        balls = [isinstance(j, Spherical) for j in mechanism.joints]
        nv = sum(3 if x else SIZES[type(j)] for x, j in zip(balls, mechanism.joints, strict=True))
        nv += 6 * len(self.free)
        self.v, self.a = ca.SX.sym("v", nv), ca.SX.sym("a", nv)
        self.q = ca.SX.sym("q", nv + len(self.free) + sum(balls))
        self.balls, rates, self.at, self.poses = [], [], {}, {None: ca.SX.eye(4)}
        i = j = 0
        for body in self.free:
            p, self.balls = self.q[i + 3 : i + 7], [*self.balls, slice_(i + 3, 4)]
            self.poses[body.name] = homogeneous(of_quaternion(p), self.q[i : i + 3])
            rates += [self.v[j : j + 3], quasi(p, self.v[j + 3 : j + 6])]
            i, j = i + 7, j + 6
        own = {}
        for joint, ball in zip(mechanism.joints, balls, strict=True):
            n = 3 if ball else SIZES[type(joint)]
            own[joint.name] = self.q[[*range(i, i + n + ball)]]
            self.at[joint.name] = [*range(j, j + n)]
            if ball:
                self.balls.append(slice_(i, 4))
                rates.append(quasi(self.q[i : i + 4], self.v[j : j + 3]))
            else:
                rates.append(self.v[j : j + n])
            i, j = i + n + ball, j + n
        self.rate = ca.vertcat(*rates)
        for joint in mechanism.joints:  # inner bodies come first
            self._hang(joint, own[joint.name])

    def _outer(self, joint):
        """The frame on the body that hangs on the other: bodies are numbered from the ground."""
        number = [-1 if f.body is None else int(f.body.name[1:]) for f in joint.frames]
        return joint.frames[int(np.argmax(number))]

    def _hang(self, joint, q):
        to = self._outer(joint)
        on = joint.frames[0] if to is joint.frames[1] else joint.frames[1]
        if isinstance(joint, Spherical):
            X = homogeneous(of_quaternion(q), [0, 0, 0])
        else:
            X = motion_of(joint, q)
            X = X if on is joint.frames[0] else inverse(X)
        T = self.pose(on) @ X @ inverse(homogeneous(ca.DM(to.axes), ca.DM(to.origin)))
        self.poses[to.body.name] = T

    def pose(self, frame):
        body = self.poses[frame.body.name if frame.body else None]
        return body @ homogeneous(ca.DM(np.array(frame.axes)), ca.DM(np.array(frame.origin)))

    def change(self, x):
        """The rate of an expression of q and v."""
        return ca.jtimes(x, ca.vertcat(self.q, self.v), ca.vertcat(self.rate, self.a))

    def moving(self, frame):
        T = self.pose(frame)
        r, R = T[:3, 3], T[:3, :3]
        spin = ca.reshape(self.change(ca.vec(R)), 3, 3) @ R.T
        v, w = self.change(r), ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
        return Moving(r, R, v, w, self.change(v), self.change(w))

    def inertia(self, body, R):
        return R @ ca.DM(np.array(body.inertia)) @ R.T

    def kinetic(self):
        T = 0
        for body in self.mechanism.bodies:
            m = self.moving(Frame(body, axes=np.eye(3)))
            T += body.mass * ca.sumsqr(m.v) / 2 + m.w.T @ self.inertia(body, m.R) @ m.w / 2
        return T

    def potential(self):
        bodies = self.mechanism.bodies
        return -sum(body.mass * ca.dot(ca.DM(G), self.poses[body.name][:3, 3]) for body in bodies)

    def needed(self, body):
        """Force and torque about the centre of mass that a body's motion takes."""
        m = self.moving(Frame(body, axes=np.eye(3)))
        J = self.inertia(body, m.R)
        return m, body.mass * (m.a - ca.DM(G)), J @ m.wdot + ca.cross(m.w, J @ m.w)

    def virtual_power(self):
        tau = 0
        for body in self.mechanism.bodies:
            m, force, torque = self.needed(body)
            tau += ca.jacobian(m.v, self.v).T @ force + ca.jacobian(m.w, self.v).T @ torque
        return tau

    def evaluate(self, expressions, state):
        function = ca.Function("f", [self.q, self.v, self.a], expressions)
        return [np.array(x) for x in function.call([ca.DM(x) for x in state])]

    def state(self, seed):
        rng = np.random.default_rng(seed)
        q = rng.uniform(-1.5, 1.5, self.q.numel())
        for at in self.balls:
            q[at] /= np.linalg.norm(q[at])
        return q, rng.normal(size=self.v.numel()), rng.normal(size=self.v.numel())


def slice_(start, size):
    return slice(start, start + size)
