"""The parts of a Newton iteration on a program and on its proximal points."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from nsopt.algebra import in_pairs
from nsopt.mpcc.lanes import Lanes

COLUMNS = 16
"""Columns whose largest numbers are found side by side."""


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
    largest : Function r (n,) -> size
        See `largest`.
    """

    prepare: ca.Function
    rows: ca.Function
    move: ca.Function
    weights: ca.Function
    largest: ca.Function

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
        return self.largest(z[self.n : 2 * self.n])


def largest(name: str, n: int, lanes: Lanes) -> ca.Function:
    """Return the function of n numbers that is the largest size; not a number where any is.

    Without a chain in which each waits for the one before. Where lanes are laid out, no other
    function may have its name.
    """
    r = ca.SX.sym("r", n)
    if lanes.many:
        lanes.assign(r, [str(k % COLUMNS) for k in range(n)])
    numbers, sizes = ca.vertsplit(r), ca.vertsplit(ca.fabs(r))

    def joined(operation: Callable[[ca.SX, ca.SX], ca.SX], entries: list[ca.SX]) -> ca.SX:
        columns = [entries[k::COLUMNS] for k in range(min(n, COLUMNS))]
        return in_pairs(operation, [in_pairs(operation, column) for column in columns])

    size = joined(lambda a, b: ca.if_else(a > b, a, b), sizes)
    # A comparison would hide what is not a number; zero times it would be simplified away.
    return ca.Function(name, [r], [size + 1e-300 * joined(operator.add, numbers)])
