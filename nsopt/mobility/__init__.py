"""Mobility of mechanisms: loops, constraints of higher order, what finite motions there are."""

from nsopt.mobility.branches import MotionBranch
from nsopt.mobility.constraints import LoopConstraints
from nsopt.mobility.cut_bodies import cut_bodies
from nsopt.mobility.exact import constraint_expressions, constraint_polynomials
from nsopt.mobility.findings import Mobility
from nsopt.mobility.linkage import linkage
from nsopt.mobility.mobility import mobility
from nsopt.mobility.reduction import UndecidedRankError
from nsopt.mobility.symbolic import constraint_function
from nsopt.mobility.topology import FundamentalCycle, Topology
from nsopt.mobility.tracing import Finding

__all__ = [
    "Finding",
    "FundamentalCycle",
    "LoopConstraints",
    "Mobility",
    "MotionBranch",
    "Topology",
    "UndecidedRankError",
    "constraint_expressions",
    "constraint_function",
    "constraint_polynomials",
    "cut_bodies",
    "linkage",
    "mobility",
]
