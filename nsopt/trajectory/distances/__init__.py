"""Distances from convex solids, as expressions with derivatives."""
