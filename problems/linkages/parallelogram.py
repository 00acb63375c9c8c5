"""A parallelogram folded flat, where it can go on as one or as an antiparallelogram."""

from nsopt.mobility import linkage

PLACES = [0.0, 1.0, 3.0, 2.0]  # m, of the hinges on a line

mechanism = linkage([(0, 0, 1, 0, -x, 0) for x in PLACES])
