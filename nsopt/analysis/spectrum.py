"""Spectra of quantities over time."""

from __future__ import annotations

import numpy as np
import scipy
import xarray as xr

from nsopt.analysis.quantities import Quantity, quantity, unit
from nsopt.analysis.sections import interpolate
from nsopt.result import Result


def spectrum(
    result: Result,
    of: Quantity,
    *,
    begin: float | None = None,
    samples: int | None = None,
    window: str = "hann",
) -> xr.DataArray:
    """Return the amplitudes of a quantity over frequency.

    A sine of amplitude A whose frequency is one of the grid has A there; the mean is taken out.
    At half the sampling rate, the last frequency of an even number of samples, it has A or less,
    as its phase is.

    Parameters
    ----------
    result : Result
    of : str or callable
        As for `quantity`.
    begin : float, optional [s]
        The first time that counts; the start by default.
    samples : int, optional
        Number of evenly spaced times at which it is interpolated; as many as the run has by
        default.
    window : str
        As `scipy.signal.get_window` takes it: "hann", "boxcar" (none), "flattop", ...

    Returns
    -------
    xarray.DataArray
        Along ``frequency`` [Hz].

    Raises
    ------
    ValueError
        If fewer than four samples are left, or the quantity is unknown at some of the times.
    """
    t = result["time"].values
    first = t[0] if begin is None else max(begin, t[0])
    count = samples or int(np.sum(t >= first))
    if count < 4 or not first < t[-1]:
        raise ValueError(f"a spectrum needs four samples or more, got {count} from {first:g} s on")
    # Without the end, where the next period begins: so whole periods have their frequencies here.
    times, step = np.linspace(first, t[-1], count, endpoint=False, retstep=True)
    values = quantity(result, of)
    name = of if isinstance(of, str) else "quantity"
    # The value at the start of a run may be unknown, as of what is of the step before each time.
    used = values[1:][t[1:] > first]
    if unknown := int(np.sum(np.isnan(used))):
        raise ValueError(
            f"{repr(of) if isinstance(of, str) else 'the quantity'} is unknown at {unknown} of "
            f"{len(used)} times, as between two impacts or where steps were left out: take another "
            "quantity, or a function of the result that fills them"
        )
    x = interpolate(result, np.nan_to_num(values), times)
    weights = scipy.signal.get_window(window, count)
    amplitude = 2 * np.abs(scipy.fft.rfft((x - x.mean()) * weights)) / weights.sum()
    amplitude[0] /= 2  # the mean has no negative frequency beside it, nor has half the rate
    if count % 2 == 0:
        amplitude[-1] /= 2
    frequency = scipy.fft.rfftfreq(count, step)
    data = xr.DataArray(amplitude, {"frequency": frequency}, ("frequency",), name=name)
    data["frequency"].attrs = {"units": "Hz"}
    return data.assign_attrs(units=unit(result, of), long_name=f"amplitude of {name}")
