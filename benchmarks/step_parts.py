"""Where the time of a step goes: chains of worn hinges by size, part by part.

Parts are machine code that prepares the programs of a step; their values in each iteration, with
the min map; their derivatives; Newton's directions (assembly and elimination); the end of a step
and its checks. Each is timed alone, in a loop over the numbers of one step, and counted as often as
a step needs it, iterations shared evenly among its programs. The rest of the whole is copying, and
code and numbers that have left the cache. Times are the least of several, with code of LLVM's
level 2, and of the thread: others still make such code meanwhile.
"""

import argparse
from collections.abc import Callable
from functools import partial
from time import thread_time
from typing import Any, NamedTuple
from unittest.mock import patch

import numba
import numpy as np
from common import Array, machine, slope, table
from scaling import COUNT, STEP, chain

from nsopt import Compiled, StepBounds, Variational, simulate
from nsopt.kernels import steps
from nsopt.kernels.machine import call
from nsopt.simulation.step_kernel import StepKernel

SIZES, REPEATS = [1, 5, 20, 50], 5
CALLS = 20_000  # of one part of one hinge; of n hinges by n less


class Call(NamedTuple):
    """A call of a kernel: what was given, and the records of its attempts."""

    kernel: StepKernel
    z: Array
    parameters: Array
    records: Array


class Parts(NamedTuple):
    """Times of a step and of its parts [us], and Newton's iterations."""

    step: float
    prepare: float
    values: float
    slopes: float
    end: float
    direction: float
    iterations: float


@numba.njit
def _call_often(count: int, code: int, a: Array, b: Array, c: Array) -> None:
    for _ in range(count):
        call(code, a, b, c)


@numba.njit
def _find_often(count: int, p: Array, space: Array, code: int, x: Array) -> None:
    for _ in range(count):
        steps.find_direction(p, space, code, x, 1e-9, steps.SHIFT)


@numba.njit
def _evaluate_often(count: int, p: Array, space: Array, code: int, x: Array) -> None:
    for _ in range(count):
        steps.evaluate_at(p, space, code, x)


def falls(n: int) -> Call:
    """Return the first call of a chain of n hinges that falls from level."""
    calls: list[Call] = []
    run = StepKernel.__call__

    def watch(kernel: StepKernel, z: Array, parameters: Array, attempts: int) -> Any:
        state, records = run(kernel, z, parameters, attempts)
        calls.append(Call(kernel, np.array(z), np.array(parameters), records))
        return state, records

    how: dict[str, Any] = {
        "scheme": Variational(),
        "solver": Compiled(),
        "progress": False,
        "check": None,
    }
    with patch.object(StepKernel, "__call__", watch):
        simulate(chain(n), duration=COUNT * STEP, steps=StepBounds(STEP, STEP), **how)
    for leaf in calls[0].kernel._leaves:
        leaf.compile(2)
    return calls[0]


def least(run: Callable[[int], object], count: int, repeats: int) -> float:
    """Return the least time of one of ``count`` runs [us]."""
    run(1)
    found = []
    for _ in range(repeats):
        begin = thread_time()
        run(count)
        found.append(thread_time() - begin)
    return 1e6 * min(found) / count


def measured(n: int, repeats: int) -> Parts:
    """Return the times of a chain of n hinges."""
    kernel, z, parameters, records = falls(n)
    made, count = len(records), CALLS // n
    step = least(lambda _: kernel(z, parameters, made), 1, 3 * repeats) / made
    state, _ = kernel(z, parameters, made)
    (chain_code, tables, _), _ = kernel._code()
    layout = kernel.layout
    now = layout.state(state)
    t, q, v, x = now.t, now.q, now.v, now.x
    p, scales = parameters[: layout.mechanism], parameters[layout.mechanism + 4 :]
    numbers, space = np.concatenate([t, q, v, p, [STEP], scales, x]), np.zeros(tables.space)
    scratch = np.zeros(10 * state.size)

    def timed(code: int, *arrays: Array) -> float:
        return least(lambda count: _call_often(count, code, *arrays), count, repeats)

    iterations = float(kernel.fields(records)["iterations"].mean())
    found = Parts(step, 0.0, 0.0, 0.0, 0.0, 0.0, iterations)
    share = iterations / len(kernel._step.solved)  # of a program
    for k, solved in enumerate(kernel._step.solved):
        program = tables.numbers[tables.at[k] : tables.at[k + 1]]
        _, _, _, prepare, evaluate, complete = tables.code[6 * k : 6 * k + 6]
        own, x = x[: solved.square.n], x[solved.square.n :]
        prepared = timed(prepare, numbers, space, scratch)  # what is kept begins the workspace
        at = {"p": program, "space": space, "x": own}
        valued = least(partial(_evaluate_often, code=evaluate, **at), count, repeats)
        directed = least(partial(_find_often, code=complete, **at), count, repeats)
        sloped = timed(complete, own, space, np.zeros(solved.square.values))
        found = found._replace(
            prepare=found.prepare + prepared,
            values=found.values + (share + 1) * valued,
            slopes=found.slopes + share * sloped,
            direction=found.direction + share * (directed - sloped),
        )
    end = np.zeros(kernel.record + 2 * chain_code.checks)
    return found._replace(end=timed(chain_code.end, numbers, space, end))


def main() -> None:
    """Print the table, and how the time of a step grows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args()
    print(machine())
    found = [measured(n, options.repeats) for n in options.sizes]
    head = ["hinges", "a step [us]", "prepare", "values", "derivatives", "directions", "end"]
    head += ["rest", "iterations"]
    rows = []
    for n, f in zip(options.sizes, found, strict=True):
        parts = (f.prepare, f.values, f.slopes, f.direction, f.end)
        shares = [f"{100 * x / f.step:.0f} %" for x in (*parts, f.step - sum(parts))]
        rows.append([str(n), f"{f.step:.3g}", *shares, f"{f.iterations:.1f}"])
    print(table(head, rows))
    if len(found) > 1:
        power = slope(options.sizes, [f.step for f in found])
        print(f"a step grows with hinges^{power:.2f}")


if __name__ == "__main__":
    main()
