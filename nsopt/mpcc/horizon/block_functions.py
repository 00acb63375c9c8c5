"""The function of a constraint block and its derivatives, evaluated at all its instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca

from nsopt.leaves import MappedLeaf
from nsopt.mpcc.horizon.lifted_numbers import lift_numbers
from nsopt.mpcc.horizon.mapped_callback import MappedCallback

LONG = 5000
"""Instructions of a block from which its numbers are inputs of its functions: their machine code
takes seconds, and serves any mass, clearance or scale then."""

MANY = 10
"""Instances from which short functions, too, are evaluated as leaves: of fewer a call of Python
takes longer than CasADi's virtual machine."""


@dataclass(frozen=True, eq=False)
class InstanceFunction:
    """A function of one instance of a block."""

    leaf: MappedLeaf
    numbers: ca.DM  # (k,) its last input, if any
    _callbacks: dict[int, MappedCallback] = field(default_factory=dict)

    def pattern(self, i: int) -> ca.Sparsity:
        """Return the pattern of an output of one instance."""
        return self.leaf.function.sparsity_out(i)

    def __call__(self, own: Sequence[ca.MX], common: Sequence[ca.MX], count: int) -> list[ca.MX]:
        """Return outputs with the columns of each instance side by side.

        ``own`` inputs (m, count) are those of each instance, ``common`` ones (m,) all share. The
        outputs can be evaluated as long as this function is there.
        """
        given = [*own, *common, *([ca.MX(self.numbers)] if self.numbers.numel() else [])]
        if count < MANY and self.leaf.function.n_instructions() < LONG:
            return list(self.leaf.interpreter(count).call(given))
        if count not in self._callbacks:
            self._callbacks[count] = MappedCallback(self.leaf, count)
        return list(self._callbacks[count].call(given))


class BlockFunctions(NamedTuple):
    """The function of a block and its derivatives, of (w, data) and common p."""

    value: InstanceFunction  # -> sum of the terms of the objective
    rows: InstanceFunction  # -> rows (m,)
    slope: InstanceFunction  # -> sum of the terms, and its gradient (nw,)
    jacobian: InstanceFunction  # -> rows, and their Jacobian (m, nw)
    hessian: InstanceFunction  # (w, data, lam), (p, sigma) -> upper triangle, of the Lagrangian

    @classmethod
    def of(cls, function: ca.Function) -> BlockFunctions:
        """Return those of (w, data, p) -> (rows, terms)."""
        long = function.n_instructions() >= LONG
        general, numbers = lift_numbers(function) if long else (function, ca.DM(0, 1))
        leaves = map(MappedLeaf, _derive(general), OWN)
        return cls(*(InstanceFunction(leaf, numbers) for leaf in leaves))


OWN = (2, 2, 2, 2, 3)  # inputs that each instance has for itself


def _derive(function: ca.Function) -> list[ca.Function]:
    """Return the functions of `BlockFunctions`; inputs after p are common ones too."""
    names = ["w", "data", "p", "numbers"][: function.n_in()]
    w, data, *common = (ca.SX.sym(x, function.numel_in(i)) for i, x in enumerate(names))
    rows, terms = function(w, data, *common)
    f = ca.densify(ca.sum1(terms))
    lam, sigma = ca.SX.sym("lam", function.numel_out(0)), ca.SX.sym("sigma")
    H = ca.triu(ca.hessian(sigma * f + ca.dot(lam, rows), w)[0])
    known, rows = [w, data, *common], ca.densify(rows)
    weighted = [w, data, lam, common[0], sigma, *common[1:]]
    outputs = {
        "value": (known, [f]),
        "rows": (known, [rows]),
        "slope": (known, [f, ca.gradient(f, w)]),
        "jacobian": (known, [rows, ca.jacobian(rows, w)]),
        "hessian": (weighted, [H]),
    }
    return [ca.Function(f"{function.name()}_{x}", *outputs[x]) for x in BlockFunctions._fields]
