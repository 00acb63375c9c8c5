"""Every relaxation with every backend finds the known solutions of small programs."""

import numpy as np
import pytest

from nsopt.mpcc import (
    ExactConvexified,
    Solver,
    Sqp,
)
from tests.catalog_methods import BACKENDS, DOWN, QP_SOLVERS, RELAXATIONS
from tests.mpcc.known import KNOWN

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("known", KNOWN, ids=lambda k: k.name)
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("relaxed", RELAXATIONS, ids=lambda x: type(x[0]).__name__)
def test_known_solution(known, backend, relaxed):
    relaxation, schedule = relaxed
    solver = Solver(relaxation=relaxation, backend=backend, schedules=[schedule])
    solution = solver.build(known.program()).solve()
    assert solution.ok, solution.status
    x = np.concatenate(list(solution.values.values()))
    # A biactive pair is met to sqrt(sigma) only: there the relaxed point itself is that far off.
    assert min(np.abs(x - np.array(p)).max() for p in known.points) < 1e-4
    assert solution.objective == pytest.approx(known.objective, abs=1e-4)


@pytest.mark.parametrize("qp", QP_SOLVERS, ids=lambda qp: qp.plugin)
@pytest.mark.parametrize("name", ["kth3", "bard1"])
def test_each_qp_solver(qp, name):
    known = next(k for k in KNOWN if k.name == name)
    solution = Solver(backend=Sqp(qp=qp), schedules=[DOWN]).build(known.program()).solve()
    assert solution.ok, solution.status
    assert solution.objective == pytest.approx(known.objective, abs=1e-4)


@pytest.mark.parametrize("name", ["kth3", "bard1"])
def test_exact_hessian(name):
    known = next(k for k in KNOWN if k.name == name)
    backend = Sqp(hessian=ExactConvexified())
    solution = Solver(backend=backend, schedules=[DOWN]).build(known.program()).solve()
    assert solution.ok, solution.status
    assert solution.objective == pytest.approx(known.objective, abs=1e-4)
