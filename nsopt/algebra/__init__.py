"""Pure functions on CasADi expressions: rotations and their Euler parameters."""

from nsopt.algebra.euler_parameters import (
    body_rate_matrix,
    from_rotation,
    normalise,
    product,
    rotation_matrix,
    turned,
)
from nsopt.algebra.so3 import axes_from_z

__all__ = [
    "axes_from_z",
    "body_rate_matrix",
    "from_rotation",
    "normalise",
    "product",
    "rotation_matrix",
    "turned",
]
