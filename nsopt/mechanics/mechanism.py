"""Bodies and the ideal joints between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from nsopt.mechanics.absolute import AbsoluteCoordinates
from nsopt.mechanics.actuator import Actuator, Mimic
from nsopt.mechanics.bodies import Body
from nsopt.mechanics.element import Constraint, Element


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Rigid bodies and the ideal joints between them.

    Parameters
    ----------
    bodies : sequence of Body
        All that move; the ground needs no body.
    joints : sequence of Constraint
        Ideal joints. Clearance joints are contacts: give them to `assemble`.
    coordinates : "absolute", "relative" or Relative
        Of each body, all joints being constraints on them; or of the joints of a spanning tree,
        the others being cut and kept as constraints. `Relative` also says which are cut.
    actuators : sequence of Actuator
        What drives joints of one freedom.
    mimics : sequence of Mimic
        Joints that follow others; in relative coordinates.

    Raises
    ------
    ValueError
        If there is no body, two things share a name, or a joint uses a body not listed.
    TypeError
        If something listed is not a body or not an ideal joint.
    """

    bodies: Iterable[Body]
    joints: Iterable[Constraint] = ()
    coordinates: str = "absolute"
    actuators: Iterable[Actuator] = ()
    mimics: Iterable[Mimic] = ()

    def __post_init__(self) -> None:
        bodies, joints = tuple(self.bodies), tuple(self.joints)
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "actuators", tuple(self.actuators))
        object.__setattr__(self, "mimics", tuple(self.mimics))
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
                    "give contacts, clearance joints and forces to assemble(mechanism, elements)"
                )
        self.check_members(joints)

    def check_members(self, elements: Iterable[Element]) -> None:
        """Check that names are unique and that every frame sits on a body of this mechanism."""
        elements = tuple(elements)
        names = Counter([body.name for body in self.bodies] + [e.name for e in elements])
        twice = [name for name, count in names.items() if count > 1]
        if twice:
            raise ValueError(f"the name {twice[0]!r} is used twice: rename one of the two")
        for element in elements:
            for frame in element.frames:
                if frame.body is not None and not any(frame.body is b for b in self.bodies):
                    raise ValueError(
                        f"{type(element).__name__} {element.name!r} uses body "
                        f"{frame.body.name!r}, which is not in the mechanism: add it to the bodies"
                    )

    @property
    def described(self) -> AbsoluteCoordinates:
        """The coordinates by which the bodies are described."""
        return AbsoluteCoordinates(tuple(self.bodies))
