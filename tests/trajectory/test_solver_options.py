"""Options of single programs are refused over a horizon, where they would do nothing."""

import pytest

from nsopt import ExactPenalty, Solver
from nsopt.mpcc import MultiStart
from nsopt.trajectory.smoothing.schedules import check_complementarity, horizon_settings


@pytest.mark.unit
@pytest.mark.parametrize("option", [{"recovery": ()}, {"multi_start": MultiStart()}], ids=repr)
def test_options_of_single_programs_are_refused(option):
    with pytest.raises(ValueError, match=rf"{next(iter(option))} of Solver is of single programs"):
        horizon_settings(Solver(**option))


@pytest.mark.unit
@pytest.mark.parametrize(
    ("option", "why"),
    [
        ({"relaxation": ExactPenalty()}, "ExactPenalty adds to the objective"),
        ({"schedules": [[1e-2, 1e-8], [1e-2, 1e-3]]}, "ends at sigma 0.001"),
    ],
    ids=str,
)
def test_what_would_end_without_complementarity_is_refused(option, why):
    """Rows alone would call a lift by a force at a distance solved: at no cost."""
    with pytest.raises(ValueError, match=why):
        check_complementarity(horizon_settings(Solver(**option)))
