"""Versions of the programs that make the numbers."""

from functools import cache


@cache
def version(package: str) -> str:
    """Return the version of an installed package."""
    from importlib import metadata  # brings email and urllib: longer to import than most of nsopt

    return metadata.version(package)
