"""Small SX functions as machine code in the process, by LLVM: no compiler of C is needed."""

from nsopt.leaves.leaf import INTERPRETED, InTurnCode, Leaf, LeafCode, LeavesInTurn
from nsopt.leaves.mapped import MappedLeaf

__all__ = ["INTERPRETED", "InTurnCode", "Leaf", "LeafCode", "LeavesInTurn", "MappedLeaf"]
