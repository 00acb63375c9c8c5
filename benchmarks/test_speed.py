"""Speeds worth tracking, of case A: ``pytest benchmarks``; compare with ``--benchmark-compare``.

Not part of the ordinary tests: times of a shared machine fail for reasons of their own.
"""

import pytest

from nsopt import Compiled, Ipopt, PaperStep, Solver, Sqp, StepBounds, Variational, load_problem
from nsopt.mechanics import Start
from nsopt.schemes import Scheme
from nsopt.simulation import Acceptance, LargestStep, chain
from nsopt.simulation.driver import Driver
from nsopt.simulation.method import Method
from nsopt.simulation.run import Run

H, WARM_START = 1e-3, 30  # s, steps


def driver(scheme: Scheme, solver: Solver | Compiled) -> Driver:
    """Return a run of case A, longer than any test here needs."""
    dynamics = load_problem("case_a").dynamics
    run = Run(Start.stated(dynamics), dynamics.values(), 1e4, StepBounds(H, H))
    return Driver(dynamics, run, Method(scheme, solver, LargestStep(), Acceptance()))


def test_chain(benchmark):
    """One call of the compiled chain; per step it is 1/500 of that."""
    chained = driver(Variational(), Compiled())
    taken = benchmark.pedantic(chained.advance, rounds=50, warmup_rounds=2)
    assert len(taken) == Compiled().chunk
    benchmark.extra_info["us per step"] = 1e6 * benchmark.stats.stats.median / len(taken)


def test_compile(benchmark, tmp_path, monkeypatch):
    """State the variational step of case A and make its machine code, nothing cached."""
    places = (tmp_path / str(k) for k in range(10))

    def fresh():
        monkeypatch.setenv("NSOPT_CACHE", str(next(places)))
        chain._kernel.cache_clear()

    made = benchmark.pedantic(
        driver, (Variational(), Compiled()), setup=fresh, rounds=3, iterations=1
    )
    assert made.compile_time > 0.1
    benchmark.extra_info["s of it for its code"] = made.compile_time


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
def test_paper_step(benchmark, backend):
    """One step of the paper in lasting contact, with retries, acceptance and all."""
    stepped = driver(PaperStep(), Solver(backend=backend))
    for _ in range(WARM_START):
        stepped.advance()
    taken = benchmark.pedantic(stepped.advance, rounds=200)
    assert taken.retries.sum() == 0


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
def test_variational_step(benchmark, backend):
    """One variational step as it goes where the chain is stuck."""
    stepped = driver(Variational(), Solver(backend=backend))
    for _ in range(WARM_START):
        stepped.advance()
    taken = benchmark.pedantic(stepped.advance, rounds=50)
    assert taken.retries.sum() == 0
