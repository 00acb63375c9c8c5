"""Motions of frames as seen from others, along the path in the tree from one to the other.

By world axes the links that carry both frames would be in the expressions, and cancel in numbers
only: across one joint these are expressions of its own coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from nsopt.algebra import without_round_off
from nsopt.mechanics.coordinates.base import Value
from nsopt.mechanics.coordinates.links import LinkTree, Placement, TreeLink
from nsopt.mechanics.model.frame import Frame, Motion


class RelativeMotions:
    """The motions of frames on the links of a tree, displaced by ``displacement`` (nv,)."""

    def __init__(
        self, tree: LinkTree, q: ca.SX, v: ca.SX, displacement: ca.SX, value: Value
    ) -> None:
        self._tree, self._value = tree, value
        self._q, self._v, self._displacement = q, v, displacement

    def __call__(self, a: Frame, b: Frame) -> Motion:
        """Return the motion of frame b as seen from frame a, in the axes of a."""
        (ka, at_a), (kb, at_b) = (self._place(frame) for frame in (a, b))
        from_a, from_b = self._up(ka), self._up(kb)
        common = next(k for k in from_a if k in from_b)
        if ka == common:  # the link of a carries b
            return self._relate(at_a, self._between(from_b, common), at_b)
        # Else by the motions of both in the link that carries both.
        origin = Placement(np.eye(3), ca.SX.zeros(3))
        ra, A, va, wa = self._relate(origin, self._between(from_a, common), at_a)
        rb, B, vb, wb = self._relate(origin, self._between(from_b, common), at_b)
        apart = rb - ra
        speed = vb - va - ca.cross(wa, apart)
        return Motion(A.T @ apart, A.T @ B, A.T @ speed, A.T @ (wb - wa))

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
        """Return the motion of ``end`` in the last of the links, as seen from ``begin``.

        ``begin`` is a placement in the parent of the first link.
        """
        A: ca.SX | np.ndarray = np.asarray(begin.A).T  # numbers up to the first freedom
        r = -ca.SX(A) @ begin.c
        v = w = ca.SX.zeros(3)
        for link in links:
            r, v = _shift(r, v, w, A, link.placement.c)
            A = _product(A, link.placement.A)
            R, slide = link.move(self._q, self._displacement)
            way = ca.SX(A) @ slide
            r, v = r + way, v + ca.cross(w, way)
            A, rates = ca.SX(A) @ R, link.rates(self._v)
            w, v = w + A @ (link.turn @ rates), v + A @ (link.slide @ rates)
        r, v = _shift(r, v, w, A, end.c)
        return Motion(r, ca.SX(_product(A, end.A)), v, w)


def _shift(r: ca.SX, v: ca.SX, w: ca.SX, A: ca.SX | np.ndarray, c: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return position and velocity of the point at c in axes A, whose origin r has velocity v."""
    arm = ca.SX(A) @ c
    return r + arm, v + ca.cross(w, arm)


def _product(A: ca.SX | np.ndarray, B: np.ndarray) -> ca.SX | np.ndarray:
    """Return A B; of numbers without round-off, so that what cancels does."""
    return without_round_off(A @ B) if isinstance(A, np.ndarray) else A @ ca.SX(B)
