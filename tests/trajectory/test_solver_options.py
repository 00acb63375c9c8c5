"""Options of single programs are refused over a horizon, where they would do nothing."""

import pytest

from nsopt import Solver
from nsopt.mpcc import MultiStart
from nsopt.trajectory.smoothing.schedules import horizon_settings


@pytest.mark.unit
@pytest.mark.parametrize("option", [{"recovery": ()}, {"multi_start": MultiStart()}], ids=repr)
def test_options_of_single_programs_are_refused(option):
    with pytest.raises(ValueError, match=rf"{next(iter(option))} of Solver is of single programs"):
        horizon_settings(Solver(**option))
