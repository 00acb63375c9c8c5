"""The linear solver against dense linear algebra, and IPOPT with it against IPOPT with MUMPS."""

import ctypes
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from nsopt import Solver, assemble
from nsopt.mpcc import Ipopt
from nsopt.mpcc.backends import ipopt, linear_solver
from nsopt.trajectory import (
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    Optimization,
    Quintic,
    StartAt,
)
from tests.catalog_trajectory import ARM
from tests.mpcc.compilers import forget, needs_compiler

I, D, L = ctypes.c_int, ctypes.c_double, ctypes.c_long
CONTROL = [("f_arrays", I), ("action", I), ("nemin", I), ("multiplier", D), ("ordering", I)]
CONTROL += [("print_level", I), ("scaling", I), ("small", D), ("u", D), ("rest", D * 40)]
INFO = ["flag", "flag68", "flag77", "dup", "rank", "out", "missing", "depth", "front", "delay"]


class Control(ctypes.Structure):
    _fields_ = CONTROL


class Info(ctypes.Structure):
    _fields_ = [
        *((name, I) for name in INFO),
        *((name, L) for name in ("factor", "flops")),
        *((name, I) for name in ("neg", "sup", "two", "ordering", "stat")),
        ("rest", D * 40),
    ]


class Factored:
    """A symmetric matrix, factored as IPOPT asks for it."""

    def __init__(self, matrix, threshold=1e-8):
        self.lib = ctypes.CDLL(str(linear_solver.library()))
        lower = sp.tril(matrix).tocsc()
        lower.sort_indices()
        self.n = matrix.shape[0]
        self.pattern = [np.array(x + 1, dtype=np.int32) for x in (lower.indptr, lower.indices)]
        self.kept, self.factors = ctypes.c_void_p(), ctypes.c_void_p()
        self.control, self.info = Control(), Info()
        self.lib.ma97_default_control_d(ctypes.byref(self.control))
        self.control.f_arrays, self.control.u = 1, threshold
        at = self.pattern
        self.call("analyse", 0, self.n, *map(at_data, at), None, ctypes.byref(self.kept), None)
        self.values(lower.data)

    def call(self, name, *arguments):
        *first, last = arguments
        known = (ctypes.byref(self.control), ctypes.byref(self.info))
        rest = () if last is Ellipsis else (last,)
        getattr(self.lib, f"ma97_{name}_d")(*first, *known, *rest)

    def values(self, data):
        at = (*map(at_data, self.pattern), at_data(np.array(data, dtype=float)))
        self.call("factor", 4, *at, *self.handles, None)

    @property
    def handles(self):
        return ctypes.byref(self.kept), ctypes.byref(self.factors)

    def solve(self, right):
        x = np.array(right, dtype=float)
        self.call("solve", 0, 1, at_data(x), self.n, *self.handles, ...)
        return x

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.ma97_finalise_d(*self.handles)


