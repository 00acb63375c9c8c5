"""Pages on one run, and the panels that they are made of."""
