"""Schemes that the command line chooses by name."""

import pytest

from nsopt import MoreauJean, PaperStep, RungeKutta
from nsopt.cli.choices import choose_scheme

pytestmark = pytest.mark.unit


def test_a_scheme_by_name_keeps_what_the_problem_states():
    own = RungeKutta(alpha=1000.0, beta=100.0)
    assert choose_scheme("runge-kutta", None, own) is own
    assert choose_scheme(None, None, own) is own


def test_another_scheme_by_name_is_that():
    own = RungeKutta(alpha=1000.0, beta=100.0)
    assert isinstance(choose_scheme("moreau-jean", None, own), MoreauJean)
    assert choose_scheme("paper-explicit", None, PaperStep()).explicit
    assert choose_scheme("runge-kutta", None, None).alpha == RungeKutta().alpha
