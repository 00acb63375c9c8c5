"""Mechanics: frames, bodies, the contracts of elements, mechanisms and their dynamics."""

from nsopt.mechanics.coordinates.base import Block
from nsopt.mechanics.coordinates.circles import find_circles
from nsopt.mechanics.coordinates.links import CoordinateMap
from nsopt.mechanics.coordinates.recursion import Recursion, Wrench, tree_reactions
from nsopt.mechanics.coordinates.spanning_tree import Branch, Relative
from nsopt.mechanics.equations.acceleration import (
    IndexOne,
    Instant,
    acceleration,
    explicit_index_one,
    state_index_one,
)
from nsopt.mechanics.equations.assembly import assemble
from nsopt.mechanics.equations.dynamics import Dynamics
from nsopt.mechanics.equations.joint_resistance import joint_resistance
from nsopt.mechanics.equations.least_norm import transmission
from nsopt.mechanics.equations.repeated_calls import recall_calls
from nsopt.mechanics.model.actuator import Actuator, Mimic
from nsopt.mechanics.model.bodies import Body
from nsopt.mechanics.model.element import (
    INSTANT,
    Constraint,
    Contact,
    ContactPair,
    DrivenFreedom,
    Element,
    Force,
    FrictionStep,
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
from nsopt.mechanics.model.frame import GROUND, STILL, Frame, Motion, axes_matrix
from nsopt.mechanics.model.freedom import Axis, Ball, Freedom, X, Y, Z
from nsopt.mechanics.model.gap import Bore, Drag, Gap
from nsopt.mechanics.model.law import ContactLaw
from nsopt.mechanics.model.mechanism import Mechanism
from nsopt.mechanics.model.resistance import resisted_joint
from nsopt.mechanics.model.state import State
from nsopt.mechanics.starts.courses import check_courses
from nsopt.mechanics.starts.equilibrium import equilibrium
from nsopt.mechanics.starts.redundancy import (
    implied_rows,
    redundancy,
    redundancy_note,
    redundant_rows,
    singular_posture,
)
from nsopt.mechanics.starts.start import (
    Start,
    check_rate_rows,
    check_start,
    consistent,
    entry_named,
)

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
    "Drag",
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
    "check_rate_rows",
    "check_start",
    "consistent",
    "entry_named",
    "equilibrium",
    "explicit_index_one",
    "find_circles",
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
