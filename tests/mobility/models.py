"""Linkages of the tests, from their joint screws or from the named problems."""

from functools import cache

from nsopt.mobility import linkage, mobility
from nsopt.problem import load_mechanism

# Joint screws (omega, v) of the reference figures for mobility: orthogonal Bricard linkage,
# and a planar four-bar of generic proportions.
BRICARD = [
    (0, 1, 0, 0, 0, 0),
    (0, 0, 1, 0, -1, 0),
    (1, 0, 0, 0, 0, 1),
    (0, 1, 0, -1, 0, 1),
    (0, 0, 1, -1, 0, 0),
    (1, 0, 0, 0, 1, 0),
]
GENERIC = [(0, 0, 1, y, -x, 0) for x, y in ((0, 0), (0.5, 1), (1.6, 1.2), (2, 0))]


@cache
def problem(name):
    """The mobility of a named problem."""
    return mobility(load_mechanism(name))


@cache
def of_screws(screws):
    return mobility(linkage(screws))


def direction(branch):
    """The rates of a line, the first that is not zero being one."""
    rates = [float(x[0]) for x in branch.rates.values()]
    first = next(x for x in rates if abs(x) > 1e-9)
    return [x / first for x in rates]
