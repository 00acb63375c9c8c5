"""Caveats of forces that contacts have while they last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nsopt.caveats.sizes import find_open, is_optimum, smaller, whole_steps
from nsopt.contact_modes import LASTING, least_force

if TYPE_CHECKING:
    import xarray as xr

APART = 1.2
"""Root mean square of forces over that of their means, from which there is a caveat. Where forces
vary as the motion does it is 1, and up to 1.15 in steps as long as users take."""


def _tell_alternating_forces(data: xr.Dataset) -> Iterator[str]:
    """Forces that alternate from step to step, of which mean squares have no use."""
    needed = {"contact_force", "lasting_force", "contact_mode"}
    if is_optimum(data) or not whole_steps(data) or not needed <= {*data.data_vars}:
        return
    rigid = data.sizes["contact"] - int(data.attrs["pressed"])
    lasting = data["contact_mode"].values[:, :rigid] == LASTING
    lasting &= ~_closes(data, rigid)
    h = data["h"].values[:, None] * lasting
    each, lasts = (
        np.nansum(h * np.nansum(data[name].values[:, :rigid] ** 2, axis=2))
        for name in ("contact_force", "lasting_force")
    )
    duration = np.nansum(h)
    if duration and each > APART**2 * lasts > 0:
        remedy = smaller(data)
        if data.attrs["scheme_name"] == "MoreauJean":
            remedy = f"take Variational, or {remedy}"
        each, lasts = np.sqrt([each / duration, lasts / duration])
        yield (
            f"forces of contacts alternate from step to step: while contact lasts their root mean "
            f"square is {each:.3g} N, that of their means {lasts:.3g} N; {remedy}"
        )


def _closes(data: xr.Dataset, rigid: int) -> NDArray[np.bool_]:
    """Return where contacts close after a flight, be it short, and take its speed, too."""
    force = np.nan_to_num(data["contact_force"].values[:, :rigid])
    idle: NDArray[np.bool_] = np.linalg.norm(force, axis=2) <= least_force(data)
    closes = np.zeros_like(idle)
    closes[1:] = find_open(data)[:-1, :rigid]
    closes[2:] |= idle[:-2] & idle[1:-1]
    return closes


CHECKS = (_tell_alternating_forces,)
