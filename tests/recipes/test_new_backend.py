"""A backend, as CONTRIBUTING says: one class, an export, a row; here of a solver in CasADi."""

from dataclasses import dataclass, replace

import casadi as ca
import pytest

from nsopt.cli.choices import command_name
from nsopt.mpcc import Backend, Nlp, Solver
from nsopt.mpcc.backends.backend import Call, NlpsolCall
from nsopt.problem import load_optimization
from tests.catalog_methods import BACKENDS
from tests.mpcc import test_known
from tests.recipes.generic import runs


@dataclass(frozen=True)
class Uno(Backend):
    """Uno [Vanaret, Leyffer 2024] with a preset of its options.

    Parameters
    ----------
    preset : str
        Such as ``filtersqp``.
    """

    preset: str = "filtersqp"

    def build(self, nlp: Nlp) -> Call:
        options = {
            "print_time": False,
            "error_on_fail": False,
            "uno": {"preset": self.preset, "logger": "SILENT", "print_solution": False},
        }
        program = {"x": nlp.x, "p": nlp.p, "f": nlp.f, "g": nlp.g}
        return NlpsolCall(ca.nlpsol(f"{nlp.name}_uno", "uno", program, options), nlp)


has_uno = pytest.mark.skipif(not ca.has_nlpsol("uno"), reason="this CasADi has no Uno")


@has_uno
@runs(test_known, "backend", BACKENDS[0])
def test_is_a_backend_like_any_other(check):
    check(backend=Uno())


@has_uno
def test_serves_horizons_too():
    """1 m in 1 s, rest to rest: 12 m^2/s^3."""
    stated = replace(load_optimization("double_integrator"), solver=Solver(backend=Uno()))
    result = stated.solve(steps=20)
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(12, rel=1e-6)


def test_its_name_on_the_command_line():
    assert command_name(Uno) == "uno"
