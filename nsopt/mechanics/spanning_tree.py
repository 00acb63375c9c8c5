"""A spanning tree of joints: each body hangs on another, or on the ground, or is free."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nsopt.mechanics.bodies import Body
from nsopt.mechanics.element import Constraint
from nsopt.mechanics.frame import Frame
from nsopt.mechanics.freedom import FREE, Ball, Freedom, back
from nsopt.mechanics.parameter import number, parameters_in

if TYPE_CHECKING:
    from nsopt.mechanics.mechanism import Mechanism


@dataclass(frozen=True)
class Relative:
    """Coordinates of the joints of a spanning tree.

    Parameters
    ----------
    cut : sequence of str, optional
        Names of the joints to keep as constraints. More are cut where loops remain; by default
        those that leave most freedom, farthest from the ground.
    """

    cut: Iterable[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.cut, str):
            raise TypeError(
                f"cut must be a sequence of names, got {self.cut!r}: use [{self.cut!r}]"
            )
        object.__setattr__(self, "cut", tuple(self.cut))


class Branch(NamedTuple):
    """A body, and how it hangs on what is nearer to the ground."""

    body: Body
    joint: Constraint | None  # None for a free body
    on: Frame  # where it hangs
    to: Frame  # on the body
    freedom: Freedom  # from ``on`` to ``to``

    @property
    def stated(self) -> Freedom:
        """The freedom in the order of its coordinates: from frame a to frame b of the joint."""
        outward = self.joint is None or self.on is self.joint.frames[0]
        return self.freedom if outward else self.freedom[::-1]


def spanning_tree(mechanism: Mechanism, option: Relative) -> tuple[Branch, ...]:
    """Return the branches, each after the one it hangs on.

    A body is reached by the joint of least freedom that leads to it, actuated joints and those of
    mimics before others, nearest to the ground, in the order stated. A body that no joint of the
    tree leads to is free.

    Raises
    ------
    ValueError
        If a joint to cut is unknown, or one that mimics, is mimicked or has a rotor would be cut.
    """
    _check_names(mechanism, option)
    wanted = {x.joint for x in mechanism.actuators} | {x.joint for x in mechanism.mimics}
    wanted |= {x.of for x in mechanism.mimics}
    usable = [j for j in mechanism.joints if j.name not in option.cut and _usable(j)]
    order = {id(joint): k for k, joint in enumerate(usable)}
    branches: list[Branch] = []
    depth: dict[Body | None, int] = {None: 0}

    def urgency(joint: Constraint) -> tuple[bool, int, int, int]:
        nearest = min(depth[f.body] for f in joint.frames if f.body in depth)
        free = sum(3 if isinstance(step, Ball) else 1 for step in joint.freedom() or ())
        return joint.name not in wanted, free, nearest, order[id(joint)]

    while len(branches) < len(tuple(mechanism.bodies)):
        frontier = [j for j in usable if sum(f.body in depth for f in j.frames) == 1]
        if frontier:
            branch = _branch(min(frontier, key=urgency), depth)
        else:
            branch = _free(next(b for b in mechanism.bodies if b not in depth))
        depth[branch.body] = depth[branch.on.body] + 1
        branches.append(branch)
    _check_wanted(mechanism, branches)
    return tuple(branches)


def _usable(joint: Constraint) -> bool:
    """Return whether a joint may be one of a tree: a particle has no axes that could turn."""
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
    return Branch(a.body, joint, b, a, back(freedom))


def _free(body: Body) -> Branch:
    freedom = FREE[:3] if body.point_mass else FREE
    return Branch(body, None, Frame(None), Frame(body), freedom)


def _check_names(mechanism: Mechanism, option: Relative) -> None:
    names = [joint.name for joint in mechanism.joints]
    for name in option.cut:
        if name not in names:
            raise ValueError(
                f"Relative(cut=...) names the joint {name!r}, which is not in the mechanism: one "
                f"of {', '.join(names) or 'none'}"
            )


def _check_wanted(mechanism: Mechanism, branches: Sequence[Branch]) -> None:
    inside = {branch.joint.name for branch in branches if branch.joint is not None}
    for drive in mechanism.actuators:
        turns = parameters_in(drive.rotor_inertia) or number(drive.rotor_inertia)
        if turns and drive.joint not in inside:
            raise ValueError(
                f"joint {drive.joint!r} is cut, but its actuator has a rotor, which counts in the "
                "tree only: cut another joint of its loop by Relative(cut=...)"
            )
    for mimic in mechanism.mimics:
        for name in (mimic.joint, mimic.of):
            if name not in inside:
                raise ValueError(
                    f"joint {name!r} is cut, but {mimic.joint!r} mimics {mimic.of!r}: both must "
                    "be in the tree, cut another joint of their loop by Relative(cut=...)"
                )
