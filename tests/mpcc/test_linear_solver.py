"""The linear solver against dense linear algebra, and IPOPT with it against IPOPT with MUMPS."""

import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from textwrap import dedent

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

ANALYSE, FACTORIZE, SOLVE, RELEASE = 11, 22, 33, -1
STORED, POSITIVE, NEGATIVE, DELAYED = 17, 21, 22, 63  # places among numbers that are told
SINGULAR, OVERGROWN = -7, -2


class Factored:
    """A symmetric matrix, factored as IPOPT asks for it."""

    def __init__(self, matrix):
        self.lib = ctypes.CDLL(str(linear_solver.library()))
        lower = sp.tril(matrix).tocsc()
        lower.sort_indices()
        self.n = matrix.shape[0]
        self.pattern = [np.array(x + 1, dtype=np.int32) for x in (lower.indptr, lower.indices)]
        self.handle, self.told = ctypes.c_void_p(), np.zeros(64, dtype=np.int32)
        flag = ctypes.byref(ctypes.c_int())
        self.lib.pardisoinit(ctypes.byref(self.handle), None, None, at_data(self.told), None, flag)
        self.data = lower.data
        assert self.call(ANALYSE) == 0
        self.values(lower.data)

    def call(self, phase, right=None):
        flag, (phase, n, one) = ctypes.c_int(), map(ctypes.c_int, (phase, self.n, 1))
        matrix = (at_data(self.data), *map(at_data, self.pattern), None, ctypes.byref(one))
        vectors = (None if right is None else at_data(right), None)
        self.lib.pardiso(
            *(ctypes.byref(self.handle), None, None, None),
            *(ctypes.byref(phase), ctypes.byref(n), *matrix),
            *(at_data(self.told), None, *vectors, ctypes.byref(flag), None),
        )
        return flag.value

    def values(self, data):
        self.data = np.array(data, dtype=float)
        self.flag = self.call(FACTORIZE)

    def solve(self, right):
        x = np.array(right, dtype=float)
        assert self.call(SOLVE, x) == 0
        return x

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.call(RELEASE)
        assert not self.handle


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
        assert factored.flag == 0
        assert factored.told[NEGATIVE] == np.sum(known < 0)
        assert factored.told[POSITIVE] == np.sum(known > 0)
        x = factored.solve(right)
    assert backward_error(matrix, x, right) < 1e-8


@needs_compiler
def test_a_horizon_is_solved_and_few_pivots_are_delayed():
    """Ends that are given make more equations than a recursion along time has unknowns for."""
    matrix, rows = horizon(400)
    right = np.random.default_rng(1).normal(size=matrix.shape[0])
    with Factored(matrix) as factored:
        assert factored.told[NEGATIVE] == rows
        assert factored.told[DELAYED] < 100
        x = factored.solve(right)
    known = sp.linalg.spsolve(matrix, right)
    assert x == pytest.approx(known, rel=1e-6, abs=1e-6 * np.abs(known).max())


@needs_compiler
def test_factors_grow_in_proportion_to_the_horizon():
    stored = []
    for steps in (200, 400):
        with Factored(horizon(steps)[0]) as factored:
            stored.append(factored.told[STORED])
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
def test_the_order_is_that_of_the_first_matrix_of_a_program():
    matrix, rows = horizon(30)
    states = matrix.shape[0] - rows
    units = 10 ** np.random.default_rng(0).uniform(-3, 3, states)
    scales = sp.diags(np.append(units, np.ones(rows)))
    other = (scales @ matrix @ scales).tocsc()

    def stored(matrix):
        with Factored(matrix) as factored:
            return factored.told[STORED]

    alone = stored(matrix), stored(other)
    with linear_solver.Trees():
        assert (stored(matrix), stored(matrix)) == (alone[0], alone[0])
        assert stored(other) != alone[1]
    with linear_solver.Trees():
        assert stored(other) == alone[1]
    assert (stored(matrix), stored(other)) == alone


@needs_compiler
def test_a_singular_matrix_is_told():
    """Two equations that are the same."""
    J = sp.csr_matrix([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0]])
    with Factored(sp.bmat([[sp.eye(3), J.T], [J, None]]).tocsc()) as factored:
        assert factored.flag == SINGULAR


