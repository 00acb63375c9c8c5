"""Pure functions: rotations and their Euler parameters, elimination, rank and null space."""

from nsopt.algebra.elimination import solve_symbolic
from nsopt.algebra.euler_parameters import (
    body_rate_matrix,
    from_rotation,
    normalise,
    product,
    rotation_matrix,
    turned,
)
from nsopt.algebra.rank import null_space, rank
from nsopt.algebra.so3 import ROUND_OFF, axes_from_z, without_round_off

__all__ = [
    "ROUND_OFF",
    "axes_from_z",
    "body_rate_matrix",
    "from_rotation",
    "normalise",
    "null_space",
    "product",
    "rank",
    "rotation_matrix",
    "solve_symbolic",
    "turned",
    "without_round_off",
]