def at_data(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def conditions(rng, n, m, density=0.15):
    """First order conditions: n unknowns, m equations of full rank, no sign of the Hessian."""
    H = sp.random(n, n, density, random_state=rng)
    unit = sp.csr_matrix((np.ones(m), (range(m), rng.permutation(n)[:m])), shape=(m, n))
    J = sp.random(m, n, density, random_state=rng) + unit
    H = H + H.T + sp.diags(rng.choice([0.0, 1.0, 2.0, -1.0], n))
    return sp.bmat([[H, J.T], [J, None]]).tocsc()


def horizon(steps, states=3, seed=0):
    """Conditions of a linear system over a horizon from a state to a state, slacks included."""
    rng = np.random.default_rng(seed)
    n = states + 2  # states, control, and a limited sum with its slack
    A, B = np.eye(states) + 0.1 * rng.normal(size=(states, states)), rng.normal(size=(states, 1))
    x = n * (steps + 1)
    rows = []
    for k in range(steps):
        row = np.zeros((states, x))
        row[:, n * k : n * k + states], row[:, n * k + states] = A, 0.01 * B[:, 0]
        row[:, n * (k + 1) : n * (k + 1) + states] = -np.eye(states)
        rows.append(row)
    limits = np.zeros((steps + 1, x))
    for k in range(steps + 1):
        limits[k, n * k : n * k + states + 1] = rng.normal(size=states + 1)
        limits[k, n * k + states + 1] = -1
    ends = np.zeros((2 * states, x))
    ends[:states, :states] = ends[states:, x - n : x - 2] = np.eye(states)
    J = sp.csr_matrix(np.vstack([*rows, limits, ends]))
    weight = np.tile([*np.ones(states), 0.1, 1e-9], steps + 1)
    return sp.bmat([[sp.diags(weight), J.T], [J, None]]).tocsc(), J.shape[0]


def backward_error(matrix, x, right):
    """Residual beside the terms of which it is the sum."""
    terms = np.abs(matrix) @ np.abs(x) + np.abs(right)
    return np.abs(matrix @ x - right).max() / terms.max()


@needs_compiler
@pytest.mark.parametrize("seed", range(40))
def test_solutions_and_inertia_are_those_of_dense_algebra(seed):
    rng, known = np.random.default_rng(seed), np.zeros(1)
    while np.abs(known).min() < 1e-7:  # singular but for round-off, where signs mean nothing
        n = int(rng.integers(1, 60))
        matrix = conditions(rng, n, int(rng.integers(0, n // 2 + 1)))
        known = np.linalg.eigvalsh(matrix.toarray())
    right = rng.normal(size=matrix.shape[0])
    with Factored(matrix) as factored:
        assert factored.info.flag == 0
        assert factored.info.neg == np.sum(known < 0)
        x = factored.solve(right)
        assert factored.info.neg == np.sum(known < 0)  # IPOPT reads it after solving
    assert backward_error(matrix, x, right) < 1e-8


@needs_compiler
def test_a_horizon_is_solved_and_few_pivots_are_delayed():
    """Ends that are given make more equations than a recursion along time has unknowns for."""
    matrix, rows = horizon(400)
    right = np.random.default_rng(1).normal(size=matrix.shape[0])
    with Factored(matrix) as factored:
        assert factored.info.neg == rows
        assert factored.info.delay < 100
        x = factored.solve(right)
    known = sp.linalg.spsolve(matrix, right)
    assert x == pytest.approx(known, rel=1e-6, abs=1e-6 * np.abs(known).max())


@needs_compiler
def test_factors_grow_in_proportion_to_the_horizon():
    stored = []
    for steps in (200, 400):
        with Factored(horizon(steps)[0]) as factored:
            stored.append(factored.info.factor)
    assert stored[1] < 2.2 * stored[0]


@needs_compiler
def test_other_values_of_the_same_pattern():
    matrix, _ = horizon(30)
    right = np.arange(1.0, 1.0 + matrix.shape[0])
    with Factored(matrix) as first, Factored(matrix) as second:
        other = matrix.copy()
        other.data *= np.random.default_rng(3).uniform(0.5, 2, other.nnz)
        other = sp.tril(other) + sp.tril(other, -1).T
        second.values(sp.tril(other).tocsc().data)
        for each, known in ((first, matrix), (second, other)):
            assert backward_error(known, each.solve(right), right) < 1e-8


@needs_compiler
def test_a_singular_matrix_is_told():
    """Two equations that are the same."""
    J = sp.csr_matrix([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0]])
    with Factored(sp.bmat([[sp.eye(3), J.T], [J, None]]).tocsc()) as factored:
        assert (factored.info.flag, factored.info.rank) == (-7, 4)


@needs_compiler
@pytest.mark.parametrize("weight", [1.0, 1e-2, 1e-4])
def test_an_equation_stated_twice_is_regular_by_what_ipopt_adds(weight):
    rng = np.random.default_rng(5)
    J = rng.normal(size=(3, 6))
    J = sp.csr_matrix(np.vstack([J, J[:1]]))
    added = -5e-11 * sp.eye(4)  # 1e-8 mu^0.25 at the end of a solve
    with Factored(sp.bmat([[weight * sp.eye(6), J.T], [J, added]]).tocsc()) as factored:
        assert (factored.info.flag, factored.info.neg) == (0, 4)


@needs_compiler
def test_a_front_that_grows_by_delayed_unknowns_is_given_up():
    """One unknown beside each two of 24: by their diagonals they are pivots, or all delayed."""
    pairs = np.array(list(combinations(range(24), 2)))
    n, m = len(pairs), 24
    beside = sp.csr_matrix((np.ones(2 * n), (np.repeat(range(n), 2), pairs.ravel())), shape=(n, m))
    stated = [np.full(n, 2.0), np.full(n, 1e-12), np.linspace(-3, 4, n)]
    first, small, other = (
        sp.bmat([[sp.diags(d), beside], [beside.T, 3 * sp.eye(m)]]).tocsc() for d in stated
    )
    right = np.arange(n + m, dtype=float)
    with Factored(first) as factored:
        assert factored.info.flag == 0
        factored.values(sp.tril(small).tocsc().data)
        assert factored.info.flag == -1
        factored.values(sp.tril(other).tocsc().data)
        assert factored.info.flag == 0
        assert factored.info.neg == np.sum(np.linalg.eigvalsh(other.toarray()) < 0)
        assert backward_error(other, factored.solve(right), right) < 1e-12


def reached(backend, steps=100):
    """Two links from posture to posture, one of their drives at its limit."""
    rest, far = [0.0, 0.0], [1.2, -0.9]
    conditions = [StartAt(rest, rest), EndAt(far, rest), ActuatorLimits()]
    dynamics = assemble(ARM, gravity=(0, 0, -9.81))
    stated = Optimization(
        dynamics, Horizon(0.55, steps), [Effort()], conditions, Quintic(rest, far)
    )
    return replace(stated, solver=Solver(backend)).solve()


@needs_compiler
def test_an_optimum_is_that_found_by_mumps():
    ours, known = (reached(x) for x in (Ipopt(), Ipopt(options={"ipopt.linear_solver": "mumps"})))
    assert ours.completed
    assert known.completed
    assert ours.objective == pytest.approx(known.objective, rel=1e-9)
    assert ours["q"].values == pytest.approx(known["q"].values, abs=1e-6)


def test_another_linear_solver_is_taken_where_one_is_chosen(monkeypatch):
    def never():
        raise AssertionError("not asked for")

    monkeypatch.setattr(linear_solver, "options", never)
    assert reached(Ipopt(options={"ipopt.linear_solver": "mumps"})).completed
    assert reached(Ipopt(), steps=20).completed


def test_without_a_compiler_the_one_of_casadi_is_taken(monkeypatch):
    forget(monkeypatch)
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.warns(RuntimeWarning, match="ldlt is not compiled.*no C compiler"):
        assert not linear_solver.options()


@pytest.mark.slow
@needs_compiler
def test_where_it_gives_up_mumps_takes_its_place(monkeypatch):
    """Stopped after an iteration, as if a system could not be solved."""
    own = linear_solver.options()
    monkeypatch.setattr(linear_solver, "options", lambda: {**own, "ipopt.max_iter": 1})
    monkeypatch.setattr(ipopt, "GAVE_UP", ("Maximum_Iterations_Exceeded",))
    mumps = Ipopt(options={"ipopt.linear_solver": "mumps"})
    first, second = reached(Ipopt()), reached(mumps)
    assert first.completed, first.stop_reason
    # By another strategy of the barrier, so not bit by bit.
    assert first.objective == pytest.approx(second.objective, rel=1e-8)
    assert first["iterations"].sum() > second["iterations"].sum()
