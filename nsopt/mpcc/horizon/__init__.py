"""Programs over a horizon: few functions, each at many nodes, and their branches."""
