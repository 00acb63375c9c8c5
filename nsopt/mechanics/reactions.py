"""What joints transmit: of cut joints and contacts from their impulses, of a tree by recursion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca

from nsopt.mechanics.element import Contact, Element, Load, Rub
from nsopt.mechanics.frame import STILL, Frame, Motion
from nsopt.mechanics.freedom import Freedom
from nsopt.mechanics.links import Links
from nsopt.mechanics.recursion import Place, Wrench, kinematics, newton_euler, places
from nsopt.mechanics.relative import RelativeCoordinates
from nsopt.mechanics.spanning_tree import Branch

if TYPE_CHECKING:
    from nsopt.mechanics.assembly import Symbols


NOW = 1e-12
"""A time [s] over which a mean is the value."""


class Push(NamedTuple):
    """What does virtual work: forces, and the displacements or velocities that they work on."""

    displacements: tuple[tuple[ca.SX, ca.SX], ...] = ()
    velocities: tuple[tuple[ca.SX, ca.SX], ...] = ()

    @classmethod
    def of(cls, energy: ca.SX, loads: list[Load]) -> Push:
        """Return that of a potential and of loads."""
        return cls(((energy, ca.SX(-1)),), tuple((x.velocity, x.force) for x in loads))


class ReactionFunction:
    """Builds `Dynamics.reactions` from the symbols of an assembly."""

    def __init__(self, symbols: Symbols) -> None:
        self._of = symbols
        cut = symbols.mechanism.cut
        slips = [sum(gap.slip.numel() for gap in group) for group in symbols.gaps]
        self.h, self.change = ca.SX.sym("h"), ca.SX.sym("change", symbols.v.numel())
        self.mu = ca.SX.sym("mu", sum(r.numel() for r in symbols.residuals))
        self.lam = ca.SX.sym("lam", sum(len(group) for group in symbols.gaps))
        self.slip = ca.SX.sym("slip_impulse", sum(slips))
        self._pushes: dict[str, tuple[Element, Push]] = {}
        mu = iter(ca.vertsplit(self.mu, _ends([r.numel() for r in symbols.residuals])))
        for joint, residual in zip(cut, symbols.residuals, strict=True):
            self._pushes[joint.name] = (joint, Push(((residual, next(mu)),)))
        contacts = [e for e in symbols.elements if isinstance(e, Contact)]
        lam = iter(ca.vertsplit(self.lam, _ends([len(group) for group in symbols.gaps])))
        slip = iter(ca.vertsplit(self.slip, _ends(slips)))
        for contact, group in zip(contacts, symbols.gaps, strict=True):
            gaps = ca.vertcat(ca.SX(0, 1), *(gap.function for gap in group))
            rates = ca.vertcat(ca.SX(0, 1), *(gap.slip for gap in group))
            push = Push(((gaps, next(lam)),), ((rates, next(slip)),))
            self._pushes[contact.name] = (contact, push)
        self._rubs = self._friction() if symbols.mechanism.coordinates != "absolute" else []

    def _friction(self) -> list[tuple[Element, Push]]:
        """Return the friction of joints that are constraints or contacts, under their reactions.

        That of joints of the tree acts within what hangs on them, and along their freedoms.
        """
        s = self._of
        found: list[tuple[Element, Push]] = []
        for element, joint, states in s.rubbers():
            if joint is not None and joint.name in self._pushes:
                held = s.wrench(joint.frames[-1], self._pushes[joint.name][1]) / self.h
                z = s.q[s.placed :][states] if element.states else ca.SX(0, 1)
                load = element.rub(s.state, Rub(ca.SX(NOW), z, held))
                found.append((element, Push.of(ca.SX(0), [load])))
        return found

    def make(self) -> ca.Function:
        """Return the function."""
        s = self._of
        within = self._within_tree()
        columns = [
            within[joint.name]
            if joint.name in within
            else s.wrench(joint.frames[-1], self._pushes[joint.name][1])
            for joint in s.joints()
        ]
        known = {"t": s.t, "q": s.q, "v": s.v, "p": s.p, "h": self.h, "change": self.change}
        impulses = {"mu": self.mu, "lam": self.lam, "slip_impulse": self.slip}
        return ca.Function(
            "reactions",
            [*known.values(), *impulses.values()],
            s.in_place(ca.horzcat(ca.SX(6, 0), *columns)),
            [*known, *impulses],
            ["reactions"],
        )

    def _within_tree(self) -> dict[str, ca.SX]:
        """Return the wrench of each joint of the tree on the body of its frame b, by name."""
        s = self._of
        if not isinstance(s.coordinates, RelativeCoordinates):
            return {}
        value = s.state.value
        tree = s.coordinates.links(value, weld=False)
        at, still = places(tree, s.q), ca.SX.zeros(s.v.numel())
        moving = kinematics(tree, at, s.v)
        loads = {k: self._on_link(tree, k, moving[k].A) for k in range(len(tree.links))}
        none = ca.SX.zeros(3)
        _, struck = newton_euler(tree, at, still, self.change, none, value, loads)
        _, carried = newton_euler(tree, at, s.v, still, value(s.gravity), value)
        wrenches = [
            (f + self.h * g, n + self.h * m) for (f, n), (g, m) in zip(struck, carried, strict=True)
        ]
        return transmitted(s.coordinates.branches, tree, at, moving, wrenches)

    def _on_link(self, tree: Links, k: int, A: ca.SX) -> Wrench:
        """Return all impulses on a link but those of the tree's joints, gravity left out."""
        s, f, n = self._of, ca.SX.zeros(3), ca.SX.zeros(3)
        for body, seat in tree.links[k].seats.values():
            at = Frame(body)
            total = ca.SX.zeros(6)
            for force, push in [*s.pushes, *self._rubs]:
                if _touches(force, body):
                    total += self.h * s.wrench(at, push)
            for element, push in self._pushes.values():
                if _touches(element, body):
                    total += s.wrench(at, push)
            pushed = A.T @ total[:3]
            f, n = f + pushed, n + A.T @ total[3:] + ca.cross(seat.c, pushed)
        return f, n


