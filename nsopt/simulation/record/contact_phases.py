"""Phases of contacts: open, lasting, impact; and what lasts right after nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.contact_modes import FREE, IMPACT

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class After(NamedTuple):
    """What lasts right after nodes, impacts left out.

    Of the step that begins there; where that has an impact, at its end, or was not kept, of the
    step that ends there.

    Attributes
    ----------
    pressing : (n, ng)
        Which contacts press.
    step : (n,)
        The step that tells, by its end.
    known : (n,)
        Whether one does: not between two steps with impacts, unless all contacts are open.
    """

    pressing: Mask
    step: NDArray[np.int_]
    known: Mask


def after_nodes(mode: Array, follows: Mask) -> After:
    """Return what lasts right after nodes.

    Parameters
    ----------
    mode : (n, ng)
        Of contacts in the step that ends at each node, NaN at the first.
    follows : (n - 1,)
        Whether each node is the end of the step that begins at the one before.
    """
    pressed, own = mode > FREE, np.arange(len(mode))
    quiet = ~np.any((mode == IMPACT) | np.isnan(mode), axis=1)
    ahead = np.append(follows & quiet[1:], False)
    stays = pressed.copy()
    stays[0] = True
    stays[:-1] &= pressed[1:] | ~follows[:, None]
    pressing: Mask = np.where(ahead[:, None], np.roll(pressed, -1, axis=0), stays)
    known = ahead | quiet | ~np.any(stays, axis=1)
    return After(pressing & known[:, None], own + ahead, known)
