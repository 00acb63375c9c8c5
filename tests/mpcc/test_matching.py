"""Rows find their unknowns whatever the order of statement; what cannot be solved is named."""

import casadi as ca
import numpy as np
import pytest

from nsopt import Compiled, StepBounds, Variational, load_problem, simulate
from nsopt.mpcc import Mpcc, Newton, SquareSolver


def solved(mpcc, p=()):
    n = sum(v.scaled.numel() for v in mpcc.variables)
    x, residual, _ = SquareSolver(mpcc, Newton())(np.zeros(n), p)
    assert residual < 1e-10
    at, values = 0, {}
    for v in mpcc.variables:
        values[v.name] = x[at : at + v.scaled.numel()]
        at += v.scaled.numel()
    return values


def shuffled(mpcc, seed):
    """Return the program with its blocks in another order, each of one row where it can be."""
    rng = np.random.default_rng(seed)
    other = Mpcc(mpcc.name)
    other.parameters, other.least = mpcc.parameters, mpcc.least
    for part in ("variables", "equalities", "pairs", "boxes", "first_events"):
        blocks = getattr(mpcc, part)
        setattr(other, part, tuple(blocks[int(k)] for k in rng.permutation(len(blocks))))
    rows = [(b.expr[k], b.scale) for b in other.equalities for k in range(b.expr.numel())]
    other.equalities = ()
    for k in rng.permutation(len(rows)):
        expr, scale = rows[int(k)]
        scale = scale if isinstance(scale, ca.SX) else ca.SX(scale)
        other.equal(f"row_{k}", expr, scale=scale[0] if scale.numel() else 1.0)
    return other


def bodies(redundant):
    """Four masses in a row, joined by rods and pressed on a wall with friction."""
    m = Mpcc("bodies")
    push = m.parameter("push", 4)
    v = m.variable("v", 4)
    mu = m.variable("mu", 2 + redundant, multiplier=True)
    lam, t = m.variable("lam", 1), m.variable("t", 1)
    M = ca.diag(ca.DM([1.0, 2.0, 0.5, 4.0]))
    C = ca.DM([[1, -1, 0, 0], [0, 1, -2, 0], *[[1, -1, 0, 0]] * redundant])
    m.equal("motion", M @ v - push - C.T @ mu - ca.vertcat(0, 0, t, lam))
    m.equal("joint", C @ v)
    m.complement("wall", v[3], lam)
    m.box("friction", t, v[2] - 0.1, lower=-0.5 * lam, upper=0.5 * lam)
    return m


@pytest.mark.parametrize("redundant", [0, 1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_statement_does_not_matter(seed, redundant):
    m = bodies(redundant)
    push = np.random.default_rng(seed).normal(size=4)
    one, other = solved(m, push), solved(shuffled(m, seed), push)
    for name, values in one.items():
        assert other[name] == pytest.approx(values, abs=1e-8)
    C = np.array([[1, -1, 0, 0], [0, 1, -2, 0]])
    assert pytest.approx(0, abs=1e-9) == C @ one["v"]
    assert min(one["v"][3], one["lam"][0]) == pytest.approx(0, abs=1e-9)


def test_a_first_event_may_be_of_any_unknown():
    """A point runs at 2 m/s to a wall at 3 m; the time comes first, or last."""
    for swapped in (False, True):
        m = Mpcc("walls")
        names = ("x", "t") if swapped else ("t", "x")
        symbols = {name: m.variable(name, 1) for name in names}
        m.equal("motion", symbols["x"] - 2 * symbols["t"])
        m.first_event("event", ca.vertcat(2 - symbols["t"], 3 - symbols["x"]), of="t")
        assert solved(m)["t"] == pytest.approx([1.5], abs=1e-9)


def test_a_structurally_singular_program_is_refused_by_name():
    m = Mpcc("lost")
    x, y, _ = m.variable("x", 1), m.variable("y", 1), m.variable("z", 2)
    m.equal("first", x - 1)
    m.equal("again", ca.vertcat(x + 1, x + y, 2 * x - y))
    with pytest.raises(ValueError, match=r"'lost' is structurally singular: no unknown is left "):
        SquareSolver(m, Newton())
    with pytest.raises(ValueError, match=r"no row gives z\[[01]\], z\[[01]\]: state what gives"):
        SquareSolver(m, Newton())


def test_redundant_equations_need_multipliers_that_are_declared():
    """Three equal equations on two velocities; as multipliers their unknowns are found."""
    for declared in (False, True):
        m = Mpcc("redundant")
        v, mu = m.variable("v", 2), m.variable("mu", 3, multiplier=declared)
        C = ca.DM([[1, 0.5]] * 3)
        m.equal("held", C @ v)
        m.equal("motion", v - ca.vertcat(1, 2) - C.T @ mu)
        if declared:
            assert solved(m)["mu"] == pytest.approx(np.full(3, -2 / 1.25 / 3), rel=1e-6)
        else:
            with pytest.raises(ValueError, match=r"structurally singular: .* held\[\d\]"):
                SquareSolver(m, Newton())


class Shuffled(Variational):
    """`Variational` with its statements in another order."""

    def add_step(self, mpcc, dynamics, start, h, scales):
        step = super().add_step(mpcc, dynamics, start, h, scales)
        self._shuffle(mpcc)
        return step

    def add_projection(self, mpcc, dynamics, start, scales, step):
        end = super().add_projection(mpcc, dynamics, start, scales, step)
        self._shuffle(mpcc)
        return end

    def _shuffle(self, mpcc):
        other = shuffled(mpcc, 1)
        for part in ("variables", "equalities", "pairs", "boxes"):
            setattr(mpcc, part, getattr(other, part))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "duration"), [("slider_crank", 5e-3), ("case_a", 0.03)])
def test_a_step_with_shuffled_statements_is_the_same(name, duration):
    """Redundant joints, and an impact; no step needs another try."""
    one, other = (
        simulate(
            load_problem(name).dynamics,
            duration=duration,
            steps=StepBounds(1e-3, 1e-3),
            scheme=scheme,
            solver=Compiled(chunk=10),
            progress=False,
        ).data
        for scheme in (Variational(), Shuffled())
    )
    assert np.nansum(other["retries"]) == np.nansum(one["retries"]) == 0
    for variable in ("q", "v", "impulse"):
        assert other[variable].values == pytest.approx(one[variable].values, abs=1e-8, nan_ok=True)
