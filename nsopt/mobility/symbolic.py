"""Higher-order constraints as CasADi functions, of the posture too."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import Scalars, TimeJet
from nsopt.mobility.constraints import LoopConstraints


class SxScalars(Scalars):
    """Functions of CasADi's SX."""

    def function(self, name: str, *x: Any) -> Any:
        return getattr(ca, name)(*x)

    def positive(self, x: Any) -> bool:
        raise ValueError(f"derivatives of an absolute value need the sign of a number, got {x}")


def constraint_function(loops: LoopConstraints, order: int) -> ca.Function:
    """Return (q, p, u1, u2, ...) -> H (m, order), column k is H^(k) of `LoopConstraints`.

    q (nq,) is the posture, p the Parameters, u1 to u<order> (n,) the derivatives of u by time.
    """
    q, p = ca.SX.sym("q", len(loops.q)), ca.SX.sym("p", len(loops.p))
    motion = [ca.SX.sym(f"u{k + 1}", loops.n) for k in range(order)]
    screws, poses = (_objects(x) for x in loops.tree.screws_and_poses(q, p))
    still = np.zeros((order, 1), dtype=object)
    parameters = [TimeJet(np.concatenate([_objects(x), still])) for x in ca.vertsplit(p)]
    u = np.stack([_objects(x) for x in motion])
    H = loops.derivatives_in(SxScalars(), screws, poses, parameters, u)
    columns = [ca.vertcat(*map(ca.SX, derivative)) for derivative in H[:, :, 0]]
    names = ["q", "p", *(f"u{k + 1}" for k in range(order))]
    return ca.Function("H", [q, p, *motion], [ca.horzcat(*columns)], names, ["H"])


def _objects(matrix: ca.SX) -> NDArray[Any]:
    """Return the entries of a matrix as an array of objects."""
    entries = np.empty(matrix.shape, dtype=object)
    for index in np.ndindex(*entries.shape):
        entries[index] = matrix[index]
    return entries
