"""What makes programs over a horizon easier to solve, and goes to zero on the way."""
