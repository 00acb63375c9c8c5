"""Inertia on the motions that the ideal joints leave free."""

from collections.abc import Collection, Sequence

import numpy as np

from nsopt.algebra import find_parts, null_space
from nsopt.arrays import Array

MASSLESS = 1e-12
"""Eigenvalues, of a mass matrix scaled to ones on its diagonal, below which they count as zero."""


def massless_motion(M: Array, C: Array) -> Array | None:
    """Return a velocity (nv,) without inertia that the ideal joints leave free; None if none is.

    Parameters
    ----------
    M : (nv, nv)
        Mass matrix.
    C : (nc, nv)
        Matrix of the ideal joints, `Dynamics.closure_matrix`.
    """
    # Scaled by its diagonal, so that a light body beside a heavy one is no massless body.
    size = np.sqrt(np.where(np.diag(M) > 0, np.diag(M), 1.0))
    scaled, motions = M / np.outer(size, size), [np.zeros((len(M), 0))]
    for part in find_parts(scaled != 0):  # uncoupled ones apart, as bodies in absolute coordinates
        values, vectors = np.linalg.eigh(scaled[np.ix_(part, part)])
        motion = np.zeros((len(M), int(np.sum(values < MASSLESS))))
        motion[part] = (vectors / size[part, None])[:, values < MASSLESS]
        motions.append(motion)
    massless = np.hstack(motions)
    free = massless @ null_space(C @ massless)
    return free[:, 0] if free.shape[1] else None


def check_inertia(M: Array, C: Array, v_names: Sequence[str], bodies: Collection[str]) -> None:
    """Refuse a mass matrix that is singular on the motions the ideal joints leave free.

    Parameters
    ----------
    M, C
        As `massless_motion` has them.
    v_names : sequence of str
        Of the velocities, ``owner.component``.
    bodies : collection of str
        The owners that are bodies; others are joints.

    Raises
    ------
    ValueError
        Naming the velocity that has no inertia.
    """
    motion = massless_motion(M, C)
    if motion is None:
        return
    owner, component = v_names[int(np.argmax(np.abs(motion)))].rsplit(".", 1)
    kind = "body" if owner in bodies else "joint"
    raise ValueError(
        f"{kind} {owner!r} can move ({component}) without any inertia: give it a mass and an "
        "inertia, or a joint that blocks this motion"
    )
