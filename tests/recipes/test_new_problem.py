"""A problem, as CONTRIBUTING says: a folder with a file; the command line finds it by name."""

import numpy as np
import pytest

from nsopt import Result
from tests.cli.commands import call

FILE = '''"""A stone dropped from 1 m."""

from nsopt import Body, Mechanism, Problem, StepBounds, assemble

stone = Body("stone", 1.0, point_mass=True, position=(0.0, 0.0, 1.0))
dynamics = assemble(Mechanism([stone]), gravity=(0.0, 0.0, -9.81))
problem = Problem(dynamics, duration=0.4, steps=StepBounds(1e-3, 1e-2))
'''


@pytest.fixture
def problems(tmp_path, monkeypatch):
    """A folder of problems with a new one."""
    (tmp_path / "stone").mkdir()
    (tmp_path / "stone" / "stone.py").write_text(FILE)
    (tmp_path / "stone" / "README.md").write_text("Must show: z = 1 m - g t^2 / 2.\n")
    monkeypatch.setattr("nsopt.problem.problem_folder", lambda: tmp_path)
    return tmp_path


def test_it_is_listed(problems):
    line = next(x for x in call("list").stdout.splitlines() if "stone" in x)
    assert "A stone dropped from 1 m" in line


@pytest.mark.slow
def test_it_runs_by_name(problems):
    out = problems / "stone.nc"
    call("run", "stone", "--scheme", "variational", "--out", out)
    data = Result.open(out).data
    t, z = data["time"].values, data["body_position"].values[:, 0, 2]
    assert t[-1] == pytest.approx(0.4)
    assert z == pytest.approx(1 - 9.81 * t**2 / 2, abs=1e-9)
    assert np.all(np.diff(z) < 0)
