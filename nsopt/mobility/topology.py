"""The graph of bodies and joints, its spanning tree and its loops [mobility 2016, section 4.1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from nsopt.mechanics import Branch, Mechanism


class FundamentalCycle(NamedTuple):
    """A loop that one cut joint closes over the tree.

    Attributes
    ----------
    cut : str
        The joint that is not in the tree.
    joints : tuple of str
        Those of the tree, on the way from frame a of the cut joint to its frame b; the name of a
        free body stands for the six freedoms by which it is in the tree.
    orientation : tuple of int
        sigma of each [mobility 2016, section 4.1]: 1 if its frame a is on the side of the ground,
        else -1.
    """

    cut: str
    joints: tuple[str, ...]
    orientation: tuple[int, ...]


@dataclass(frozen=True)
class Topology:
    """The topological graph: bodies are its vertices, joints its edges.

    Attributes
    ----------
    bodies : tuple of str
        Without the ground.
    joints : tuple of str
    edges : mapping of joint to (str or None, str or None)
        The bodies of its frames a and b; None is the ground.
    tree : mapping of body to (str or None, str or None)
        The joint by which each body is in the tree, None for a free one, and the body before it.
    cycles : tuple of FundamentalCycle
        One for each cut joint.
    """

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    edges: dict[str, tuple[str | None, str | None]]
    tree: dict[str, tuple[str | None, str | None]]
    cycles: tuple[FundamentalCycle, ...]

    @classmethod
    def of(cls, mechanism: Mechanism) -> Topology:
        """Return the graph of a mechanism with the spanning tree of its relative coordinates."""
        branches = {branch.body.name: branch for branch in mechanism.tree.branches}
        in_tree = {id(branch.joint) for branch in branches.values()}
        joints = tuple(mechanism.joints)
        edges: dict[str, tuple[str | None, str | None]] = {}
        for joint in joints:
            a, b = (frame.body.name if frame.body else None for frame in joint.frames[-2:])
            edges[joint.name] = (a, b)
        return cls(
            tuple(body.name for body in mechanism.bodies),
            tuple(edges),
            edges,
            {
                name: (branch.joint.name if branch.joint else None, _find_parent(branch))
                for name, branch in branches.items()
            },
            tuple(
                _make_cycle(joint.name, edges[joint.name], branches)
                for joint in joints
                if id(joint) not in in_tree
            ),
        )

    @property
    def gamma(self) -> int:
        """The cyclomatic number |J| - |B| + connected parts, the ground counted as a body."""
        leader: dict[str | None, str | None] = {name: name for name in (None, *self.bodies)}

        def root(name: str | None) -> str | None:
            while leader[name] != name:
                name = leader[name]
            return name

        for a, b in self.edges.values():
            leader[root(a)] = root(b)
        parts = sum(name == above for name, above in leader.items())
        return len(self.joints) - (len(self.bodies) + 1) + parts


def _find_parent(branch: Branch) -> str | None:
    body = branch.parent_frame.body
    return body.name if body else None


def _make_cycle(
    cut: str, ends: tuple[str | None, str | None], branches: dict[str, Branch]
) -> FundamentalCycle:
    from_a, from_b = (_list_branches_to_ground(end, branches) for end in ends)
    while from_a and from_b and from_a[-1] is from_b[-1]:  # what both share is not of the loop
        from_a, from_b = from_a[:-1], from_b[:-1]
    path = [*from_a, *reversed(from_b)]
    begins_at_ground = (b.joint is None or b.parent_frame is b.joint.frames[0] for b in path)
    return FundamentalCycle(
        cut,
        tuple(b.joint.name if b.joint else b.body.name for b in path),
        tuple(1 if x else -1 for x in begins_at_ground),
    )


def _list_branches_to_ground(body: str | None, branches: dict[str, Branch]) -> list[Branch]:
    """Return the branches from a body to the ground."""
    passed = []
    while body is not None:
        passed.append(branches[body])
        body = _find_parent(branches[body])
    return passed
