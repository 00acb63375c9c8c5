"""What kind of transcription a motion has, for what only one of them knows."""

from __future__ import annotations

from nsopt.trajectory.transcription.base import Transcription
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.stepped import Stepped


def as_polynomials(x: Transcription) -> Collocation | None:
    """Return a motion by polynomials; None if it is none."""
    return x if isinstance(x, Collocation) else None


def as_steps(x: Transcription) -> Stepped | None:
    """Return a motion in the steps of a scheme; None if it is none."""
    return x if isinstance(x, Stepped) else None
