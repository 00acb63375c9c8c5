"""Motions of frames as seen from others, along the way that leads from one to the other in a tree.

Shorter than by world axes, where all that carries both frames would come in, and drop out only in
numbers: across one joint they are expressions of its own coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from nsopt.algebra import rotation_matrix, without_round_off
from nsopt.mechanics.coordinates.base import Value
from nsopt.mechanics.coordinates.links import LinkTree, Placement, TreeLink
from nsopt.mechanics.model.frame import Frame, Motion
from nsopt.mechanics.model.freedom import Ball


class RelativeMotions:
    """The motions of frames on the links of a tree.

    Parameters
    ----------
    tree : LinkTree
    q, v : SX (nq,), (nv,)
    displacement : SX (nv,)
        A virtual displacement to add, of first order.
    value : callable
    """

    def __init__(
        self, tree: LinkTree, q: ca.SX, v: ca.SX, displacement: ca.SX, value: Value
    ) -> None:
        self._tree, self._value = tree, value
        self._q, self._v, self._displacement = q, v, displacement

    def __call__(self, a: Frame, b: Frame) -> Motion:
        """Return the motion of frame b as seen from frame a, in the axes of a."""
        (ka, at_a), (kb, at_b) = (self._place(frame) for frame in (a, b))
        up, down = self._up(ka), self._up(kb)
        common = next(k for k in up if k in down)
        seen = self._relate(at_a, self._between(down, common), at_b) if ka == common else None
        if seen is not None:
            return seen
        origin = Placement(np.eye(3), ca.SX.zeros(3))
        r, A, u, w = self._relate(origin, self._between(up, common), at_a)
        s, B, x, y = self._relate(origin, self._between(down, common), at_b)
        apart = s - r
        return Motion(A.T @ apart, A.T @ B, A.T @ (x - u - ca.cross(w, apart)), A.T @ (y - w))

    def _place(self, frame: Frame) -> tuple[int, Placement]:
        """Return the link that a frame is on, and where."""
        k, placement = self._tree.placements[frame.body.name if frame.body else None]
        return k, placement.of_frame(frame, self._value)

    def _up(self, k: int) -> list[int]:
        """Return a link and all that carry it, down to the ground."""
        chain = [k]
        while chain[-1] >= 0:
            chain.append(self._tree.links[chain[-1]].parent)
        return chain

    def _between(self, chain: Sequence[int], common: int) -> list[TreeLink]:
        """Return the links from below a common one to the first of a chain."""
        return [self._tree.links[k] for k in chain[: chain.index(common)][::-1]]

    def _relate(self, begin: Placement, links: Sequence[TreeLink], end: Placement) -> Motion:
        """Return the motion of a placement in the last link, as seen from one in a carrying one."""
        A: ca.SX | np.ndarray = np.asarray(begin.A).T
        r = -ca.SX(A) @ begin.c
        v = w = ca.SX.zeros(3)
        for link in links:
            r, v = _shift(r, v, w, A, link.placement.c)
            A = _product(A, link.placement.A)
            R, slide = self._freedom(link)
            along = ca.SX(A) @ slide
            r, v = r + along, v + ca.cross(w, along)
            A, rates = ca.SX(A) @ R, link.rates(self._v)
            w, v = w + A @ (link.turn @ rates), v + A @ (link.slide @ rates)
        r, v = _shift(r, v, w, A, end.c)
        return Motion(r, ca.SX(_product(A, end.A)), v, w)

    def _freedom(self, link: TreeLink) -> tuple[ca.SX, ca.SX]:
        """Return turn (3, 3) and slide (3,) by the freedom of a link."""
        step, entry = link.step, link.coordinate
        if step is None:
            return ca.SX.eye(3), ca.SX.zeros(3)
        shift = self._displacement[entry.v]
        if isinstance(step, Ball):
            R = rotation_matrix(self._q[entry.q])
            return R + R @ ca.skew(shift), ca.SX.zeros(3)
        u = entry.ratio * (self._q[entry.q] + shift) + entry.offset
        return step.rotation(u), link.slide * u


def _shift(r: ca.SX, v: ca.SX, w: ca.SX, A: ca.SX | np.ndarray, c: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return position and velocity of the point at c in axes A that turn with w."""
    arm = ca.SX(A) @ c
    return r + arm, v + ca.cross(w, arm)


def _product(A: ca.SX | np.ndarray, B: np.ndarray) -> ca.SX | np.ndarray:
    """Return A B; of numbers without round-off, so that what cancels does."""
    return without_round_off(A @ B) if isinstance(A, np.ndarray) else A @ ca.SX(B)
