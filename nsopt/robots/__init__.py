"""Robots: recursive dynamics, and robots from their files."""

from nsopt.robots.balancing import SpringFit, fit_springs
from nsopt.robots.closed_loops import ClosedLoops, JointMotion, Loads
from nsopt.robots.export import export_c
from nsopt.robots.flexible import (
    CrossSection,
    FlexibleLink,
    LinkMaterial,
    flexible_link,
    replace_link,
)
from nsopt.robots.meshes import link_vertices, mesh_vertices
from nsopt.robots.newton_euler import (
    bias_force,
    forward_dynamics,
    forward_kinematics,
    inverse_dynamics,
    joint_reactions,
    mass_matrix,
)
from nsopt.robots.resistances import WithPlay, resistances, typical_resistance
from nsopt.robots.sharing import EqualSharing, SharingRule, ToleranceOrder
from nsopt.robots.tables import (
    BodyRow,
    DHRow,
    ModifiedDH,
    StandardDH,
    mechanism_from_table,
    row_from_letters,
    serial_from_dh,
    zxz,
)
from nsopt.robots.urdf import load_urdf

__all__ = [
    "BodyRow",
    "ClosedLoops",
    "CrossSection",
    "DHRow",
    "EqualSharing",
    "FlexibleLink",
    "JointMotion",
    "LinkMaterial",
    "Loads",
    "ModifiedDH",
    "SharingRule",
    "SpringFit",
    "StandardDH",
    "ToleranceOrder",
    "WithPlay",
    "bias_force",
    "export_c",
    "fit_springs",
    "flexible_link",
    "forward_dynamics",
    "forward_kinematics",
    "inverse_dynamics",
    "joint_reactions",
    "link_vertices",
    "load_urdf",
    "mass_matrix",
    "mechanism_from_table",
    "mesh_vertices",
    "replace_link",
    "resistances",
    "row_from_letters",
    "serial_from_dh",
    "typical_resistance",
    "zxz",
]
