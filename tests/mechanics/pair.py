"""Two bodies and a joint between them, in relative and in absolute coordinates."""

from functools import cache, cached_property

import numpy as np

from nsopt import Body, Frame, Mechanism, Revolute, SpringDamper, assemble
from nsopt.robots import forward_kinematics
from tests.states import array, axes_of, turn

GRAVITY = (0.4, -9.81, 1.0)


class Pair:
    """A body on a hinge and one beyond a joint of the catalog, in both kinds of coordinates."""

    def __init__(self, row, inward):
        point, axes = (0.4, 0.1, -0.2), turn(0.3, -0.5, 0.4)
        a = Body("a", 2.0, (0.03, 0.02, 0.025), position=(0.2, 0, 0.1), orientation=turn(0.3))
        b = Body("b", 1.5, (0.02, 0.03, 0.04), position=(0.5, 0.2, 0), orientation=turn(0, 0.7))
        self.bodies = [a, b]
        frames = [Frame.at(a, point, axes), Frame.at(b, point, axes)]
        hinge = Revolute("hinge", Frame(None, axes=turn(0.2)), Frame.at(a, (0, 0, 0), turn(0.2)))
        self.joints = [row.build(*(frames[::-1] if inward else frames)), hinge]
        spring = SpringDamper(
            "s", Frame(None, (0, 1.0, 0)), Frame(b, (0.1, 0, 0)), stiffness=30.0, damping=2.0
        )
        ends = Frame(a, (0, 0.1, 0)), Frame(b, (0, 0.1, 0))
        between = SpringDamper("t", *ends, 50.0, free_length=0.1, damping=1.0)
        self.elements = [spring, between]
        self.relative = self.assembled(self.bodies, "relative")

    @cached_property
    def absolute(self):
        return self.assembled(self.bodies, "absolute")

    def assembled(self, bodies, coordinates):
        return assemble(Mechanism(bodies, self.joints, coordinates), self.elements, GRAVITY)

    def sample(self, seed=0):
        """Coordinates and velocities of the joints, any and consistent."""
        d, rng = self.relative, np.random.default_rng(seed)
        q, _ = d.stated_start()
        q = array(d.retract(q, rng.uniform(-0.7, 0.7, d.nv)))
        return q, rng.uniform(-2, 2, d.nv)

    def in_absolute(self, q, v):
        """The same state by poses and twists."""
        r, p, *_ = (np.asarray(x).T for x in self.relative.poses(q, v, []))
        frames = [Frame(body) for body in self.bodies]
        twists = np.asarray(forward_kinematics(self.relative.mechanism, frames)(q, v, 0 * v)[2]).T
        rates = [[*u[:3], *(axes_of(x).T @ u[3:])] for x, u in zip(p, twists, strict=True)]
        return np.hstack([r, p]).ravel(), np.ravel(rates)

    def acceleration(self, dynamics, q, v):
        """Accelerations and impulses over a second of the equations of motion."""
        M, C = np.asarray(dynamics.mass(q, [])), np.asarray(dynamics.closure_matrix(0, q, []))
        K = array(dynamics.applied(0, q, v, [])) - array(dynamics.bias(q, v, []))
        n = len(C)
        matrix = np.block([[M, -C.T], [C, np.zeros((n, n))]])
        right = np.concatenate([K, -array(dynamics.closure_bias(0, q, v, []))])
        x = np.linalg.lstsq(matrix, right, rcond=None)[0]
        return x[: dynamics.nv], x[dynamics.nv :]


@cache
def pair_of(row, inward):
    """A pair, assembled once."""
    return Pair(row, inward)
