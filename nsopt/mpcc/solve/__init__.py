"""From a program to its solution: homotopy, recovery, phase II, stationarity, residuals."""
