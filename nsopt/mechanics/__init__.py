"""The contracts of mechanics: frames, bodies, elements, and what a mechanism becomes."""

from nsopt.mechanics.actuator import Actuator, Mimic
from nsopt.mechanics.assembly import assemble
from nsopt.mechanics.bodies import Body
from nsopt.mechanics.dynamics import Dynamics
from nsopt.mechanics.element import (
    Constraint,
    Contact,
    ContactPair,
    Element,
    Force,
    Gap,
    Load,
    Outline,
    Pair,
    Reading,
    ResistingPair,
    Rub,
    Rubbing,
    State,
)
from nsopt.mechanics.frame import GROUND, Frame, Motion
from nsopt.mechanics.law import ContactLaw
from nsopt.mechanics.mechanism import Mechanism
from nsopt.mechanics.parameter import Parameter
from nsopt.mechanics.rank import redundancy
from nsopt.mechanics.resistance import joint_resistance
from nsopt.mechanics.spanning_tree import Relative

__all__ = [
    "GROUND",
    "Actuator",
    "Body",
    "Constraint",
    "Contact",
    "ContactLaw",
    "ContactPair",
    "Dynamics",
    "Element",
    "Force",
    "Frame",
    "Gap",
    "Load",
    "Mechanism",
    "Mimic",
    "Motion",
    "Outline",
    "Pair",
    "Parameter",
    "Reading",
    "Relative",
    "ResistingPair",
    "Rub",
    "Rubbing",
    "State",
    "assemble",
    "joint_resistance",
    "redundancy",
]
