"""Time of the derivatives of loop constraints, over their order and the number of joints.

By joint screws as numbers (`LoopConstraints.derivatives`) and as a CasADi function
(`constraint_function`), and by derivatives of the closure that CasADi takes one after another.
Processor time of a call [ms], and of building each function [s].
"""

import time
from collections.abc import Callable
from math import factorial

import casadi as ca
import numpy as np
from common import machine, table

from nsopt.mobility import LoopConstraints, constraint_function, linkage

ORDERS = 1, 2, 4, 6, 8, 10
JOINTS = 4, 6, 12
NESTED = 8  # the highest order that is nested: code grows with each
HEAD = ["joints", "order", "numbers [ms]", "function [ms]", "built in [s]", "nested [ms]", "in [s]"]


def loop(joints: int) -> LoopConstraints:
    """Return a loop of hinges in space at random places."""
    rng = np.random.default_rng(0)
    axes = rng.normal(size=(joints, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    points = rng.normal(size=(joints, 3))
    screws = [[*e, *np.cross(r, e)] for e, r in zip(axes, points, strict=True)]
    return LoopConstraints(linkage(screws))


def nested(loops: LoopConstraints, order: int) -> ca.Function:
    """Return the derivatives by CasADi."""
    t, x = ca.SX.sym("t"), ca.SX.sym("x", order, loops.n)
    u = sum(x[k, :].T * t ** (k + 1) / factorial(k + 1) for k in range(order))
    e, rows = loops.closure(u)[0], []
    for _ in range(order):
        e = ca.cse(ca.jacobian(e, t))
        rows.append(ca.substitute(e, t, 0))
    return ca.Function("H", [x], [ca.horzcat(*rows)], {"cse": True})


def built(make: Callable[[], ca.Function]) -> tuple[ca.Function, float]:
    """Return what is made, and the processor time it takes [s]."""
    begin = time.process_time()
    return make(), time.process_time() - begin


def seconds(call: Callable[[], object], least: float = 0.3) -> float:
    """Return the processor time of a call, the least of several."""
    call()
    best, begin = np.inf, time.process_time()
    while time.process_time() - begin < least:
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def row(loops: LoopConstraints, joints: int, order: int) -> list[str]:
    """Return a row of the table."""
    motion = np.random.default_rng(1).normal(size=(order, loops.n))
    numbers = seconds(lambda: loops.derivatives(*motion))
    by_screws, making = built(lambda: constraint_function(loops, order))
    function = seconds(lambda: by_screws(loops.q, loops.p, *motion))
    own = [f"{1e3 * numbers:.3g}", f"{1e3 * function:.3g}", f"{making:.2g}"]
    if order > NESTED:
        return [str(joints), str(order), *own, "", ""]
    other, nesting = built(lambda: nested(loops, order))
    again = seconds(lambda: other(motion))
    return [str(joints), str(order), *own, f"{1e3 * again:.3g}", f"{nesting:.2g}"]


def main() -> None:
    """Print the table."""
    rows = [row(loops, n, order) for n in JOINTS for loops in [loop(n)] for order in ORDERS]
    print(machine())
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()
