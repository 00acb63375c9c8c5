"""Directions of slip of surfaces: bases of their tangent plane."""

import casadi as ca

# An irregular direction, so that no joint is likely to rest against it, and two perpendicular ones.
_POLE = ca.DM([2, 3, 6]) / 7
_ACROSS = (ca.DM([3, -6, 2]) / 7, ca.DM([6, 2, -3]) / 7)


def around(axis: ca.SX, normal: ca.SX) -> ca.SX:
    """Return the direction around a cylinder, shape (3, 1); zero where the normal has no length.

    The axis, and the normal where it has a length, are unit vectors in world axes.
    """
    return ca.cross(axis, normal)


def on_cylinder(axis: ca.SX, normal: ca.SX) -> ca.SX:
    """Return the directions along and around a cylinder, shape (3, 2); arguments as `around`."""
    return ca.horzcat(axis, around(axis, normal))


def on_sphere(normal: ca.SX, axes: ca.SX) -> ca.SX:
    """Return two directions tangent to a sphere at a unit normal, shape (3, 2).

    They are two axes perpendicular to a pole, turned by the least rotation that takes the pole to
    the normal. The pole is fixed in a frame whose axes, in world axes, are the columns of ``axes``
    (3, 3). No basis is continuous all over a sphere: this one is, but for the point opposite the
    pole, and there it is orthonormal all the same. Where the normal has no length, it is the basis
    at the pole.
    """
    pole, across = axes @ _POLE, [axes @ e for e in _ACROSS]
    cosine, components = ca.dot(pole, normal), [ca.dot(e, normal) for e in across]
    beside = sum((x * e for x, e in zip(components, across, strict=True)), ca.SX.zeros(3))
    # Two forms of 1 / (1 + cosine), each without cancellation on its side; 1e-60 is for the point
    # opposite the pole, where the second one would be divided by zero.
    factor = ca.if_else(
        cosine > 0, 1 / (1 + ca.fabs(cosine)), (1 - cosine) / (ca.sumsqr(beside) + 1e-60)
    )
    return ca.horzcat(
        *(e - x * (pole + factor * beside) for x, e in zip(components, across, strict=True))
    )
