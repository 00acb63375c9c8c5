"""Figures that others have found, next to what nsopt finds.

``python -m benchmarks.verification`` computes them all, prints a table and writes
``docs/measured/verification.md``.
"""
