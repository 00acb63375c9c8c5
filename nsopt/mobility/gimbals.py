"""Gimbal lock: three hinges that stand for a ball, with their axes in one plane."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import rank
from nsopt.mobility.constraints import LoopConstraints

Array = NDArray[np.float64]


def gimbal_locks(loops: LoopConstraints) -> tuple[tuple[str, str, str], ...]:
    """Return three hinges each, one after another in a loop, that are in gimbal lock.

    Their axes meet in one point and are in one plane there, not all in line: one rotation is
    missing that a ball joint in their place has.
    """
    hinges = _hinges(loops)
    found: dict[frozenset[str], tuple[str, str, str]] = {}
    for cycle in loops.topology.cycles:
        loop = (*cycle.joints, cycle.cut)
        for names in _triples(loop):
            if all(name in hinges for name in names):
                axes = np.array([hinges[name] for name in names])
                if _lock(axes, loops.size):
                    found.setdefault(frozenset(names), names)
    return tuple(found.values())


def _hinges(loops: LoopConstraints) -> dict[str, Array]:
    """Return the screws of the joints that turn about one axis, by name."""
    return {
        name: x[0]
        for name, x in loops.joint_screws().items()
        if len(x) == 1 and x[0, :3].any() and abs(x[0, :3] @ x[0, 3:]) < 1e-9 * loops.size
    }


def _triples(loop: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    if len(loop) >= 3:
        for k in range(len(loop)):
            yield loop[k], loop[(k + 1) % len(loop)], loop[(k + 2) % len(loop)]


def _lock(axes: Array, size: float) -> bool:
    """Return whether three screws (3, 6) meet in a point and have directions in one plane."""
    e, moments = axes[:, :3], axes[:, 3:] / size
    # A point r with r x e = s for all three, by least squares.
    arms = np.concatenate([np.cross(np.eye(3), x).T for x in e])
    r = np.linalg.lstsq(arms, moments.ravel(), rcond=None)[0]
    meet = np.allclose(np.cross(r, e), moments, atol=1e-9)
    return bool(meet and rank(e) == 2)
