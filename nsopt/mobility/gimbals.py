"""Gimbal lock: three hinges that stand for a ball, with their axes in one plane."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import rank
from nsopt.mobility.constraints import LoopConstraints

Array = NDArray[np.float64]


def gimbal_locks(loops: LoopConstraints) -> tuple[tuple[str, str, str], ...]:
    """Return all names of three hinges, one after another in a loop, that are in gimbal lock.

    Their axes meet in one point and are in one plane there, not all in line: one rotation is
    missing that a ball joint in their place has.
    """
    hinges = _hinges(loops)
    found: dict[frozenset[str], tuple[str, str, str]] = {}
    for cycle in loops.topology.cycles:
        loop = (*cycle.joints, cycle.cut)
        for names in _triples(loop):
            if all(name in hinges for name in names):
                screws = np.array([hinges[name] for name in names])
                if _is_locked(screws, loops.size):
                    found.setdefault(frozenset(names), names)
    return tuple(found.values())


def _hinges(loops: LoopConstraints) -> dict[str, Array]:
    """Return the screws (6,) of the joints that turn about one axis, by name."""
    return {
        name: screws[0]
        for name, screws in loops.joint_screws().items()
        if len(screws) == 1
        and screws[0, :3].any()
        and abs(screws[0, :3] @ screws[0, 3:]) < 1e-9 * loops.size  # no pitch [m/rad]
    }


def _triples(loop: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    if len(loop) >= 3:
        for k in range(len(loop)):
            yield loop[k], loop[(k + 1) % len(loop)], loop[(k + 2) % len(loop)]


def _is_locked(screws: Array, size: float) -> bool:
    """Return whether the axes of three screws (3, 6) meet in a point and are in one plane."""
    e, moments = screws[:, :3], screws[:, 3:] / size
    # The point r with r x e = its moment for all three, by least squares.
    arms = np.concatenate([np.cross(np.eye(3), x).T for x in e])
    r = np.linalg.lstsq(arms, moments.ravel(), rcond=None)[0]
    meet = np.allclose(np.cross(r, e), moments, atol=1e-9)
    return bool(meet and rank(e) == 2)
