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
        the first numbers of the step), a guess of its unknowns, another one for motion that goes on
        as before (0 for none), what is kept of the parameters, the terms, and their derivatives.
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
        Addresses of machine code. ``size``: t, h to try, bounds of h, what the chain remembers -> h
        [s] of the step. ``end``: t, q, v, parameters, h, scales and unknowns of the step, and what
        code keeps of parameters -> the figures and checks of its end. ``limits``: the same -> the
        limits of checks with all that errors and round-off allow, which ``end`` leaves out as it
        takes long. ``judge``: figures of the end -> whether the step is accepted, the next h.
    nq, nv, mechanism, unknowns : int
        How many entries q, v and the parameters of the mechanism have, and the unknowns of all
        programs.
    checks, recorded : int
        How many checks there are; how many numbers are recorded of an end, of which the local error
        and the figures of contacts that the control of h looks at are the last.
    at_h_min : float
        The largest h, over h_min, that counts as h_min.
    strictest : float
        Least factor of Newton's tolerance: in short steps it is tightened down to this.
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

    tolerance: float  # largest scaled residual at which the iteration ends at once
    rough: float  # the same after some steps, where round-off keeps it from falling further
    iterations: int  # full steps at most
    proximal: float  # part of its own size that is added to each pivot of a multiplier
    first: float  # ``part`` of the first proximal point
    shrink: float  # its factor after a point that was found
    grow: float  # its factor after one that was not
    inexact: float  # residual at which a point counts as found, over its part
    steps: int  # of Newton at most for each point
    budget: int  # steps in all at most, where a failure only leads to a smaller h
    last: int  # the same at h_min and elsewhere
