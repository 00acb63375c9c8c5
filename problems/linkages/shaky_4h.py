"""Four parallel screws that move to first order only."""

from nsopt.mobility import linkage

CORNERS = [(0.0, 0.0), (0.5, 1.0), (1.6, 1.2), (2.0, 0.0)]  # m
PITCHES = [0.1, 0.3, 0.5, 0.42]  # m/rad

screws = [(0, 0, 1, y, -x, h) for (x, y), h in zip(CORNERS, PITCHES, strict=True)]
mechanism = linkage(screws)
