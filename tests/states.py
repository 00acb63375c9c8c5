"""Poses and motions of bodies in plain NumPy and SciPy, independent of nsopt's own algebra."""

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from nsopt import (
    Body,
    Compiled,
    Frame,
    Mechanism,
    PaperStep,
    Solver,
    Sqp,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.mechanics import Constraint


def quaternion(A):
    """Euler parameters (e0, e) of a rotation matrix."""
    return np.roll(Rotation.from_matrix(A).as_quat(), 1)


def axes_of(p):
    """Rotation matrix of Euler parameters (e0, e)."""
    return Rotation.from_quat(np.roll(p, -1)).as_matrix()


def turn(x=0.0, y=0.0, z=0.0):
    """Rx Ry Rz."""
    return Rotation.from_euler("XYZ", [x, y, z]).as_matrix()


def reactions(dynamics, q, mu=None, lam=None, slip=None):
    """Wrenches of joints that are constraints and of contacts under given impulses, (6, nj)."""
    sizes = [len(dynamics.closure_names), len(dynamics.contact_names), len(dynamics.slip_contacts)]
    impulses = [
        np.zeros(n) if x is None else x for n, x in zip(sizes, (mu, lam, slip), strict=True)
    ]
    still = np.zeros(dynamics.nv)
    return np.asarray(dynamics.reactions(0, q, still, [], 1, still, *impulses))


def bodies_of(q):
    return np.reshape(q, (-1, 7))


def moved(q, v, eps=1.0):
    """Coordinates of rigid bodies after the finite motion eps v: r + eps v_r, A exp(eps w)."""
    turns = [
        axes_of(x[3:]) @ Rotation.from_rotvec(eps * u[3:]).as_matrix()
        for x, u in zip(bodies_of(q), np.reshape(v, (-1, 6)), strict=True)
    ]
    places = bodies_of(q)[:, :3] + eps * np.reshape(v, (-1, 6))[:, :3]
    return np.concatenate([[*r, *quaternion(A)] for r, A in zip(places, turns, strict=True)])


def moved_together(q, translation, rotation):
    """Coordinates of rigid bodies after one motion of space, x -> rotation x + translation."""
    return np.concatenate(
        [
            [*(rotation @ x[:3] + translation), *quaternion(rotation @ axes_of(x[3:]))]
            for x in bodies_of(q)
        ]
    )


def derivative(f, q, eps):
    """Central differences of f along every velocity of rigid bodies, columns."""
    steps = np.eye(6 * len(bodies_of(q)))
    return np.column_stack(
        [(f(moved(q, e, eps)) - f(moved(q, e, -eps))) / (2 * eps) for e in steps]
    )


def wrenches(generalized, q):
    """Force, and moment about the world origin, on each body: rows (6,)."""
    return np.array(
        [
            [*f[:3], *(np.cross(x[:3], f[:3]) + axes_of(x[3:]) @ f[3:])]
            for x, f in zip(bodies_of(q), np.reshape(generalized, (-1, 6)), strict=True)
        ]
    )


def array(x):
    """A CasADi value as a NumPy array; a single column as a vector."""
    x = np.asarray(x, dtype=float)
    return x[:, 0] if x.ndim == 2 and x.shape[1] == 1 else x


class Couple:
    """An element between two free bodies, its frames coincident at the stated start."""

    def __init__(self, row):
        rng = np.random.default_rng(5)

        def body(name, mass, inertia):
            A = Rotation.random(rng=rng).as_matrix()
            return Body(name, mass, inertia, position=rng.normal(size=3) / 2, orientation=A)

        a, b = body("a", 2.0, (0.02, 0.03, 0.04)), body("b", 1.5, (0.03, 0.02, 0.015))
        point, axes = rng.normal(size=3) / 2, Rotation.random(rng=rng).as_matrix()
        self.point, self.axes = point, axes
        self.frames = Frame.at(a, point, axes), Frame.at(b, point, axes)
        self.element = row.build(*self.frames)
        self.dynamics = assembled([a, b], [self.element], gravity=(0, 0, 0))
        self.q, _ = self.dynamics.stated_start()

    def at(self, name, q, t=0.0):
        """A function (t, q, p) of the dynamics, as an array."""
        return array(getattr(self.dynamics, name)(t, q, self.dynamics.values()))

    def columns(self, name, q):
        """A function (t, q, p) of (3, n), one row for each gap."""
        return self.at(name, q).reshape(3, -1).T

    def with_velocity(self, name, q, v, t=0.0):
        """A function (t, q, v, p) of the dynamics, as an array."""
        return array(getattr(self.dynamics, name)(t, q, v, self.dynamics.values()))

    def placed(self, twist):
        """Coordinates with frame b at a translation, and turns Rx Ry Rz, from frame a."""
        A = self.axes @ turn(*twist[3:]) @ self.frames[1].axes.T
        r = self.point + self.axes @ twist[:3] - A @ self.frames[1].origin
        return np.array([*self.q[:7], *r, *quaternion(A)])

    def pushed(self, q, translation):
        """Coordinates with body b moved by a translation of the world."""
        return q + np.concatenate([np.zeros(7), translation, np.zeros(4)])


@cache
def couple(row):
    """The couple of a catalog row, assembled once."""
    return Couple(row)


def near(seed, length, angle):
    """A random twist with entries of about these sizes."""
    return np.random.default_rng(seed).normal(size=6) * np.repeat([length, angle], 3)


def assembled(bodies, elements, gravity=(0.0, 0.0, -9.81)):
    """A mechanism of bodies and of joints, contacts and forces in one list."""
    joints = [e for e in elements if isinstance(e, Constraint)]
    return assemble(
        Mechanism(bodies, joints, "absolute"), [e for e in elements if e not in joints], gravity
    )


def grounded(row):
    """A body held to the ground by one element, off its centre of mass."""
    body = Body("b", 1.5, (0.03, 0.02, 0.015))
    point, axes = (0.12, -0.08, 0.1), turn(0.3, -0.5, 0.4)
    return assembled([body], [row.build(Frame(None, point, axes), Frame.at(body, point, axes))])


def chained(row):
    """Two bodies in a chain on the ground, held by two elements of one kind."""
    inertia, first, second = (0.03, 0.02, 0.015), turn(0.3, -0.5, 0.4), turn(-0.2, 0.6, 0.1)
    a = Body("a", 2.0, inertia, position=(0.2, 0.1, 0.0), orientation=turn(0.2, 0.1, -0.4))
    b = Body("b", 1.5, inertia, position=(0.5, 0.1, 0.1), orientation=turn(-0.5, 0.3, 0.2))
    point = (0.35, 0.12, 0.08)
    return assembled(
        [a, b],
        [
            row.build(Frame(None, (0, 0, 0), first), Frame.at(a, (0, 0, 0), first)),
            replace(row.build(Frame.at(a, point, second), Frame.at(b, point, second)), name="f"),
        ],
    )


def run(dynamics, duration, h, start=None, **options):
    """A complete run of the paper's scheme at fixed h."""
    method = {"scheme": PaperStep(), "solver": Solver(backend=Sqp())}
    options = method | {"progress": False} | options
    result = simulate(dynamics, start, duration, steps=StepBounds(h, h), **options)
    assert result.completed, result.stop_reason
    return result


def run_compiled(dynamics, duration, h, scheme=None, start=None, **options):
    """A complete run of any scheme at fixed h, of `Variational` by default.

    In compiled code, but for schemes that find h.
    """
    scheme = scheme or Variational()
    solver = Solver(backend=Sqp()) if scheme.chooses_h else Compiled(chunk=100)
    return run(dynamics, duration, h, start, **{"scheme": scheme, "solver": solver} | options)
