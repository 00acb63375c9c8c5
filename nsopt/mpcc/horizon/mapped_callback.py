"""A leaf at many instances as a Function of CasADi, for expressions of a whole program."""

from __future__ import annotations

import casadi as ca

from nsopt.leaves import MappedLeaf


class MappedCallback(ca.Callback):
    """A function at so many instances; inputs and outputs have those of each side by side.

    It must be there as long as what calls it is used. What evaluates a leaf changes from one call
    to the next, its bits do not. Backends are given functions for derivatives; those that ask
    CasADi for its own get them, interpreted.
    """

    def __init__(self, leaf: MappedLeaf, count: int) -> None:
        ca.Callback.__init__(self)
        self._leaf, self._count = leaf, count
        self.construct(leaf.function.name(), {})

    def get_n_in(self) -> int:
        return int(self._leaf.function.n_in())

    def get_n_out(self) -> int:
        return int(self._leaf.function.n_out())

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        pattern = self._leaf.function.sparsity_in(i)
        return ca.repmat(pattern, 1, self._count) if i < self._leaf.own else pattern

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return ca.repmat(self._leaf.function.sparsity_out(i), 1, self._count)

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(self, *_named: object) -> ca.Function:
        return self._leaf.interpreter(self._count).jacobian()

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(
        self, arguments: tuple[memoryview, ...], results: tuple[memoryview | None, ...]
    ) -> int:
        self._leaf.evaluate(self._count, arguments, results)
        return 0
