"""Delassus' linkage: four parallel screws, at the corners of a parallelogram, that move."""

from nsopt.mobility import linkage

CORNERS = [(0.0, 0.0), (0.3, 0.4), (1.3, 0.4), (1.0, 0.0)]  # m
PITCHES = [0.10, 0.25, 0.20, 0.05]  # m/rad; the first less the second is the fourth less the third

screws = [(0, 0, 1, y, -x, h) for (x, y), h in zip(CORNERS, PITCHES, strict=True)]
mechanism = linkage(screws)
