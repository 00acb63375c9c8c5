"""Small SX functions as machine code in the process, by LLVM: no compiler of C is needed."""

from nsopt.leaves.leaf import Leaf, LeafCode
from nsopt.leaves.mapped import MappedLeaf

__all__ = ["Leaf", "LeafCode", "MappedLeaf"]
