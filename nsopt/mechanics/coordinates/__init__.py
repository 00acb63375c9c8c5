"""Coordinates of a mechanism: absolute, or relative, by recursions over a tree of joints."""
