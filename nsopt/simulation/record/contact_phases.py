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
    step that ends there. Between two steps with impacts it is not known, unless all are open.
    """

    pressing: Mask  # (n, ng) which contacts press
    step: NDArray[np.int_]  # (n,) the step that tells, by its end
    known: Mask  # (n,) whether one does


def after_nodes(mode: Array, follows: Mask) -> After:
    """Return what lasts right after nodes.

    Modes (n, ng) are those in the step that ends at each node, NaN at the first; ``follows``
    (n - 1,) tells whether each node is the end of the step that begins at the one before.
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