def transmitted(
    branches: Sequence[Branch],
    tree: Links,
    at: Sequence[Place],
    moving: Sequence[Motion],
    wrenches: Sequence[Wrench],
) -> dict[str, ca.SX]:
    """Return what each joint of a tree holds, by name: (6,) on the body of its frame b.

    Parameters
    ----------
    tree : Links
        Not welded.
    at, moving : sequences of Place, Motion
        Of its links, as `places` and `kinematics` tell.
    wrenches : sequence of Wrench
        With which each link is held, as `newton_euler` tells.
    """
    found = {}
    for branch in branches:
        if branch.joint is None:
            continue
        k = tree.seats[branch.body.name][0]
        f, n = wrenches[k]
        free, away = (
            _subspace(tree, at, k, branch.freedom),
            branch.to is not branch.joint.frames[-1],
        )
        if away:
            # About frame b, where slides and turns of a joint are perpendicular.
            arm = moving[k].A.T @ (_hung_from(tree, moving, k, branch.freedom) - moving[k].r)
            n = n - ca.cross(arm, f)
            free = [(turn, slide - ca.skew(arm) @ turn) for turn, slide in free]
        f, n = (moving[k].A @ part for part in _without(free, f, n))
        if away:
            f, n = -f, -n
        found[branch.joint.name] = ca.vertcat(f, n)
    return found


def _hung_from(tree: Links, moving: Sequence[Motion], k: int, freedom: Freedom) -> ca.SX:
    """Return where the joint sits on what holds it, (3,) [m] in world axes."""
    for _ in range(len(freedom) - 1):
        k = tree.links[k].parent
    link = tree.links[k]
    up = moving[link.parent] if link.parent >= 0 else STILL
    return up.r + up.A @ link.place.c


def _touches(element: Element, body: object) -> bool:
    return any(frame.body is body for frame in element.frames)


def _subspace(tree: Links, at: Sequence[Place], k: int, freedom: Freedom) -> list[Wrench]:
    """Return angular and linear velocity per rate of each freedom of a joint, in its last link."""
    found: list[Wrench] = []
    R, p = ca.SX.eye(3), ca.SX.zeros(3)  # the last link in the k-th
    for _ in freedom:
        link = tree.links[k]
        found.append((R.T @ link.turn, R.T @ (link.slide - ca.skew(p) @ link.turn)))
        R, p, k = at[k].R @ R, at[k].p + at[k].R @ p, link.parent
    return found


def _without(free: list[Wrench], f: ca.SX, n: ca.SX) -> Wrench:
    """Return the part of a wrench that does no work on the freedoms of its joint.

    What is left out drives or resists the joint: it is known otherwise, and is no reaction.
    """
    for turn, slide in free:
        power = turn.T @ n + slide.T @ f
        if (
            not turn.is_zero()
        ):  # a torque drives what turns, a screw too: no sum of lengths and numbers
            n -= turn @ (power / ca.sum1(turn**2).T)
        else:
            f -= slide @ (power / ca.sum1(slide**2).T)
    return f, n


def _ends(sizes: list[int]) -> list[int]:
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    return ends
