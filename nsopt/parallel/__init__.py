"""Many calls of one function: in this process, on all cores, or on a dask cluster."""

from nsopt.parallel.pool import DIED, heard_between, run_all

__all__ = ["DIED", "heard_between", "run_all"]
