"""The parts of a Newton iteration on a program and on its proximal points."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cache

import casadi as ca

from nsopt.algebra import in_pairs


@dataclass(frozen=True, eq=False)
class NewtonSteps:
    """Steps on z = (x, rows, count): unknowns (n,), scaled residuals (n,), number of steps.

    A point is (part, last, weights) of `near`.

    Parameters
    ----------
    prepare : Function given -> terms
        What the steps need that depends on what is given alone; both are the ``constants``.
    rows : Function (x, constants, *point) -> (n,)
    move : Function (x, rows, constants, *point) -> (n,)
        Newton's step dx; the next unknowns are x - dx.
    weights : Function (x, constants) -> (nz,)
        See `slope_weights`.
    """

    prepare: ca.Function
    rows: ca.Function
    move: ca.Function
    weights: ca.Function

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return int(self.rows.numel_in(0))

    @property
    def given(self) -> int:
        """How many numbers are given."""
        return int(self.prepare.numel_in(0))

    def constants(self, given: ca.MX) -> ca.MX:
        """Return the constants of a solve."""
        return ca.vertcat(given, self.prepare(given)) if self.prepare.numel_out(0) else given

    def symbols(self) -> tuple[ca.MX, ca.MX]:
        """Return symbols for z and constants."""
        return ca.MX.sym("z", 2 * self.n + 1), ca.MX.sym("constants", self.rows.numel_in(1))

    def itself(self, x: ca.MX) -> tuple[ca.MX | float, ca.MX, ca.MX]:
        """Return the point at which the program is itself."""
        return 0.0, x, ca.MX.ones(self.weights.numel_out(0))

    def packed(self, x: ca.MX, constants: ca.MX, count: ca.MX | int) -> ca.MX:
        """Return z of unknowns of the program itself."""
        return ca.vertcat(x, self.rows(x, constants, *self.itself(x)), count)

    def full_step(self) -> ca.Function:
        """Return (z, constants) -> z after a full step of the program itself."""
        z, constants = self.symbols()
        n = self.n
        x, r, count = z[:n], z[n : 2 * n], z[2 * n]
        dx = self.move(x, r, constants, *self.itself(x))
        return ca.Function("full_step", [z, constants], [self.packed(x - dx, constants, count + 1)])

    def residual(self, z: ca.MX) -> ca.MX:
        """Return the largest scaled residual."""
        return largest(z[self.n : 2 * self.n])


def largest(r: ca.MX) -> ca.MX:
    """Return the largest size; not a number where any is."""
    return _largest(r.numel())(r)


@cache
def _largest(n: int) -> ca.Function:
    """Return the function of n numbers, without a chain in which each waits for the one before."""
    r = ca.SX.sym("r", n)
    size = in_pairs(lambda a, b: ca.if_else(a > b, a, b), ca.vertsplit(ca.fabs(r)))
    # A comparison would hide what is not a number; zero times it would be simplified away.
    return ca.Function("largest", [r], [size + 1e-300 * in_pairs(operator.add, ca.vertsplit(r))])
