"""The manipulator by homogeneous matrices and traces [CoPCoD 2023, eqs. 8-14, 26], errata applied.

The second formulation: mass matrix and velocity terms as sums of traces over links, and the
accelerations by a partition of the coordinates, without multipliers.
"""

import casadi as ca
import numpy as np
import pytest

from nsopt import acceleration, load_problem
from tests.states import array

GAINS = 1.0e3, 1.0e2
INDEPENDENT, DEPENDENT = [3, 4], [0, 1, 2]
# Of the motion, what the statement of the problem says: joint axes and places, in metres.
COLUMN, SHOULDER, ELBOW, WRIST, TIP = (
    np.array(x) for x in ((0, 0.2, 0), (0, 1.0, 0), (0.6, 1.0, 0), (0.8, 1.0, 0), (0.8, 0.9, 0))
)


def turned(axis, angle, point):
    """The homogeneous matrix of a turn about y or z through a point."""
    c, s = ca.cos(angle), ca.sin(angle)
    A = ca.SX.eye(3)
    i, j = {"y": (2, 0), "z": (0, 1)}[axis]
    A[i, i], A[i, j], A[j, i], A[j, j] = c, -s, s, c
    return ca.vertcat(ca.horzcat(A, point - A @ point), ca.SX([[0, 0, 0, 1]]))


def moved(axis, way):
    T = ca.SX.eye(4)
    T["xyz".index(axis), 3] = way
    return T


def pseudo_inertia(body):
    """H (4, 4) of a body in world axes where it is stated."""
    A, r = body.rotation, np.asarray(body.position)
    inertia = np.diag(body.inertia)
    second = A @ (np.trace(inertia) / 2 * np.eye(3) - inertia) @ A.T + body.mass * np.outer(r, r)
    first = body.mass * r
    return np.block([[second, first[:, None]], [first[None], np.array([[body.mass]])]])


class Traces:
    """Mass matrix, velocity terms, weight and tip of the chain by traces."""

    def __init__(self, d):
        q, qdot = ca.SX.sym("q", 5), ca.SX.sym("qdot", 5)
        steps = [
            turned("y", q[0], COLUMN),
            turned("z", q[1], SHOULDER),
            turned("z", q[2], ELBOW),
            moved("x", q[3]),
            moved("y", q[4]),
        ]
        T, M, h, Q = ca.SX.eye(4), ca.SX(5, 5), ca.SX(5, 1), ca.SX(5, 1)
        bodies = {body.name: body for body in d.mechanism.bodies}
        for k, step in enumerate(steps, 1):
            T, H = T @ step, pseudo_inertia(bodies[f"link_{k}"])
            first = [self.derivative(T, q[i]) for i in range(5)]
            rate = sum(first[i] * qdot[i] for i in range(5))
            second = sum(self.derivative(rate, q[i]) * qdot[i] for i in range(5))
            for i in range(5):
                h[i] -= ca.trace(first[i] @ H @ second.T)
                Q[i] -= 9.81 * first[i][1, :] @ H[:, 3]
                for j in range(5):
                    M[i, j] += ca.trace(first[i] @ H @ first[j].T)
        tip = (T @ ca.vertcat(ca.DM(TIP), 1))[:3]
        self.of = ca.Function("traces", [q, qdot], [M, h, Q, tip, ca.jacobian(tip, q)])
        J = ca.jacobian(tip, q)
        self.curving = ca.Function("curving", [q, qdot], [ca.jtimes(J @ qdot, q, qdot)])

    @staticmethod
    def derivative(T, x):
        return ca.reshape(ca.jacobian(T, x), 4, 4)


@pytest.fixture(scope="module")
def both():
    problem = load_problem("olkc")
    d = problem.dynamics
    return d, problem.start, Traces(d)


def states(start):
    rng = np.random.default_rng(3)
    return [(start.q[-5:] + rng.normal(size=5) / 5, rng.normal(size=5)) for _ in range(5)]


def whole(d, q, v):
    """Coordinates and velocities of the problem, base held where it stands."""
    rest, _ = d.stated_start(refuse=False)
    return np.append(rest[:-5], q), np.append(np.zeros(d.nv - 5), v)


@pytest.mark.slow
def test_mass_matrix_and_velocity_terms_are_sums_of_traces(both):
    d, start, traces = both
    for q, v in states(start):
        M, h, Q, *_ = (array(x) for x in traces.of(q, v))
        full, rates = whole(d, q, v)
        mass = array(d.mass(full, []))[-5:, -5:]
        bias = array(d.bias(full, rates, []))[-5:]
        applied = array(d.applied(0, full, rates, []))[-5:]
        scale = np.max(np.abs(mass))
        assert np.reshape(M, (5, 5)) == pytest.approx(mass, abs=1e-10 * scale)
        assert h == pytest.approx(-bias, abs=1e-10 * np.max(np.abs(bias)))
        assert pytest.approx(applied, abs=1e-10 * np.max(np.abs(applied))) == Q


@pytest.mark.slow
def test_accelerations_by_partition_need_no_multipliers(both):
    """(26) with q_d of (25); Baumgarte's terms as (33), the path at rest in its first corner."""
    d, start, traces = both
    alpha, beta = GAINS
    found = acceleration(d, alpha, beta)
    told = np.array([0.75, 0.60, -0.15])
    for q, v in states(start):
        M, h, Q, tip, J = (np.asarray(x) for x in traces.of(q, v))
        curving = np.asarray(traces.curving(q, v))
        Ji, Jd = J[:, INDEPENDENT], J[:, DEPENDENT]
        B = np.zeros((5, 2))
        B[INDEPENDENT], B[DEPENDENT] = np.eye(2), -np.linalg.solve(Jd, Ji)
        off, rate = tip - told[:, None], J @ v[:, None]
        system = np.vstack([B.T @ M, J])
        right = np.vstack([B.T @ (h + Q), -curving - 2 * alpha * rate - beta**2 * off])
        vdot, _, _ = found(0, *whole(d, q, v), [])
        expected = np.linalg.solve(system, right).ravel()
        assert array(vdot)[-5:] == pytest.approx(expected, rel=1e-8)
