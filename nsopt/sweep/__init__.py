"""Many runs of one problem: over a grid or samples of its parameters and step bounds."""

from nsopt.sweep.measures import MEASURES
from nsopt.sweep.points import Grid, Samples, numbers
from nsopt.sweep.run import sweep
from nsopt.sweep.table import columns, table

__all__ = ["MEASURES", "Grid", "Samples", "columns", "numbers", "sweep", "table"]
