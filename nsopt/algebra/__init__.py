"""Pure functions: rotations, screws, null space, linear systems, quantiles, jets of expressions."""

from nsopt.algebra.euler_parameters import (
    angular_velocity_over,
    body_rate_matrix,
    from_rotation,
    normalise,
    product,
    rotate,
    rotation_matrix,
    turn,
    turn_jacobian,
    turn_over,
)
from nsopt.algebra.jets import JetScalars, TimeJet, leibniz
from nsopt.algebra.null_vectors import left_null_arrays, left_null_vectors
from nsopt.algebra.quantile import find_quantile
from nsopt.algebra.rank import find_parts, has_independent_rows, new_directions, null_space, rank
from nsopt.algebra.scalars import Scalars, evaluate
from nsopt.algebra.se3 import Ad, ad, bracket, cross, exp
from nsopt.algebra.so3 import ROUND_OFF, axes_from_z, rotation_vector, without_round_off
from nsopt.algebra.state_once import state_once

__all__ = [
    "ROUND_OFF",
    "Ad",
    "JetScalars",
    "Scalars",
    "TimeJet",
    "ad",
    "angular_velocity_over",
    "axes_from_z",
    "body_rate_matrix",
    "bracket",
    "cross",
    "evaluate",
    "exp",
    "find_parts",
    "find_quantile",
    "from_rotation",
    "has_independent_rows",
    "left_null_arrays",
    "left_null_vectors",
    "leibniz",
    "new_directions",
    "normalise",
    "null_space",
    "product",
    "rank",
    "rotate",
    "rotation_matrix",
    "rotation_vector",
    "state_once",
    "turn",
    "turn_jacobian",
    "turn_over",
    "without_round_off",
]
