"""Mobility of mechanisms: loops, constraints of higher order, what finite motions there are."""

from nsopt.mobility.branches import Branch
from nsopt.mobility.constraints import LoopConstraints
from nsopt.mobility.cut_bodies import cut_bodies
from nsopt.mobility.linkage import linkage
from nsopt.mobility.mobility import Mobility, mobility
from nsopt.mobility.reduction import UndecidedRankError
from nsopt.mobility.topology import FundamentalCycle, Topology
from nsopt.mobility.tracing import Finding

__all__ = [
    "Branch",
    "Finding",
    "FundamentalCycle",
    "LoopConstraints",
    "Mobility",
    "Topology",
    "UndecidedRankError",
    "cut_bodies",
    "linkage",
    "mobility",
]
