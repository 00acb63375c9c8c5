"""Bodies and the ideal joints between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from nsopt.checks import NOT_IN_MECHANISM, check_names
from nsopt.mechanics.coordinates.absolute import AbsoluteCoordinates
from nsopt.mechanics.coordinates.base import Coordinates
from nsopt.mechanics.coordinates.relative import RelativeCoordinates
from nsopt.mechanics.coordinates.spanning_tree import Relative, spanning_tree
from nsopt.mechanics.model.actuator import Actuator, Mimic
from nsopt.mechanics.model.bodies import Body
from nsopt.mechanics.model.element import Constraint, Element
from nsopt.mechanics.model.frame import Frame
from nsopt.mechanics.model.freedom import Axis
from nsopt.parameter import number

CHOICES = ("absolute", "relative")

LONGEST = 20
"""Bodies in a row up to which joint coordinates are the default, as their expressions grow with it:
when this was chosen, ten steps of a chain of 10, 20 and 30 hinges, compiling included, took 0.8,
2.5 and 6.1 s in them, and 2.3, 3.4 and 4.6 s in absolute ones."""


def _check_single_freedom(what: str, name: str, joints: Mapping[str, Constraint]) -> None:
    """Refuse a name that is not that of a joint of one freedom."""
    check_names(f"{what} names the joint", [name], joints, NOT_IN_MECHANISM)
    freedom = joints[name].freedom()
    if freedom is None or len(freedom) != 1 or not isinstance(freedom[0], Axis):
        raise ValueError(
            f"{what} names the joint {name!r}, a {type(joints[name]).__name__}: it must have one "
            "freedom, as Revolute, Prismatic and Screw do"
        )


def _check_point_masses(joints: Iterable[Constraint]) -> None:
    """Refuse joints that hold what they should let turn, for a point mass does not turn."""
    for joint in joints:
        for frame in joint.frames:
            if frame.body is None or not frame.body.point_mass:
                continue
            if fault := _find_fault(joint, frame, frame.body.name):
                raise ValueError(
                    f"joint {joint.name!r} would {fault[0]}, for the point mass "
                    f"{frame.body.name!r} does not turn: {fault[1]}"
                )


def _find_fault(joint: Constraint, frame: Frame, name: str) -> tuple[str, str] | None:
    """Return what a joint would do wrong at a frame of a point mass, and the remedy; None if none.

    One that only turns holds the mass in place on the ground, and makes it a lever along the axes
    of the world beside its centre. What the mass is fixed to turns no more.
    """
    steps, bodies = joint.freedom(), [x.body for x in joint.frames]
    turning = [x.name for x in bodies if x is not None and not x.point_mass]
    if steps == () and turning:
        return (
            f"keep {turning[0]!r} from turning",
            f"take Spherical, or give {turning[0]!r} the mass too",
        )
    if not steps or any(isinstance(x, Axis) and any(x.slide) for x in steps):
        return None
    if None in bodies:
        return f"hold {name!r} in place", "give it an inertia, or take Distance for a string"
    if np.any(number(frame.origin)):
        return (
            f"hold {name!r} on a lever that keeps its direction",
            "put the joint at its centre, or give it an inertia",
        )
    return None


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Rigid bodies and the ideal joints between them.

    Parameters
    ----------
    bodies : sequence of Body
        All that move; the ground needs no body.
    joints : sequence of Constraint
        Ideal joints. Clearance joints are contacts: give them to `assemble`.
    coordinates : "absolute", "relative" or Relative, optional
        Absolute: those of each body, all joints being constraints on them. Relative: those of the
        joints of a spanning tree, the others being cut and kept as constraints; `Relative` also
        says which are cut. By default relative where ideal joints hold all bodies, twenty in a row
        at most, and absolute where one is free, has a joint with clearance alone, or no inertia,
        and where all are fixed.
    actuators : sequence of Actuator
        Of joints of one freedom.
    mimics : sequence of Mimic
        Joints that follow others; in relative coordinates.
    frames : mapping of name to Frame
        Further frames on its bodies that `frame` returns, such as a tool's.
    name : str
        Names its runs in summaries and pictures; of a URDF file that of the robot.

    Raises
    ------
    ValueError
        If there is no body, two things share a name, a joint uses a body not listed, coordinates
        are unknown, or an actuator or mimic does not suit its joint.
    TypeError
        If something listed is not a body or not an ideal joint.
    """

    bodies: Iterable[Body]
    joints: Iterable[Constraint] = ()
    coordinates: str | Relative | None = None
    actuators: Iterable[Actuator] = ()
    mimics: Iterable[Mimic] = ()
    frames: Mapping[str, Frame] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        bodies, joints = tuple(self.bodies), tuple(self.joints)
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "actuators", tuple(self.actuators))
        object.__setattr__(self, "mimics", tuple(self.mimics))
        object.__setattr__(self, "frames", dict(self.frames))
        stated = self.coordinates
        if not (stated is None or isinstance(stated, Relative) or stated in CHOICES):
            raise ValueError(
                f"coordinates must be one of {', '.join(map(repr, CHOICES))} or Relative(cut=...), "
                f"got {self.coordinates!r}; actuators come after them"
            )
        if not bodies:
            raise ValueError("a mechanism needs at least one body")
        for body in bodies:
            if not isinstance(body, Body):
                raise TypeError(
                    f"Mechanism takes bodies first, got {type(body).__name__}: {body!r}"
                )
        for joint in joints:
            if not isinstance(joint, Constraint):
                raise TypeError(
                    f"{type(joint).__name__} {getattr(joint, 'name', joint)!r} is no ideal joint: "
                    "give contacts, clearance joints, forces and constraints on velocities to "
                    "assemble(mechanism, elements)"
                )
        self.check_members(joints)
        _check_point_masses(joints)
        self._check_drives()
        for name, frame in self.frames.items():
            self._check_body(f"the frame {name!r}", frame)
            if any(name == body.name for body in bodies):
                raise ValueError(f"the name {name!r} is that of a frame and a body: rename one")

    def _check_drives(self) -> None:
        """Check that actuators and mimics name joints of one freedom."""
        joints = {joint.name: joint for joint in self.joints}
        relative = self.is_relative
        for what, parts in (("actuators", self.actuators), ("mimics", self.mimics)):
            for name, count in Counter(part.joint for part in parts).items():
                if count > 1:
                    raise ValueError(f"joint {name!r} has {count} {what}: leave one of them")
        for actuator in self.actuators:
            _check_single_freedom(type(actuator).__name__, actuator.joint, joints)
            if not relative and number(actuator.rotor_inertia):
                raise ValueError(
                    f"the rotor of joint {actuator.joint!r} counts in relative coordinates only: "
                    'use coordinates="relative"'
                )
        followers = {mimic.joint for mimic in self.mimics}
        for mimic in self.mimics:
            for name in (mimic.joint, mimic.of):
                _check_single_freedom("Mimic", name, joints)
            if mimic.of in followers:
                raise ValueError(
                    f"joint {mimic.joint!r} mimics {mimic.of!r}, which mimics another: name that"
                )
            if not relative:
                raise ValueError(
                    f"joint {mimic.joint!r} mimics {mimic.of!r}, which takes relative "
                    'coordinates: use coordinates="relative"'
                )

    def check_members(self, elements: Iterable[Element]) -> None:
        """Check that names are unique and that every frame sits on a body of this mechanism."""
        elements = tuple(elements)
        names = Counter([body.name for body in self.bodies] + [e.name for e in elements])
        twice = [name for name, count in names.items() if count > 1]
        if twice:
            raise ValueError(f"the name {twice[0]!r} is used twice: rename one of the two")
        for element in elements:
            for frame in element.frames:
                self._check_body(f"{type(element).__name__} {element.name!r}", frame)

    def _check_body(self, what: str, frame: Frame) -> None:
        if frame.body is not None and not any(frame.body is b for b in self.bodies):
            raise ValueError(
                f"{what} uses body {frame.body.name!r}, which is not in the mechanism: add it to "
                "the bodies"
            )

    def __repr__(self) -> str:
        """Return the numbers of its bodies and joints, and its coordinates."""
        bodies, joints = tuple(self.bodies), tuple(self.joints)
        return (
            f"Mechanism({len(bodies)} bodies, {len(joints)} joints, "
            f"coordinates={self.coordinates or ('relative' if self.is_relative else 'absolute')!r})"
        )

    def frame(self, name: str) -> Frame:
        """Return the frame of a link by its name, at the joint that carries it, of its body's axes.

        That is the joint between it and the body before it in the spanning tree; of a URDF file it
        is the frame of the link. Or one of ``frames``, as of a link merged into another.

        Raises
        ------
        ValueError
            If there is no body or frame of that name, or no joint carries it.
        """
        if name in self.frames:
            return self.frames[name]
        bodies = {body.name: body for body in self.bodies}
        check_names("no link", [name], [*bodies, *self.frames])
        body = bodies[name]
        branch = next(x for x in self.tree.branches if x.body is body)
        if branch.joint is None:
            raise ValueError(
                f"no joint carries {name!r}: give its frame, Frame(body, origin, axes)"
            )
        return Frame(body, branch.child_frame.origin, np.eye(3))

    @cached_property
    def driven_joints(self) -> tuple[str, ...]:
        """The names of the joints that have an actuator, in the order of the actuators."""
        return tuple(x.joint for x in self.actuators)

    @cached_property
    def is_relative(self) -> bool:
        """Whether the coordinates are those of joints, as stated or as chosen."""
        if self.coordinates is None:
            return _suits_joint_coordinates(tuple(self.bodies), tuple(self.joints))
        return self.coordinates != "absolute"

    @property
    def generalized_coordinates(self) -> Coordinates:
        """The generalized coordinates: those of each body, or of the joints of the tree."""
        if not self.is_relative:
            return AbsoluteCoordinates(tuple(self.bodies), tuple(self.joints))
        return self.tree

    @cached_property
    def tree(self) -> RelativeCoordinates:
        """The coordinates of a spanning tree of the joints, also of an absolute mechanism."""
        option = self.coordinates if isinstance(self.coordinates, Relative) else Relative()
        bodies, joints = tuple(self.bodies), tuple(self.joints)
        actuators, mimics = tuple(self.actuators), tuple(self.mimics)
        branches = spanning_tree(bodies, joints, option, actuators, mimics)
        return RelativeCoordinates(bodies, joints, branches, mimics, actuators)

    @property
    def cut(self) -> tuple[Constraint, ...]:
        """The joints that are constraints on the coordinates: all of them in absolute ones."""
        if not self.is_relative:
            return tuple(self.joints)
        in_tree = {id(branch.joint) for branch in self.tree.branches}
        return tuple(joint for joint in self.joints if id(joint) not in in_tree)


def _suits_joint_coordinates(bodies: Sequence[Body], joints: Sequence[Constraint]) -> bool:
    """Tell whether all bodies have inertia and ideal joints hold them, in chains not too long.

    A body that is held by a joint with clearance is free: such a joint is a contact. One without
    inertia may have no equation of motion in joint coordinates.
    """
    if not all(_has_inertia(body) for body in bodies):
        return False
    tree = spanning_tree(tuple(bodies), tuple(joints), Relative())
    if not any(branch.freedom for branch in tree):  # all is fixed: no joint coordinate
        return False
    depth: dict[Body | None, int] = {None: 0}
    for branch in tree:
        if branch.joint is None:
            return False
        depth[branch.body] = depth[branch.parent_frame.body] + 1
    return max(depth.values()) <= LONGEST


def _has_inertia(body: Body) -> bool:
    inertia = np.array([[number(x) for x in np.atleast_1d(row)] for row in body.inertia])
    principal = inertia.ravel() if inertia.shape == (3, 1) else np.linalg.eigvalsh(inertia)
    return number(body.mass) > 0 and (body.point_mass or bool(np.all(principal > 0)))
