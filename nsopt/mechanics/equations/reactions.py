"""Reactions of joints: of constraints and contacts from their impulses, in a tree by recursion."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca

from nsopt.mechanics.coordinates.links import LinkTree
from nsopt.mechanics.coordinates.recursion import Recursion, Wrench, tree_reactions
from nsopt.mechanics.coordinates.relative import RelativeCoordinates
from nsopt.mechanics.equations.efforts import pair_joints, pair_rates
from nsopt.mechanics.equations.symbolic import SymbolicMechanism, VirtualWork
from nsopt.mechanics.model.element import INSTANT, Element, FrictionStep
from nsopt.mechanics.model.frame import Frame


class ReactionFunction:
    """Builds `Dynamics.reactions`.

    Attributes
    ----------
    h, change, mu, lam, slip : SX
        Symbols of its arguments, ``slip`` of ``slip_impulse``.
    """

    def __init__(self, symbols: SymbolicMechanism) -> None:
        self._symbolic = symbols
        slips = [sum(gap.slips.numel() for gap in group) for group in symbols.gaps]
        self.h, self.change = ca.SX.sym("h"), ca.SX.sym("change", symbols.v.numel())
        joints = sum(r.numel() for r in symbols.residuals)
        self.mu = ca.SX.sym("mu", joints + sum(r.numel() for r in symbols.speeds))
        self.lam = ca.SX.sym("lam", sum(len(group) for group in symbols.gaps))
        self.slip = ca.SX.sym("slip_impulse", sum(slips))
        # Of all but joints of the tree, by name: the frames and the impulses that act on these.
        self._joints = {
            kept.joint.name: (kept.frames, kept.work) for kept in pair_joints(symbols, self.mu)
        }
        for element, work in pair_rates(symbols, self.mu[joints:]):
            self._joints[element.name] = (element.frames, work)
        lam = iter(ca.vertsplit(self.lam, _find_ends([len(group) for group in symbols.gaps])))
        slip = iter(ca.vertsplit(self.slip, _find_ends(slips)))
        for contact, group in zip(symbols.contacts, symbols.gaps, strict=True):
            gaps = ca.vertcat(ca.SX(0, 1), *(gap.function for gap in group))
            rates = ca.vertcat(ca.SX(0, 1), *(gap.slips for gap in group))
            work = VirtualWork(((gaps, next(lam)),), ((rates, next(slip)),))
            self._joints[contact.name] = (contact.frames, work)
        absolute = not symbols.mechanism.is_relative
        self._friction = [] if absolute else self._sum_friction_of_cut_joints()

    def _sum_friction_of_cut_joints(self) -> list[tuple[Element, VirtualWork]]:
        """Return the friction of joints that are constraints or contacts, under their reactions.

        That of joints of the tree acts along their freedoms, and is no part of their reactions.
        """
        s = self._symbolic
        friction: list[tuple[Element, VirtualWork]] = []
        for element, joint, states in s.friction_elements():
            if joint is not None and joint.name in self._joints:
                reaction = s.wrench(joint.frames[-1], self._joints[joint.name][1]) / self.h
                z = s.q[s.n_joint_coordinates :][states] if element.states else ca.SX(0, 1)
                load = element.friction(s.state, FrictionStep(ca.SX(INSTANT), z, reaction))
                friction.append((element, VirtualWork.from_forces(ca.SX(0), [load])))
        return friction

    def make(self) -> ca.Function:
        """Return the function."""
        s = self._symbolic
        within = self._within_tree()
        columns = [
            within[joint.name] if joint.name in within else self._sum_on_frame_b(joint)
            for joint in s.joints()
        ]
        known = {"t": s.t, "q": s.q, "v": s.v, "p": s.p, "h": self.h, "change": self.change}
        impulses = {"mu": self.mu, "lam": self.lam, "slip_impulse": self.slip}
        return ca.Function(
            "reactions",
            [*known.values(), *impulses.values()],
            s.evaluate(ca.horzcat(ca.SX(6, 0), *columns)),
            [*known, *impulses],
            ["reactions"],
        )

    def _sum_on_frame_b(self, joint: Element) -> ca.SX:
        """Return the wrench of a constraint or contact on its frame b, zero if drives keep it."""
        frames, work = self._joints[joint.name]
        frame = joint.frames[-1]
        return self._symbolic.wrench(frame, work) if frame in frames else ca.SX.zeros(6)

    def _within_tree(self) -> dict[str, ca.SX]:
        """Return the wrench of each joint of the tree on the body of its frame b, by name."""
        s = self._symbolic
        if not isinstance(s.coordinates, RelativeCoordinates):
            return {}
        value = s.state.value
        tree, still = s.coordinates.links(value, weld=False), ca.SX.zeros(s.v.numel())
        recursion = Recursion(tree, s.q)
        motions = recursion.motions(s.v)
        loads = {k: self._sum_on_link(tree, k, motions[k].A) for k in range(len(tree.links))}
        # What changes v takes impulses, motion at v and weight take forces over h.
        _, impulses = recursion.newton_euler(still, self.change, ca.SX.zeros(3), loads)
        _, forces = recursion.newton_euler(s.v, still, value(s.gravity))
        wrenches = [
            (f + self.h * g, n + self.h * m)
            for (f, n), (g, m) in zip(impulses, forces, strict=True)
        ]
        return tree_reactions(s.coordinates.branches, recursion, motions, wrenches)

    def _sum_on_link(self, tree: LinkTree, k: int, A: ca.SX) -> Wrench:
        """Return the impulses on link k, with axes A, of all but weight and joints of the tree."""
        s, f, n = self._symbolic, ca.SX.zeros(3), ca.SX.zeros(3)
        for body, placement in tree.links[k].bodies.values():
            frame = Frame(body)
            total = ca.SX.zeros(6)
            for element, work in [*s.forces, *self._friction]:
                if _acts_on(element.frames, body):
                    total += self.h * s.wrench(frame, work)
            for frames, work in self._joints.values():
                if _acts_on(frames, body):
                    total += s.wrench(frame, work)
            force = A.T @ total[:3]
            f, n = f + force, n + A.T @ total[3:] + ca.cross(placement.c, force)
        return f, n


def _acts_on(frames: Iterable[Frame], body: object) -> bool:
    return any(frame.body is body for frame in frames)


def _find_ends(sizes: list[int]) -> list[int]:
    """Return where parts of these sizes begin and end, from 0 on."""
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    return ends
