"""The h that a warning suggests where a run is off by too much."""

import re

import numpy as np
import pytest
import xarray as xr

from nsopt.caveats import ACCURATE, LargestError, suggest_steps, tell_error_of_motion


@pytest.mark.parametrize("part", [0.0476, 0.0527, 0.06, 0.2, 0.45])
@pytest.mark.parametrize("h", [5e-4, 1.49e-3, 1e-2])
def test_suggested_h_is_shorter_and_brings_the_error_below_its_limit(h, part):
    data = xr.Dataset({"h": ("time", np.full(50, h))}, attrs={"h_max": h})
    order = 1.8
    told = suggest_steps(data, LargestError(1.0, part, order))
    suggested = float(re.findall(r"h_max of ([\d.e-]+) s or less", told)[0])
    assert suggested < h
    assert part * (suggested / h) ** order <= ACCURATE
    assert suggested > 0.85 * h * (ACCURATE / part) ** (1 / order)


@pytest.mark.parametrize(("rate", "chaotic"), [(3.0, True), (0.1, False), (np.nan, False)])
def test_no_h_is_suggested_where_growth_of_errors_is_hidden(rate, chaotic):
    """Errors of 0.05 exp(3 * 9) were 1e10 times the motion, which no h brings to 5 %."""
    time = np.linspace(0.0, 12.0, 1201)
    data = xr.Dataset({"time": time}, attrs={"h_max": 1e-2})
    data["h"] = ("time", np.full(len(time), 1e-2))
    off = np.where(time > 3.0, 1.2, 0.01)
    data["error_motion"] = ("time", off, {"size": 1.0, "order": 2.0, "growth_rate": rate})
    (told,) = tell_error_of_motion(data)
    assert ("errors grow by e in 0.33 s" in told) == chaotic
    assert ("h_max of" in told) != chaotic
