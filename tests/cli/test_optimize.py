"""``nsopt optimize``: the error of an optimum, and an accuracy in place of steps."""

import pytest

from tests.cli.commands import call, complaint


@pytest.mark.slow
def test_an_optimum_is_as_accurate_as_asked(folder):
    shown = call("optimize", "double_integrator", "--accuracy", 1e-3).stdout
    assert "0.001 of objective and motion, met by" in shown


def test_an_accuracy_is_met_by_what_is_measured(folder):
    line = complaint("optimize", "double_integrator", "--accuracy", 1e-3, "--no-check")
    assert "leave out --no-check" in line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "no more than solvers leave"),
        (["--check"], "no more than solvers leave"),
        (["--no-check"], "error unknown: not asked for"),
    ],
)
def test_an_optimum_is_checked_or_not(folder, options, told):
    assert told in call("optimize", "double_integrator", *options).stdout
