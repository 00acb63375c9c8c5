"""What kernels are given: programs as arrays, addresses of machine code, numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


class PackedPrograms(NamedTuple):
    """The programs of a step, one after another, and where each begins.

    Attributes
    ----------
    numbers : (k,)
        Programs as from `pack`.
    at : (programs + 1,)
        Where each begins.
    code : (6 programs,)
        Of each program, addresses of the machine code that gives its parameters (0 where they are
        the first numbers of the step), a guess, another one for motion that goes on as before (0
        for none), what is kept of the parameters, the terms, and their derivatives.
    of_equations : (checks,)
        Which checks of the end are of equations, 0 or 1.
    space : int
        Size of the workspace that they have by turns. It begins with what machine code keeps.
    """

    numbers: Indices
    at: Indices
    code: Indices
    of_equations: Indices
    space: int


class ChainCode(NamedTuple):
    """What an attempt is made of beside its programs.

    Attributes
    ----------
    size, end, limits, judge : int
        Addresses of machine code: (t, h to try, bounds) -> h [s]; (all numbers of the step, kept)
        -> its end; the same -> the limits of checks, in full; (what is judged) -> what follows.
    nq, nv, mechanism, unknowns : int
        How many entries q, v and the parameters of the mechanism have, and the unknowns of all
        programs.
    checks, recorded : int
        How many checks there are; how many numbers are recorded of an end, of which the local error
        and the figures of contacts that the control of h looks at are the last.
    at_h_min : float
        The largest h, over h_min, that counts as h_min.
    strictest : float
        The least part of Newton's tolerance at which it ends.
    """

    size: int
    end: int
    limits: int
    judge: int
    nq: int
    nv: int
    mechanism: int
    unknowns: int
    checks: int
    recorded: int
    at_h_min: float
    strictest: float


class NewtonNumbers(NamedTuple):
    """The options of `Newton`, and from ``first`` on of its `ProximalPoints`, as numbers."""

    tolerance: float
    rough: float
    iterations: int
    proximal: float
    first: float
    shrink: float
    grow: float
    inexact: float
    steps: int
    budget: int
    last: int
