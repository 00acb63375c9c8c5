"""A spanning tree of joints: each body has a parent, and a joint to it unless it is free."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nsopt.checks import NOT_IN_MECHANISM, check_names
from nsopt.mechanics.model.actuator import Actuator, Mimic
from nsopt.mechanics.model.bodies import Body
from nsopt.mechanics.model.element import Constraint
from nsopt.mechanics.model.frame import Frame
from nsopt.mechanics.model.freedom import FREE, Ball, Freedom, reverse_freedom
from nsopt.parameter import number, parameters_in


@dataclass(frozen=True)
class Relative:
    """Coordinates of the joints of a spanning tree.

    Parameters
    ----------
    cut : sequence of str, optional
        Names of joints to keep as constraints. Loops that remain are cut at the joint with the most
        degrees of freedom, or among equals the one farthest from the ground.
    """

    cut: Iterable[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.cut, str):
            raise TypeError(
                f"cut must be a sequence of names, got {self.cut!r}: use [{self.cut!r}]"
            )
        object.__setattr__(self, "cut", tuple(self.cut))


class Branch(NamedTuple):
    """A body of the tree, and the joint to its parent."""

    body: Body
    joint: Constraint | None  # None for a free body
    parent_frame: Frame
    child_frame: Frame  # on the body
    freedom: Freedom  # from the parent frame to the child frame

    @property
    def freedom_a_to_b(self) -> Freedom:
        """The steps of ``freedom`` in the order from frame a to frame b, that of coordinates."""
        outward = self.joint is None or self.parent_frame is self.joint.frames[0]
        return self.freedom if outward else self.freedom[::-1]


def spanning_tree(
    bodies: Sequence[Body],
    joints: Sequence[Constraint],
    option: Relative,
    actuators: Sequence[Actuator] = (),
    mimics: Sequence[Mimic] = (),
) -> tuple[Branch, ...]:
    """Return the branches, each after that of its parent.

    Of the joints that lead from the tree to a new body, the next one is chosen by: actuated or part
    of a mimic before others, then fewest degrees of freedom, then nearest to the ground, then the
    order of ``joints``. A body that no joint of the tree leads to is free. ValueError if a joint to
    cut is unknown, or one that mimics, is mimicked or has a rotor would be cut.
    """
    names = (joint.name for joint in joints)
    check_names("Relative(cut=...) names the joint", option.cut, names, NOT_IN_MECHANISM)
    required = {x.joint for x in actuators} | {x.joint for x in mimics}
    required |= {x.of for x in mimics}
    usable = [j for j in joints if j.name not in option.cut and is_usable(j)]
    order = {id(joint): k for k, joint in enumerate(usable)}
    branches: list[Branch] = []
    depth: dict[Body | None, int] = {None: 0}

    # Joints that must be in the tree come first. Those of many freedoms come late, to be cut: they
    # leave the fewest constraints.
    def priority(joint: Constraint) -> tuple[bool, int, int, int]:
        nearest = min(depth[f.body] for f in joint.frames if f.body in depth)
        free = sum(3 if isinstance(step, Ball) else 1 for step in joint.freedom() or ())
        return joint.name not in required, free, nearest, order[id(joint)]

    while len(branches) < len(bodies):
        frontier = [j for j in usable if sum(f.body in depth for f in j.frames) == 1]
        if frontier:
            branch = _branch(min(frontier, key=priority), depth)
        else:
            body = next(b for b in bodies if b not in depth)
            freedom = FREE[:3] if body.point_mass else FREE
            branch = Branch(body, None, Frame(None), Frame(body), freedom)
        depth[branch.body] = depth[branch.parent_frame.body] + 1
        branches.append(branch)
    _check_required(branches, actuators, mimics)
    return tuple(branches)


def is_usable(joint: Constraint) -> bool:
    """Return whether a joint may be in the tree: not on a point mass, which has no orientation."""
    return joint.freedom() is not None and not any(
        frame.body is not None and frame.body.point_mass for frame in joint.frames
    )


def _branch(joint: Constraint, reached: dict[Body | None, int]) -> Branch:
    a, b = joint.frames
    freedom = joint.freedom() or ()
    if a.body in reached:
        assert b.body is not None
        return Branch(b.body, joint, a, b, freedom)
    assert a.body is not None
    return Branch(a.body, joint, b, a, reverse_freedom(freedom))


def _check_required(
    branches: Sequence[Branch], actuators: Sequence[Actuator], mimics: Sequence[Mimic]
) -> None:
    in_tree = {branch.joint.name for branch in branches if branch.joint is not None}
    for drive in actuators:
        has_rotor = parameters_in(drive.rotor_inertia) or number(drive.rotor_inertia)
        if has_rotor and drive.joint not in in_tree:
            raise ValueError(
                f"joint {drive.joint!r} is cut, but its actuator has a rotor, which counts in the "
                "tree only: cut another joint of its loop by Relative(cut=...)"
            )
    for mimic in mimics:
        for name in (mimic.joint, mimic.of):
            if name not in in_tree:
                raise ValueError(
                    f"joint {name!r} is cut, but {mimic.joint!r} mimics {mimic.of!r}: both must "
                    "be in the tree, cut another joint of their loop by Relative(cut=...)"
                )
