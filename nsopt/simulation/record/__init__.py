"""The record of a run: accepted steps, and the dataset they make."""
