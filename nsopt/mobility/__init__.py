"""Mobility of mechanisms: loops, constraints of higher order, what finite motions there are."""

from nsopt.mobility.branches import MotionBranch
from nsopt.mobility.constraints import LoopConstraints
from nsopt.mobility.expressions import (
    constraint_expressions,
    constraint_function,
    constraint_polynomials,
)
from nsopt.mobility.findings import Mobility
from nsopt.mobility.linkages import cut_bodies, linkage
from nsopt.mobility.mobility import mobility
from nsopt.mobility.reduction import UndecidedRankError
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
