"""Attempts at steps, one after another: choose h, solve, judge, accept or try a smaller h.

``chain`` is the `ChainCode`, ``tables`` are the `PackedPrograms`, both of `nsopt.kernels.tables`;
``w`` is the `Attempt`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nsopt.kernels.kernel import merge
from nsopt.kernels.machine import call, view
from nsopt.kernels.min_map import largest
from nsopt.kernels.newton import solve
from nsopt.kernels.tables import PackedPrograms
from nsopt.kernels.views import workspace_of

RUNNING = 0
"""Status of a chain that goes on."""

JUDGED = 14
"""How many numbers the judgement of a step is: whether it is good, the time reached, whether Newton
converged, the failed check, its value and limit; h to try, the status and what is remembered, if
good and if not."""

REPORTED = 6
"""How many of the first numbers of the judgement are recorded; the others are the next state."""

MEMORY = 2
"""How many numbers a chain remembers beside h to try: h to go back to after a step that ended at a
change of contact, and the credit, how many attempts may still be spent on such steps."""

FIGURES = 6
"""How many of the last recorded numbers the control of h looks at."""

BOUNDS = 4
"""How many numbers bound the steps of a run: h_min, h_max, its end [s], and `StepBounds.part`, 1
for a run that repeats none in shorter steps."""

RESIDUALS = 2 + BOUNDS + MEMORY
"""Place of Newton's residuals in what is judged, after t, h to try, the bounds of the run and what
is remembered."""

EXTRA = 4
"""How many of the last numbers that are judged are recorded: the largest residual of the equations
of motion [N, N m], iterations, h that was tried, kinetic energy."""


class Attempt(NamedTuple):
    """The numbers of an attempt at a step.

    Attributes
    ----------
    space : (k,)
        The workspace that all programs have in turn. It begins with what machine code keeps of
        the parameters, ``kept`` of each `Workspace`.
    step : (k,)
        t, q, v, parameters of the mechanism, h, scales, unknowns.
    judged : (JUDGED,)
        The judgement. Machine code is given it for arrays that it does not look at.
    end : (k,)
        What is recorded: h that was reached, q, v, ..., at last the figures; the largest residual
        of the equations of motion, kinetic energy; values of the checks, and their limits, which
        are in full only where simpler ones are not met.
    given : (k,)
        What is judged: t, h to try, bounds of the run, memory; Newton's residual of each program;
        the failed check, its value and limit, h that was reached, figures; then `EXTRA`.
    """

    space: Any
    step: Any
    judged: Any
    end: Any
    given: Any


@merge
def run_chains(chain: Any, tables: Any, options: Any, z: Any, parameters: Any, records: Any) -> int:
    """Run chains one after another, each until it ends or all records are filled.

    Return how many attempts the last chain made. The records are its own.

    Parameters
    ----------
    chain, tables, options : ChainCode, PackedPrograms, NewtonNumbers
    z : (chains, nz)
        State of each chain: t, q, v, h to try, memory, unknowns of the last step, status. It is
        changed.
    parameters : (chains, np)
        Of each: those of the mechanism; the `BOUNDS`; scales, the typical h [s] first.
    records : (most, record) or (most, record + nz)
        Of attempts; with the state after each, where there is room for it.
    """
    step = chain.nq + chain.nv + parameters.shape[1] + 2 - BOUNDS + chain.unknowns
    end = chain.recorded + 2 + 2 * chain.checks
    given = RESIDUALS + len(tables.at) - 1 + 4 + FIGURES + EXTRA
    a = tables.space
    b = a + step
    c = b + JUDGED
    d = c + end
    x = np.zeros(d + given)
    w = Attempt(view(x, 0, a), view(x, a, b), view(x, b, c), view(x, c, d), view(x, d, d + given))
    packed = PackedPrograms(  # views, as numba counts references to arrays at each hand-over
        view(tables.numbers, 0, len(tables.numbers)),
        view(tables.at, 0, len(tables.at)),
        view(tables.code, 0, len(tables.code)),
        view(tables.of_equations, 0, len(tables.of_equations)),
        tables.space,
    )
    count = 0
    for i in range(len(z)):
        state, known = view(z[i], 0, z.shape[1]), view(parameters[i], 0, parameters.shape[1])
        count = 0
        while count < len(records) and state[-1] == RUNNING:
            attempt(chain, packed, options, w, state, known, records[count])
            count += 1
    x[0] = 0.0  # its last use, after which numba frees it: views do not keep it alive
    return count


@merge
def attempt(
    chain: Any, tables: Any, options: Any, w: Any, z: Any, parameters: Any, record: Any
) -> None:
    """Attempt one step: fill in its record, and change the state.

    The record is 1 for an attempt that was made, `REPORTED` numbers of the judgement, `EXTRA`, what
    is recorded of the end, and, where there is room, the state after the attempt.
    """
    iterations, failed = solve_step(chain, tables, options, w, z, parameters)
    judged = judge_step(chain, w, len(tables.at) - 1, iterations, failed)
    record[0] = 1.0
    for k in range(REPORTED):
        record[1 + k] = judged[k]
    of_extra = 1 + REPORTED
    for k in range(EXTRA):
        record[of_extra + k] = w.given[len(w.given) - EXTRA + k]
    for k in range(chain.recorded):
        record[of_extra + EXTRA + k] = w.end[k]
    moving = 1 + chain.nq + chain.nv
    next_one = REPORTED  # where the next state begins: of a good step, then of one that is not
    if judged[0] != 0.0:
        z[0] = judged[1]
        for k in range(1, moving):
            z[k] = w.end[k]  # q and v: before them are t in the state, h in the end
        for k in range(chain.unknowns):
            z[moving + 1 + MEMORY + k] = w.step[len(w.step) - chain.unknowns + k]
    else:
        next_one += 2 + MEMORY
    z[moving], z[-1] = judged[next_one], judged[next_one + 1]
    for k in range(MEMORY):
        z[moving + 1 + k] = judged[next_one + 2 + k]
    first = of_extra + EXTRA + chain.recorded
    for k in range(len(record) - first):
        record[first + k] = z[k]


@merge
def solve_step(
    chain: Any, tables: Any, options: Any, w: Any, z: Any, parameters: Any
) -> tuple[int, int]:
    """Choose h and solve the step; return the iterations and the first check that fails, or -1.

    Newton's tolerance is of residuals over the typical force, the limit of acceptance is one of
    forces: where loads are above some 50 N, equations may be off by more than that although Newton
    ended. Only then is the step solved again, to round-off.
    """
    moving, bounds, checks = 1 + chain.nq + chain.nv, chain.mechanism, chain.recorded + 2
    w.given[0], w.given[1] = z[0], z[moving]
    for k in range(BOUNDS):
        w.given[2 + k] = parameters[bounds + k]
    for k in range(MEMORY):
        w.given[2 + BOUNDS + k] = z[moving + 1 + k]
    call(chain.size, w.given, w.judged, w.step)
    h = w.step[0]  # the one result, which t of the step replaces now
    state_step(chain, w, z, parameters, h)
    last = h <= parameters[bounds] * chain.at_h_min
    old = view(z, moving + 1 + MEMORY, len(z) - 1)
    residuals = view(w.given, RESIDUALS, RESIDUALS + len(tables.at) - 1)
    iterations, failed = 0, -1
    for most in (1.0, chain.strictest):
        # Residuals are impulses over those of the typical h: in a shorter step they must be less.
        share = min(max(h / parameters[bounds + BOUNDS], chain.strictest), most)
        iterations += solve_in_turn(chain, tables, options, w, old, last, share, residuals)
        call(chain.end, w.step, w.space, w.end)
        failed = find_failure(w.end, checks, chain.checks)
        if failed >= 0:  # what errors and round-off allow beyond takes long to compute
            limits = view(w.end, checks + chain.checks, checks + 2 * chain.checks)
            call(chain.limits, w.step, w.space, limits)
            failed = find_failure(w.end, checks, chain.checks)
        exact = largest(residuals) <= options.tolerance
        if failed < 0 or not exact or not tables.of_equations[failed]:
            break
    return iterations, failed


@merge
def judge_step(chain: Any, w: Any, programs: int, iterations: int, failed: int) -> Any:
    """Return the judgement of a solved step; what it is made of stays in ``w.given``."""
    given, end, at = w.given, w.end, RESIDUALS + programs
    check = chain.recorded + 2 + max(failed, 0)
    given[at], given[at + 1], given[at + 2] = failed, end[check], end[check + chain.checks]
    given[at + 3] = end[0]
    for k in range(FIGURES):
        given[at + 4 + k] = end[chain.recorded - FIGURES + k]
    extra = at + 4 + FIGURES
    given[extra], given[extra + 1] = end[chain.recorded], iterations
    given[extra + 2] = w.step[1 + chain.nq + chain.nv + chain.mechanism]  # h that was tried
    given[extra + 3] = end[chain.recorded + 1]
    call(chain.judge, given, given, w.judged)
    return w.judged


@merge
def state_step(chain: Any, w: Any, z: Any, parameters: Any, h: float) -> None:
    """Write all numbers of a step but its unknowns."""
    moving, mechanism = 1 + chain.nq + chain.nv, chain.mechanism
    for k in range(moving):
        w.step[k] = z[k]
    for k in range(mechanism):
        w.step[moving + k] = parameters[k]
    w.step[moving + mechanism] = h
    for k in range(mechanism + BOUNDS, len(parameters)):  # scales
        w.step[moving + k + 1 - BOUNDS] = parameters[k]


@merge
def solve_in_turn(
    chain: Any,
    tables: Any,
    options: Any,
    w: Any,
    old: Any,
    last: bool,
    share: float,
    residuals: Any,
) -> int:
    """Solve the programs of a step, each with the unknowns of those before; return the iterations.

    Unknowns are written into the numbers of the step: the parameters of a program are all that
    come before its own, unless ``tables.code`` has code that gives them.

    Parameters
    ----------
    old : (unknowns,)
        Of the last step.
    last, share : bool, float
        Whether h cannot be smaller, and the share of Newton's tolerance to solve to, see `solve`.
    residuals : (programs,)
        The largest scaled residual of each.
    """
    iterations, begin = 0, len(w.step) - chain.unknowns
    first = begin
    for k in range(len(tables.at) - 1):
        p = view(tables.numbers, tables.at[k], tables.at[k + 1])
        x = workspace_of(p, w.space)
        n = len(x.x)
        c = 6 * k
        parameters_of, guess, next_guess = tables.code[c], tables.code[c + 1], tables.code[c + 2]
        prepare, evaluate, complete = tables.code[c + 3], tables.code[c + 4], tables.code[c + 5]
        for i in range(n):
            w.step[first + i] = old[first - begin + i]
        call(guess, w.step, w.judged, x.x)
        if next_guess:
            call(next_guess, w.step, w.judged, x.trial)
        if parameters_of:
            call(parameters_of, w.step, w.judged, x.known)
            call(prepare, x.known, x.kept, w.judged)
        else:
            call(prepare, w.step, x.kept, w.judged)
        goes_on = next_guess != 0
        residuals[k], taken = solve(p, w.space, evaluate, complete, options, last, share, goes_on)
        iterations += taken
        for i in range(n):
            w.step[first + i] = x.x[i]
        first += n
    return iterations


@merge
def find_failure(end: Any, first: int, count: int) -> int:
    """Return the first of the checked values that is not within its limit, -1 where all are."""
    for k in range(first, first + count):
        if not end[k] <= end[k + count]:
            return k - first
    return -1
