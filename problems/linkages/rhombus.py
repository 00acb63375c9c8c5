"""A rhombus stretched flat: it opens, or two of its links turn together about the others' end."""

from nsopt.mobility import linkage

PLACES = [0.0, 1.0, 2.0, 1.0]  # m, of the hinges on a line

mechanism = linkage([(0, 0, 1, 0, -x, 0) for x in PLACES])
