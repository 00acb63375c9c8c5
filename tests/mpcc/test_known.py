"""Every relaxation with every backend finds the known solutions of small programs."""

import numpy as np
import pytest

from nsopt.mpcc import (
    Daqp,
    ExactConvexified,
    ExactPenalty,
    FischerBurmeister,
    Ipopt,
    NaturalResidual,
    Osqp,
    Piqp,
    Proxqp,
    Scholtes,
    ScholtesAggregated,
    Solver,
    Sqp,
)
from tests.mpcc.known import KNOWN

DOWN = tuple(10.0**-k for k in range(11))
SCHEDULES = [
    (Scholtes(), DOWN),
    (ScholtesAggregated(), DOWN),
    (FischerBurmeister(), DOWN),
    (NaturalResidual(), DOWN),
    (ExactPenalty(), (0.1, 0.01)),
]


@pytest.mark.parametrize("known", KNOWN, ids=lambda k: k.name)
@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
@pytest.mark.parametrize("way", SCHEDULES, ids=lambda w: type(w[0]).__name__)
def test_known_solution(known, backend, way):
    relaxation, schedule = way
    solver = Solver(relaxation=relaxation, backend=backend, schedule=schedule)
    solution = solver.build(known.program()).solve()
    assert solution.ok, solution.status
    x = np.concatenate(list(solution.values.values()))
    # A biactive pair is met to sqrt(sigma) only: there the relaxed point itself is that far off.
    assert min(np.abs(x - np.array(p)).max() for p in known.points) < 1e-4
    assert solution.objective == pytest.approx(known.objective, abs=1e-4)


@pytest.mark.parametrize("qp", [Daqp(), Piqp(), Osqp(), Proxqp()], ids=lambda qp: qp.plugin)
@pytest.mark.parametrize("name", ["kth3", "bard1"])
def test_each_qp_solver(qp, name):
    known = next(k for k in KNOWN if k.name == name)
    solution = Solver(backend=Sqp(qp=qp), schedule=DOWN).build(known.program()).solve()
    assert solution.ok, solution.status
    assert solution.objective == pytest.approx(known.objective, abs=1e-4)


@pytest.mark.parametrize("name", ["kth3", "bard1"])
def test_exact_hessian(name):
    known = next(k for k in KNOWN if k.name == name)
    backend = Sqp(hessian=ExactConvexified())
    solution = Solver(backend=backend, schedule=DOWN).build(known.program()).solve()
    assert solution.ok, solution.status
    assert solution.objective == pytest.approx(known.objective, abs=1e-4)
