"""Checks of an optimum: its steps integrated again, its motion simulated again."""
