"""Starts and postures: consistent, nearest, in equilibrium, singular, redundant."""
