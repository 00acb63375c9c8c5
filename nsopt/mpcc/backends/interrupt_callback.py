"""Ctrl-C between the iterations of CasADi's solvers."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from nsopt.interrupt import is_interrupted


class InterruptCallback(ca.Callback):
    """An iteration callback that ends the solver, at the point it has, where Ctrl-C was pressed.

    An exception inside a solver would be lost: CasADi takes it for a failed evaluation. ``x``,
    ``p`` and ``g`` are the numbers of unknowns, parameters and rows.
    """

    def __init__(self, name: str, x: int, p: int, g: int) -> None:
        ca.Callback.__init__(self)
        sizes = {"x": x, "f": 1, "g": g, "lam_x": x, "lam_g": g, "lam_p": p}
        self._sizes = [sizes[name] for name in ca.nlpsol_out()]
        self.construct(name, {})

    def get_n_in(self) -> int:
        """Return the number of outputs of a solver, which are the inputs here."""
        return len(self._sizes)

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._sizes[i], 1)

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arguments: Any, results: Any) -> int:
        """Tell the solver whether to stop."""
        del arguments
        np.frombuffer(results[0])[:] = float(is_interrupted())
        return 0