@needs_compiler
def test_a_matrix_has_a_negative_eigenvalue_for_each_constraint_or_is_singular():
    """Where the last constraint is made of the others, round-off gives its pivot either sign."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        H, J = np.diag(10 ** rng.uniform(-8, 8, 12)), rng.normal(size=(5, 12))
        J[-1] = rng.normal(size=4) @ J[:-1]
        with Factored(sp.csc_matrix(np.block([[H, J.T], [J, np.zeros((5, 5))]]))) as factored:
            assert factored.flag == SINGULAR or factored.told[NEGATIVE] == 5


@needs_compiler
@pytest.mark.parametrize("weight", [1.0, 1e-2, 1e-4])
def test_an_equation_stated_twice_is_regular_by_what_ipopt_adds(weight):
    rng = np.random.default_rng(5)
    J = rng.normal(size=(3, 6))
    J = sp.csr_matrix(np.vstack([J, J[:1]]))
    added = -5e-11 * sp.eye(4)  # 1e-8 mu^0.25 at the end of a solve
    with Factored(sp.bmat([[weight * sp.eye(6), J.T], [J, added]]).tocsc()) as factored:
        assert (factored.flag, factored.told[NEGATIVE]) == (0, 4)


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
        assert factored.flag == 0
        factored.values(sp.tril(small).tocsc().data)
        assert factored.flag == OVERGROWN
        factored.values(sp.tril(other).tocsc().data)
        assert factored.flag == 0
        assert factored.told[NEGATIVE] == np.sum(np.linalg.eigvalsh(other.toarray()) < 0)
        assert backward_error(other, factored.solve(right), right) < 1e-12


def reached(backend, steps=100, duration=0.55):
    """Two links from posture to posture, in 0.55 s with one of their drives at its limit."""
    rest, far = [0.0, 0.0], [1.2, -0.9]
    conditions = [StartAt(rest, rest), EndAt(far, rest), ActuatorLimits()]
    dynamics = assemble(ARM, gravity=(0, 0, -9.81))
    stated = Optimization(
        dynamics, Horizon(duration, steps), [Effort()], conditions, Quintic(rest, far)
    )
    return replace(stated, solver=Solver(backend)).solve()


@needs_compiler
def test_an_optimum_is_that_found_by_mumps():
    ours, known = (reached(x) for x in (Ipopt(), Ipopt(options={"ipopt.linear_solver": "mumps"})))
    assert ours.completed
    assert known.completed
    assert ours.objective == pytest.approx(known.objective, rel=1e-9)
    assert ours["q"].values == pytest.approx(known["q"].values, abs=1e-6)


@needs_compiler
def test_an_optimum_hangs_on_no_memory_that_is_not_set(tmp_path):
    """The first matrix has too many negative eigenvalues; glibc fills memory with other bytes."""
    program = """
        import casadi as ca
        from nsopt.mpcc.backends.linear_solver import options

        x = ca.MX.sym("x", 3)
        program = {"x": x, "f": ca.sum1(x**4 - 8 * x**2) + x[0], "g": ca.sum1(x)}
        warm = {"ipopt.warm_start_init_point": "yes", "ipopt.print_level": 0}
        solve = ca.nlpsol("solve", "ipopt", program, {**options(), **warm})
        found = solve(x0=[0.1, 0.2, -0.25], lbg=0, ubg=0)
        print(solve.stats()["iter_count"], *map(float.hex, found["x"].elements()))
    """
    script = tmp_path / "program.py"
    script.write_text(dedent(program))
    found = []
    for byte in (1, 170):  # as integers less and more than any count
        filled = f"glibc.malloc.tcache_count=0:glibc.malloc.perturb={byte}"
        known = {**os.environ, "GLIBC_TUNABLES": filled}
        command = [sys.executable, str(script)]
        done = subprocess.run(command, env=known, capture_output=True, text=True, check=True)
        found.append(done.stdout.splitlines()[-1])
    assert found[0] == found[1]


def bits(duration):
    return reached(Ipopt(), duration=duration)["q"].values.tobytes()


@needs_compiler
def test_an_optimum_hangs_on_no_other_program_of_its_pattern(monkeypatch):
    """Matrices of 0.55 s and of 20 s lead to different orders of elimination."""
    alone, durations = [], (0.55, 20.0)
    for duration in durations:
        forget(monkeypatch)
        alone.append(bits(duration))
    for order in (1, -1):
        forget(monkeypatch)
        assert [bits(x) for x in durations[::order]] == alone[::order]
    forget(monkeypatch)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(bits, durations)) == alone


@needs_compiler
def test_threads_load_one_library(monkeypatch):
    forget(monkeypatch)
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(linear_solver.library) for _ in range(2)]
    assert asked[0].result() == asked[1].result()


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
