"""A transcription as one of its two kinds, for what only that one has."""

from __future__ import annotations

from nsopt.trajectory.transcription.base import Transcription
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.stepped import Stepped


def as_polynomials(x: Transcription) -> Collocation | None:
    """Return x if it is a motion by polynomials, else None."""
    return x if isinstance(x, Collocation) else None


def as_steps(x: Transcription) -> Stepped | None:
    """Return x if it is a motion in the steps of a scheme, else None."""
    return x if isinstance(x, Stepped) else None
