"""The summary of a result, in a few lines or whole."""

from nsopt.summary.lines import summary

__all__ = ["summary"]
