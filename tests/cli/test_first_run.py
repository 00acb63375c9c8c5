"""What a newcomer sees first."""

import pytest
from typer.testing import CliRunner

from dev import FIRST_RUN
from nsopt import Result
from nsopt.cli import app


@pytest.mark.slow
def test_the_first_run_needs_no_warning(tmp_path):
    """It would be above the summary."""
    path = tmp_path / "first.nc"
    done = CliRunner().invoke(app, ["run", *FIRST_RUN, "--out", str(path)])
    assert done.exit_code == 0
    assert done.stdout.startswith("run ")
    assert Result.open(path).completed
