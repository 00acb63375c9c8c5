"""Friction in joints, and laws of it that are smooth."""
