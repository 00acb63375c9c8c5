"""Newton-Euler equations of bodies and ideal joints in NumPy: reactions of least norm."""

import numpy as np

from nsopt import Prismatic, Revolute, Spherical, Universal
from tests.states import axes_of, moved

EPS = 1e-5


class NewtonEuler:
    """The bodies of a mechanism on their own, each joint a set of wrenches that it can bear.

    Wrenches are forces and torques about the origin of frame b, in world axes, on the body of
    frame b; nothing of nsopt but its data is used.
    """

    def __init__(self, mechanism, gravity, forces=None):
        self.bodies, self.joints = list(mechanism.bodies), list(mechanism.joints)
        self.gravity, self.forces = np.array(gravity), forces
        inertias = (
            np.diag(b.inertia) if np.ndim(b.inertia) == 1 else b.inertia for b in self.bodies
        )
        self.M = np.zeros([6 * len(self.bodies)] * 2)
        self.J = [np.array(J, dtype=float) for J in inertias]
        for k, (body, J) in enumerate(zip(self.bodies, self.J, strict=True)):
            self.M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.mass * np.eye(3)
            self.M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = J

    def states(self, result):
        """Coordinates (r, p) and velocities (v, w in body axes) of all bodies at all times."""
        r, p, v, w = (
            result[f"body_{x}"].values
            for x in ("position", "quaternion", "velocity", "angular_velocity")
        )
        turned = [
            [axes_of(e).T @ u for e, u in zip(*x, strict=True)] for x in zip(p, w, strict=True)
        ]
        n = len(r)
        return np.dstack([r, p]).reshape(n, -1), np.dstack([v, turned]).reshape(n, -1)

    def wrenches(self, q, v):
        """Force and torque of each joint (joints, 6) of least norm at a state."""
        C, B = self._rows(q)
        torn = np.linalg.pinv(C @ np.linalg.solve(self.M, C.T), rcond=1e-9) @ (C @ v)
        v = v - np.linalg.solve(self.M, C.T @ torn)  # the nearest that the joints allow
        ahead, behind = (self._rows(moved(q, v, s))[0] @ v for s in (EPS, -EPS))
        bias = (ahead - behind) / (2 * EPS)
        system = np.block([[self.M, -C.T], [C, np.zeros((len(C), len(C)))]])
        known = np.concatenate([self._loads(q, v), -bias])
        x = np.linalg.lstsq(system, known, rcond=1e-9)[0]
        return (B @ x[len(self.M) :]).reshape(-1, 6)

    def _loads(self, q, v):
        loads = [] if self.forces is None else self.forces(q, v)
        total = np.zeros(6 * len(self.bodies))
        for k, (body, J) in enumerate(zip(self.bodies, self.J, strict=True)):
            w = v[6 * k + 3 : 6 * k + 6]
            total[6 * k : 6 * k + 6] = [*(body.mass * self.gravity), *-np.cross(w, J @ w)]
        for k, point, force in loads:  # on a body, at a point of the world
            total[6 * k : 6 * k + 3] += force
            A, r = axes_of(q[7 * k + 3 : 7 * k + 7]), q[7 * k : 7 * k + 3]
            total[6 * k + 3 : 6 * k + 6] += A.T @ np.cross(point - r, force)
        return total

    def _place(self, frame, q):
        """Body index, origin and axes of a frame in the world, and the rotation of its body."""
        if frame.body is None:
            return -1, np.array(frame.origin, dtype=float), np.asarray(frame.axes), np.eye(3)
        k = [b.name for b in self.bodies].index(frame.body.name)
        A = axes_of(q[7 * k + 3 : 7 * k + 7])
        return k, q[7 * k : 7 * k + 3] + A @ frame.origin, A @ frame.axes, A

    def _rows(self, q):
        """Matrix C of the joints' rates, and B: the wrenches of which C^T is the effect."""
        rows, columns = [], []
        for j, joint in enumerate(self.joints):
            a, b = (self._place(frame, q) for frame in (joint.a, joint.b))
            for force, torque in _borne(joint, a[2], b[2]):
                row = np.zeros(6 * len(self.bodies))
                for (k, _, _, A), sign in ((a, -1), (b, 1)):
                    if k >= 0:
                        arm = b[1] - q[7 * k : 7 * k + 3]
                        row[6 * k : 6 * k + 3] += sign * force
                        row[6 * k + 3 : 6 * k + 6] += sign * A.T @ (torque + np.cross(arm, force))
                rows.append(row)
                column = np.zeros(6 * len(self.joints))
                column[6 * j : 6 * j + 6] = [*force, *torque]
                columns.append(column)
        return np.array(rows), np.array(columns).T


def _borne(joint, a, b):
    """An orthonormal basis of the wrenches that a joint bears, axes of its frames given."""
    none, x, y, z = np.zeros(3), *a.T
    forces, torques = [(e, none) for e in (x, y, z)], [(none, e) for e in (x, y, z)]
    if isinstance(joint, Revolute):
        return forces + torques[:2]
    if isinstance(joint, Prismatic):
        return forces[:2] + torques
    if isinstance(joint, Universal):
        across = np.cross(x, b[:, 1])
        return [*forces, (none, across / np.linalg.norm(across))]
    assert isinstance(joint, Spherical)
    return forces
