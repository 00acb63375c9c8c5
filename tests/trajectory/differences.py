"""Finite differences, with which tests of derivatives compare."""

from nsopt.mpcc import Newton

TIGHT = Newton(tolerance=1e-13)


def difference(value, x, step):
    """Central difference of fourth order."""
    terms = [(1, -2), (-8, -1), (8, 1), (-1, 2)]
    return sum(k * value(x + n * step) for k, n in terms) / (12 * step)


def named(scheme):
    return type(scheme).__name__
