"""Mechanics: frames, bodies, the contracts of elements, mechanisms and their dynamics."""

from nsopt.mechanics.acceleration import (
    IndexOne,
    Instant,
    acceleration,
    explicit_index_one,
    state_index_one,
)
from nsopt.mechanics.actuator import Actuator, Mimic
from nsopt.mechanics.assembly import assemble
from nsopt.mechanics.bodies import Body
from nsopt.mechanics.coordinates import Block
from nsopt.mechanics.courses import check_courses
from nsopt.mechanics.dynamics import Dynamics
from nsopt.mechanics.element import (
    INSTANT,
    Bore,
    Constraint,
    Contact,
    ContactPair,
    DrivenFreedom,
    Element,
    Force,
    FrictionStep,
    Gap,
    JointFriction,
    Load,
    Outline,
    Output,
    Pair,
    Pressed,
    RateConstraint,
    ResistingPair,
    TimeFunction,
    Vector,
)
from nsopt.mechanics.equilibrium import equilibrium
from nsopt.mechanics.frame import GROUND, STILL, Frame, Motion, axes_matrix
from nsopt.mechanics.freedom import Axis, Ball, Freedom, X, Y, Z
from nsopt.mechanics.joint_resistance import joint_resistance
from nsopt.mechanics.law import ContactLaw
from nsopt.mechanics.least_norm import transmission
from nsopt.mechanics.links import CoordinateMap
from nsopt.mechanics.mechanism import Mechanism
from nsopt.mechanics.recursion import Recursion, Wrench
from nsopt.mechanics.redundancy import (
    implied_rows,
    redundancy,
    redundancy_note,
    redundant_rows,
)
from nsopt.mechanics.repeated_calls import recall_calls
from nsopt.mechanics.resistance import resisted_joint
from nsopt.mechanics.singularity import singular_posture
from nsopt.mechanics.spanning_tree import Branch, Relative
from nsopt.mechanics.start import Start, check_start, consistent, entry_named
from nsopt.mechanics.state import State
from nsopt.mechanics.tree_reactions import tree_reactions

__all__ = [
    "GROUND",
    "INSTANT",
    "STILL",
    "Actuator",
    "Axis",
    "Ball",
    "Block",
    "Body",
    "Bore",
    "Branch",
    "Constraint",
    "Contact",
    "ContactLaw",
    "ContactPair",
    "CoordinateMap",
    "DrivenFreedom",
    "Dynamics",
    "Element",
    "Force",
    "Frame",
    "Freedom",
    "FrictionStep",
    "Gap",
    "IndexOne",
    "Instant",
    "JointFriction",
    "Load",
    "Mechanism",
    "Mimic",
    "Motion",
    "Outline",
    "Output",
    "Pair",
    "Pressed",
    "RateConstraint",
    "Recursion",
    "Relative",
    "ResistingPair",
    "Start",
    "State",
    "TimeFunction",
    "Vector",
    "Wrench",
    "X",
    "Y",
    "Z",
    "acceleration",
    "assemble",
    "axes_matrix",
    "check_courses",
    "check_start",
    "consistent",
    "entry_named",
    "equilibrium",
    "explicit_index_one",
    "implied_rows",
    "joint_resistance",
    "recall_calls",
    "redundancy",
    "redundancy_note",
    "redundant_rows",
    "resisted_joint",
    "singular_posture",
    "state_index_one",
    "transmission",
    "tree_reactions",
]
