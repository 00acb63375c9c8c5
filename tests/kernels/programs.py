"""Square programs for tests of kernels, and kernels that Python may call."""

import casadi as ca
import numpy as np

from nsopt.kernels import Workspace, pack, solve_square, workspace_sizes
from nsopt.mpcc import Mpcc, Newton, SquareProgram


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
        self._code = self.program.leaf.code
        s = self.program.square
        self.sizes = workspace_sizes(s, 0, self._code.kept)
        self.p, self.space = pack(s, self.sizes), np.zeros(sum(self.sizes))
        self.arrays = Workspace._make(np.split(self.space, np.cumsum(self.sizes)[:-1]))
        self._code.keep(p, self.arrays.kept)

    def rows(self, x):
        """Return the rows at x."""
        self._solve(x, False, iterations=0, last=0)
        return self.arrays.r.copy()

    def direction(self, x):
        """Return Newton's direction at x."""
        self._solve(x, False, iterations=1, last=0, proximal=0.0)
        return x - self.arrays.x

    def solve(self, x, last=True):
        """Return the unknowns, the residual and the iterations from x."""
        found = self._solve(x, last)
        return self.arrays.x.copy(), *found

    def _solve(self, x, hard, **options):
        self.arrays.x[:] = x
        numbers = Newton().numbers._replace(**options)
        addresses = self._code.evaluate, self._code.complete
        return solve_square(self.p, self.space, *addresses, numbers, hard, 1.0)
