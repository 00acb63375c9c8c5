"""Figures of results, one call each."""
