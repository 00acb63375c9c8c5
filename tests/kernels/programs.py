"""Square programs for tests of kernels, and kernels that Python may call."""

import ctypes

import casadi as ca
import numba
import numpy as np

from nsopt.kernels import NewtonNumbers, pack, steps, workspace_sizes
from nsopt.kernels.newton import solve
from nsopt.kernels.views import workspace_of
from nsopt.leaves import Leaf
from nsopt.mpcc import Mpcc, SquareProgram

NUMBERS = NewtonNumbers(1e-11, 1e-8, 10, 1e-9, 0.1, 0.3, 10.0, 1e-2, 12, 60, 1000)


def stated(seed, pairs=2, boxes=2, discs=2, events=0):
    """Return a program in which all kinds of rows meet, of random numbers."""
    rng = np.random.default_rng(seed)
    m = Mpcc("mixed")
    p = m.parameter("p", 3)
    v = m.variable("v", 4, scale=2.0)
    lam = m.variable("lam", pairs, scale=0.5)
    z = m.variable("z", boxes, scale=[0.3, 0.7][:boxes])
    w = m.variable("w", 2 * discs)
    first = m.variable("first", min(events, 1))
    A = np.eye(4) * 3 + rng.normal(size=(4, 4)) * 0.3
    B = rng.normal(size=(4, pairs + boxes + 2 * discs))
    forces = ca.vertcat(lam, z, w)
    m.equal("motion", A @ v - B @ forces - ca.DM(rng.normal(size=4)) * p[0] + 0.1 * v**3, scale=1.5)
    rates = B.T @ v
    gap = rates[:pairs] + 0.2 * lam + p[1]
    m.complement("contact", gap, lam, scale=(0.4, 0.5), active=ca.vertcat(1, p[2] > 0)[:pairs])
    some = rates[pairs : pairs + boxes]
    bound = 0.2 + ca.sumsqr(lam)
    m.box("friction", z, some + 0.1 * z, lower=-bound * np.ones(boxes), upper=bound, scale=(2, 3))
    m.disc("cone", w, rates[pairs + boxes :] + 0.3 * w, radius=ca.fabs(v[:discs]) - 0.1)
    if events:
        rows = ca.vertcat(first - 0.3, first - p[:events] ** 2)
        m.first_event("ends", rows, of="first", active=[1] * (1 + events))
    return m


class Solved:
    """A program with its workspace."""

    def __init__(self, mpcc, p):
        self.program = SquareProgram.of(mpcc)
        self.code = Leaf(self.program.values)
        self._code = self.code.code
        s = self.program.square
        sizes = workspace_sizes(s, 0, self._code.kept)
        self.sizes, self.p, self.space = sizes, pack(s, sizes), np.zeros(sum(sizes))
        known = np.array(p, dtype=float)
        prepare = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._code.prepare)
        prepare(known.ctypes.data, self.array("kept").ctypes.data)

    def array(self, name):
        """Return an array of the workspace."""
        return getattr(workspace_of.py_func(self.p, self.space), name)

    def rows(self, x):
        """Return the rows at x, and their derivatives."""
        evaluate(self._code.evaluate, self.p, self.space, np.array(x, dtype=float))
        return self.array("r").copy()

    def direction(self):
        """Return Newton's direction at the rows that were evaluated last."""
        find_direction(self.p, self.space)
        dx = np.zeros_like(self.array("dx"))
        dx[self.program.square.match] = self.array("dx")
        return dx

    def solve(self, x, last=True):
        """Return the unknowns, the residual and the iterations from x."""
        self.array("x")[:] = x
        found = solve_program(self._code.evaluate, self.p, self.space, NUMBERS, last)
        return self.array("x").copy(), *found


@numba.njit
def evaluate(code, p, space, x):
    steps.evaluate_at(p, space, code, x)


@numba.njit
def find_direction(p, space):
    steps.find_direction(p, space, 0.0)


@numba.njit
def solve_program(code, p, space, options, last):
    return solve(p, space, code, options, last, 1.0)
