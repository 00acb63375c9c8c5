"""Solvers of nonlinear programs: IPOPT, SQP, and the linear solver of horizons."""
