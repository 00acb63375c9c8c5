"""Many calls of one function: in this process, on all cores, or on a dask cluster."""

from nsopt.parallel.pool import DIED, run_all, wait_interruptibly

__all__ = ["DIED", "run_all", "wait_interruptibly"]
